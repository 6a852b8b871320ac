// SPDX-License-Identifier: Apache-2.0
//
// HostServices: implements the `wye_host_table` that a plugin's init receives: the error factory,
// the log callback, the configuration. One per context; opened plugins share its ownership. All
// slots are free-threaded. The configuration never changes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "registry/open/error_object.hpp"
#include "wye/abi.h"

namespace wye::registry {

// Called from any thread, including plugins' threads. Must not throw; exceptions are dropped.
using LogSink = std::function<void(std::uint32_t level, std::string_view area, std::string_view)>;
using Config = std::map<std::string, std::string, std::less<>>;
// Looks up a named table of the host; null if there is none. The table must outlive the services.
using ExtensionSource = std::function<const void*(std::string_view name, std::uint32_t version)>;

class HostServices {
  public:
    [[nodiscard]] static std::shared_ptr<HostServices> create(Config config, LogSink log,
                                                              ExtensionSource extensions = {});
    HostServices(const HostServices&) = delete;
    HostServices& operator=(const HostServices&) = delete;
    ~HostServices();

    [[nodiscard]] const wye_host_table& table() const noexcept;
    [[nodiscard]] const Config& config() const noexcept;
    void log(std::uint32_t level, std::string_view area, std::string_view text) const noexcept;
    // Logs one warning for each configuration key of a plugin that was not read so far.
    void warn_of_unread(std::string_view plugin) const;

  private:
    struct Impl;
    explicit HostServices(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace wye::registry
