// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include <algorithm>
#include <span>

#include "wye/buffer.h"

namespace wye::stress {
namespace {

constexpr std::size_t kMostOwn = 12;
constexpr std::size_t kMostShared = 8;
constexpr std::size_t kMostPrograms = 10;
constexpr unsigned kFlights = 4, kAlone = 1;  // weights of the steps fly and fly_alone

}  // namespace

Worker::Worker(World& world, unsigned number)
    : world_(world), number_(number), random_(world.options().seed * 1000003 + number) {}

void Worker::fail(const std::string& what) {
    world_.fail("thread " + std::to_string(number_) + ", step " + std::to_string(step_) + ": " +
                what);
}

wye_status Worker::call(const char* name, const std::vector<wye_status>& allowed,
                        const Call& function) {
    wye_error* error = nullptr;
    const wye_status status = function(&error);
    ++world_.calls;
    if (status == WYE_OK) {
        if (error != nullptr) fail(std::string(name) + " gave an error and WYE_OK");
        return status;
    }
    ++world_.refused;
    if (wye_error_status(error) != status || !copy(wye_error_fix(error)).starts_with("Fix: "))
        fail(std::string(name) +
             ": its error has another status, or no remedy: " + copy(wye_error_text(error)));
    if (std::ranges::find(allowed, status) == allowed.end())
        fail(std::string(name) + ": " + copy(wye_error_text(error)));
    world_.hand_over(error);
    return status;
}

Words Worker::words(std::size_t count) {
    Words out(count);
    for (std::uint32_t& word : out) word = static_cast<std::uint32_t>(random_());
    return out;
}

void Worker::check(const char* what, const Words& got, const Words& want) {
    ++world_.checked;
    if (got == want) return;
    const auto at = std::ranges::mismatch(got, want).in1 - got.begin();
    const auto i = static_cast<std::size_t>(at);
    fail(std::string(what) + ": word " + std::to_string(i) + " of " + std::to_string(got.size()) +
         " is " + std::to_string(i < got.size() ? got[i] : 0) + ", not " +
         std::to_string(i < want.size() ? want[i] : 0));
}

std::shared_ptr<SharedProgram> Worker::some_program(std::size_t in) {
    Place& here = place(in);
    const std::lock_guard lock(here.mutex);
    if (here.programs.empty()) return nullptr;
    return here.programs[pick(here.programs.size())];
}

void Worker::create_program() {
    const std::size_t in = pick(world_.places().size());
    auto made = std::make_shared<SharedProgram>();
    made->model = random_model(random_, world_.options().variety);
    const std::string text = made->model.text();
    wye_program_source source;
    WYE_INIT(source);
    source.text = {text.data(), text.size()};
    Place& here = place(in);
    if (call("wye_program_create", {}, [&](wye_error** error) {
            return wye_program_create(here.context, &source, &made->handle, error);
        }) != WYE_OK)
        return;
    {
        const std::lock_guard lock(here.mutex);
        if (here.programs.size() < kMostPrograms) {
            here.programs.push_back(std::move(made));
            return;
        }
        std::swap(here.programs[pick(here.programs.size())], made);
    }
    made->freed = true;
    call("wye_program_free", {},
         [&](wye_error** error) { return wye_program_free(here.context, made->handle, error); });
}

void Worker::free_program() {
    Place& here = place(pick(world_.places().size()));
    std::shared_ptr<SharedProgram> out;
    {
        const std::lock_guard lock(here.mutex);
        if (here.programs.size() < 2) return;
        std::swap(here.programs[pick(here.programs.size())], here.programs.back());
        out = std::move(here.programs.back());
        here.programs.pop_back();
    }
    out->freed = true;
    call("wye_program_free", {},
         [&](wye_error** error) { return wye_program_free(here.context, out->handle, error); });
    call("wye_program_free, twice", {WYE_STALE_HANDLE}, [&](wye_error** error) {
        const wye_status status = wye_program_free(here.context, out->handle, error);
        if (status == WYE_OK) fail("a program was freed twice");
        return status;
    });
}

void Worker::create_buffer() {
    OwnBuffer made;
    made.place = pick(world_.places().size());
    Place& here = place(made.place);
    made.device = pick(here.devices.size());
    made.words = words(1 + pick(kMostWords));
    wye_buffer_create_desc desc;
    WYE_INIT(desc);
    desc.size = made.words.size() * 4;
    desc.label = wye_str("stress");
    made.maps = pick(3) == 0;
    if (made.maps) desc.usage = WYE_BUFFER_USAGE_SHARED;
    if (call("wye_buffer_create", {}, [&](wye_error** error) {
            return wye_buffer_create(here.context, here.devices[made.device], &desc, &made.handle,
                                     error);
        }) != WYE_OK)
        return;
    while (call("wye_buffer_upload", {WYE_DEVICE_BUSY}, [&](wye_error** error) {
               return wye_buffer_upload_range(here.context, made.handle, 0,
                                              {made.words.data(), desc.size}, error);
           }) == WYE_DEVICE_BUSY) {
        if (!world_.running()) return;
        flush(here, made.device);
    }
    own_.push_back(std::move(made));
    if (own_.size() > kMostOwn) free_buffer();
}

void Worker::free_buffer() {
    if (own_.empty()) return;
    std::swap(own_[pick(own_.size())], own_.back());
    const OwnBuffer out = std::move(own_.back());
    own_.pop_back();
    // After a time-out, work may still use the buffer. The buffer is then freed with its context.
    call("wye_buffer_free", {WYE_BUFFER_IN_USE}, [&](wye_error** error) {
        return wye_buffer_free(place(out.place).context, out.handle, error);
    });
}

void Worker::transfer() {
    if (own_.empty()) return create_buffer();
    OwnBuffer& mine = own_[pick(own_.size())];
    wye_context* const context = place(mine.place).context;
    const std::size_t from = pick(mine.words.size());
    const std::size_t count = 1 + pick(mine.words.size() - from);
    const auto first = mine.words.begin() + static_cast<std::ptrdiff_t>(from);
    const auto range = std::span(first, count);
    const std::initializer_list<wye_status> allowed = {WYE_DEVICE_BUSY, WYE_BUFFER_IN_USE};
    switch (pick(3)) {
        case 0: {
            const Words put = words(count);
            if (call("wye_buffer_upload", allowed, [&](wye_error** error) {
                    return wye_buffer_upload_range(context, mine.handle, from * 4,
                                                   {put.data(), count * 4}, error);
                }) == WYE_OK)
                std::ranges::copy(put, range.begin());
            break;
        }
        case 1: {
            const auto pattern = static_cast<std::uint32_t>(random_());
            if (call("wye_buffer_fill", allowed, [&](wye_error** error) {
                    return wye_buffer_fill(context, mine.handle, from * 4, count * 4, pattern, 4,
                                           error);
                }) == WYE_OK)
                std::ranges::fill(range, pattern);
            break;
        }
        default: {
            Words got(count);
            if (call("wye_buffer_download", allowed, [&](wye_error** error) {
                    return wye_buffer_download_range(context, mine.handle, from * 4, got.data(),
                                                     count * 4, error);
                }) == WYE_OK)
                check("download", got, Words(range.begin(), range.end()));
        }
    }
}

void Worker::copy_buffers() {
    if (own_.size() < 2) return create_buffer();
    const std::size_t a = pick(own_.size());
    const std::size_t b = pick(own_.size());
    const OwnBuffer& source = own_[a];
    OwnBuffer& target = own_[b];
    if (a == b || source.place != target.place || source.device != target.device) return;
    const std::size_t count = 1 + pick(std::min(source.words.size(), target.words.size()));
    const std::size_t from = pick(source.words.size() - count + 1);
    const std::size_t to = pick(target.words.size() - count + 1);
    if (call("wye_buffer_copy", {WYE_DEVICE_BUSY, WYE_BUFFER_IN_USE}, [&](wye_error** error) {
            return wye_buffer_copy(place(source.place).context, source.handle, from * 4,
                                   target.handle, to * 4, count * 4, error);
        }) == WYE_OK)
        std::copy_n(source.words.begin() + static_cast<std::ptrdiff_t>(from), count,
                    target.words.begin() + static_cast<std::ptrdiff_t>(to));
}

// Writes a mapped buffer, and reads it through the mapping and by a transfer.
void Worker::map_buffer() {
    const auto found = std::ranges::find(own_, true, &OwnBuffer::maps);
    if (found == own_.end()) return create_buffer();
    OwnBuffer& mine = *found;
    wye_context* const context = place(mine.place).context;
    wye_buffer_mapping mapping;
    WYE_INIT(mapping);
    const wye_status status = call(
        "wye_buffer_map", {WYE_UNSUPPORTED, WYE_BUFFER_IN_USE},
        [&](wye_error** error) { return wye_buffer_map(context, mine.handle, &mapping, error); });
    if (status == WYE_UNSUPPORTED) mine.maps = false;
    if (status != WYE_OK) return;
    const std::size_t bytes = mine.words.size() * 4;
    if (mapping.size != bytes) fail("a mapping has another size than its buffer");
    const auto sync = [&](std::uint32_t direction) {
        call("wye_buffer_sync", {}, [&](wye_error** error) {
            return wye_buffer_sync(context, mine.handle, 0, bytes, direction, error);
        });
    };
    sync(WYE_SYNC_TO_HOST);
    auto* const at = static_cast<std::uint32_t*>(mapping.address);
    check("mapped buffer", Words(at, at + mine.words.size()), mine.words);
    call("wye_buffer_free of a mapped one", {WYE_BUFFER_IN_USE}, [&](wye_error** error) {
        const wye_status freed = wye_buffer_free(context, mine.handle, error);
        if (freed == WYE_OK) fail("a mapped buffer was freed");
        return freed;
    });
    mine.words = words(mine.words.size());
    std::ranges::copy(mine.words, at);
    sync(WYE_SYNC_TO_DEVICE);
    call("wye_buffer_unmap", {},
         [&](wye_error** error) { return wye_buffer_unmap(context, mine.handle, error); });
}

void Worker::shared_buffers() {
    Place& here = place(pick(world_.places().size()));
    std::shared_ptr<SharedBuffer> buffer;
    bool out = false;
    {
        const std::lock_guard lock(here.mutex);
        if (here.buffers.size() >= kMostShared || (here.buffers.size() > 1 && pick(6) == 0)) {
            std::swap(here.buffers[pick(here.buffers.size())], here.buffers.back());
            buffer = std::move(here.buffers.back());
            here.buffers.pop_back();
            out = true;
        } else if (!here.buffers.empty() && pick(4) != 0) {
            buffer = here.buffers[pick(here.buffers.size())];
        }
    }
    if (!buffer) {
        buffer = std::make_shared<SharedBuffer>();
        buffer->device = pick(here.devices.size());
        wye_buffer_create_desc desc;
        WYE_INIT(desc);
        desc.size = 256;
        if (call("wye_buffer_create", {}, [&](wye_error** error) {
                return wye_buffer_create(here.context, here.devices[buffer->device], &desc,
                                         &buffer->handle, error);
            }) != WYE_OK)
            return;
        const std::lock_guard lock(here.mutex);
        here.buffers.push_back(std::move(buffer));
        return;
    }
    if (out) {
        buffer->freed = true;
        call("wye_buffer_free of a shared one", {WYE_BUFFER_IN_USE}, [&](wye_error** error) {
            return wye_buffer_free(here.context, buffer->handle, error);
        });
        return;
    }
    std::array<std::uint32_t, 64> bytes = {};
    const wye_status status = call(
        "transfer of a shared buffer", {WYE_DEVICE_BUSY, WYE_BUFFER_IN_USE, WYE_STALE_HANDLE},
        [&](wye_error** error) {
            switch (pick(3)) {
                case 0:
                    return wye_buffer_fill(here.context, buffer->handle, 0, 256, step_, 8, error);
                case 1:
                    return wye_buffer_upload_range(here.context, buffer->handle, 0,
                                                   {bytes.data(), 256}, error);
                default:
                    return wye_buffer_download_range(here.context, buffer->handle, 0, bytes.data(),
                                                     256, error);
            }
        });
    if (status == WYE_STALE_HANDLE && !buffer->freed) fail("a live buffer was called stale");
}

void Worker::run() {
    using Step = void (Worker::*)();
    struct Weighted {
        unsigned weight;
        Step step;
    };
    static constexpr std::array<Weighted, 25> kSteps = {{{6, &Worker::create_program},
                                                         {3, &Worker::free_program},
                                                         {8, &Worker::create_buffer},
                                                         {6, &Worker::free_buffer},
                                                         {16, &Worker::transfer},
                                                         {8, &Worker::copy_buffers},
                                                         {8, &Worker::map_buffer},
                                                         {8, &Worker::shared_buffers},
                                                         {24, &Worker::dispatch_host},
                                                         {24, &Worker::dispatch_resident},
                                                         {16, &Worker::submit_pending},
                                                         {14, &Worker::settle_pending},
                                                         {12, &Worker::run_graph},
                                                         {4, &Worker::describe},
                                                         {1, &Worker::report},
                                                         {3, &Worker::open_again},
                                                         {3, &Worker::flush},
                                                         {8, &Worker::change_queue},
                                                         {10, &Worker::described_transfer},
                                                         {3, &Worker::foreign_handles},
                                                         {4, &Worker::refusals},
                                                         {6, &Worker::pass_errors},
                                                         {1, &Worker::short_context},
                                                         {kFlights, &Worker::fly},
                                                         {kAlone, &Worker::fly_alone}}};
    const std::span all(kSteps);
    const std::span steps = world_.options().part == "flight" ? all.last(2) : all;
    unsigned sum = 0;
    for (const Weighted& entry : steps) sum += entry.weight;
    while (world_.running()) {
        ++step_;
        auto left = static_cast<unsigned>(pick(sum));
        for (const Weighted& entry : steps) {
            if (left < entry.weight) {
                (this->*entry.step)();
                break;
            }
            left -= entry.weight;
        }
    }
    // Frees some buffers; the context frees those that are left.
    while (own_.size() > kMostOwn / 2 && !world_.failed()) free_buffer();
}

}  // namespace wye::stress
