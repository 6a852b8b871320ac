// SPDX-License-Identifier: Apache-2.0
//
// Has translate, but not the slot that releases its results.
#include "base.hpp"

static wye_status translate(wye_plugin_object*, std::uint32_t, const wye_artifact*, wye_string,
                            wye_bytes*, wye_error**) {
    return WYE_UNSUPPORTED;
}
FAKE_TABLE("half_pair", t.translate = translate)
