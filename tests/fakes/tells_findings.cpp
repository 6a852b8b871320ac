// SPDX-License-Identifier: Apache-2.0
//
// Keeps the contract. Its `init` logs what the host's configuration says of the plugin's probe, and
// loads the library that the variable WYE_FAKE_LOADS names, as a driver would.
#include <dlfcn.h>

#include <initializer_list>

#include "base.hpp"

static wye_status init(const wye_host_table* host, std::uint32_t flags, wye_plugin_object** out,
                       wye_error** error) {
    for (const wye_string key :
         {fake::text("probed"), fake::text("probed.0"), fake::text("probed.1")}) {
        wye_string value = fake::text("nothing");
        (void)host->config_get(host->self, key, &value);
        host->log(host->self, WYE_LOG_INFO, key, value);
    }
    if (const char* const library = std::getenv("WYE_FAKE_LOADS")) (void)dlopen(library, RTLD_NOW);
    return fake::init(host, flags, out, error);
}
FAKE_TABLE("tells_findings", t.init = init)
