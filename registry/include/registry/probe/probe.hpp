// SPDX-License-Identifier: Apache-2.0
//
// Prober: provides verdicts on plugin files before they are opened in this process. A verdict is a
// remembered one, or the result of running the helper program `wye-probe`: one process per plugin,
// all at once. Verdicts are kept in the cache folder, else in this process's memory, and are valid
// for the plugin's content, the state of the driver's files, and the surrounding machine or
// container. A process that dies inside a plugin leaves a mark in the cache folder, and the plugin
// is probed again. Free-threaded; waits for its children, and holds no lock meanwhile.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "registry/find/search.hpp"
#include "registry/open/host_services.hpp"
#include "registry/probe/verdict.hpp"

namespace wye::registry {

enum class ProbeMode : std::uint8_t {
    off,        // plugins are opened unprobed
    inside,     // remembered verdicts count; plugins without one are opened unprobed
    child,      // each plugin is probed anew, and refused if there is no helper
    automatic,  // a remembered verdict, else a probe; without a helper unprobed, with a record
};
// "off", "inline", "child", "auto".
[[nodiscard]] std::optional<ProbeMode> probe_mode_of(std::string_view name) noexcept;

// The memory limit of one plugin's probe, in bytes: 4 GiB, or half of the machine's memory if less.
[[nodiscard]] std::uint64_t default_probe_memory() noexcept;

struct ProbeOptions {
    ProbeMode mode = ProbeMode::off;
    // Plugins from files are never opened in this process, even if the user trusts them: their
    // devices are described by children or remembered verdicts. Works without a cache folder too.
    bool describe = false;
    std::filesystem::path helper;  // absolute; empty: the first of `helpers` that can be executed
    std::vector<std::filesystem::path> helpers;  // absolute; looked for at the first probe
    std::chrono::milliseconds limit{10000};      // time limit of one plugin's probe
    // Memory limit of one plugin's probe, in bytes; mapped files do not count. 0: the default.
    std::uint64_t memory = 0;

    [[nodiscard]] std::uint64_t memory_limit() const noexcept {
        return memory != 0 ? memory : default_probe_memory();
    }
};

// How a verdict was obtained, or why there is none.
enum class ProbeState : std::uint8_t {
    none,        // not probed: the plugin is built in, or was not opened
    off,         // opened unprobed, as the mode asks or because no helper could probe it
    trusted,     // opened unprobed, because the user trusts it
    remembered,  // the verdict of an earlier probe
    child,       // the verdict of a probe just made
};
[[nodiscard]] std::string_view probe_state_name(ProbeState state) noexcept;  // "remembered"

// What the registry knows of a plugin before the plugin is opened.
struct Probed {
    std::optional<Verdict> verdict;  // none: open the plugin unprobed
    std::vector<Record> records;     // why the plugin was not probed
    ProbeState state = ProbeState::none;
    std::string conditions;  // identifies what the verdict depends on; empty: no verdict
};

class Leaving;
class OpeningMark;

class Prober {
  public:
    // Verdicts are kept in the configuration's `cache_folder`; without one, until the process ends.
    Prober(ProbeOptions options, std::shared_ptr<const HostServices> host);
    Prober(Prober&&) noexcept;
    ~Prober();

    [[nodiscard]] bool on() const noexcept { return options_.mode != ProbeMode::off; }
    [[nodiscard]] bool describes() const noexcept { return on() && options_.describe; }

    // Returns one element per candidate, in their order.
    [[nodiscard]] std::vector<Probed> probe(std::span<const Candidate* const> candidates) const;
    // The remembered verdict, even if the verdict calls for another probe. Starts no process.
    [[nodiscard]] std::optional<Verdict> recall(const Candidate& candidate) const;

    // Marks the plugin file, with its present content, as trusted: it is opened unprobed from then
    // on. With `ProbeOptions::describe`, no plugin is opened; a harmful verdict and wrong bytes are
    // then only warnings. Error: IO if the trust cannot be stored.
    [[nodiscard]] Result<void> trust(const Candidate& candidate) const;
    // Forgets the verdicts on the plugin file for every configuration and the user's trust in the
    // file. Removes the opening marks of all plugins.
    void forget(const Candidate& candidate) const noexcept;
    // Forgets only the verdicts on the plugin file, because something contradicts them.
    void drop_verdicts(const Candidate& candidate) const noexcept;
    // Makes the mark to hold while this process is inside a plugin that was probed.
    [[nodiscard]] OpeningMark mark(const Probed& probed) const;

  private:
    [[nodiscard]] std::string folder() const;
    // The program that probes plugins; empty: there is none.
    [[nodiscard]] std::filesystem::path helper() const;
    [[nodiscard]] bool trusted(const Candidate& candidate) const;
    [[nodiscard]] std::string request(const Candidate& candidate) const;

    ProbeOptions options_;
    std::shared_ptr<const HostServices> host_;
    std::unique_ptr<Leaving> leaving_;  // killed helpers of earlier probes
};

}  // namespace wye::registry
