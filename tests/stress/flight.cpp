// SPDX-License-Identifier: Apache-2.0
#include "flight.hpp"

#include <algorithm>
#include <utility>

#include "wye/graph.h"
#include "wye/pipeline.h"

namespace wye::stress {
namespace {

constexpr std::size_t kWords = 2048;     // of each buffer
constexpr std::uint64_t kRounds = 4000;  // maximum of a loop; long enough to outlast frees

}  // namespace

Flight::Flight(World& world, wye_context* context, wye_device device, Random& random,
               bool may_be_lost, Make make, Fail fail)
    : world_(world),
      context_(context),
      device_(device),
      random_(random),
      may_be_lost_(may_be_lost),
      make_(std::move(make)),
      fail_(std::move(fail)) {}

wye_status Flight::call(const char* name, Allowed allowed, const Call& function) {
    if (!may_be_lost_) return make_(name, allowed, function);
    for (const wye_status status :
         {WYE_DEVICE_LOST, WYE_STALE_HANDLE, WYE_BUFFER_IN_USE, WYE_DEVICE_BUSY})
        allowed.push_back(status);
    const wye_status status = make_(name, allowed, function);
    if (status == WYE_DEVICE_LOST || status == WYE_STALE_HANDLE) lost_ = true;
    return status;
}

Flight::Object* Flight::some(Kind kind) {
    const auto count =
        static_cast<std::uint64_t>(std::ranges::count(objects_, kind, &Object::kind));
    if (count == 0) return nullptr;
    std::uint64_t left = pick(count);
    for (Object& one : objects_)
        if (one.kind == kind && left-- == 0) return &one;
    return nullptr;
}

Flight::Object* Flight::buffer(std::uint64_t number) {
    const auto found = std::ranges::find_if(objects_, [&](const Object& one) {
        return one.kind == Kind::Buffer && one.number == number;
    });
    return found == objects_.end() ? nullptr : &*found;
}

// ---- Making ------------------------------------------------------------------------------------

void Flight::add_queue() {
    Object made;
    wye_queue_create_desc desc;
    WYE_INIT(desc);
    desc.flags = pick(3) == 0 ? WYE_QUEUE_OWN : 0;
    if (call("wye_queue_create", {WYE_LIMIT_EXCEEDED}, [&](wye_error** error) {
            return wye_queue_create(context_, device_, &desc, &made.handle, error);
        }) == WYE_OK)
        objects_.push_back(std::move(made));
}

void Flight::add_buffer() {
    Object made;
    made.kind = Kind::Buffer;
    made.number = ++numbers_;
    made.words.assign(kWords, static_cast<std::uint32_t>(random_()));
    wye_buffer_create_desc desc;
    WYE_INIT(desc);
    desc.size = kWords * 4;
    if (call("wye_buffer_create", {}, [&](wye_error** error) {
            return wye_buffer_create(context_, device_, &desc, &made.handle, error);
        }) != WYE_OK)
        return;
    const wye_buffer handle = made.handle;
    const std::uint32_t word = made.words[0];
    objects_.push_back(std::move(made));
    call("wye_buffer_fill", {}, [&](wye_error** error) {
        return wye_buffer_fill(context_, handle, 0, kWords * 4, word, 4, error);
    });
}

void Flight::add_program() {
    Object made;
    made.kind = Kind::Program;
    do made.model = random_model(random_, world_.options().variety);
    while (made.model.kind != Model::Kind::Map && made.model.kind != Model::Kind::Loop);
    const std::string text = made.model.text();
    wye_program_source source;
    WYE_INIT(source);
    source.text = {text.data(), text.size()};
    if (call("wye_program_create", {}, [&](wye_error** error) {
            return wye_program_create(context_, &source, &made.handle, error);
        }) == WYE_OK)
        objects_.push_back(std::move(made));
}

void Flight::add_pipeline() {
    const Object* const program = some(Kind::Program);
    if (program == nullptr) return add_program();
    Object made;
    made.kind = Kind::Pipeline;
    made.model = program->model;
    wye_pipeline_desc desc;
    WYE_INIT(desc);
    desc.program = program->handle;
    desc.device = device_;
    if (call("wye_pipeline_create", {}, [&](wye_error** error) {
            return wye_pipeline_create(context_, &desc, &made.handle, error);
        }) == WYE_OK)
        objects_.push_back(std::move(made));
}

// A dispatch of a program or pipeline from one buffer to another.
struct Described {
    wye_argument arguments[2] = {};
    std::uint64_t k = 0;
    wye_dispatch_desc desc;

    Described(const Model& model, wye_buffer from, wye_buffer to, std::uint64_t param) : k(param) {
        WYE_INIT(desc);
        arguments[0].kind = arguments[1].kind = WYE_ARGUMENT_RESIDENT;
        arguments[0].buffer = from;
        arguments[1].binding = 1;
        arguments[1].buffer = to;
        desc.arguments = arguments;
        desc.argument_count = model.in_place() ? 1 : 2;
        desc.params = &k;
        desc.param_count = 1;
    }
};

void Flight::add_graph() {
    const Object* const pipeline = some(Kind::Pipeline);
    const Object* const from = some(Kind::Buffer);
    const Object* const to = some(Kind::Buffer);
    if (pipeline == nullptr) return add_pipeline();
    if (from == nullptr || (from == to && !pipeline->model.in_place())) return add_buffer();
    Object made;
    made.kind = Kind::Graph;
    made.model = pipeline->model;
    made.from = from->number;
    made.to = pipeline->model.in_place() ? from->number : to->number;
    made.k = pick(kRounds);
    Described dispatch(made.model, from->handle, to->handle, made.k);
    dispatch.desc.pipeline = pipeline->handle;
    const wye_graph_step step = {&dispatch.desc, nullptr};
    wye_graph_desc desc;
    WYE_INIT(desc);
    desc.device = device_;
    desc.steps = &step;
    desc.step_count = 1;
    if (call("wye_graph_create", {}, [&](wye_error** error) {
            return wye_graph_create(context_, &desc, &made.handle, error);
        }) == WYE_OK)
        objects_.push_back(std::move(made));
}

bool Flight::begin() {
    for (int i = 0; i < 3 && !lost_; ++i) add_queue();
    for (int i = 0; i < 4 && !lost_; ++i) add_buffer();
    for (int i = 0; i < 2 && !lost_; ++i) add_program();
    if (!lost_) add_pipeline();
    if (!lost_) add_graph();
    return !lost_ && !world_.failed();
}

// ---- Work --------------------------------------------------------------------------------------

// Changes the expected contents of `to` as the dispatch changes the buffer.
void Flight::apply(const Model& model, std::uint64_t k, Object& from, Object& to) {
    to.words = model.expected(from.words, static_cast<std::uint32_t>(k));
    ++world_.dispatches;
}

void Flight::dispatch() {
    const Object* const program = some(pick(2) == 0 ? Kind::Program : Kind::Pipeline);
    Object* const from = some(Kind::Buffer);
    Object* to = some(Kind::Buffer);
    if (program == nullptr) return add_pipeline();
    if (from == nullptr) return add_buffer();
    if (program->model.in_place())
        to = from;
    else if (to == from)
        return add_buffer();
    Described dispatch(program->model, from->handle, to->handle, pick(kRounds));
    if (program->kind == Kind::Program) {
        dispatch.desc.program = program->handle;
        dispatch.desc.device = device_;
    } else {
        dispatch.desc.pipeline = program->handle;
    }
    if (const Object* const queue = pick(4) == 0 ? nullptr : some(Kind::Queue))
        dispatch.desc.queue = queue->handle;
    Object pending;
    pending.kind = Kind::Pending;
    if (call("wye_dispatch_submit", {}, [&](wye_error** error) {
            return wye_dispatch_submit(context_, &dispatch.desc, &pending.handle, error);
        }) != WYE_OK)
        return;
    apply(program->model, dispatch.k, *from, *to);
    objects_.push_back(std::move(pending));
}

void Flight::execute() {
    const Object* const graph = some(Kind::Graph);
    if (graph == nullptr) return add_graph();
    Object* const from = buffer(graph->from);
    Object* const to = buffer(graph->to);
    const bool stale = from == nullptr || to == nullptr;
    wye_graph_run_desc desc;
    WYE_INIT(desc);
    if (const Object* const queue = pick(4) == 0 ? nullptr : some(Kind::Queue))
        desc.queue = queue->handle;
    Object pending;
    pending.kind = Kind::Pending;
    const wye_status status = call("wye_graph_submit", {WYE_STALE_HANDLE}, [&](wye_error** error) {
        return wye_graph_submit(context_, graph->handle, &desc, &pending.handle, error);
    });
    if (!may_be_lost_ && (status == WYE_STALE_HANDLE) != stale)
        fail_("a graph is stale if and only if a buffer that it names was freed");
    if (status != WYE_OK || stale) return;
    apply(graph->model, graph->k, *from, *to);
    objects_.push_back(std::move(pending));
}

void Flight::download(Object& buffer) {
    Words got(kWords);
    if (call("wye_buffer_download", {}, [&](wye_error** error) {
            return wye_buffer_download_range(context_, buffer.handle, 0, got.data(), kWords * 4,
                                             error);
        }) != WYE_OK)
        return;
    ++world_.checked;
    const auto wrong = std::ranges::mismatch(got, buffer.words);
    if (wrong.in1 == got.end()) return;
    fail_("work in flight: word " + std::to_string(wrong.in1 - got.begin()) + " is " +
          std::to_string(*wrong.in1) + ", not " + std::to_string(*wrong.in2));
}

void Flight::fly(unsigned steps) {
    for (; steps > 0 && !lost_ && !world_.failed(); --steps) {
        switch (pick(12)) {
            case 0:
            case 1:
            case 2:
            case 3:
                dispatch();
                break;
            case 4:
            case 5:
                execute();
                break;
            case 6:
                add_queue();
                break;
            case 7:
                pick(2) == 0 ? add_graph() : add_pipeline();
                break;
            case 8:
                pick(2) == 0 ? add_program() : add_buffer();
                break;
            case 9:
                if (Object* const one = some(Kind::Pending)) {
                    const wye_pending handle = one->handle;
                    call("wye_pending_wait", {WYE_TIMEOUT}, [&](wye_error** error) {
                        return wye_pending_wait(context_, handle,
                                                pick(2) == 0 ? UINT64_MAX : pick(1'000'000),
                                                nullptr, error);
                    });
                }
                break;
            default:
                if (!objects_.empty()) free(pick(objects_.size()));
        }
    }
}

void Flight::land() {
    for (Object& one : objects_)
        if (one.kind == Kind::Buffer && !lost_ && !world_.failed()) download(one);
}

// ---- Freeing -----------------------------------------------------------------------------------

void Flight::free(std::size_t index) {
    std::swap(objects_[index], objects_.back());
    const std::uint64_t handle = objects_.back().handle;
    const Kind kind = objects_.back().kind;
    const auto end = [&](const char* name, auto function, const Allowed& allowed = {}) {
        return call(name, allowed,
                    [&](wye_error** error) { return function(context_, handle, error); });
    };
    switch (kind) {
        case Kind::Queue:
            end("wye_queue_free in flight", wye_queue_free);
            break;
        case Kind::Program:
            end("wye_program_free in flight", wye_program_free);
            break;
        case Kind::Pipeline:
            end("wye_pipeline_free in flight", wye_pipeline_free);
            break;
        case Kind::Graph:
            end("wye_graph_free in flight", wye_graph_free);
            break;
        case Kind::Pending:
            end("wye_pending_free in flight", wye_pending_free);
            break;
        case Kind::Buffer:
            if (end("wye_buffer_free in flight", wye_buffer_free, {WYE_BUFFER_IN_USE}) ==
                WYE_BUFFER_IN_USE)
                return;
            break;
    }
    objects_.pop_back();
}

void Flight::free_all() {
    // A buffer that is in use is tried again. Buffers that are left after all tries end with the
    // device.
    for (std::size_t tries = objects_.size() * 2; tries > 0 && !objects_.empty(); --tries)
        free(pick(objects_.size()));
}

}  // namespace wye::stress
