// SPDX-License-Identifier: Apache-2.0
#include "million.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <vector>

namespace wye::bench {
namespace {

// The process's resident bytes; 0: unknown.
std::uint64_t resident_bytes() {
    unsigned long all = 0, resident = 0;
    std::FILE* const file = std::fopen("/proc/self/statm", "re");
    if (file == nullptr) return 0;
    const int read = std::fscanf(file, "%lu %lu", &all, &resident);
    std::fclose(file);
    return read == 2 ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

Result<void> look(const Device& device, Stream& out, std::size_t when) {
    WYE_ASSIGN(const wye_counters counters, device.counters());
    out.resident_bytes[when] = resident_bytes();
    out.buffers_made[when] = counters.buffers_made;
    out.buffer_bytes[when] = counters.buffer_bytes;
    return {};
}

}  // namespace

Result<Stream> run_stream(const Target& target, const Sizes& sizes) {
    WYE_ASSIGN(const auto program, target.context.program_from_text(kAdvance, "advance.wye"));
    WYE_ASSIGN(auto buffer, target.device.buffer(kTinyWords * 4));
    WYE_TRY(buffer.fill(1, 0, kTinyWords * 4));
    Dispatch dispatch(program, target.device);
    dispatch.bind("words", buffer);
    std::vector<std::optional<Pending>> ring(sizes.in_flight);
    const auto run = [&](std::uint64_t count) -> Result<void> {
        for (std::uint64_t i = 0; i < count; ++i) {
            std::optional<Pending>& slot = ring[i % ring.size()];
            if (slot) {
                WYE_TRY(slot->wait());
                slot.reset();
            }
            WYE_ASSIGN(slot, dispatch.submit());
        }
        for (std::optional<Pending>& slot : ring)
            if (slot) WYE_TRY(slot->wait());
        return {};
    };
    Stream out;
    out.dispatches = sizes.million;
    WYE_TRY(run(sizes.warm));
    WYE_TRY(look(target.device, out, 0));
    const auto start = std::chrono::steady_clock::now();
    WYE_TRY(run(sizes.million));
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    out.nanoseconds = took.count() / static_cast<double>(sizes.million);
    WYE_TRY(look(target.device, out, 1));
    std::uint32_t word = 0;
    WYE_TRY(buffer.download_range(std::span(&word, 1), 0));
    WYE_TRY(expect_word(word, advance(1, sizes.warm + sizes.million), "Wye"));
    return out;
}

}  // namespace wye::bench
