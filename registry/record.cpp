// SPDX-License-Identifier: Apache-2.0
#include "registry/record.hpp"

#include "wye/sdk/words.hpp"

namespace wye::registry {

std::string_view stage_name(Stage stage) noexcept {
    constexpr std::string_view kNames[] = {"found",      "manifest", "trust",      "architecture",
                                           "needs",      "opened",   "negotiated", "initialised",
                                           "enumerated", "probed"};
    return sdk::name_in(kNames, stage);
}

std::string_view severity_name(Severity severity) noexcept {
    constexpr std::string_view kNames[] = {"refused", "warning", "note"};
    return sdk::name_in(kNames, severity);
}

std::string_view code_name(Code code) noexcept {
    switch (code) {
#define WYE_CODE_NAME(name, value, text) \
    case Code::name:                     \
        return #name;
        WYE_STATUSES(WYE_CODE_NAME)
#undef WYE_CODE_NAME
    }
    return "UNKNOWN";
}

Error to_error(const Record& record) {
    Error error(record.code, record.message, record.fix,
                record.path.empty() ? record.plugin : record.path);
    if (!record.loader_text.empty())
        error.cause =
            std::make_shared<const Error>(record.code, record.loader_text, "", record.path);
    return error;
}

std::string to_text(const Record& record) {
    std::string out = record.plugin.empty() ? record.path : record.plugin;
    if (!out.empty()) out += ": ";
    out += stage_name(record.stage);
    out += ": ";
    out += record.message;
    if (!record.loader_text.empty()) out += " [" + record.loader_text + "]";
    return with_remedy(std::move(out), record.fix);
}

}  // namespace wye::registry
