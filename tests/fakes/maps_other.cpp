// SPDX-License-Identifier: Apache-2.0
// The mapping of a buffer is not its memory: copies do not see what the host writes there.
#include "base.hpp"

namespace {

unsigned char other[std::size_t{4} << 20U];

wye_status buffer_map(wye_device_object*, wye_buffer_object*, wye_mapping* out, wye_error**) {
    out->address = other;
    out->flags = WYE_MAPPING_CACHED;
    return WYE_OK;
}

}  // namespace

FAKE_DEVICE("maps_other", t.buffer_map = buffer_map)
