/* SPDX-License-Identifier: Apache-2.0
 *
 * A C11 application: runs saxpy on the device that its argument names. */
#include <stdio.h>
#include <string.h>

#include "saxpy.h"
#include "wye/wye.h"

static int fail(wye_error* error) {
    fprintf(stderr, "consumer: %s\n", wye_error_text(error).data);
    wye_error_free(error);
    return 1;
}

int main(int argc, char** argv) {
    static float x[kCount], y[kCount], r[kCount];
    const float a = 2.0F;
    uint64_t param = 0;
    wye_error* error = NULL;
    wye_context* context = NULL;
    wye_program_source source;
    wye_program program = 0;
    wye_device device = 0;
    wye_argument arguments[3];
    wye_dispatch_desc desc;
    int wrong;

    fill_inputs(x, y);
    memcpy(&param, &a, sizeof a);
    if (wye_context_create(NULL, &context, &error) != WYE_OK) return fail(error);
    WYE_INIT(source);
    source.text = wye_str(kSaxpy);
    if (wye_program_create(context, &source, &program, &error) != WYE_OK) return fail(error);
    if (wye_device_open(context, wye_str(argc > 1 ? argv[1] : "cpu"), program, &device, &error) !=
        WYE_OK)
        return fail(error);
    memset(arguments, 0, sizeof arguments);
    for (uint32_t i = 0; i < 3; ++i) {
        arguments[i].kind = WYE_ARGUMENT_HOST;
        arguments[i].binding = i;
    }
    arguments[0].input.data = (const void*)x;
    arguments[1].input.data = (const void*)y;
    arguments[0].input.size = arguments[1].input.size = arguments[2].output_size = sizeof r;
    arguments[2].output = r;
    WYE_INIT(desc);
    desc.program = program;
    desc.device = device;
    desc.arguments = arguments;
    desc.argument_count = 3;
    desc.params = &param;
    desc.param_count = 1;
    if (wye_dispatch(context, &desc, NULL, &error) != WYE_OK) return fail(error);
    wye_context_destroy(context);
    wrong = count_wrong(x, y, r);
    printf("C %s: %d of %d wrong\n", wye_version(), wrong, kCount);
    return wrong != 0;
}
