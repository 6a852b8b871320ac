// SPDX-License-Identifier: Apache-2.0
//
// Context: the object behind wye_context. Owns the registry and, through handles, the opened
// devices, programs and buffers. Free-threaded; destroyed by one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/choices.hpp"
#include "exec/device/session.hpp"
#include "exec/gate.hpp"
#include "exec/program/disk_cache.hpp"
#include "exec/program/loaded_program.hpp"
#include "lower/quirks/quirks.hpp"
#include "registry/choose/catalogue.hpp"
#include "registry/hold/ownership.hpp"
#include "registry/report/load_report.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class Context {
  public:
    // `default_selector` ($WYE_DEVICE or "auto") replaces an empty selector.
    [[nodiscard]] static Result<std::unique_ptr<Context>> create(registry::Options options,
                                                                 std::string default_selector);
    ~Context();  // waits for running work
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    [[nodiscard]] const registry::HandleTable& handles() const noexcept { return handles_; }
    [[nodiscard]] registry::HandleTable& handles() noexcept { return handles_; }

    // Opens a device that `selector` names. If `program` is not 0, considers only devices that can
    // run the program and for which the program can be lowered. Passes over a device that cannot be
    // opened. The causes of NO_DEVICE are the reasons against each device. Opening the same
    // device again returns the same handle until the device is lost.
    [[nodiscard]] Result<registry::Handle> open_device(
        std::string_view selector, registry::Handle program,
        registry::Policy policy = registry::Policy::require);
    // A device that was opened.
    struct Opened {
        registry::Handle handle = 0;
        bool fresh = false;  // the device was not open before
        registry::Selection selection;
    };
    // Opens one of the devices that the default selector names and `fit` accepts.
    [[nodiscard]] Result<Opened> open_device(const registry::Fit& fit);
    // All reasons against running a program on a device, including limits of the lowering.
    [[nodiscard]] std::vector<std::string> reasons_against(const registry::DeviceInfo& device,
                                                           const LoadedProgram& program) const;
    // The devices that were chosen for requests that name no device.
    [[nodiscard]] Choices& choices() noexcept { return choices_; }
    // The number of times that a device was opened or closed.
    [[nodiscard]] std::uint64_t device_changes() const noexcept {
        return device_changes_.load(std::memory_order_acquire);
    }
    // Opens a lost device again. Returns the handle `device` itself if the device is not lost.
    // UNSUPPORTED if the driver cannot recover the device.
    [[nodiscard]] Result<registry::Handle> recover_device(registry::Handle device);
    // Frees everything that belongs to a device, and closes the device once no call uses it any
    // more. DEVICE_BUSY while work of the device is pending, BUFFER_IN_USE while a buffer is
    // mapped.
    [[nodiscard]] Result<void> close_device(registry::Handle device);
    [[nodiscard]] Result<registry::Handle> add_program(ProgramRef program);
    [[nodiscard]] Result<registry::Handle> create_buffer(registry::Handle device,
                                                         std::uint64_t size,
                                                         std::uint32_t alignment,
                                                         std::uint32_t usage,
                                                         std::string_view label);
    // Makes a buffer from memory that the application allocated with the driver's API.
    [[nodiscard]] Result<registry::Handle> adopt_buffer(registry::Handle device,
                                                        const wye_native_handle& memory,
                                                        std::uint64_t size, std::string_view label);
    // BUFFER_IN_USE while the buffer is mapped or used by pending work.
    [[nodiscard]] Result<void> free_buffer(registry::Handle buffer);

    [[nodiscard]] std::vector<registry::Registry::Translator> translators() const {
        return registry_->translators();
    }
    // Like `Registry::translate`, but uses the disk cache. `target`: the device's part of the cache
    // key.
    [[nodiscard]] Result<std::vector<std::byte>> translate(std::string_view plugin,
                                                           std::uint32_t device,
                                                           std::string_view target,
                                                           const wye_artifact& artifact,
                                                           std::string_view format);

    // The catalogue as JSON. An empty selector means the default selector.
    [[nodiscard]] Result<std::string> report(std::string_view selector);
    [[nodiscard]] registry::Registry& plugins() const noexcept { return *registry_; }
    [[nodiscard]] Result<registry::LoadReport> load_report(std::string_view selector);

    // The selector of the best device that `fit` accepts, if any.
    [[nodiscard]] std::optional<std::string> alternative(const registry::Fit& fit) const;
    // The disk cache of compiled programs.
    [[nodiscard]] DiskCache& disk() const noexcept { return *options_.cache; }

    // The driver workarounds that the configuration turns on or off.
    [[nodiscard]] const lower::QuirkChoice& quirks() const noexcept { return options_.quirks; }

    // The device memory that the devices of this context hold.
    [[nodiscard]] ContextMemory& memory() noexcept { return *options_.memory; }

    // Adds the counters of every device opened so far, including lost and closed ones.
    void count(wye_counters& out) const;

    // The selectors of the open devices, separated by ", "; empty: none is open.
    [[nodiscard]] std::string open_devices() const;

    // The door for callbacks of pending dispatches, which is closed when the context is abandoned.
    [[nodiscard]] const std::shared_ptr<Door>& callbacks() const noexcept { return callbacks_; }

    // Whether messages of the level DEBUG are logged. Each dispatch writes such a message; if they
    // are not logged, callers need not format it.
    [[nodiscard]] bool logs() const noexcept { return logs_; }
    [[nodiscard]] Trace* trace() const noexcept { return options_.trace.get(); }  // null: off
    // Whether the times of work are read even if no report is wanted.
    [[nodiscard]] bool reads_times() const noexcept { return logs_ || options_.trace != nullptr; }
    void log(std::uint32_t level, std::string_view area, std::string_view text) const noexcept;

  private:
    struct OpenSession {
        registry::Handle handle;
        SessionRef session;
    };
    Context(std::unique_ptr<registry::Registry> registry, std::string default_selector,
            std::map<std::string, std::string> filters, bool logs, SessionOptions options,
            registry::ContextTag tag);
    void save_trace() noexcept;
    // Parses a selector; an empty text means the default selector. INVALID_ARGUMENT names the
    // source of a bad selector.
    [[nodiscard]] Result<registry::Selector> selector_of(std::string_view text) const;
    // Returns the error of a request without a selector. If WYE_DEVICE set the default selector,
    // adds the name of that variable to the message of NO_DEVICE.
    [[nodiscard]] Error of_default(Error error) const;
    // Opens the first device that the selector names and `fit` accepts, and that can be opened.
    [[nodiscard]] Result<Opened> open_first(const registry::Selector& selector,
                                            const registry::Fit& fit, registry::Policy policy);
    // Opens a device that was selected, unless it is open, and sets `handle` and `fresh`.
    [[nodiscard]] Result<void> open_selected(Opened& device);
    // Destroys closed sessions that no call uses any more.
    void sweep();
    [[nodiscard]] OpenSession* find_open(const registry::DeviceInfo& device)
        WYE_REQUIRES(open_mutex_);

    registry::ContextTag tag_;
    std::string default_selector_;
    std::map<std::string, std::string> filters_;  // environment variables in effect, for reports
    bool logs_;
    std::unique_ptr<registry::Registry> registry_;
    SessionOptions options_;
    std::shared_ptr<Door> callbacks_;
    mutable sdk::Mutex open_mutex_;
    std::vector<OpenSession> open_ WYE_GUARDED_BY(open_mutex_);
    // Lost sessions whose device was opened again.
    std::vector<SessionRef> lost_ WYE_GUARDED_BY(open_mutex_);
    std::vector<SessionRef> closed_ WYE_GUARDED_BY(open_mutex_);
    wye_counters closed_counts_ WYE_GUARDED_BY(open_mutex_){};  // of the sessions destroyed so far
    std::uint64_t next_generation_ WYE_GUARDED_BY(open_mutex_) = 1;
    std::atomic<std::uint64_t> device_changes_ = 0;  // written with open_mutex_ held
    Choices choices_;
    registry::HandleTable handles_;  // the last member, so it is destroyed first
};

// The maximum size of a buffer in bytes. Larger buffers are refused as not addressable.
inline constexpr std::uint64_t kMaxBufferBytes = UINT64_C(1) << 62U;

}  // namespace wye::exec
