// SPDX-License-Identifier: Apache-2.0
//
// Verdict: what a probe of a plugin in a process of its own found, and its forms: the message that
// the helper program writes, and the text that is kept between processes. Both come from outside
// and are checked: sizes, types, names. Plain values; the functions are pure and free-threaded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/device.hpp"
#include "registry/record.hpp"
#include "wye/sdk/result.hpp"

namespace wye::registry {

// How a probe ended.
enum class ProbeEnd : std::uint8_t {
    good,       // devices were listed and dispatches tried; `checks` and `records` have the faults
    refused,    // the plugin failed in order: `records` has the refusal
    crashed,    // a signal ended the process
    exited,     // the plugin ended the process
    timed_out,  // it was killed after its time
    flooded,    // it was killed because it wrote too much
    garbled,    // the helper's message is missing, or was closed or written to by the plugin
    out_of_memory,  // it was killed because it took too much memory
};
[[nodiscard]] std::string_view end_name(ProbeEnd end) noexcept;  // "timed_out"
[[nodiscard]] std::optional<ProbeEnd> end_of_name(std::string_view name) noexcept;
// Whether the plugin did what no plugin may do to its process.
[[nodiscard]] inline bool harmful(ProbeEnd end) noexcept { return end > ProbeEnd::refused; }

// The outcome of a dispatch of known bytes on one device.
struct DeviceCheck {
    std::string device;  // its selector
    Code code = Code::OK;
    bool wrong = false;  // it ran, and gave other bytes: the device must not be used
    std::string message;
};

// What the helper reports; partial if the process ended early.
struct ProbeMessage {
    bool done = false;  // it came to its end
    std::string slot;   // the slot, or the stage, that it is in
    std::string version, vendor;
    std::string compiler;  // empty: it has none
    std::uint32_t abi_minor = 0;
    bool ready = false;  // the plugin was opened
    std::vector<std::shared_ptr<const DeviceInfo>> devices;
    std::vector<Record> records;
    std::vector<DeviceCheck> checks;
    std::vector<std::string> libraries;  // paths of those loaded meanwhile
    std::uint64_t listed_ns = 0;    // from the start of its process until devices and facts are known
    std::uint64_t dispatch_ns = 0;  // of the dispatches, all devices together
};

inline constexpr std::size_t kMostMessageBytes = std::size_t{4} << 20U;

// BAD_PLUGIN for a line that is not of a message of `plugin`; an unfinished last line is ignored.
[[nodiscard]] Result<ProbeMessage> parse_probe_message(std::string_view text,
                                                       std::string_view plugin);
// Whether a helper of this version wrote its first line.
[[nodiscard]] bool is_probe_message(std::string_view text) noexcept;
// The slot that the helper was in before the first line that is not of a message.
[[nodiscard]] std::string slot_before_fault(std::string_view text, std::string_view plugin);
// The message without the lines that say where the helper is, to be kept.
[[nodiscard]] std::string without_progress(std::string_view text);

struct Verdict {
    ProbeEnd end = ProbeEnd::good;
    std::string slot;         // where it ended, if it is harmful
    std::string how;          // "SIGSEGV", "status 0"
    std::string output;       // the end of what it printed, on one line
    std::uint32_t times = 1;  // probes in a row that ended so
    bool remembered = false;  // by an earlier probe
    bool trusted = false;     // by the user: harm and wrong bytes are warnings
    std::int64_t made_unix_ns = 0;
    std::uint64_t took_ns = 0;
    ProbeMessage message;
};

// Whether it holds until plugin or driver change: a time-out, and a first harm, are tried again.
[[nodiscard]] inline bool quarantined(const Verdict& verdict) noexcept {
    constexpr std::uint32_t kTries = 2;
    return harmful(verdict.end) && verdict.end != ProbeEnd::timed_out && verdict.times >= kTries;
}

// A file as it was: another one has another stamp. All zero but the path: there is no such file.
struct FileStamp {
    std::string path;
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t time_ns = 0;
    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
[[nodiscard]] FileStamp stamp_of(const std::string& path);

// A verdict with what it is valid for.
struct KeptVerdict {
    Verdict verdict;
    FileStamp plugin;              // its library
    std::string hash;              // of the library's content
    std::vector<FileStamp> files;  // the driver's: valid while they are the same
    std::string message;           // as the helper wrote it
};
[[nodiscard]] std::string to_text(const KeptVerdict& kept);
// Nothing for any other text.
[[nodiscard]] std::optional<KeptVerdict> parse_kept_verdict(std::string_view text,
                                                            std::string_view plugin);

// The refusal or the warning that a verdict means; nothing for a good one.
[[nodiscard]] std::optional<Record> record_of(const Verdict& verdict, std::string_view plugin,
                                              const std::string& path);

}  // namespace wye::registry
