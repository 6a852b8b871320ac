// SPDX-License-Identifier: Apache-2.0
#include "registry/record.hpp"

namespace wye::registry {

std::string_view stage_name(Stage stage) noexcept {
    switch (stage) {
        case Stage::found:
            return "found";
        case Stage::manifest:
            return "manifest";
        case Stage::trust:
            return "trust";
        case Stage::architecture:
            return "architecture";
        case Stage::needs:
            return "needs";
        case Stage::opened:
            return "opened";
        case Stage::negotiated:
            return "negotiated";
        case Stage::initialised:
            return "initialised";
        case Stage::enumerated:
            return "enumerated";
        case Stage::probed:
            return "probed";
    }
    return "unknown";
}

std::string_view severity_name(Severity severity) noexcept {
    switch (severity) {
        case Severity::refused:
            return "refused";
        case Severity::warning:
            return "warning";
        case Severity::note:
            return "note";
    }
    return "unknown";
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
