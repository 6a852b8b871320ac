// SPDX-License-Identifier: Apache-2.0
//
// Conditions: what a plugin's verdict depends on besides the plugin itself, and the places in which
// the verdict is kept: the cache folder, and this process's memory where the folder is missing or
// cannot be written. Internal to the registry.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/find/search.hpp"
#include "registry/open/host_services.hpp"
#include "registry/probe/verdict.hpp"

namespace wye::registry {

// A plugin's file as it was when its probe began.
struct PluginFile {
    FileStamp stamp;
    std::string hash;
};

// The value of a key; empty: there is no such key.
[[nodiscard]] std::string value_at(const Config& config, const std::string& key);
// Nanoseconds since 1970.
[[nodiscard]] std::int64_t unix_now_ns() noexcept;
// The hash of a file's content; empty if the file cannot be read.
[[nodiscard]] std::string hash_of_file(const std::filesystem::path& path);
// The beginning of the keys of all verdicts on a plugin file.
[[nodiscard]] std::string key_of(const Candidate& candidate);

class Conditions {
  public:
    // `around`: the text of surroundings().
    Conditions(const Candidate& candidate, const Config& config, std::string_view around);

    [[nodiscard]] const std::string& key() const noexcept { return key_; }
    // The kept verdict if plugin and driver are unchanged. A plugin file that was replaced by a
    // copy with equal content counts as unchanged.
    [[nodiscard]] std::optional<KeptVerdict> kept(const std::string& folder,
                                                  const Candidate& candidate) const;
    // Keeps a verdict in the folder. Without a folder, or after an error, keeps the verdict in this
    // process's memory. Error: why nothing was written to the folder. `memory`: the memory limit of
    // the probe.
    [[nodiscard]] Result<void> keep(const std::string& folder, const PluginFile& file,
                                    const Verdict& verdict, const std::string& message,
                                    std::uint64_t memory) const;

  private:
    template <typename Visit>
    static void each_variable(std::string_view name, const Config& config, Visit&& visit);
    template <typename Add>
    void add_variables(std::string_view name, const Config& config, Add&& add);

    std::string key_;                 // identifies the kept verdict
    std::vector<std::string> paths_;  // files that must be unchanged, besides the loaded libraries
};

// Forgets all verdicts on a plugin file.
void forget_verdicts(const std::string& folder, const Candidate& candidate) noexcept;

}  // namespace wye::registry
