// SPDX-License-Identifier: Apache-2.0
//
// Right calls of the functions of pipelines, for test_wrong_calls.cpp.
#include "calls.hpp"

namespace wye::exec::test::test_wrong_calls {

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
         {},
         true,
         true,
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
    };
}

}  // namespace wye::exec::test::test_wrong_calls
