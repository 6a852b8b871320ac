// SPDX-License-Identifier: Apache-2.0
//
// The raw side of each row: the same work through a driver's API, written as an expert would write
// it. A driver is opened by name when needed, so `wye bench` also runs without drivers.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rows.hpp"
#include "way.hpp"

namespace wye::bench {

// Copies host bytes to and from a pair of buffers, through two chunks of page-locked memory. Used
// by one thread.
class Lane : Fixed {
  public:
    static constexpr std::uint64_t kChunk = std::uint64_t{2} << 20U;

    virtual ~Lane() = default;

    [[nodiscard]] virtual std::byte* chunk(std::size_t i) = 0;
    // `up` starts to copy chunk `i` to x at offset `at`; `down` copies from r at `at` to the chunk.
    [[nodiscard]] virtual Result<void> up(std::size_t i, std::uint64_t at, std::uint64_t size) = 0;
    [[nodiscard]] virtual Result<void> down(std::size_t i, std::uint64_t at,
                                            std::uint64_t size) = 0;
    // Waits for the last copy of chunk `i`, if there was one.
    [[nodiscard]] virtual Result<void> wait(std::size_t i) = 0;
};

// Two device buffers x and r, and the kernel r[i] = x[i] + 1.
class Pair : Fixed {
  public:
    virtual ~Pair() = default;

    [[nodiscard]] virtual Result<std::unique_ptr<Lane>> lane() = 0;
    [[nodiscard]] virtual Result<void> run() = 0;  // runs the kernel and waits for it
};

// One chain of work that may overlap others: an upload of page-locked bytes, the kernel, a
// download.
class Flight : Fixed {
  public:
    virtual ~Flight() = default;

    [[nodiscard]] virtual std::byte* in() = 0;
    [[nodiscard]] virtual const std::byte* out() = 0;
    [[nodiscard]] virtual Result<void> start() = 0;
    [[nodiscard]] virtual Result<void> wait() = 0;
};

// One opened device. Outlives the objects that it makes. Used by one thread, and by the threads of
// a ring.
class RawApi : Fixed {
  public:
    virtual ~RawApi() = default;

    // The ways of a row of tiny dispatches. Goals refer to the first way.
    [[nodiscard]] virtual Result<std::vector<Way>> tiny(RowId row, const Sizes& sizes) = 0;
    [[nodiscard]] virtual Result<std::unique_ptr<Pair>> pair(std::uint64_t bytes) = 0;
    // `n`: the flight's number. Flights of different numbers may use different queues.
    [[nodiscard]] virtual Result<std::unique_ptr<Flight>> flight(std::uint64_t bytes,
                                                                 std::size_t n) = 0;
};

// Opens the API that a plugin uses, and the API's first device with this name. MISSING_DEPENDENCY
// or UNSUPPORTED: this machine has no such baseline; the message says why.
[[nodiscard]] Result<std::unique_ptr<RawApi>> open_raw(const std::string& plugin,
                                                       const std::string& name);
[[nodiscard]] Result<std::unique_ptr<RawApi>> open_raw_cuda(const std::string& name);
[[nodiscard]] Result<std::unique_ptr<RawApi>> open_raw_opencl(const std::string& name);
[[nodiscard]] Result<std::unique_ptr<RawApi>> open_raw_vulkan(const std::string& name);

// The raw ways of any row; empty if the row has none.
[[nodiscard]] Result<std::vector<Way>> raw_ways(RawApi& api, RowId row, const Sizes& sizes);

// Makes and opens a `Derived`, and returns it as a `Base`.
template <typename Base, typename Derived, typename... Arguments>
[[nodiscard]] Result<std::unique_ptr<Base>> opened(std::unique_ptr<Derived> made,
                                                   Arguments&&... arguments) {
    WYE_TRY(made->open(std::forward<Arguments>(arguments)...));
    return std::unique_ptr<Base>(std::move(made));
}

}  // namespace wye::bench
