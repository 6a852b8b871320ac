// SPDX-License-Identifier: Apache-2.0
//
// WyeSide: runs the program of a case on resident buffers, through the public API. Used by one
// thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernel_bench/cases.hpp"
#include "wye/wye.hpp"

namespace wye::bench {

struct WyeRun {
    double nanoseconds = 0;  // device time, including the zero fills
    std::uint64_t filled = 0;
    double launch_ns = 0;  // host time to submit the work and wait for it
    bool check_free = false;
};

class WyeSide {
  public:
    // Opens a device: "opencl:1", or "opencl" for the first GPU of the API. Without `tiny`, a CPU
    // is refused, since full sizes would take hours on a CPU.
    [[nodiscard]] static Result<std::unique_ptr<WyeSide>> open(const std::string& selector,
                                                               bool tiny);

    [[nodiscard]] const std::string& selector() const { return selector_; }
    [[nodiscard]] const std::string& device() const { return name_; }

    // `prepare` makes and fills the buffers. `read` then parses the program and binds the buffers.
    [[nodiscard]] Result<void> prepare(const Case& c);
    [[nodiscard]] Result<void> read(const Case& c);
    // Returns the lowered program: the text or SPIR-V that this device's driver compiles.
    [[nodiscard]] Result<std::string> lower(const Case& c, std::string_view format,
                                            bool check_free) const;
    [[nodiscard]] Result<WyeRun> run();
    [[nodiscard]] Result<void> download(std::size_t buffer, std::uint64_t offset,
                                        std::span<std::byte> bytes) const;
    void clear();

  private:
    WyeSide(Context context, Device device)
        : context_(std::move(context)), device_(std::move(device)) {}

    [[nodiscard]] static Result<std::unique_ptr<WyeSide>> open_one(const std::string& selector);
    [[nodiscard]] bool cpu() const;

    Context context_;
    Device device_;
    std::string selector_, name_;
    std::optional<Program> program_;
    std::vector<Buffer> buffers_;
    std::unique_ptr<Dispatch> dispatch_;
};

}  // namespace wye::bench
