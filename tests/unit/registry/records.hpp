// SPDX-License-Identifier: Apache-2.0
//
// The records of a registry that opened plugins of this build, without warnings that another user
// owns the plugins' files. Such warnings are right if root runs the tests of a user's build.
#pragma once

#include <vector>

#include "registry/choose/catalogue.hpp"

inline std::vector<wye::registry::Record> records_of(const wye::registry::Registry& registry) {
    std::vector<wye::registry::Record> out = registry.records();
    std::erase_if(out, [](const wye::registry::Record& record) {
        return record.code == wye::Code::NOT_TRUSTED;
    });
    return out;
}
