// SPDX-License-Identifier: Apache-2.0
//
// The C function that returns the table of driver workarounds as JSON.
#include "lower/quirks/quirks.hpp"
#include "exec/api/api.hpp"
#include "registry/json.hpp"

using namespace wye::exec;
using wye::Result;
using wye::lower::QuirkEntry;
using wye::registry::Json;

wye_status wye_quirks_report(wye_blob** out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_NEED(out);
        Json table = Json::array();
        for (const QuirkEntry& entry : wye::lower::quirk_entries()) {
            const bool tested = entry.found == QuirkEntry::Found::SelfTest;
            table.push_back({{"id", entry.name},
                             {"seen_on", entry.seen_on},
                             {"fault", entry.fault},
                             {"workaround", entry.workaround},
                             {"cost", entry.cost},
                             {"found_by", tested ? "self-test" : "driver"},
                             {"unknown_drivers", entry.cautious},
                             {"formats", wye::lower::format_names(entry)},
                             {"regression", entry.regression}});
        }
        *out = make_blob(table.dump(2));
        return {};
    });
}
