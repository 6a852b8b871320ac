// SPDX-License-Identifier: Apache-2.0
//
// The size of each table and description in ABI minor 0, which is the smallest that a host or a
// plugin may pass. A reader compares a size with this one or with WYE_SIZE_TO, never with sizeof,
// which grows with later minors.
#pragma once

#include <cstdint>

#include "wye/abi.h"
#include "wye/abi_compiler.h"
#include "wye/abi_layer.h"
#include "wye/abi_layouts.h"
#include "wye/abi_loss.h"
#include "wye/abi_native.h"

namespace wye::sdk {

template <typename Structure>
inline constexpr std::uint32_t kSizeOfMinor0 = 0;

#define WYE_SDK_SIZE(type, last) \
    template <>                  \
    inline constexpr std::uint32_t kSizeOfMinor0<type> = WYE_SIZE_TO(type, last);
WYE_SDK_SIZE(wye_hello, minor_frozen)
WYE_SDK_SIZE(wye_plugin_desc, minor_frozen)
WYE_SDK_SIZE(wye_host_table, get_extension)
WYE_SDK_SIZE(wye_plugin_table, shutdown)
WYE_SDK_SIZE(wye_device_table, close)
WYE_SDK_SIZE(wye_queue_table, info)
WYE_SDK_SIZE(wye_layer_next, version)
WYE_SDK_SIZE(wye_compiler_table, identity)
WYE_SDK_SIZE(wye_layouts_table, counts)
WYE_SDK_SIZE(wye_loss_table, lose)
WYE_SDK_SIZE(wye_native_table, buffer)
#undef WYE_SDK_SIZE

}  // namespace wye::sdk
