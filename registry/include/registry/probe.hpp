// SPDX-License-Identifier: Apache-2.0
//
// Prober: verdicts on plugin files before they are opened in this process: remembered ones, or by
// the helper program `wye-probe`, one process for each plugin, all at once. Verdicts are kept in
// the cache folder, and are valid for the content of the plugin and for the state of the driver's
// files. Free-threaded; waits for its children, and holds no lock meanwhile.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "registry/host_services.hpp"
#include "registry/search.hpp"
#include "registry/verdict.hpp"

namespace wye::registry {

enum class ProbeMode : std::uint8_t {
    off,        // plugins are opened unprobed
    inside,     // remembered verdicts count; others are opened unprobed
    child,      // each plugin is probed anew, and is refused without a helper
    automatic,  // a remembered verdict, else a child, else unprobed with a record
};
// "off", "inline", "child", "auto".
[[nodiscard]] std::optional<ProbeMode> probe_mode_of(std::string_view name) noexcept;

// Of one plugin's probe, in bytes: 4 GiB, or half of the machine's memory if that is less.
[[nodiscard]] std::uint64_t default_probe_memory() noexcept;

struct ProbeOptions {
    ProbeMode mode = ProbeMode::off;
    // Devices of plugin files are described by children or remembered verdicts, and never opened in
    // this process, not even if the user trusts the plugin. Works without a cache folder too.
    bool describe = false;
    std::filesystem::path helper;            // absolute; empty: there is none
    std::chrono::milliseconds limit{10000};  // of one plugin's probe
    // Bytes that one plugin's probe may take; those of files do not count.
    std::uint64_t memory = default_probe_memory();
};

// Where a verdict is from, or why there is none.
enum class ProbeState : std::uint8_t {
    none,        // not asked for: the plugin is built in, or was not opened
    off,         // opened unprobed, as the mode says, or since no helper could probe it
    trusted,     // opened unprobed, as the user trusts it
    remembered,  // the verdict of an earlier probe
    child,       // the verdict of a probe now
};
[[nodiscard]] std::string_view probe_state_name(ProbeState state) noexcept;  // "remembered"

// What the registry knows of a plugin before it opens it.
struct Probed {
    std::optional<Verdict> verdict;  // none: open it unprobed
    std::vector<Record> records;     // why it was not probed
    ProbeState state = ProbeState::none;
};

class Prober {
  public:
    // The cache folder is the configuration's `cache_folder`; none: nothing is remembered.
    Prober(ProbeOptions options, std::shared_ptr<const HostServices> host);

    [[nodiscard]] bool on() const noexcept { return options_.mode != ProbeMode::off; }
    [[nodiscard]] bool describes() const noexcept { return on() && options_.describe; }

    // In the order of the candidates.
    [[nodiscard]] std::vector<Probed> probe(std::span<const Candidate* const> candidates) const;
    // The remembered verdict, even one that asks for another try. Starts no process.
    [[nodiscard]] std::optional<Verdict> recall(const Candidate& candidate) const;

    // The plugin, as it is now, is opened unprobed from now on; where plugins are only described,
    // a harmful verdict and wrong bytes are warnings. IO: it cannot be kept.
    [[nodiscard]] Result<void> trust(const Candidate& candidate) const;
    // Forgets what is remembered for every configuration, and the user's trust.
    void forget(const Candidate& candidate) const noexcept;

  private:
    struct Conditions;
    [[nodiscard]] std::string folder() const;
    [[nodiscard]] bool trusted(const Candidate& candidate) const;
    [[nodiscard]] std::string request(const Candidate& candidate) const;

    ProbeOptions options_;
    std::shared_ptr<const HostServices> host_;
};

}  // namespace wye::registry
