// SPDX-License-Identifier: Apache-2.0
//
// Built against a later minor, with a longer table. It accepts this host, so it must load.
#include "base.hpp"

namespace {
struct LongerTable {
    wye_plugin_table known;
    void (*later)();
};
constexpr LongerTable kLonger = [] {
    LongerTable t{fake::kPluginTable, nullptr};
    t.known.header.size = sizeof t;
    return t;
}();
}  // namespace
FAKE_DESC("newer_minor", d.abi_minor = d.minor_frozen = WYE_ABI_MINOR + 3; d.table = &kLonger.known)
