// SPDX-License-Identifier: Apache-2.0
#include "ring.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace wye::bench {

std::size_t ring_threads() {
    return std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 8);
}

Team::Team(std::size_t threads) : results_(threads) {
    for (std::size_t n = 1; n < threads; ++n) threads_.emplace_back([this, n] { serve(n); });
}

Team::~Team() {
    stop_ = true;
    ++round_;
    round_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

Result<void> Team::run(const std::function<Result<void>(std::size_t)>& work) {
    work_ = &work;
    left_ = threads_.size();
    ++round_;
    round_.notify_all();
    results_[0] = work(0);
    while (left_ != 0) std::this_thread::yield();
    for (Result<void>& result : results_) WYE_TRY(std::move(result));
    return {};
}

void Team::serve(std::size_t n) {
    for (std::uint64_t seen = 0;;) {
        round_.wait(seen);
        seen = round_;
        if (stop_) return;
        results_[n] = (*work_)(n);
        --left_;
    }
}

Result<void> Team::copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
    return run([&](std::size_t n) -> Result<void> {
        const std::uint64_t part = (bytes / size() + 63) / 64 * 64;
        const std::uint64_t at = std::min(n * part, bytes);
        const std::uint64_t end = n + 1 == size() ? bytes : std::min(at + part, bytes);
        std::memcpy(to + at, from + at, end - at);
        return {};
    });
}

Result<std::unique_ptr<Ring>> Ring::make(Pair& pair) {
    std::unique_ptr<Ring> out(new Ring);
    for (std::size_t n = 0; n < out->team_.size(); ++n) {
        WYE_ASSIGN(auto lane, pair.lane());
        out->lanes_.push_back(std::move(lane));
    }
    return out;
}

Result<void> Ring::up(const std::byte* from, std::uint64_t bytes) {
    return team_.run([&](std::size_t n) -> Result<void> {
        Lane& lane = *lanes_[n];
        std::size_t i = 0;
        for (std::uint64_t at = n * Lane::kChunk; at < bytes;
             at += lanes_.size() * Lane::kChunk, i = 1 - i) {
            const std::uint64_t size = std::min(Lane::kChunk, bytes - at);
            WYE_TRY(lane.wait(i));
            std::memcpy(lane.chunk(i), from + at, size);
            WYE_TRY(lane.up(i, at, size));
        }
        WYE_TRY(lane.wait(0));
        return lane.wait(1);
    });
}

Result<void> Ring::down(std::byte* to, std::uint64_t bytes) {
    return team_.run([&](std::size_t n) -> Result<void> {
        Lane& lane = *lanes_[n];
        std::array<std::uint64_t, 2> at_of{}, size_of{};
        const auto take = [&](std::size_t i) -> Result<void> {
            if (size_of[i] == 0) return {};
            WYE_TRY(lane.wait(i));
            std::memcpy(to + at_of[i], lane.chunk(i), size_of[i]);
            size_of[i] = 0;
            return {};
        };
        std::size_t i = 0;
        for (std::uint64_t at = n * Lane::kChunk; at < bytes;
             at += lanes_.size() * Lane::kChunk, i = 1 - i) {
            WYE_TRY(take(i));
            at_of[i] = at;
            size_of[i] = std::min(Lane::kChunk, bytes - at);
            WYE_TRY(lane.down(i, at, size_of[i]));
        }
        WYE_TRY(take(i));
        return take(1 - i);
    });
}

}  // namespace wye::bench
