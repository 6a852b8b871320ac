// SPDX-License-Identifier: Apache-2.0
//
// open_one FILE HOW: opens device 0 of a fake in a separate process, for fakes that end their
// process. Prints "closed" after the context was destroyed.
#include <cstdio>

#include "wye/wye.h"

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const wye_string path = wye_str(argv[1]);
    // With a probe, the fake would end only the probe's process.
    const wye_key_value config[] = {{wye_str("breaks_rules.how"), wye_str(argv[2])},
                                    {wye_str("probe.mode"), wye_str("off")}};
    wye_context_desc desc;
    WYE_INIT(desc);
    desc.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT;
    desc.plugin_paths = &path;
    desc.plugin_path_count = 1;
    desc.config = config;
    desc.config_count = 2;
    wye_context* context = nullptr;
    if (wye_context_create(&desc, &context, nullptr) != WYE_OK) return 3;
    wye_device device = 0;
    wye_error* error = nullptr;
    if (wye_device_open(context, wye_str("breaks_rules:0"), 0, &device, &error) != WYE_OK)
        std::puts(wye_error_text(error).data);
    wye_error_free(error);
    wye_context_destroy(context);
    std::puts("closed");
    return 0;
}
