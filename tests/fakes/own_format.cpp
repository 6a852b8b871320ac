// SPDX-License-Identifier: Apache-2.0
// Takes artifacts of a format of its own only, so that no program of the language runs on it.
#include "base.hpp"

static wye_status info(wye_plugin_object* plugin, std::uint32_t index, wye_device_info* out,
                       wye_error** error) {
    static constexpr wye_string kOwn[] = {fake::text("org.example.fake")};
    const wye_status status = fake::device_info(plugin, index, out, error);
    out->formats = kOwn;
    return status;
}
FAKE_TABLE("own_format", t.device_info = info)
