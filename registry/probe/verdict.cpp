// SPDX-License-Identifier: Apache-2.0
#include "registry/probe/verdict.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "registry/find/manifest.hpp"
#include "registry/json.hpp"
#include "registry/open/plugin_text.hpp"
#include "registry/open/slot_watch.hpp"
#include "surroundings.hpp"
#include "wye/abi.h"
#include "wye/sdk/words.hpp"

namespace wye::registry {
namespace {

constexpr std::size_t kMostDevices = 4096;
constexpr std::size_t kMostEntries = 4096;    // of a list that has no other limit
constexpr std::size_t kMostText = 1U << 16U;  // bytes of one text
constexpr int kMostNesting = 16;
constexpr std::string_view kFirstLine = "{\"wye_probe\":1}\n";

constexpr std::string_view kEnds[] = {"good",    "refused",       "crashed",
                                      "exited",  "timed_out",     "flooded",
                                      "garbled", "out_of_memory", "oversized"};

struct Garbled {};  // thrown within this file only

void need(bool condition) {
    if (!condition) throw Garbled{};
}

// ---- Members of objects; an absent or null member counts as the default ----------------------

const Json* member(const Json& object, std::string_view name) {
    const Json* found = object.find(name);
    return found == nullptr || found->is_null() ? nullptr : found;
}

std::string text_of(const Json& value) {
    need(value.is_string() && value.text().size() <= kMostText);
    return one_line(value.text());
}
std::string text_at(const Json& object, std::string_view name) {
    const Json* value = member(object, name);
    return value == nullptr ? std::string() : text_of(*value);
}

template <typename T>
T number_of(const Json& value) {
    const auto out = value.number<T>();
    need(out.has_value());
    return *out;
}
template <typename T>
T number_at(const Json& object, std::string_view name, T otherwise = {}) {
    const Json* value = member(object, name);
    return value == nullptr ? otherwise : number_of<T>(*value);
}

bool truth_of(const Json& value) {
    need(value.is_boolean());
    return value.text() == "true";
}
bool truth_at(const Json& object, std::string_view name) {
    const Json* value = member(object, name);
    return value != nullptr && truth_of(*value);
}

// Calls `take` with each entry of the list named `name`.
template <typename Take>
void each(const Json& object, std::string_view name, std::size_t most, Take&& take) {
    const Json* list = member(object, name);
    if (list == nullptr) return;
    need(list->is_array() && list->size() <= most);
    for (std::size_t i = 0; i < list->size(); ++i) take(list->at(i));
}

std::vector<std::string> texts_at(const Json& object, std::string_view name) {
    std::vector<std::string> out;
    each(object, name, kMostEntries, [&](const Json& one) { out.push_back(text_of(one)); });
    return out;
}

// A path, whose bytes need not be UTF-8.
std::string path_of(const Json& value) {
    auto out = exact_bytes(value);
    need(out.has_value() && out->size() <= kMostText);
    return std::move(*out);
}

Json parsed(std::string_view text) {
    need(too_deep_at(text, kMostNesting) == text.npos);
    try {
        Json out = Json::parse(text);
        need(out.is_object());
        return out;
    } catch (const Json::ParseError&) {
        throw Garbled{};
    }
}

// ---- Enumerations ----------------------------------------------------------------------------

Code code_of(std::string_view name) {
#define WYE_CODE_OF(code, value, text) \
    if (name == #code) return Code::code;
    WYE_STATUSES(WYE_CODE_OF)
#undef WYE_CODE_OF
    // Plugins of a later minor report codes that have no name here.
    constexpr auto kLater = static_cast<Code>(WYE_STATUS_FIRST_FREE);
    if (name == code_name(kLater)) return kLater;
    throw Garbled{};
}

template <typename Enum>
Enum by_name(std::string_view name, Enum last, std::string_view (*name_of)(Enum) noexcept) {
    for (int i = 0; i <= static_cast<int>(last); ++i)
        if (name_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
    throw Garbled{};
}

// ---- The report ------------------------------------------------------------------------------

using Moment = std::chrono::steady_clock::time_point;

std::shared_ptr<const DeviceInfo> device_of(const Json& from, std::string_view plugin,
                                            std::size_t index, Moment probed) {
    auto out = std::make_shared<DeviceInfo>();
    out->probed = probed;
    out->plugin = plugin;
    out->index = static_cast<std::uint32_t>(index);
    out->selector = fmt::format("{}:{}", plugin, index);
    need(text_at(from, "selector") == out->selector);
    out->id = text_at(from, "id");
    out->name = text_at(from, "name");
    out->usable = truth_at(from, "usable");
    out->reason = text_at(from, "reason");
    out->fix = text_at(from, "fix");
    out->native_code = number_at<std::int64_t>(from, "native_code");
    out->formats = texts_at(from, "formats");
    if (const Json* facts = member(from, "facts")) {
        need(facts->is_object());
        const Json* sources = member(from, "fact_sources");
        need(sources == nullptr || sources->is_object());
        const Json* reasons = member(from, "fact_reasons");
        need(reasons == nullptr || reasons->is_object());
        for (const FactInfo& info : fact_infos()) {
            if (const Json* value = member(*facts, info.name)) {
                auto fact = fact_value(*value, info.type);
                need(fact.has_value());
                out->facts.set(info.key, {*std::move(fact),
                                          sources == nullptr ? "" : text_at(*sources, info.name)});
            } else if (reasons != nullptr) {
                const std::string why = text_at(*reasons, info.name);
                if (!why.empty())
                    out->facts.set_missing(info.key,
                                           by_name(why, Missing::bad_answer, &missing_name));
            }
        }
    }
    return out;
}

Record record_in(const Json& from) {
    Record out;
    out.stage = by_name(text_at(from, "stage"), Stage::probed, &stage_name);
    out.severity = by_name(text_at(from, "severity"), Severity::note, &severity_name);
    out.code = code_of(text_at(from, "code"));
    out.message = text_at(from, "message");
    out.loader_text = text_at(from, "loader_text");
    out.missing_library = text_at(from, "missing_library");
    out.fix = text_at(from, "fix");
    out.path = text_at(from, "path");
    out.plugin = text_at(from, "plugin");
    return out;
}

void take_report(const Json& report, std::string_view plugin, Moment probed, ProbeMessage& out) {
    need(report.is_object());
    each(report, "plugins", kMostEntries, [&](const Json& one) {
        if (text_at(one, "id") != plugin || member(one, "abi") == nullptr) return;
        out.ready = text_at(one, "state") == "ready";
        out.version = text_at(one, "version");
        out.vendor = text_at(one, "vendor");
        out.compiler = text_at(one, "compiler");
        out.abi_minor = number_at<std::uint32_t>(*member(one, "abi"), "minor");
    });
    each(report, "devices", kMostDevices, [&](const Json& one) {
        if (text_at(one, "plugin") == plugin)
            out.devices.push_back(device_of(one, plugin, out.devices.size(), probed));
    });
    each(report, "records", kMostEntries, [&](const Json& one) {
        if (text_at(one, "plugin") == plugin) out.records.push_back(record_in(one));
    });
}

DeviceCheck check_of(const Json& from) {
    DeviceCheck out;
    out.device = text_at(from, "device");
    out.code = code_of(text_at(from, "code"));
    out.wrong = truth_at(from, "wrong");
    out.message = text_at(from, "message");
    return out;
}

void take_line(const Json& line, std::string_view plugin, Moment probed, ProbeMessage& out) {
    if (const Json* slot = member(line, "in")) out.slot = text_of(*slot);
    if (const Json* report = member(line, "report")) take_report(*report, plugin, probed, out);
    if (const Json* check = member(line, "check")) {
        need(check->is_object() && out.checks.size() < kMostEntries);
        out.checks.push_back(check_of(*check));
    }
    if (const Json* record = member(line, "record")) {
        need(record->is_object() && out.records.size() < kMostEntries);
        out.records.push_back(record_in(*record));
    }
    each(line, "libraries", kMostEntries,
         [&](const Json& one) { out.libraries.push_back(path_of(one)); });
    out.listed_ns = number_at(line, "listed_ns", out.listed_ns);
    out.dispatch_ns = number_at(line, "dispatch_ns", out.dispatch_ns);
    if (truth_at(line, "done")) out.done = true;
}

// Calls `take` with each complete line.
template <typename Take>
void lines(std::string_view text, Take&& take) {
    for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
        take(text.substr(0, end));
}

bool is_progress(std::string_view line) { return line.starts_with("{\"in\":"); }

ProbeMessage message_of(std::string_view text, std::string_view plugin, Moment probed) {
    ProbeMessage out;
    need(is_probe_message(text));
    lines(text, [&](std::string_view line) { take_line(parsed(line), plugin, probed, out); });
    return out;
}

// ---- Kept verdicts ---------------------------------------------------------------------------

Json stamp_json(const FileStamp& stamp) {
    Json out = Json::array();
    out.push_back(exact(stamp.path));
    for (const std::uint64_t number : {stamp.device, stamp.inode, stamp.size})
        out.push_back(number);
    out.push_back(stamp.time_ns);
    return out;
}

FileStamp stamp_in(const Json& from) {
    need(from.is_array() && from.size() == 5);
    return {path_of(from.at(0)), number_of<std::uint64_t>(from.at(1)),
            number_of<std::uint64_t>(from.at(2)), number_of<std::uint64_t>(from.at(3)),
            number_of<std::int64_t>(from.at(4))};
}

// Converts a past time of the wall clock to one of the steady clock.
Moment moment_of(std::int64_t unix_ns) {
    using std::chrono::nanoseconds;
    const auto wall = std::chrono::duration_cast<nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const bool past = unix_ns >= 0 && unix_ns < wall.count();
    return std::chrono::steady_clock::now() - nanoseconds(past ? wall.count() - unix_ns : 0);
}

KeptVerdict kept_of(std::string_view text, std::string_view plugin) {
    const std::size_t end = text.find('\n');
    need(end != text.npos);
    const Json head = parsed(text.substr(0, end));
    KeptVerdict out;
    Verdict& verdict = out.verdict;
    const auto how = end_of_name(text_at(head, "end"));
    need(how.has_value());
    verdict.end = *how;
    verdict.slot = text_at(head, "slot");
    verdict.how = text_at(head, "how");
    verdict.output = text_at(head, "output");
    verdict.times = number_at<std::uint32_t>(head, "times", 1);
    verdict.made_unix_ns = number_at<std::int64_t>(head, "made_unix_ns");
    verdict.took_ns = number_at<std::uint64_t>(head, "took_ns");
    verdict.remembered = true;
    const Json* library = member(head, "plugin");
    need(library != nullptr);
    out.plugin = stamp_in(*library);
    out.hash = text_at(head, "hash");
    out.memory = number_at<std::uint64_t>(head, "memory");
    each(head, "files", kMostEntries, [&](const Json& one) { out.files.push_back(stamp_in(one)); });
    out.message = text.substr(end + 1);
    if (!out.message.empty())
        verdict.message = message_of(out.message, plugin, moment_of(verdict.made_unix_ns));
    need(verdict.end != ProbeEnd::good || (verdict.message.ready && verdict.message.done));
    return out;
}

Stage stage_of(std::string_view slot) {
    if (slot == kLoading) return Stage::opened;
    if (slot == WYE_PLUGIN_QUERY_SYMBOL) return Stage::negotiated;
    if (slot == "init") return Stage::initialised;
    const bool lists = slot == "probe_devices" || slot == "device_info" || slot == "device_fact";
    return lists ? Stage::enumerated : Stage::probed;
}

}  // namespace

std::string_view end_name(ProbeEnd end) noexcept { return sdk::name_in(kEnds, end); }

std::optional<ProbeEnd> end_of_name(std::string_view name) noexcept {
    const auto* const found = std::ranges::find(kEnds, name);
    if (found == std::end(kEnds)) return std::nullopt;
    return static_cast<ProbeEnd>(found - kEnds);
}

Result<ProbeMessage> parse_probe_message(std::string_view text, std::string_view plugin) {
    try {
        if (text.size() > kMostMessageBytes) throw Garbled{};
        return message_of(text, plugin, std::chrono::steady_clock::now());
    } catch (const Garbled&) {
        return Error(Code::BAD_PLUGIN, "the probe's message is not valid",
                     "Fix: reinstall Wye, whose helper wye-probe must be of the same version");
    }
}

bool is_probe_message(std::string_view text) noexcept { return text.starts_with(kFirstLine); }

bool is_whole_message(std::string_view text) noexcept {
    return is_probe_message(text) && text.ends_with("\n{\"done\":true}\n");
}

std::string slot_before_fault(std::string_view text, std::string_view plugin) {
    ProbeMessage out;
    try {
        lines(text, [&](std::string_view line) { take_line(parsed(line), plugin, {}, out); });
    } catch (const Garbled&) {  // `out` has the lines before the fault
    }
    return out.slot;
}

std::string without_progress(std::string_view text) {
    std::string out;
    lines(text, [&](std::string_view line) {
        if (!is_progress(line)) out.append(line).append("\n");
    });
    return out;
}

FileStamp stamp_of(const std::string& path) {
    FileStamp out{path};
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return out;
    out.device = status.st_dev;
    out.inode = status.st_ino;
    // For device files, leaves size and time zero: drivers change the times at every use.
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return out;
    out.size = static_cast<std::uint64_t>(status.st_size);
    out.time_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    return out;
}

std::string to_text(const KeptVerdict& kept) {
    const Verdict& verdict = kept.verdict;
    Json head;
    head["end"] = end_name(verdict.end);
    head["slot"] = verdict.slot;
    head["how"] = verdict.how;
    head["output"] = verdict.output;
    head["times"] = verdict.times;
    head["made_unix_ns"] = verdict.made_unix_ns;
    head["took_ns"] = verdict.took_ns;
    head["plugin"] = stamp_json(kept.plugin);
    head["hash"] = kept.hash;
    head["memory"] = kept.memory;
    head["files"] = Json::array();
    for (const FileStamp& file : kept.files) head["files"].push_back(stamp_json(file));
    return head.dump(-1) + "\n" + kept.message;
}

std::optional<KeptVerdict> parse_kept_verdict(std::string_view text, std::string_view plugin) {
    try {
        return kept_of(text, plugin);
    } catch (const Garbled&) {
        return std::nullopt;
    }
}

std::optional<Record> record_of(const Verdict& verdict, std::string_view plugin,
                                const std::string& path) {
    if (!harmful(verdict.end)) return std::nullopt;
    const std::string where = verdict.slot.empty() ? "" : fmt::format(" in `{}`", verdict.slot);
    Record out;
    out.stage = stage_of(verdict.slot);
    out.plugin = plugin;
    out.path = path;
    out.loader_text = verdict.output;
    out.fix = fmt::format(
        "Fix: update the plugin or its driver, or remove it; `wye plugins forget {0}` probes it "
        "again, `wye plugins trust {0}` opens it unprobed",
        plugin);
    switch (verdict.end) {
        case ProbeEnd::crashed:
            out.code = Code::PROBE_CRASHED;
            out.message = fmt::format("the plugin crashed ({}){}", verdict.how, where);
            break;
        case ProbeEnd::exited:
            out.code = Code::PLUGIN_FAULT;
            out.message = fmt::format("the plugin ended its process ({}){}", verdict.how, where);
            break;
        case ProbeEnd::timed_out:
            out.code = Code::PROBE_TIMEOUT;
            out.message = fmt::format("the plugin did not answer within {}{}", verdict.how, where);
            out.fix += ", and WYE_PROBE_TIMEOUT_MS gives its probe longer";
            break;
        case ProbeEnd::flooded:
            out.code = Code::LIMIT_EXCEEDED;
            out.message = fmt::format("the plugin printed more than {}{}", verdict.how, where);
            break;
        case ProbeEnd::oversized:
            out.code = Code::LIMIT_EXCEEDED;
            out.message =
                fmt::format("the plugin describes its devices in more than {}", verdict.how);
            break;
        case ProbeEnd::out_of_memory:
            out.code = Code::LIMIT_EXCEEDED;
            out.message =
                fmt::format("the plugin took more than {} of memory{}", verdict.how, where);
            out.fix += ", and WYE_PROBE_MEMORY gives its probe more";
            break;
        default:
            out.code = Code::BAD_PLUGIN;
            out.message =
                fmt::format("the plugin closed or garbled the result of its probe{}", where);
            break;
    }
    out.message += ", in a process of its own";
    // The limits of this process also explain a remembered verdict, because verdicts are shared
    // only by processes with equal limits.
    const bool ended = verdict.end == ProbeEnd::crashed || verdict.end == ProbeEnd::exited;
    if (const auto low = ended ? low_limit() : std::nullopt) {
        out.message += " with " + low->text;
        out.fix = fmt::format("Fix: {}; else {}", low->fix, out.fix.substr(5));
    }
    if (verdict.times > 1) out.message += fmt::format(", {} times in a row", verdict.times);
    return out;
}

}  // namespace wye::registry
