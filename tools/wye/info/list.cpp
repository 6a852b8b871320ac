// SPDX-License-Identifier: Apache-2.0
#include "views.hpp"

namespace wye::tool {

std::string list_view(const Report& report) {
    std::string out;
    for (const Report& device : items(report, "devices"))
        if (usable(device))
            out += clean(text(device, "selector")) + '\t' + clean(text(device, "name")) + '\n';
    return out;
}

}  // namespace wye::tool
