// SPDX-License-Identifier: Apache-2.0
#include "lower/middle/zero.hpp"

#include "lower/middle/code.hpp"

namespace wye::lower::middle {
namespace {

// The maximum number of single stores of one invocation. Above it, the stores are in a loop.
constexpr unsigned kMostStores = 8;

}  // namespace

Fill fill_of(std::uint64_t count, std::uint32_t invocations) {
    Fill out{.count = count, .stride = invocations};
    const std::uint64_t stores = (count + invocations - 1) / invocations;
    if (stores > kMostStores) return out;
    out.stores = static_cast<unsigned>(stores);
    out.rest = static_cast<std::uint32_t>(count % invocations);
    return out;
}

SharedZeros ProgramForm::zeros(const std::vector<bool>& used) const {
    const std::uint32_t invocations =
        whole_workgroups ? 1 : workgroup[0] * workgroup[1] * workgroup[2];
    const std::vector<SharedStart> starts = shared_starts(program, workgroup);
    SharedZeros out;
    for (const Array& array : buffers_) {
        if (array.space != Space::Shared || !used[array.number]) continue;
        SharedStart start = starts[array.number];
        if (start.how == SharedStart::How::Nothing) continue;
        if (whole_workgroups) start.how = SharedStart::How::Fill;
        const bool filled = start.how == SharedStart::How::Fill;
        out.arrays.push_back(
            {array, start, filled ? fill_of(array.components(), invocations) : Fill{}});
        out.barrier = out.barrier || (filled && invocations != 1);
    }
    return out;
}

}  // namespace wye::lower::middle
