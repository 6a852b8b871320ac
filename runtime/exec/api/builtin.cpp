// SPDX-License-Identifier: Apache-2.0
//
// The plugins that are linked into the library: the CPU, which needs no driver.
#include "cpu/cpu_plugin.h"
#include "exec/api/api.hpp"

namespace wye::exec {

std::vector<registry::BuiltinPlugin> builtin_plugins() { return {{"cpu", &wye_cpu_plugin_query}}; }

}  // namespace wye::exec
