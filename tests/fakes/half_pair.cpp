// SPDX-License-Identifier: Apache-2.0
//
// Has the slot translate, but lacks translate_release, which releases the result.
#include "base.hpp"

static wye_status translate(wye_plugin_object*, std::uint32_t, const wye_artifact*, wye_string,
                            wye_bytes*, wye_error**) {
    return WYE_UNSUPPORTED;
}
FAKE_TABLE("half_pair", t.translate = translate)
