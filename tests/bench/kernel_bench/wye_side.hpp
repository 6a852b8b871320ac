// SPDX-License-Identifier: Apache-2.0
//
// Wye's side: the program of a case on resident buffers, through the public API. One thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernel_bench/cases.hpp"
#include "wye/wye.hpp"

namespace wye::bench {

struct WyeRun {
    double nanoseconds = 0;  // by the driver's clock, zero fills included
    std::uint64_t filled = 0;
};

class WyeSide {
  public:
    [[nodiscard]] static Result<std::unique_ptr<WyeSide>> open(const std::string& selector);

    [[nodiscard]] const std::string& device() const { return name_; }

    // Reads the program, makes and fills its buffers.
    [[nodiscard]] Result<void> load(const Case& c);
    [[nodiscard]] Result<WyeRun> run();
    [[nodiscard]] Result<void> download(std::size_t buffer, std::uint64_t offset,
                                        std::span<std::byte> bytes) const;
    void clear();

  private:
    WyeSide(Context context, Device device)
        : context_(std::move(context)), device_(std::move(device)) {}

    Context context_;
    Device device_;
    std::string name_;
    std::optional<Program> program_;
    std::vector<Buffer> buffers_;
    std::unique_ptr<Dispatch> dispatch_;
};

}  // namespace wye::bench
