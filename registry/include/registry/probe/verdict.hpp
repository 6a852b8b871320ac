// SPDX-License-Identifier: Apache-2.0
//
// Verdict: what a probe of a plugin in a separate process found, and its two serialised forms: the
// message that the helper program writes, and the text that is kept between processes. Both come
// from outside and are checked: sizes, types, names. Plain values; the functions are pure and
// free-threaded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/open/device.hpp"
#include "registry/record.hpp"
#include "wye/sdk/result.hpp"

namespace wye::registry {

// How a probe ended.
enum class ProbeEnd : std::uint8_t {
    good,       // devices were listed and test dispatches tried; `checks` and `records` list faults
    refused,    // the plugin returned an error; `records` has the refusal
    crashed,    // a signal ended the process
    exited,     // the plugin ended the process
    timed_out,  // killed at the time limit
    flooded,    // killed for printing too much
    garbled,    // the helper's message is missing or damaged, or its pipe was closed
    out_of_memory,  // killed for taking too much memory
    oversized,      // killed, since its message about the devices was too long
};
[[nodiscard]] std::string_view end_name(ProbeEnd end) noexcept;  // "timed_out"
[[nodiscard]] std::optional<ProbeEnd> end_of_name(std::string_view name) noexcept;
// Whether the plugin did harm that would have affected the host process.
[[nodiscard]] inline bool harmful(ProbeEnd end) noexcept { return end > ProbeEnd::refused; }
// Whether the helper's message may be cut off or damaged.
[[nodiscard]] inline bool is_cut(ProbeEnd end) noexcept {
    return end == ProbeEnd::flooded || end == ProbeEnd::garbled || end == ProbeEnd::oversized;
}

// The outcome, on one device, of a test dispatch with a known result.
struct DeviceCheck {
    std::string device;  // its selector
    Code code = Code::OK;
    bool wrong = false;  // the dispatch ran but gave other bytes: the device must not be used
    std::string message;
};

// What the helper reports; incomplete if its process ended early.
struct ProbeMessage {
    bool done = false;  // the message is complete
    std::string slot;   // the slot, or the stage, that the helper entered last
    std::string version, vendor;
    std::string compiler;  // empty: the plugin has none
    std::uint32_t abi_minor = 0;
    bool ready = false;  // the plugin was opened
    std::vector<std::shared_ptr<const DeviceInfo>> devices;
    std::vector<Record> records;
    std::vector<DeviceCheck> checks;
    std::vector<std::string> libraries;  // paths of the libraries loaded during the probe
    // The time from the start of the process until devices and facts are known.
    std::uint64_t listed_ns = 0;
    std::uint64_t dispatch_ns = 0;  // duration of the test dispatches, all devices together
};

// Room for 4096 devices with all facts.
inline constexpr std::size_t kMostMessageBytes = std::size_t{32} << 20U;

// Parses the helper's message. BAD_PLUGIN for a line that does not belong to a message about
// `plugin`; an unfinished last line is ignored.
[[nodiscard]] Result<ProbeMessage> parse_probe_message(std::string_view text,
                                                       std::string_view plugin);
// Whether the first line was written by a helper of this version.
[[nodiscard]] bool is_probe_message(std::string_view text) noexcept;
// Whether the text ends with the line that a helper writes last.
[[nodiscard]] bool is_whole_message(std::string_view text) noexcept;
// For a damaged message: the slot that the helper entered last, as the lines before the first
// damaged line tell.
[[nodiscard]] std::string slot_before_fault(std::string_view text, std::string_view plugin);
// The message without its progress lines, as verdicts keep it.
[[nodiscard]] std::string without_progress(std::string_view text);

struct Verdict {
    ProbeEnd end = ProbeEnd::good;
    std::string slot;         // if harmful: the slot in which the process ended
    std::string how;          // "SIGSEGV", "status 0"
    std::string output;       // the last part of what the plugin printed, on one line
    std::uint32_t times = 1;  // successive probes that ended in this way
    bool remembered = false;  // made by an earlier probe
    bool trusted = false;     // the user trusts the plugin: harm and wrong bytes are only warnings
    std::int64_t made_unix_ns = 0;
    std::uint64_t took_ns = 0;
    ProbeMessage message;
};

// Whether the plugin did so much harm that it is not probed again until it or the driver changes.
// False for a time-out, for a message that was too long, and for the first harm.
[[nodiscard]] inline bool quarantined(const Verdict& verdict) noexcept {
    constexpr std::uint32_t kTries = 2;
    const bool passes = verdict.end == ProbeEnd::timed_out || verdict.end == ProbeEnd::oversized;
    return harmful(verdict.end) && !passes && verdict.times >= kTries;
}

// The state of a file, by which a replaced or changed file is detected. All members but the path
// are zero if there is no such file.
struct FileStamp {
    std::string path;
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t time_ns = 0;
    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
[[nodiscard]] FileStamp stamp_of(const std::string& path);

// A verdict, and the state of the files for which it is valid.
struct KeptVerdict {
    Verdict verdict;
    FileStamp plugin;              // of the plugin's library
    std::string hash;              // of the library's content
    std::vector<FileStamp> files;  // the driver's files: valid while these are unchanged
    std::uint64_t memory = 0;      // the probe's limit, in bytes
    std::string message;           // the message, in the helper's form
};
[[nodiscard]] std::string to_text(const KeptVerdict& kept);
// Returns nothing if the text was not written by `to_text`.
[[nodiscard]] std::optional<KeptVerdict> parse_kept_verdict(std::string_view text,
                                                            std::string_view plugin);

// The refusal or warning that follows from a verdict; nothing for a good one.
[[nodiscard]] std::optional<Record> record_of(const Verdict& verdict, std::string_view plugin,
                                              const std::string& path);

}  // namespace wye::registry
