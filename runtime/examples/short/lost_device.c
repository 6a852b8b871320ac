/* SPDX-License-Identifier: Apache-2.0
 *
 * lost_device [SELECTOR]: continues after the loss of a device. The data on the device is lost, so
 * the work begins again from host data: on the same device if it can be reopened, else on the
 * CPU. */
#include <stdio.h>

#include "wye/device.h"

static const char* const kDouble =
    "wye 1; program double; workgroup 64;"
    "input x: u32[]; output r: u32[len(x)]; grid elements len(x);"
    "main { let i = global_id.x; if i < len(r) { r[i] = x[i] * 2u; } }";

/* Prints an error, its driver's code if it has one, and frees it. */
static void report(const char* what, wye_error* error) {
    fprintf(stderr, "%s: %s: %s\n", what, wye_status_text(wye_error_status(error)),
            wye_error_text(error).data);
    if (wye_error_native_code(error) != 0)
        fprintf(stderr, "  %s error %d\n", wye_error_native_domain(error).data,
                (int)wye_error_native_code(error));
    wye_error_free(error);
}

int main(int argc, char** argv) {
    const uint32_t x[3] = {1, 2, 3};
    uint32_t r[3] = {0, 0, 0};
    wye_error* error = NULL;
    wye_context* context = NULL;
    wye_program_source source;
    wye_dispatch_desc desc;
    wye_device_description device;
    wye_argument arguments[2] = {
        {.kind = WYE_ARGUMENT_HOST, .input = {x, sizeof x}},
        {.kind = WYE_ARGUMENT_HOST, .binding = 1, .output = r, .output_size = sizeof r}};
    wye_status status;

    WYE_INIT(source);
    source.text = wye_str(kDouble);
    WYE_INIT(device);
    WYE_INIT(desc);
    desc.arguments = arguments;
    desc.argument_count = 2;
    status = wye_context_create(NULL, &context, &error);
    if (status == WYE_OK) status = wye_program_create(context, &source, &desc.program, &error);
    if (status == WYE_OK)
        status = wye_device_open(context, wye_str(argc > 1 ? argv[1] : ""), desc.program,
                                 &desc.device, &error);
    if (status == WYE_OK) status = wye_dispatch(context, &desc, NULL, &error);
    for (int tries = 1; status == WYE_DEVICE_LOST && tries < 4; ++tries) {
        report("lost", error);
        error = NULL;
        /* A new handle; buffers of the old one stay lost. */
        if (tries > 1 || wye_device_recover(context, desc.device, &desc.device, NULL) != WYE_OK)
            status = wye_device_open(context, wye_str("cpu"), desc.program, &desc.device, &error);
        else
            status = WYE_OK;
        if (status == WYE_OK) status = wye_dispatch(context, &desc, NULL, &error);
    }
    if (status == WYE_OK) status = wye_device_describe(context, desc.device, &device, &error);
    if (status == WYE_OK)
        printf("doubled on %s: %u %u %u\n", device.selector.data, r[0], r[1], r[2]);
    else
        report("lost_device", error);
    wye_context_destroy(context);
    return status != WYE_OK;
}
