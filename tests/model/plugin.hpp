// SPDX-License-Identifier: Apache-2.0
//
// The interface between the plugin's file and the scripted device, which is in the executable.
#pragma once

#include "wye/abi.h"

extern "C" WYE_PLUGIN_EXPORT wye_status model_plugin_query(const wye_hello* hello,
                                                           const wye_plugin_desc** out);
