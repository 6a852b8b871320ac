/* SPDX-License-Identifier: Apache-2.0
 *
 * Uses the public API from C11: links libwye.so, runs saxpy on the CPU with host bytes and with
 * resident buffers, and provokes errors. Prints each failed check, and exits with their number.
 */
#include <stdio.h>
#include <stdlib.h>

#include "wye/wye.h"

static int wrongs = 0;

static void expect(int holds, const char* what, int line) {
    if (holds) return;
    printf("line %d: %s\n", line, what);
    ++wrongs;
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

/* Prints the error, if any, and frees it. */
static wye_status done(wye_status status, wye_error** error, int line) {
    if (status != WYE_OK) {
        printf("line %d: %s\n", line, wye_error_text(*error).data);
        ++wrongs;
    }
    wye_error_free(*error);
    *error = NULL;
    return status;
}
#define OK(call) done((call), &error, __LINE__)

static const char kSaxpy[] =
    "wye 1; program saxpy; workgroup 64; param a: f32;\n"
    "input x: f32[]; input y: f32[len(x)]; output r: f32[len(x)]; grid elements len(x);\n"
    "main { let i = global_id.x; if i < len(r) { r[i] = a * x[i] + y[i]; } }\n";

enum { kCount = 1000 };

static uint64_t bits_of(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static wye_program load(wye_context* context, const char* text, wye_error** error) {
    wye_program_source source;
    wye_program program = 0;
    WYE_INIT(source);
    source.name = wye_str("test.wye");
    source.text = wye_str(text);
    wye_program_create(context, &source, &program, error);
    return program;
}

static void describe(wye_context* context, wye_program program) {
    wye_error* error = NULL;
    wye_program_description info;
    wye_blob* blob = NULL;
    WYE_INIT(info);
    OK(wye_program_describe(context, program, &info, &error));
    EXPECT(info.name.size == 5 && memcmp(info.name.data, "saxpy", 5) == 0);
    EXPECT(info.fingerprint.size == 32);
    EXPECT(info.workgroup[0] == 64 && info.workgroup[1] == 1);
    EXPECT(info.param_count == 1 && info.buffer_count == 3);
    EXPECT(info.buffers[2].in_outputs == 1 && info.buffers[2].in_inputs == 0);
    EXPECT(info.buffers[2].binding == 2 && info.buffers[2].element_bytes == 4);
    EXPECT(memcmp(info.buffers[0].role.data, "input", 5) == 0);
    EXPECT(info.deterministic == 1 && info.deterministic_if == 0);

    OK(wye_program_lower(context, program, wye_str("text"), 0, &blob, &error));
    EXPECT(strstr((const char*)wye_blob_bytes(blob).data, "program saxpy;") != NULL);
    wye_blob_free(blob);

    /* A program loaded from the wire form has the same fingerprint. */
    OK(wye_program_lower(context, program, wye_str("wire"), 0, &blob, &error));
    {
        wye_program_source source;
        wye_program again = 0;
        wye_program_description other;
        WYE_INIT(source);
        WYE_INIT(other);
        source.wire = wye_blob_bytes(blob);
        OK(wye_program_create(context, &source, &again, &error));
        OK(wye_program_describe(context, again, &other, &error));
        EXPECT(memcmp(info.fingerprint.data, other.fingerprint.data, 32) == 0);
        OK(wye_program_free(context, again, &error));
        EXPECT(wye_program_describe(context, again, &other, NULL) == WYE_STALE_HANDLE);
    }
    wye_blob_free(blob);
    OK(wye_program_analysis(context, program, &blob, &error));
    EXPECT(strstr((const char*)wye_blob_bytes(blob).data, "\"ieee_f32\"") != NULL);
    wye_blob_free(blob);
    EXPECT(wye_program_lower(context, program, wye_str("cobol"), 0, &blob, NULL) ==
           WYE_UNSUPPORTED);
}

static void errors(wye_context* context) {
    wye_error* error = NULL;
    const wye_program program =
        load(context, "wye 1; program p; workgroup 1;\nmain { let a = b; let c = d; }\n", &error);
    EXPECT(program == 0);
    EXPECT(wye_error_status(error) == WYE_INVALID_TEXT ||
           wye_error_status(error) == WYE_INVALID_PROGRAM);
    EXPECT(strstr(wye_error_text(error).data, "test.wye:2:16") != NULL);
    EXPECT(strstr(wye_error_text(error).data, "test.wye:2:27") != NULL);
    EXPECT(strncmp(wye_error_fix(error).data, "Fix: ", 5) == 0);
    wye_error_free(error);
    error = NULL;

    /* Every accessor accepts null, which stands for "out of memory". */
    EXPECT(wye_error_status(NULL) == WYE_OUT_OF_MEMORY);
    EXPECT(wye_error_message(NULL).size > 0);
    EXPECT(strncmp(wye_error_fix(NULL).data, "Fix: ", 5) == 0);
    EXPECT(wye_error_cause(NULL) == NULL);
    wye_error_free(NULL);
    wye_blob_free(NULL);
    wye_context_destroy(NULL);
    EXPECT(strcmp(wye_status_text(WYE_WRONG_OWNER), "wrong owner") == 0);
    EXPECT(strlen(wye_status_text(12345)) > 0);
    EXPECT(strcmp(wye_version(), "0.1.0") == 0);
}

static void run_on_host_bytes(wye_context* context, wye_device device, wye_program program) {
    static float x[kCount], y[kCount], r[kCount];
    wye_error* error = NULL;
    wye_argument arguments[3];
    wye_dispatch_desc desc;
    wye_report report;
    const uint64_t a = bits_of(2.0F);
    int i;
    for (i = 0; i < kCount; ++i) {
        x[i] = (float)i;
        y[i] = (float)(i % 7);
    }
    memset(arguments, 0, sizeof arguments);
    for (i = 0; i < 3; ++i) {
        arguments[i].kind = WYE_ARGUMENT_HOST;
        arguments[i].binding = (uint32_t)i;
    }
    arguments[0].input.data = x;
    arguments[1].input.data = y;
    arguments[0].input.size = arguments[1].input.size = sizeof x;
    arguments[2].output = r;
    arguments[2].output_size = sizeof r;
    WYE_INIT(desc);
    WYE_INIT(report);
    desc.program = program;
    desc.device = device;
    desc.arguments = arguments;
    desc.argument_count = 3;
    desc.params = &a;
    desc.param_count = 1;
    OK(wye_dispatch(context, &desc, &report, &error));
    for (i = 0; i < kCount; ++i)
        if (r[i] != 2.0F * x[i] + y[i]) break;
    EXPECT(i == kCount);
    EXPECT(report.bytes_uploaded == 2 * sizeof x && report.bytes_downloaded == sizeof r);
    EXPECT(report.groups[0] == (kCount + 63) / 64);

    /* Each wrong call is refused. */
    arguments[1].input.size -= 4;
    EXPECT(wye_dispatch(context, &desc, NULL, NULL) == WYE_INVALID_ARGUMENT);
    arguments[1].input.size += 4;
    desc.argument_count = 2;
    EXPECT(wye_dispatch(context, &desc, NULL, NULL) == WYE_INVALID_ARGUMENT);
    desc.argument_count = 3;
    desc.param_count = 0;
    EXPECT(wye_dispatch(context, &desc, NULL, NULL) == WYE_INVALID_ARGUMENT);
}

static void run_resident(wye_context* context, wye_device device, wye_program program) {
    static float values[kCount], result[kCount];
    wye_error* error = NULL;
    wye_buffer_create_desc make;
    wye_buffer buffers[3] = {0, 0, 0};
    wye_argument arguments[3];
    wye_dispatch_desc desc;
    wye_report report;
    uint64_t size = 0;
    const uint64_t a = bits_of(3.0F);
    int i;
    for (i = 0; i < kCount; ++i) values[i] = (float)i;
    WYE_INIT(make);
    make.size = sizeof values;
    make.label = wye_str("vector");
    memset(arguments, 0, sizeof arguments);
    for (i = 0; i < 3; ++i) {
        OK(wye_buffer_create(context, device, &make, &buffers[i], &error));
        arguments[i].kind = WYE_ARGUMENT_RESIDENT;
        arguments[i].binding = (uint32_t)i;
        arguments[i].buffer = buffers[i];
    }
    OK(wye_buffer_size(context, buffers[0], &size, &error));
    EXPECT(size == sizeof values);
    {
        const wye_bytes bytes = {values, sizeof values};
        OK(wye_buffer_upload_range(context, buffers[0], 0, bytes, &error));
    }
    OK(wye_buffer_copy(context, buffers[0], 0, buffers[1], 0, sizeof values, &error));
    OK(wye_buffer_fill(context, buffers[1], 0, 40, 0, 4, &error));
    WYE_INIT(desc);
    WYE_INIT(report);
    desc.program = program;
    desc.device = device;
    desc.arguments = arguments;
    desc.argument_count = 3;
    desc.params = &a;
    desc.param_count = 1;
    OK(wye_dispatch(context, &desc, &report, &error));
    EXPECT(report.bytes_uploaded == 0 && report.bytes_downloaded == 0);
    OK(wye_buffer_download_range(context, buffers[2], 0, result, sizeof result, &error));
    for (i = 0; i < kCount; ++i)
        if (result[i] != 3.0F * values[i] + (i < 10 ? 0.0F : values[i])) break;
    EXPECT(i == kCount);
    for (i = 0; i < 3; ++i) OK(wye_buffer_free(context, buffers[i], &error));
    EXPECT(wye_buffer_free(context, buffers[0], NULL) == WYE_STALE_HANDLE);
    EXPECT(wye_dispatch(context, &desc, NULL, NULL) == WYE_STALE_HANDLE);
}

int main(void) {
    wye_error* error = NULL;
    wye_context* context = NULL;
    wye_context_desc desc;
    wye_device device = 0;
    wye_device_description info;
    wye_fact fact;
    wye_blob* report = NULL;
    wye_program program;

    WYE_INIT(fact);
    WYE_INIT(desc);
    desc.flags = 1U << 20;
    EXPECT(wye_context_create(&desc, &context, NULL) == WYE_INVALID_ARGUMENT);
    desc.flags = WYE_CONTEXT_NO_PLUGINS | WYE_CONTEXT_IGNORE_ENVIRONMENT;
    if (OK(wye_context_create(&desc, &context, &error)) != WYE_OK) return wrongs;
    errors(context);
    program = load(context, kSaxpy, &error);
    OK(error == NULL ? WYE_OK : wye_error_status(error));
    describe(context, program);

    if (OK(wye_device_open(context, wye_str("cpu"), program, &device, &error)) == WYE_OK) {
        WYE_INIT(info);
        OK(wye_device_describe(context, device, &info, &error));
        EXPECT(info.selector.size == 5 && memcmp(info.selector.data, "cpu:0", 5) == 0);
        OK(wye_device_fact(context, device, wye_str("int64"), &fact, &error));
        EXPECT(fact.type == WYE_FACT_BOOL && fact.u == 1);
        EXPECT(wye_device_fact(context, device, wye_str("nonsense"), &fact, NULL) ==
               WYE_UNKNOWN_KEY);
        run_on_host_bytes(context, device, program);
        run_resident(context, device, program);
        OK(wye_device_flush(context, device, &error));
    }
    EXPECT(wye_device_open(context, wye_str("nothing:3"), 0, &device, NULL) == WYE_NO_DEVICE);
    EXPECT(wye_device_open(context, wye_str(":::"), 0, &device, NULL) == WYE_INVALID_ARGUMENT);
    OK(wye_context_report(context, wye_str(""), &report, &error));
    EXPECT(strstr((const char*)wye_blob_bytes(report).data, "\"schema_version\"") != NULL);
    wye_blob_free(report);
    wye_context_destroy(context);
    printf("%d wrong\n", wrongs);
    return wrongs;
}
