/* SPDX-License-Identifier: Apache-2.0
 *
 * chain_kernels [SELECTOR]: squares numbers and adds them up with two kernels. The output
 * of the first kernel stays on the device, where the second one reads it. Only the sum is copied
 * back. */
#include <stdio.h>

#include "wye/wye.h"

static const char* const kSquare =
    "wye 1; program square; workgroup 256;"
    "input x: u32[]; output r: u32[len(x)]; grid elements len(x);"
    "main { let i = global_id.x; if i < len(r) { r[i] = x[i] * x[i]; } }";
static const char* const kSum =
    "wye 1; program sum; workgroup 256;"
    "input x: u32[]; output total: u32[1]; grid elements len(x);"
    "main { let i = global_id.x; if i < len(x) { atomic_add(total[0u], x[i]); } }";

/* Runs a program whose bindings 0 and 1 are its input and its output. */
static wye_status run(wye_context* context, wye_device device, const char* text,
                      wye_argument arguments[2], wye_error** error) {
    wye_program_source source;
    wye_program program = 0;
    wye_dispatch_desc desc;
    wye_status status;
    WYE_INIT(source);
    source.text = wye_str(text);
    status = wye_program_create(context, &source, &program, error);
    if (status != WYE_OK) return status;
    WYE_INIT(desc);
    desc.program = program;
    desc.device = device;
    desc.arguments = arguments;
    desc.argument_count = 2;
    status = wye_dispatch(context, &desc, NULL, error);
    (void)wye_program_free(context, program, NULL);
    return status;
}

int main(int argc, char** argv) {
    uint32_t x[1000], total = 0;
    wye_error* error = NULL;
    wye_context* context = NULL;
    wye_device device = 0;
    wye_buffer_create_desc desc;
    wye_buffer squares = 0;
    int failed;

    for (uint32_t i = 0; i < 1000; ++i) x[i] = i + 1;
    WYE_INIT(desc);
    desc.size = sizeof x;
    desc.label = wye_str("squares");
    failed = wye_context_create(NULL, &context, &error) != WYE_OK ||
             wye_device_open(context, wye_str(argc > 1 ? argv[1] : ""), 0, &device, &error) ||
             wye_buffer_create(context, device, &desc, &squares, &error) != WYE_OK;
    if (!failed) {
        wye_argument first[2] = {{.kind = WYE_ARGUMENT_HOST, .input = {x, sizeof x}},
                                 {.kind = WYE_ARGUMENT_RESIDENT, .binding = 1, .buffer = squares}};
        wye_argument second[2] = {{.kind = WYE_ARGUMENT_RESIDENT, .buffer = squares},
                                  {.kind = WYE_ARGUMENT_HOST,
                                   .binding = 1,
                                   .output = &total,
                                   .output_size = sizeof total}};
        failed = run(context, device, kSquare, first, &error) != WYE_OK ||
                 run(context, device, kSum, second, &error) != WYE_OK;
    }
    if (failed)
        fprintf(stderr, "chain_kernels: %s\n", wye_error_text(error).data);
    else
        printf("sum of squares: %u\n", total);
    wye_error_free(error);
    wye_context_destroy(context); /* frees the buffer, too */
    return failed;
}
