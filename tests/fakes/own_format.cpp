// SPDX-License-Identifier: Apache-2.0
// Accepts only artifacts of its own format, so no program of the language can run on it.
#include "base.hpp"

static wye_status info(wye_plugin_object* plugin, std::uint32_t index, wye_device_info* out,
                       wye_error** error) {
    static constexpr wye_string kOwn[] = {fake::text("org.example.fake")};
    const wye_status status = fake::device_info(plugin, index, out, error);
    out->formats = kOwn;
    return status;
}
FAKE_TABLE("own_format", t.device_info = info)
