// SPDX-License-Identifier: Apache-2.0
#include "raw.hpp"

#include <numeric>

#include "ring.hpp"

namespace wye::bench {
namespace {

std::vector<std::uint32_t> numbers(std::uint64_t bytes) {
    std::vector<std::uint32_t> out(bytes / 4);
    std::iota(out.begin(), out.end(), 0U);
    return out;
}

const std::byte* bytes_of(const std::vector<std::uint32_t>& words) {
    return std::as_bytes(std::span(words)).data();
}

Result<void> expect_raw_last(std::span<const std::uint32_t> r) {
    WYE_TRY(expect_word(r.front(), 1, "the raw side"));
    return expect_word(r.back(), static_cast<std::uint32_t>(r.size()), "the raw side");
}

struct Large {
    std::unique_ptr<Pair> pair;
    std::unique_ptr<Ring> ring;  // destroyed before the pair
    std::vector<std::uint32_t> x, r;
};

Result<std::shared_ptr<Large>> large_of(RawApi& api, std::uint64_t bytes) {
    auto out = std::make_shared<Large>();
    WYE_ASSIGN(out->pair, api.pair(bytes));
    WYE_ASSIGN(out->ring, Ring::make(*out->pair));
    out->x = numbers(bytes);
    out->r.resize(out->x.size());
    return out;
}

std::byte* target_of(Large& large) { return std::as_writable_bytes(std::span(large.r)).data(); }

// `count` uploads. The kernel's results prove that the uploads arrived.
Result<std::vector<Way>> uploads(RawApi& api, std::string name, std::uint64_t bytes,
                                 std::uint64_t count) {
    WYE_ASSIGN(const auto large, large_of(api, bytes));
    return std::vector{repeated(
        std::move(name),
        [=]() -> Result<void> {
            for (std::uint64_t i = 0; i < count; ++i)
                WYE_TRY(large->ring->up(bytes_of(large->x), bytes));
            return {};
        },
        [=](std::uint64_t) -> Result<void> {
            WYE_TRY(large->pair->run());
            WYE_TRY(large->ring->down(target_of(*large), bytes));
            return expect_raw_last(large->r);
        })};
}

Result<std::vector<Way>> downloads(RawApi& api, std::uint64_t bytes) {
    WYE_ASSIGN(const auto large, large_of(api, bytes));
    WYE_TRY(large->ring->up(bytes_of(large->x), bytes));
    WYE_TRY(large->pair->run());
    return std::vector{repeated(
        "ring of page-locked memory", [=] { return large->ring->down(target_of(*large), bytes); },
        [=](std::uint64_t) { return expect_raw_last(large->r); })};
}

struct Flights {
    Flights(std::uint64_t bytes, std::size_t threads)
        : x(numbers(bytes)), r(x.size()), team(threads) {}
    std::vector<std::unique_ptr<Flight>> flights;
    std::vector<std::uint32_t> x, r;
    Team team;
};

Result<std::shared_ptr<Flights>> flights_of(RawApi& api, std::uint64_t bytes, std::uint64_t count,
                                            std::size_t threads) {
    auto out = std::make_shared<Flights>(bytes, threads);
    for (std::uint64_t n = 0; n < count; ++n) {
        WYE_ASSIGN(auto flight, api.flight(bytes, n));
        out->flights.push_back(std::move(flight));
    }
    return out;
}

Result<void> expect_landed(const Flights& all) {
    const auto* const r = reinterpret_cast<const std::uint32_t*>(all.flights.back()->out());
    return expect_raw_last(std::span(r, all.x.size()));
}

Result<std::vector<Way>> large(RawApi& api, std::uint64_t bytes) {
    WYE_ASSIGN(const auto large, large_of(api, bytes));
    WYE_ASSIGN(const auto one, flights_of(api, bytes, 1, ring_threads()));
    WYE_TRY(one->team.copy(one->flights.front()->in(), bytes_of(one->x), bytes));
    return std::vector{repeated(
                           "ring of page-locked memory, in series",
                           [=]() -> Result<void> {
                               WYE_TRY(large->ring->up(bytes_of(large->x), bytes));
                               WYE_TRY(large->pair->run());
                               return large->ring->down(target_of(*large), bytes);
                           },
                           [=](std::uint64_t) { return expect_raw_last(large->r); }),
                       repeated(
                           "page-locked memory that the application uses itself, no copies",
                           [=]() -> Result<void> {
                               WYE_TRY(one->flights.front()->start());
                               return one->flights.front()->wait();
                           },
                           [=](std::uint64_t) { return expect_landed(*one); })};
}

// `filled`: the application writes its data to page-locked memory once, before the measurement.
// Otherwise the threads of a ring copy the data there in each run. The application reads the
// outputs in page-locked memory.
Result<std::vector<Way>> many(RawApi& api, std::uint64_t count, std::uint64_t bytes, bool filled) {
    WYE_ASSIGN(const auto all, flights_of(api, bytes, count, ring_threads()));
    if (filled)
        for (const auto& flight : all->flights)
            WYE_TRY(all->team.copy(flight->in(), bytes_of(all->x), bytes));
    return std::vector{repeated(
        filled ? "page-locked memory that the application uses itself, no copies"
               : "page-locked memory filled by the threads of a ring",
        [=]() -> Result<void> {
            for (const auto& flight : all->flights) {
                if (!filled) WYE_TRY(all->team.copy(flight->in(), bytes_of(all->x), bytes));
                WYE_TRY(flight->start());
            }
            for (const auto& flight : all->flights) WYE_TRY(flight->wait());
            return {};
        },
        [=](std::uint64_t) { return expect_landed(*all); })};
}

Result<std::vector<Way>> round_trip(RawApi& api, std::uint64_t bytes) {
    std::vector<Way> out;
    for (const std::size_t threads : {ring_threads(), std::size_t{1}}) {
        if (!out.empty() && ring_threads() == 1) break;
        WYE_ASSIGN(const auto one, flights_of(api, bytes, 1, threads));
        out.push_back(repeated(
            threads == 1 ? "page-locked memory, one thread copies"
                         : "page-locked memory, copied by the threads of a ring",
            [=]() -> Result<void> {
                Flight& flight = *one->flights.front();
                WYE_TRY(one->team.copy(flight.in(), bytes_of(one->x), bytes));
                WYE_TRY(flight.start());
                WYE_TRY(flight.wait());
                return one->team.copy(std::as_writable_bytes(std::span(one->r)).data(),
                                      flight.out(), bytes);
            },
            [=](std::uint64_t) { return expect_raw_last(one->r); }));
    }
    return out;
}

}  // namespace

Result<std::unique_ptr<RawApi>> open_raw(const std::string& plugin, const std::string& name) {
#ifdef WYE_BENCH_CUDA
    if (plugin == "cuda") return open_raw_cuda(name);
#endif
#ifdef WYE_BENCH_OPENCL
    if (plugin == "opencl") return open_raw_opencl(name);
#endif
#ifdef WYE_BENCH_VULKAN
    if (plugin == "vulkan") return open_raw_vulkan(name);
#endif
    if (plugin == "cuda" || plugin == "opencl" || plugin == "vulkan")
        return Error(
            Code::MISSING_DEPENDENCY, "wye-bench was built without a baseline for " + plugin,
            "Fix: build it where that API's headers are; for vulkan also glslangValidator", plugin);
    return Error(Code::UNSUPPORTED, "the plugin `" + plugin + "` has no driver to compare with",
                 "Fix: name a device of cuda, opencl or vulkan", plugin);
}

Result<std::vector<Way>> raw_ways(RawApi& api, RowId row, const Sizes& sizes) {
    switch (row) {
        case RowId::OneCommand:
        case RowId::Commands:
        case RowId::OneDispatch:
        case RowId::Recorded:
        case RowId::Recording:
        case RowId::Batch:
        case RowId::PipelineCall:
        case RowId::Launches:
            return api.tiny(row, sizes);
        case RowId::Submits:
            return api.tiny(RowId::Launches, sizes);
        case RowId::RoundTrip:
            return round_trip(api, sizes.round_trip_bytes);
        case RowId::Large:
            return large(api, sizes.large_bytes);
        case RowId::Upload:
            return uploads(api, "ring of page-locked memory", sizes.large_bytes, 1);
        case RowId::Download:
            return downloads(api, sizes.large_bytes);
        case RowId::Many:
            return many(api, sizes.many, sizes.many_bytes, false);
        case RowId::Registered:
            return many(api, sizes.many, sizes.many_bytes, true);
        case RowId::Hash:
            return uploads(api, "the bytes up through a ring, nothing computed",
                           sizes.hash_chunk_bytes, sizes.hash_chunks);
        case RowId::BehindAnother:
        case RowId::Million:
            break;
    }
    return std::vector<Way>{};
}

}  // namespace wye::bench
