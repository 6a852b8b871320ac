// SPDX-License-Identifier: Apache-2.0
//
// The plugin and one opened device: the device's primary context, its memory, and whether it was
// lost. [FREE] unless said otherwise; kept alive by the host until its objects are gone.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda/discovery.hpp"
#include "cuda/nvrtc/nvrtc.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::cuda {

// Made by `init`, which opens nothing: the driver is opened by the first probe, whose device list
// never changes after, NVRTC by whoever compiles first. So code can be translated without a driver.
struct Plugin {
    const wye_host_table* host = nullptr;
    std::unique_ptr<const Driver> driver;
    std::vector<Device> devices;
    bool probed = false;
    std::uint64_t spin_ns = 0;  // a wait asks the driver again and again for this long, then blocks

    // Opened once; the outcome is remembered.
    [[nodiscard]] Result<const Nvrtc*> nvrtc();
    // CUDA C can become code for it. Opens NVRTC only where an earlier process did not.
    [[nodiscard]] bool compiles_for(const Device& device);
    // What NVRTC is, remembered or opened; of the cache's key.
    [[nodiscard]] Result<const NvrtcFacts*> nvrtc_facts();

  private:
    std::once_flag nvrtc_once_;
    std::unique_ptr<const Nvrtc> nvrtc_;
    std::optional<Error> nvrtc_error_;
    std::once_flag facts_once_;
    std::optional<NvrtcFacts> facts_;
    std::string identity_;
    friend wye_status compiler_identity(wye_plugin_object*, wye_string*);
};
wye_status compiler_identity(wye_plugin_object* object, wye_string* out);

class OpenDevice {
  public:
    [[nodiscard]] static Result<std::unique_ptr<OpenDevice>> open(Plugin& plugin,
                                                                  std::uint32_t index);
    ~OpenDevice();
    OpenDevice(const OpenDevice&) = delete;
    OpenDevice& operator=(const OpenDevice&) = delete;

    Plugin& plugin;
    const Driver& driver;
    const Device& info;

    [[nodiscard]] const wye_host_table& host() const { return *plugin.host; }
    // Runs a slot's body.
    template <typename Body>
    wye_status guard(wye_error** error, Body&& body) const noexcept {
        return sdk::guard(host(), error, std::forward<Body>(body));
    }
    [[nodiscard]] CUcontext context() const { return context_; }
    // Where empty ranges point: a kernel may always read one element.
    [[nodiscard]] CUdeviceptr nothing() const { return nothing_; }

    // The error of a failed call; a sticky one loses the device.
    [[nodiscard]] Error failed(CUresult status, std::string_view call, std::string_view subject);
    [[nodiscard]] bool lost() const { return lost_.load(std::memory_order_acquire); }
    // DEVICE_LOST with the error that lost it, or nothing.
    [[nodiscard]] std::optional<Error> loss() const;

    // Objects of an earlier epoch died with their context: there is nothing left to free.
    [[nodiscard]] std::uint32_t epoch() const { return epoch_.load(std::memory_order_acquire); }
    // [SYNC] Resets the primary context, for everybody in the process.
    [[nodiscard]] Result<void> recover();

    // Usable on every stream at once. With the context current.
    [[nodiscard]] Result<CUdeviceptr> allocate(std::uint64_t size, std::string_view label);
    void release(CUdeviceptr memory);

  private:
    OpenDevice(Plugin& owner, const Device& device)
        : plugin(owner), driver(*owner.driver), info(device) {}
    Result<void> acquire();
    CUresult try_allocate(std::uint64_t size, CUdeviceptr& out);
    void let_go();

    CUcontext context_ = nullptr;
    CUmemoryPool pool_ = nullptr;  // null: the device has no pools
    CUstream pool_stream_ = nullptr;
    CUdeviceptr nothing_ = 0;
    std::atomic<bool> lost_ = false;
    std::atomic<std::uint32_t> epoch_ = 0;
    mutable std::mutex mutex_;
    std::optional<Error> loss_;
};

// The device's context is current on this thread while it lives; the caller's comes back after.
class Current {
  public:
    explicit Current(const OpenDevice& device) : driver_(device.driver) {
        CUcontext now = nullptr;
        if (driver_.cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == device.context()) return;
        pushed_ = driver_.cuCtxPushCurrent(device.context()) == CUDA_SUCCESS;
    }
    ~Current() {
        CUcontext mine = nullptr;
        if (pushed_) (void)driver_.cuCtxPopCurrent(&mine);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

  private:
    const Driver& driver_;
    bool pushed_ = false;
};

// Of at least kLeastBytes, so that its first element can always be read.
struct Buffer {
    OpenDevice& device;
    CUdeviceptr memory;
    std::uint64_t size;
    std::uint32_t epoch;

    Buffer(OpenDevice& owner, CUdeviceptr at, std::uint64_t bytes)
        : device(owner), memory(at), size(bytes), epoch(owner.epoch()) {}
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
};
inline constexpr std::uint64_t kLeastBytes = 64;

// The slots of an opened device.
extern const wye_device_table kDeviceTable;

[[nodiscard]] inline OpenDevice& device_of(wye_device_object* object) {
    return *reinterpret_cast<OpenDevice*>(object);
}
[[nodiscard]] inline Buffer& buffer_of(wye_buffer_object* object) {
    return *reinterpret_cast<Buffer*>(object);
}

}  // namespace wye::cuda
