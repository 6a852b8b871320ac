// SPDX-License-Identifier: Apache-2.0
//
// Valid calls of the functions of pipelines, for test_wrong_calls.cpp.
#include <utility>

#include "calls.hpp"

namespace wye::exec::test::test_wrong_calls {

namespace {

const std::vector<Handle> kBatch = {&World::pipeline, &World::buffer, &World::other};

// A batch of one item.
template <typename Function>
auto batching(Function&& function) {
    return [=](const World& w, wye_error** e) {
        wye_argument arguments[2];
        const std::uint64_t k = 1;
        World plain = w;
        plain.program = plain.device = plain.queue = 0;
        plain.wrong_size = 0;
        const wye_dispatch_desc item = dispatch(plain, arguments, k);
        auto desc = w.description<wye_batch_desc>();
        desc.pipeline = w.pipeline;
        desc.items = &item;
        desc.item_count = 1;
        return function(w, desc, e);
    };
}

}  // namespace

std::vector<Call> pipeline_calls() {
    return {
        {"wye_pipeline_create",
         [](const World& w, wye_error** e) {
             auto desc = w.description<wye_pipeline_desc>();
             desc.program = w.program;
             desc.device = w.device;
             wye_pipeline out = 0;
             const wye_status status = wye_pipeline_create(w.context, &desc, w.pointer(out), e);
             if (out != 0) (void)wye_pipeline_free(w.context, out, nullptr);
             return status;
         },
         {&World::program, &World::device},
         {&World::device},
         true,
         true,
         true},
        {"wye_pipeline_create_submit",
         [](const World& w, wye_error** e) {
             auto desc = w.description<wye_pipeline_desc>();
             desc.program = w.program;
             desc.device = w.device;
             wye_pending out = 0;
             const wye_status status =
                 wye_pipeline_create_submit(w.context, &desc, w.pointer(out), e);
             if (status != WYE_OK) return status;
             const wye_status ended = wye_pending_wait(w.context, out, UINT64_MAX, nullptr, e);
             (void)wye_pending_free(w.context, out, nullptr);
             return ended;
         },
         {&World::program, &World::device},
         {&World::device},
         true,
         true,
         true},
        {"wye_pending_pipeline",
         [](const World& w, wye_error** e) {
             wye_pipeline out = 0;
             const wye_status status =
                 wye_pending_pipeline(w.context, w.pending, w.pointer(out), e);
             if (status != WYE_NOT_FOUND) return status;
             if (e != nullptr) wye_error_free(std::exchange(*e, nullptr));
             return wye_status{WYE_OK};  // NOT_FOUND is right: World::pending makes no pipeline
         },
         {&World::pending},
         {},
         true},
        {"wye_program_prepare_submit",
         [](const World& w, wye_error** e) {
             wye_pending out = 0;
             const wye_status status =
                 wye_program_prepare_submit(w.context, w.program, w.device, 0, w.pointer(out), e);
             if (status != WYE_OK) return status;
             const wye_status ended = wye_pending_wait(w.context, out, UINT64_MAX, nullptr, e);
             (void)wye_pending_free(w.context, out, nullptr);
             return ended;
         },
         {&World::program, &World::device},
         {&World::device},
         true,
         false,
         true},
        {"wye_pipeline_describe",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_pipeline_description>();
             return wye_pipeline_describe(w.context, w.pipeline, w.pointer(out), e);
         },
         {&World::pipeline},
         {},
         true,
         true},
        {"wye_pipeline_free",
         [](const World& w, wye_error** e) { return wye_pipeline_free(w.context, w.pipeline, e); },
         {&World::pipeline}},
        {"wye_pipeline_batch",
         batching([](const World& w, wye_batch_desc& desc, wye_error** e) {
             return wye_pipeline_batch(w.context, w.pointer(desc), nullptr, nullptr, e);
         }),
         kBatch,
         {},
         true,
         true,
         true},
        {"wye_pipeline_batch_owned",
         batching([](const World& w, wye_batch_desc& desc, wye_error** e) {
             wye_pending out = 0;
             const wye_status status =
                 wye_pipeline_batch_owned(w.context, &desc, w.pointer(out), nullptr, nullptr, e);
             if (out != 0) (void)wye_pending_free(w.context, out, nullptr);
             return status;
         }),
         kBatch,
         {},
         true,
         true,
         true},
        {"wye_pipeline_rows",
         [](const World& w, wye_error** e) {
             const std::uint64_t k = 1;
             auto item = World().description<wye_dispatch_desc>();
             item.params = &k;
             item.param_count = 1;
             const wye_buffer row[2] = {w.buffer, w.other};
             auto desc = w.description<wye_rows_desc>();
             desc.pipeline = w.pipeline;
             desc.dispatch = &item;
             desc.buffers = row;
             desc.row_count = 1;
             desc.row_size = 2;
             return wye_pipeline_rows(w.context, w.pointer(desc), nullptr, nullptr, e);
         },
         kBatch,
         {},
         true,
         true,
         true},
    };
}

}  // namespace wye::exec::test::test_wrong_calls
