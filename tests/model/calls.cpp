// SPDX-License-Identifier: Apache-2.0
//
// The part of World that makes the calls of the API.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "world.hpp"

namespace wye::model {
namespace {

constexpr std::uint64_t kSize = 16;                          // bytes of a buffer
constexpr std::uint64_t kLarge = std::uint64_t{128} << 10U;  // goes through staging memory
constexpr std::uint64_t kLimit = 1'000'000'000;

constexpr const char* kPrograms[] = {
    "wye 1; program out; workgroup 4; param k: u32; input x: u32[]; output r: u32[len(x)];"
    "grid elements len(x); main { let i = global_id.x; if i < len(r) { r[i] = x[i] + k; } }",
    "wye 1; program place; workgroup 4; param k: u32; input_output r: u32[];"
    "grid elements len(r); main { let i = global_id.x; if i < len(r) { r[i] = r[i] + k; } }",
    "wye 1; program other; workgroup 4; param k: u32; input x: u32[]; output r: u32[len(x)];"
    "grid elements len(x); main { let i = global_id.x; if i < len(r) { r[i] = x[i] * k; } }",
    "wye 1; program rounds; workgroup 1; param k: u32; input_output r: u32[];"
    "grid groups 1; main { r[0] = r[0] + k; if r[0] == 7u { trap 1; } }",
};

std::string take_text(wye_error* error) {
    if (error == nullptr) return "no error";
    const wye_string text = wye_error_text(error);
    std::string out(text.data, text.size);
    wye_error_free(error);
    return out;
}

// A dispatch, with the arguments to which `desc` points.
struct Request {
    wye_argument arguments[2] = {};
    std::uint64_t param = 0;
    wye_dispatch_desc desc;

    Request(wye_program program, wye_device device, wye_buffer reads, wye_buffer writes,
            std::uint64_t k)
        : param(k) {
        WYE_INIT(desc);
        desc.program = program;
        desc.device = device;
        desc.params = &param;
        desc.param_count = 1;
        desc.arguments = arguments;
        desc.argument_count = reads == writes ? 1 : 2;
        for (std::uint32_t i = 0; i < desc.argument_count; ++i) {
            arguments[i].kind = WYE_ARGUMENT_RESIDENT;
            arguments[i].binding = i;
            arguments[i].buffer = i + 1 == desc.argument_count ? writes : reads;
        }
    }
};

}  // namespace

World::World(const Scope& scope) : scope_(scope) {
    Fibers::active = &fibers_;
    device_.options = scope.device;
    device_.on_block = [this](const Work& work) { judge_block(work); };
    device_.on_submit = [this](const Work& work) { judge_submit(work); };
    device_.on_compile = [this](Compile& compile) { judge_compile(compile); };
    device_.owner_in_line = [this](const wye_submission& one) { return owner_in_line(one); };
    // The line's thread is not held during a close: the close waits for the end of that thread.
    fibers_.holds_line = [this] {
        return scope_.holds_line && !ending_ && std::ranges::none_of(calls_, [](const Call& call) {
                   return call.fiber != nullptr && call.step.kind == 'C';
               });
    };
    run([this] {
        const std::string native = std::to_string(scope_.native);
        const std::string pending = std::to_string(scope_.pending_count);
        const wye_key_value config[] = {
            {wye_str("probe.mode"), wye_str("off")},
            {wye_str("cache_size"), wye_str("0")},
            {wye_str("transfer.threads"), wye_str("1")},
            {wye_str("queues.count"), wye_str(native.c_str())},
            {wye_str("pending.count"), wye_str(pending.c_str())},
        };
        const wye_string path = wye_str(WYE_MODEL_PLUGIN);
        wye_context_desc desc;
        WYE_INIT(desc);
        desc.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT;
        desc.plugin_paths = &path;
        desc.plugin_path_count = 1;
        desc.config = config;
        desc.config_count = std::size(config);
        wye_error* error = nullptr;
        if (wye_context_create(&desc, &context_, &error) != WYE_OK) return fail(take_text(error));
        for (std::size_t i = 0; i < std::size(programs_); ++i) {
            wye_program_source source;
            WYE_INIT(source);
            source.text = wye_str(kPrograms[i]);
            if (wye_program_create(context_, &source, &programs_[i], &error) != WYE_OK)
                return fail(take_text(error));
        }
    });
}

void World::run(std::function<void()> work) {
    bool done = false;
    fibers_.start([&] {
        work();
        done = true;
    });
    fibers_.settle();
    if (!done) fail("a call of the set-up waits");
}

void World::begin() {
    fault_.clear();
    pipeline_ = graph_ = handle_ = 0;
    old_.clear();
    queues_.assign(static_cast<std::size_t>(scope_.queues), 0);
    buffers_.assign(static_cast<std::size_t>(scope_.buffers), {});
    old_buffers_.clear();
    pending_.clear();
    calls_.clear();
    line_.clear();
    refused_ = stamp_ = failed_compiles_ = 0;
    ending_ = was_lost_ = lost_again_ = is_late_ = false;
    call_to_end({'O', "", 0});
}

wye_queue World::queue(const Step& step) const {
    const int number = step.number(0);
    return number < 0 ? 0 : queues_[static_cast<std::size_t>(number)];
}

// Submits dispatches: asynchronous ones, blocking ones, and ones with a time limit.
wye_status World::submit(Call& call, wye_error** error) {
    const Step& step = call.step;
    const bool large = step.kind == 'H';
    const bool host = step.kind == 'h' || step.kind == 'e' || large;
    const bool rounds = step.kind == 'r';
    const auto writes = large ? 0U : static_cast<std::size_t>(step.number(host || rounds ? 1 : 2));
    const auto reads = host || rounds ? writes : static_cast<std::size_t>(step.number(1));
    const bool late = step.kind == 'v' || step.kind == 'S' || step.kind == 'b';
    const wye_program program = programs_[late ? 2 : rounds ? 3 : !host && reads == writes ? 1 : 0];
    Request request(program, handle_, buffers_[reads].handle, buffers_[writes].handle,
                    static_cast<std::uint64_t>(call.number + 1));
    if (host) {
        request.desc.argument_count = 2;
        request.arguments[1] = request.arguments[0];
        call.bytes.assign(large ? kLarge : kSize, static_cast<std::byte>(call.number + 1));
        request.arguments[0] = {};
        request.arguments[0].kind = WYE_ARGUMENT_HOST;
        request.arguments[0].input = {call.bytes.data(), call.bytes.size()};
        if (large) request.arguments[1] = {};
        if (large) request.arguments[1].kind = WYE_ARGUMENT_DISCARD;
        request.arguments[1].binding = 1;
    }
    request.desc.queue = queue(step);
    if (step.kind == 'p') {
        if (pipeline_ == 0) {
            wye_pipeline_desc desc;
            WYE_INIT(desc);
            desc.program = programs_[0];
            desc.device = handle_;
            const wye_status made = wye_pipeline_create(context_, &desc, &pipeline_, error);
            if (made != WYE_OK) return made;
        }
        request.desc.pipeline = pipeline_;
        request.desc.program = request.desc.device = 0;
    }
    if (rounds) request.desc.fixpoint_iterations = 2;
    if (step.kind == 't' || step.kind == 'v' || step.kind == 'b') request.desc.timeout_ns = kLimit;
    if (step.kind == 'd' || step.kind == 'e' || step.kind == 't' || step.kind == 'v')
        return wye_dispatch(context_, &request.desc, nullptr, error);
    if (step.kind == 'a') request.desc.flags = WYE_DISPATCH_AT_ONCE;
    return wye_dispatch_submit(context_, &request.desc, &call.pending, error);
}

wye_status World::transfer(Call& call, wye_error** error) {
    wye_transfer_desc desc;
    WYE_INIT(desc);
    desc.queue = queue(call.step);
    desc.buffer = buffers_[static_cast<std::size_t>(call.step.number(1))].handle;
    desc.size = kSize;
    desc.kind = call.step.kind == 'u'   ? WYE_TRANSFER_UPLOAD
                : call.step.kind == 'l' ? WYE_TRANSFER_DOWNLOAD
                                        : WYE_TRANSFER_FILL;
    call.bytes.assign(kSize, static_cast<std::byte>(call.number + 1));
    if (call.step.kind == 'u') desc.source = call.bytes.data();
    if (call.step.kind == 'f') desc.pattern = static_cast<std::uint64_t>(call.number + 1);
    if (call.step.kind == 'f') desc.pattern_size = 4;
    return wye_buffer_transfer_submit(context_, &desc, &call.pending, error);
}

wye_status World::batch(Call& call, wye_error** error) {
    const auto reads = static_cast<std::size_t>(call.step.number(0));
    const auto writes = static_cast<std::size_t>(call.step.number(1));
    if (pipeline_ == 0) {
        wye_pipeline_desc desc;
        WYE_INIT(desc);
        desc.program = programs_[0];
        desc.device = handle_;
        const wye_status made = wye_pipeline_create(context_, &desc, &pipeline_, error);
        if (made != WYE_OK) return made;
    }
    Request one(0, 0, buffers_[reads].handle, buffers_[writes].handle, 1);
    Request two(0, 0, buffers_[writes].handle, buffers_[reads].handle, 2);
    one.desc.pipeline = two.desc.pipeline = pipeline_;
    const wye_dispatch_desc* const items[] = {&one.desc, &two.desc};
    wye_batch_desc desc;
    WYE_INIT(desc);
    desc.pipeline = pipeline_;
    desc.pointers = items;
    desc.item_count = 2;
    desc.flags = WYE_BATCH_POINTERS;
    return wye_pipeline_batch(context_, &desc, nullptr, nullptr, error);
}

wye_status World::graph(Call& call, wye_error** error) {
    const Step& step = call.step;
    if (step.kind == 'i') {
        const wye_graph freed = graph_;
        graph_ = 0;
        return wye_graph_free(context_, freed, error);
    }
    if (step.kind == 'g') {
        wye_graph_run_desc desc;
        WYE_INIT(desc);
        desc.queue = queue(step);
        return wye_graph_submit(context_, graph_, &desc, &call.pending, error);
    }
    if (step.kind == 'j') {
        const wye_graph_rebinding binding = {
            buffers_[static_cast<std::size_t>(graph_writes_)].handle,
            buffers_[static_cast<std::size_t>(step.number(0))].handle};
        const wye_status status = wye_graph_rebind(context_, graph_, &binding, 1, error);
        if (status == WYE_OK) graph_writes_ = step.number(0);
        return status;
    }
    graph_reads_ = step.number(0), graph_writes_ = step.number(1);
    Request request(programs_[graph_reads_ == graph_writes_ ? 1 : 0], handle_,
                    buffers_[static_cast<std::size_t>(graph_reads_)].handle,
                    buffers_[static_cast<std::size_t>(graph_writes_)].handle, 7);
    const wye_graph_step one = {&request.desc, nullptr};
    wye_graph_desc desc;
    WYE_INIT(desc);
    desc.device = handle_;
    desc.steps = &one;
    desc.step_count = 1;
    return wye_graph_create(context_, &desc, &graph_, error);
}

wye_status World::perform(Call& call, wye_error** error) {
    const Step& step = call.step;
    const auto number = step.arguments.empty() ? 0U : static_cast<std::size_t>(step.number(0));
    switch (step.kind) {
        case '+': {
            wye_queue_create_desc desc;
            WYE_INIT(desc);
            const auto free = std::ranges::find(queues_, wye_queue{0});
            return wye_queue_create(context_, handle_, &desc, &*free, error);
        }
        case '-':
            return wye_queue_free(context_, std::exchange(queues_[number], 0), error);
        case 'I':
            return wye_program_prepare_submit(context_, programs_[2], handle_, 0, &call.pending,
                                              error);
        case 'S':
        case 'b':
        case 'r':
        case 's':
        case 'a':
        case 'p':
        case 'h':
        case 'H':
        case 'd':
        case 'e':
        case 't':
        case 'v':
            return submit(call, error);
        case 'u':
        case 'l':
        case 'f':
            return transfer(call, error);
        case 'B':
            return batch(call, error);
        case 'G':
        case 'g':
        case 'j':
        case 'i':
            return graph(call, error);
        case 'D': {
            call.bytes.resize(kSize);
            return wye_buffer_download(context_, buffers_[number].handle, call.bytes.data(), kSize,
                                       error);
        }
        case 'w':
            call.pending = pending_[number].handle;
            return wye_pending_wait(context_, call.pending, UINT64_MAX, nullptr, error);
        case 'P':
            call.pending = pending_[number].handle;
            return wye_pending_wait(context_, call.pending, kLimit, nullptr, error);
        case 'N':
            pending_[number].notes = std::make_shared<std::vector<wye_status>>();
            return wye_pending_notify(
                context_, pending_[number].handle,
                [](void* user, wye_status status) {
                    static_cast<std::vector<wye_status>*>(user)->push_back(status);
                },
                pending_[number].notes.get(), error);
        case 'W': {
            std::vector<wye_pending> all;
            for (const PendingState& one : pending_)
                if (one.handle != 0) all.push_back(one.handle);
            std::uint64_t index = 0;
            return wye_pending_wait_any(context_, all.data(), all.size(), UINT64_MAX, &index,
                                        error);
        }
        case 'o': {
            std::uint32_t ended = 0;
            call.pending = pending_[number].handle;
            return wye_pending_poll(context_, call.pending, &ended, error);
        }
        case 'c':
            pending_[number].cancel_asked = true;
            return wye_pending_cancel(context_, pending_[number].handle, error);
        case 'k':
            return wye_pending_free(context_, std::exchange(pending_[number].handle, 0), error);
        case 'x': {
            const wye_status status = wye_buffer_free(context_, buffers_[number].handle, error);
            if (status == WYE_OK) buffers_[number].handle = 0;
            return status;
        }
        case 'm': {
            wye_buffer_mapping mapping;
            WYE_INIT(mapping);
            const wye_status status =
                wye_buffer_map(context_, buffers_[number].handle, &mapping, error);
            if (status == WYE_OK) ++buffers_[number].maps;
            return status;
        }
        case 'n':
            --buffers_[number].maps;
            return wye_buffer_unmap(context_, buffers_[number].handle, error);
        case 'y':
            return wye_buffer_sync(context_, buffers_[number].handle, 0, kSize, WYE_SYNC_TO_HOST,
                                   error);
        case 'Y':
            return wye_device_flush(context_, handle_, error);
        case 'R': {
            wye_device out = 0;
            const wye_status status = wye_device_recover(context_, handle_, &out, error);
            call.opened = status == WYE_OK && out != handle_;
            if (call.opened) old_.push_back(std::exchange(handle_, out));
            if (call.opened) compile_programs();
            return status;
        }
        case 'C': {
            const wye_status status = wye_device_close(context_, handle_, error);
            if (status == WYE_OK) handle_ = 0;
            return status;
        }
        case 'Z':
            wye_context_destroy(std::exchange(context_, nullptr));
            return WYE_OK;
        case 'z':
            return wye_context_destroy_within(std::exchange(context_, nullptr), 0, error);
        default: {  // 'O': opens the device
            const wye_status status =
                wye_device_open(context_, wye_str("scripted"), 0, &handle_, error);
            call.opened = status == WYE_OK;
            if (call.opened) compile_programs();
            return status;
        }
    }
}

// Compiles three of the programs now, so that their dispatches are submitted inside their calls. In
// scopes with the letter K, compilations of the other program then wait for the explorer.
void World::compile_programs() {
    device_.compiles_wait = false;
    for (const wye_program program : {programs_[0], programs_[1], programs_[3]})
        (void)wye_program_prepare(context_, program, handle_, nullptr, nullptr);
    device_.compiles_wait = scope_.letters.find('K') != std::string::npos;
}

Call& World::start(Step step) {
    calls_.emplace_back();
    Call& call = calls_.back();
    call.number = static_cast<int>(calls_.size()) - 1;
    call.step = std::move(step);
    call.began = ++stamp_;
    if (const std::string_view arguments = letter_of(call.step.kind)->arguments;
        arguments.starts_with('q') && call.step.kind != '-')
        call.queue = queue(call.step);
    call.was_lost = device_.lost;
    call.idle_before = device_.is_idle();
    for (Call& other : calls_)
        if (&other != &call && other.fiber != nullptr) other.alone = call.alone = false;
    Fiber& fiber = fibers_.start([this, &call] {
        wye_error* error = nullptr;
        call.status = perform(call, &error);
        if (call.status != WYE_OK || error != nullptr) call.error = take_text(error);
        call.fiber = nullptr;
    });
    call.fiber = &fiber;
    fiber.call = call.number;
    fiber.stop_at = call.step.stop;
    fiber.holds_births = call.step.kind == 'v' && scope_.calls > 1;
    for (std::size_t i = 0; i < call.step.arguments.size(); ++i)
        if (const char kind = letter_of(call.step.kind)->arguments[i];
            kind == 'r' || kind == 'w' || kind == 'b')
            buffers_[static_cast<std::size_t>(call.step.number(i))].used = true;
    return call;
}

// Lets all fibers go on, and judges the calls that return.
void World::settle() {
    std::vector<Call*> open;
    for (Call& call : calls_)
        if (call.fiber != nullptr) open.push_back(&call);
    fibers_.settle();
    was_lost_ = was_lost_ || device_.lost;
    for (Call* call : open) call->was_lost = call->was_lost || device_.lost;
    for (Call* call : open)
        if (call->fiber == nullptr) note_return(*call);
    settle_line();
    for (Call* call : open)
        if (call->fiber == nullptr) judge(*call);
    settle_line();
    if (!device_.found().empty()) fail("breach: " + device_.found());
    judge_locks();
}

bool World::is_call(char kind) { return std::strchr("EFXQLTKJ>", kind) == nullptr; }

}  // namespace wye::model
