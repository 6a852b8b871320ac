// SPDX-License-Identifier: Apache-2.0
#include "wye_ways.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "sha256_text.hpp"
#include "wye/graph.hpp"
#include "wye/memory.hpp"
#include "wye/pipeline.hpp"

namespace wye::bench {
namespace {

constexpr std::string_view kIncrement = R"wye(
wye 1;
program increment;
workgroup 256;
input x: u32[];
output r: u32[len(x)];
grid elements len(x);
main {
    let i = global_id.x;
    if i < len(r) { r[i] = x[i] + 1u; }
}
)wye";

constexpr std::uint64_t kHashesInFlight = 3;
constexpr std::uint32_t kHashBlock = 4096;
// With this many elements, the CPU plugin does not run a submit on the calling thread.
constexpr std::uint64_t kLongerWords = std::uint64_t{1} << 17U;

// One tiny buffer, and the dispatch that advances it.
class Tiny : Fixed {
  public:
    [[nodiscard]] static Result<std::shared_ptr<Tiny>> make(const Target& target,
                                                            std::uint64_t words = kTinyWords) {
        WYE_ASSIGN(auto program, target.context.program_from_text(kAdvance, "advance.wye"));
        WYE_ASSIGN(auto buffer, target.device.buffer(words * 4));
        WYE_TRY(buffer.fill(1, 0, words * 4));
        auto out = std::make_shared<Tiny>(std::move(program), std::move(buffer));
        out->dispatch_.emplace(out->program_, target.device);
        out->dispatch_->bind("words", out->buffer_);
        return out;
    }
    Tiny(Program program, Buffer buffer)
        : program_(std::move(program)), buffer_(std::move(buffer)) {}

    [[nodiscard]] Dispatch& dispatch() { return *dispatch_; }
    [[nodiscard]] const Program& program() const { return program_; }
    [[nodiscard]] const Buffer& buffer() const { return buffer_; }
    [[nodiscard]] Result<Graph> record(const Device& device, std::uint64_t dispatches) {
        return Graph::record(device, std::vector<Dispatch*>(dispatches, &*dispatch_));
    }
    [[nodiscard]] Result<void> expect_steps(std::uint64_t steps) const {
        std::uint32_t word = 0;
        WYE_TRY(buffer_.download_range(std::span(&word, 1), 0));
        return expect_word(word, advance(1, steps), "Wye");
    }

  private:
    Program program_;
    Buffer buffer_;
    std::optional<Dispatch> dispatch_;
};

Result<Way> graphs(const Target& target, std::uint64_t count, std::uint64_t dispatches) {
    struct Turn {
        std::shared_ptr<Tiny> tiny;
        Graph graph;
    };
    auto turns = std::make_shared<std::vector<Turn>>();
    for (std::uint64_t i = 0; i < count; ++i) {
        WYE_ASSIGN(auto tiny, Tiny::make(target));
        WYE_ASSIGN(auto graph, tiny->record(target.device, dispatches));
        turns->push_back({std::move(tiny), std::move(graph)});
    }
    return repeated(
        "graph",
        [=]() -> Result<void> {
            for (const Turn& turn : *turns) WYE_TRY(turn.graph.execute());
            return {};
        },
        [=](std::uint64_t runs) { return turns->back().tiny->expect_steps(runs * dispatches); });
}

Result<Way> one_dispatch(const Target& target) {
    WYE_ASSIGN(const auto tiny, Tiny::make(target));
    return repeated(
        "dispatch", [=] { return tiny->dispatch().run(); },
        [=](std::uint64_t runs) { return tiny->expect_steps(runs); });
}

// Records a graph of dependent dispatches and frees it without running it. The check runs a graph.
Result<Way> recordings(const Target& target, std::uint64_t count) {
    WYE_ASSIGN(const auto tiny, Tiny::make(target));
    const auto device = target.device;
    return repeated(
        "Graph::record",
        [=]() -> Result<void> {
            WYE_TRY(tiny->record(device, count));
            return {};
        },
        [=](std::uint64_t) -> Result<void> {
            WYE_ASSIGN(const Graph graph, tiny->record(device, count));
            WYE_TRY(graph.run());
            return tiny->expect_steps(count);
        });
}

// Dispatches through a pipeline: one, or a batch of several.
Result<Way> piped(const Target& target, std::uint64_t count) {
    WYE_ASSIGN(const auto tiny, Tiny::make(target));
    WYE_ASSIGN(auto made, Pipeline::create(tiny->program(), target.device));
    const auto pipeline = std::make_shared<Pipeline>(std::move(made));
    const auto dispatch = std::make_shared<Dispatch>(*pipeline);
    dispatch->bind("words", tiny->buffer());
    const std::vector<Dispatch*> items(count, dispatch.get());
    return repeated(
        count == 1 ? "Dispatch of a Pipeline" : "Pipeline::batch",
        [=]() -> Result<void> {
            if (count == 1) {
                WYE_TRY(dispatch->run());
                return {};
            }
            BatchResult done = pipeline->batch(items);
            if (done.error) return *std::move(done.error);
            return {};
        },
        [=](std::uint64_t runs) { return tiny->expect_steps(runs * count); });
}

// Submits `count` times, and waits for the last submit.
template <typename Submit>
Result<void> submit_all(std::vector<Pending>& pending, std::uint64_t count, const Submit& submit) {
    for (std::uint64_t n = 0; n < count; ++n) {
        WYE_ASSIGN(auto next, submit());
        pending.push_back(std::move(next));
    }
    WYE_TRY(pending.back().wait());
    return {};
}

// `longer`: a dispatch on a buffer of its own that is submitted first each time; may be null.
Result<Way> launches(const Target& target, std::uint64_t count,
                     const std::shared_ptr<Tiny>& longer) {
    WYE_ASSIGN(const auto tiny, Tiny::make(target));
    const auto queue = std::make_shared<std::optional<Queue>>();
    if (longer) {  // one queue: the pool would send the tiny dispatches to an idle queue
        WYE_ASSIGN(*queue, target.device.queue());
        longer->dispatch().on(**queue);
        tiny->dispatch().on(**queue);
    }
    const auto pending = std::make_shared<std::vector<Pending>>();
    return repeated(
        "asynchronous dispatches",
        [=, kept = queue]() -> Result<void> {
            pending->clear();
            if (longer) {
                WYE_ASSIGN(auto first, longer->dispatch().submit());
                pending->push_back(std::move(first));
            }
            return submit_all(*pending, count, [&] { return tiny->dispatch().submit(); });
        },
        [=](std::uint64_t runs) { return tiny->expect_steps(runs * count); });
}

Result<Way> submits(const Target& target, std::uint64_t count) {
    WYE_ASSIGN(const auto tiny, Tiny::make(target));
    WYE_ASSIGN(auto recorded, tiny->record(target.device, 1));
    const auto graph = std::make_shared<Graph>(std::move(recorded));
    const auto pending = std::make_shared<std::vector<Pending>>();
    return repeated(
        "graph, submitted",
        [=]() -> Result<void> {
            pending->clear();
            return submit_all(*pending, count, [&] { return graph->submit(); });
        },
        [=](std::uint64_t runs) { return tiny->expect_steps(runs * count); });
}

struct HostWords {
    Program program;
    std::vector<std::uint32_t> x, r;
};

Result<std::shared_ptr<HostWords>> host_words(const Target& target, std::uint64_t bytes) {
    WYE_ASSIGN(auto program, target.context.program_from_text(kIncrement, "increment.wye"));
    auto out = std::make_shared<HostWords>(
        HostWords{std::move(program), std::vector<std::uint32_t>(bytes / 4), {}});
    std::iota(out->x.begin(), out->x.end(), 0U);
    out->r.resize(out->x.size());
    return out;
}

Result<void> expect_last(std::span<const std::uint32_t> r) {
    WYE_TRY(expect_word(r.front(), 1, "Wye"));
    return expect_word(r.back(), static_cast<std::uint32_t>(r.size()), "Wye");
}

Result<Way> up_and_down(const Target& target, std::uint64_t bytes) {
    WYE_ASSIGN(const auto words, host_words(target, bytes));
    const auto dispatch = std::make_shared<Dispatch>(words->program, target.device);
    dispatch->input("x", words->x).output("r", words->r);
    return repeated(
        "dispatch", [=] { return dispatch->run(); },
        [=](std::uint64_t) { return expect_last(words->r); });
}

Result<Way> transfers(const Target& target, std::uint64_t bytes, bool up) {
    WYE_ASSIGN(const auto words, host_words(target, bytes));
    WYE_ASSIGN(auto resident, target.device.buffer(bytes));
    const auto buffer = std::make_shared<Buffer>(std::move(resident));
    WYE_TRY(buffer->upload(words->x));
    return repeated(
        up ? "upload" : "download",
        [=] { return up ? buffer->upload(words->x) : buffer->download(words->r); },
        [=](std::uint64_t) -> Result<void> {
            std::uint32_t last = 0;
            WYE_TRY(buffer->download_range(std::span(&last, 1), bytes - 4));
            WYE_TRY(expect_word(last, words->x.back(), "Wye"));
            return up ? Result<void>{} : expect_word(words->r.back(), last, "Wye");
        });
}

Result<Way> many(const Target& target, std::uint64_t count, std::uint64_t bytes) {
    WYE_ASSIGN(const auto words, host_words(target, bytes));
    const auto device = target.device;
    const auto run = [=]() -> Result<void> {
        std::vector<Pending> pending;
        for (std::uint64_t n = 0; n < count; ++n) {
            WYE_ASSIGN(auto next, Dispatch(words->program, device).input("x", words->x).submit());
            pending.push_back(std::move(next));
        }
        for (const Pending& one : pending) WYE_TRY(one.wait());
        WYE_ASSIGN(const auto r, pending.back().output<std::uint32_t>("r"));
        return expect_last(r);
    };
    return repeated("asynchronous dispatches", run, [](std::uint64_t) { return Result<void>{}; });
}

// Whole pages of memory, registered as long as this object lives.
struct RegisteredWords {
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<void, Free> memory;
    std::span<std::uint32_t> words;
    std::optional<RegisteredMemory> registered;
};

Result<std::shared_ptr<RegisteredWords>> registered_words(const Target& target,
                                                          std::uint64_t bytes) {
    constexpr std::uint64_t kPage = std::uint64_t{64} << 10U;
    auto out = std::make_shared<RegisteredWords>();
    out->memory.reset(std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage));
    if (!out->memory) return Error(Code::OUT_OF_MEMORY, "no memory for a row", "Fix: free memory");
    out->words = {static_cast<std::uint32_t*>(out->memory.get()), bytes / 4};
    std::ranges::fill(out->words, 0U);
    WYE_ASSIGN(out->registered, RegisteredMemory::add(target.device, out->words));
    return out;
}

Result<Way> registered(const Target& target, std::uint64_t count, std::uint64_t bytes) {
    WYE_ASSIGN(auto increment, target.context.program_from_text(kIncrement, "increment.wye"));
    const auto program = std::make_shared<Program>(std::move(increment));
    WYE_ASSIGN(const auto x, registered_words(target, count * bytes));
    WYE_ASSIGN(const auto r, registered_words(target, count * bytes));
    const std::uint64_t each = bytes / 4;
    for (std::uint64_t n = 0; n < count; ++n)
        std::iota(x->words.begin() + static_cast<std::ptrdiff_t>(n * each),
                  x->words.begin() + static_cast<std::ptrdiff_t>((n + 1) * each), 0U);
    const auto device = target.device;
    const auto run = [=]() -> Result<void> {
        std::vector<Pending> pending;
        for (std::uint64_t n = 0; n < count; ++n) {
            WYE_ASSIGN(auto next, Dispatch(*program, device)
                                      .input("x", x->words.subspan(n * each, each))
                                      .output("r", r->words.subspan(n * each, each))
                                      .submit_borrowing());
            pending.push_back(std::move(next));
        }
        for (const Pending& one : pending) WYE_TRY(one.wait());
        return {};
    };
    return repeated("asynchronous dispatches", run,
                    [=](std::uint64_t) { return expect_last(r->words.last(each)); });
}

Result<Way> hash(const Target& target, std::uint64_t chunk_bytes, std::uint64_t chunks) {
    WYE_ASSIGN(auto sha256, target.context.program_from_text(kSha256, "sha256.wye"));
    const auto program = std::make_shared<Program>(std::move(sha256));
    // Several chunks with different bytes, so that they do not all fit in the caches.
    const auto data = std::make_shared<std::vector<std::vector<std::uint32_t>>>();
    for (std::uint32_t n = 0; n < 4; ++n) {
        data->emplace_back(chunk_bytes / 4);
        std::iota(data->back().begin(), data->back().end(), n << 24U);
    }
    const auto device = target.device;
    const auto run = [=](std::uint64_t times) -> Result<void> {
        std::deque<Pending> pending;
        for (std::uint64_t n = 0; n < times * chunks; ++n) {
            if (pending.size() == kHashesInFlight) {
                WYE_TRY(pending.front().wait());
                pending.pop_front();
            }
            WYE_ASSIGN(auto next, Dispatch(*program, device)
                                      .param("length", static_cast<std::uint32_t>(chunk_bytes))
                                      .param("block", kHashBlock)
                                      .input("data", (*data)[n % data->size()])
                                      .submit());
            pending.push_back(std::move(next));
        }
        for (; !pending.empty(); pending.pop_front()) WYE_TRY(pending.front().wait());
        return {};
    };
    return Way{"asynchronous dispatches", run, []() -> Result<void> { return {}; }};
}

}  // namespace

Result<Target> open_target(const std::string& selector) {
    WYE_ASSIGN(auto context, Context::create());
    WYE_ASSIGN(auto device, context.open(selector));
    WYE_ASSIGN(const auto described, device.describe());
    const std::string plugin(detail::view(described.plugin));
    bool soft = plugin == "cpu";
    if (const auto kind = device.fact("device_kind"); kind.ok())
        soft = soft || detail::view(kind->text) == "cpu";
    std::uint64_t most_bytes = UINT64_MAX;
    if (const auto most = device.fact("max_buffer_bytes"); most.ok()) most_bytes = most->u;
    return Target{std::move(context),
                  std::move(device),
                  std::string(detail::view(described.selector)),
                  std::string(detail::view(described.name)),
                  plugin,
                  soft,
                  most_bytes};
}

Result<std::optional<Way>> wye_way(const Target& target, RowId row, const Sizes& sizes) {
    std::vector<Way> made;
    const auto make = [&]() -> Result<void> {
        switch (row) {
            case RowId::OneCommand:
                return add(made, graphs(target, 1, 1));
            case RowId::Commands:
                return add(made, graphs(target, sizes.turns, 1));
            case RowId::OneDispatch:
                return add(made, one_dispatch(target));
            case RowId::Recorded:
                return add(made, graphs(target, 1, sizes.recorded));
            case RowId::Recording:
                return add(made, recordings(target, sizes.recorded));
            case RowId::Batch:
                return add(made, piped(target, sizes.recorded));
            case RowId::PipelineCall:
                return add(made, piped(target, 1));
            case RowId::Launches:
                return add(made, launches(target, sizes.recorded, nullptr));
            case RowId::Submits:
                return add(made, submits(target, sizes.recorded));
            case RowId::BehindAnother: {
                if (target.plugin != "cpu") return {};
                WYE_ASSIGN(const auto longer, Tiny::make(target, kLongerWords));
                return add(made, launches(target, sizes.recorded, longer));
            }
            case RowId::RoundTrip:
                return add(made, up_and_down(target, sizes.round_trip_bytes));
            case RowId::Large:
                return add(made, up_and_down(target, sizes.large_bytes));
            case RowId::Upload:
            case RowId::Download:
                return add(made, transfers(target, sizes.large_bytes, row == RowId::Upload));
            case RowId::Many:
                return add(made, many(target, sizes.many, sizes.many_bytes));
            case RowId::Registered:
                if (!target.device.fact("host_memory_alignment").ok()) return {};
                return add(made, registered(target, sizes.many, sizes.many_bytes));
            case RowId::Hash:
                return add(made, hash(target, sizes.hash_chunk_bytes, sizes.hash_chunks));
            case RowId::Million:
                return {};
        }
        return {};
    };
    WYE_TRY(make());
    return made.empty() ? std::nullopt : std::optional(std::move(made.front()));
}

}  // namespace wye::bench
