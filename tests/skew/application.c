/* SPDX-License-Identifier: Apache-2.0
 *
 * A small application in C. The archives store it with the library that it was built with.
 *
 *   application run SELECTOR PROGRAM.wye INPUT OUTPUT BYTES PARAM...
 *       runs a program with one input, then one output of BYTES bytes, and integer parameters
 *   application plugins
 *       prints id, state (0: not opened yet, 1: ready), status code and reason of each plugin file
 *   application wire PROGRAM.wye OUTPUT
 *       writes the program's wire form, which `run` takes too
 *   application report OUTPUT
 *       writes the report of plugins and devices
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wye/report.h"
#include "wye/wye.h"

static int fail(wye_error* error) {
    fprintf(stderr, "application: %s: %s\n", wye_status_text(wye_error_status(error)),
            wye_error_text(error).data);
    wye_error_free(error);
    return 1;
}

/* Returns all bytes of a file, and a null byte behind them. Ends the program if the file cannot be
 * read. */
static char* bytes_of(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    char* bytes = NULL;
    long end = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 &&
        fseek(file, 0, SEEK_SET) == 0 && (bytes = calloc(1, (size_t)end + 1)) != NULL &&
        fread(bytes, 1, (size_t)end, file) == (size_t)end) {
        fclose(file);
        *size = (size_t)end;
        return bytes;
    }
    perror(path);
    exit(2);
}

/* Makes a program from its text or from its wire form. A text never begins like a wire form. */
static wye_status program_of(wye_context* context, const char* path, wye_program* out,
                             wye_error** error) {
    size_t size;
    char* bytes = bytes_of(path, &size);
    wye_program_source source;
    wye_status status;
    WYE_INIT(source);
    if (memchr(bytes, 0, size) != NULL) {
        source.wire.data = bytes;
        source.wire.size = size;
    } else {
        source.text = wye_str(bytes);
    }
    status = wye_program_create(context, &source, out, error);
    free(bytes);
    return status;
}

static int write_blob(const char* path, wye_blob* blob) {
    const wye_bytes bytes = wye_blob_bytes(blob);
    FILE* file = fopen(path, "wb");
    const int good = file != NULL && fwrite(bytes.data, 1, bytes.size, file) == bytes.size;
    if (file == NULL || fclose(file) != 0 || !good) perror(path);
    wye_blob_free(blob);
    return good ? 0 : 2;
}

static int wire(wye_context* context, char** argv) {
    wye_error* error = NULL;
    wye_program program = 0;
    wye_blob* blob = NULL;
    if (program_of(context, argv[2], &program, &error) != WYE_OK ||
        wye_program_lower(context, program, wye_str("wire"), 0, &blob, &error) != WYE_OK)
        return fail(error);
    return write_blob(argv[3], blob);
}

static int report(wye_context* context, char** argv) {
    wye_error* error = NULL;
    wye_blob* blob = NULL;
    if (wye_context_report(context, wye_str(""), &blob, &error) != WYE_OK) return fail(error);
    return write_blob(argv[2], blob);
}

static int run(wye_context* context, int argc, char** argv) {
    enum { kMostParams = 8 };
    uint64_t params[kMostParams];
    size_t input_size, output_size = strtoul(argv[6], NULL, 10);
    char* input = bytes_of(argv[4], &input_size);
    char* output = calloc(1, output_size + 1);
    FILE* file;
    wye_error* error = NULL;
    wye_dispatch_desc desc;
    wye_argument arguments[2];
    memset(arguments, 0, sizeof arguments);
    arguments[0].kind = arguments[1].kind = WYE_ARGUMENT_HOST;
    arguments[0].input.data = input;
    arguments[0].input.size = input_size;
    arguments[1].binding = 1;
    arguments[1].output = output;
    arguments[1].output_size = output_size;
    WYE_INIT(desc);
    desc.arguments = arguments;
    desc.argument_count = 2;
    desc.params = params;
    for (int i = 7; i < argc && desc.param_count < kMostParams; ++i)
        params[desc.param_count++] = strtoull(argv[i], NULL, 10);
    if (program_of(context, argv[3], &desc.program, &error) != WYE_OK ||
        wye_device_open(context, wye_str(argv[2]), desc.program, &desc.device, &error) != WYE_OK ||
        wye_dispatch(context, &desc, NULL, &error) != WYE_OK)
        return fail(error);
    file = fopen(argv[5], "wb");
    if (file == NULL || fwrite(output, 1, output_size, file) != output_size || fclose(file) != 0) {
        perror(argv[5]);
        return 2;
    }
    free(input), free(output);
    return 0;
}

static int plugins(wye_context* context) {
    wye_error* error = NULL;
    wye_load_report* report = NULL;
    wye_load_plugin plugin;
    if (wye_load_report_create(context, wye_str(""), &report, &error) != WYE_OK) return fail(error);
    for (uint64_t i = 0;; ++i) {
        WYE_INIT(plugin);
        if (wye_load_report_plugin(report, i, &plugin, &error) != WYE_OK) break;
        printf("%s %" PRIu32 " %" PRId32 " %s\n", plugin.id.data, plugin.state,
               plugin.has_reason ? plugin.reason.code : 0,
               plugin.has_reason ? plugin.reason.message.data : "");
    }
    if (wye_error_status(error) != WYE_NOT_FOUND) return fail(error);
    wye_error_free(error);
    wye_load_report_free(report);
    return 0;
}

int main(int argc, char** argv) {
    wye_error* error = NULL;
    wye_context* context = NULL;
    int status = 2;
    if (wye_context_create(NULL, &context, &error) != WYE_OK) return fail(error);
    if (argc >= 7 && strcmp(argv[1], "run") == 0) status = run(context, argc, argv);
    if (argc == 2 && strcmp(argv[1], "plugins") == 0) status = plugins(context);
    if (argc == 4 && strcmp(argv[1], "wire") == 0) status = wire(context, argv);
    if (argc == 3 && strcmp(argv[1], "report") == 0) status = report(context, argv);
    wye_context_destroy(context);
    return status;
}
