// SPDX-License-Identifier: Apache-2.0
//
// Ring: page-locked memory through which threads copy host bytes, in chunks, while the device moves
// other chunks. There are as many threads as Wye uses by default.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "raw.hpp"

namespace wye::bench {

// The number of threads: half of the number of processors, clamped to 1 to 8.
[[nodiscard]] std::size_t ring_threads();

// Threads that work together. The calling thread is number 0.
class Team : Fixed {
  public:
    explicit Team(std::size_t threads);
    ~Team();

    [[nodiscard]] std::size_t size() const { return threads_.size() + 1; }
    // Calls work(n) on each thread; returns the first failure.
    [[nodiscard]] Result<void> run(const std::function<Result<void>(std::size_t)>& work);
    // Copies with all threads.
    [[nodiscard]] Result<void> copy(std::byte* to, const std::byte* from, std::uint64_t bytes);

  private:
    void serve(std::size_t n);

    const std::function<Result<void>(std::size_t)>* work_ = nullptr;
    std::vector<Result<void>> results_;
    std::atomic<std::uint64_t> round_{0};
    std::atomic<std::size_t> left_{0};
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
};

class Ring {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Ring>> make(Pair& pair);

    [[nodiscard]] Result<void> up(const std::byte* from, std::uint64_t bytes);
    [[nodiscard]] Result<void> down(std::byte* to, std::uint64_t bytes);

  private:
    Ring() : team_(ring_threads()) {}

    std::vector<std::unique_ptr<Lane>> lanes_;
    Team team_;
};

}  // namespace wye::bench
