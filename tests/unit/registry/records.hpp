// SPDX-License-Identifier: Apache-2.0
//
// The records of a registry that opened plugins of this build, without the warning that their files
// belong to another user: root may run the tests of a build that a user made.
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
