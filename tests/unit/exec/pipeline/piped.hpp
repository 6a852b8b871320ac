// SPDX-License-Identifier: Apache-2.0
//
// A context on the fake driver with a program, two buffers, and shorthand for pipelines.
#pragma once

#include <vector>

#include "rig.hpp"
#include "wye/pipeline.h"

namespace wye::exec::test {

using Words = std::vector<std::uint32_t>;

struct Piped {
    Piped() {
        rig.driver.kernel = add_kernel;
        rig.upload(x, Words{1, 2, 3, 4});
    }
    Rig rig;
    wye_device device = rig.device();
    wye_program program = rig.program(kAdd);
    wye_buffer x = rig.buffer(device, 16, "x data");
    wye_buffer r = rig.buffer(device, 16, "results");

    [[nodiscard]] wye_pipeline_desc description(wye_program of) const {
        wye_pipeline_desc out;
        WYE_INIT(out);
        out.program = of;
        out.device = device;
        return out;
    }
    Outcome create(const wye_pipeline_desc& desc, wye_pipeline& out) const {
        return attempt(
            [&](wye_error** e) { return wye_pipeline_create(rig.context, &desc, &out, e); });
    }
    [[nodiscard]] wye_pipeline pipeline(wye_program of) const {
        wye_pipeline out = 0;
        check_ok(create(description(of), out));
        return out;
    }
    [[nodiscard]] wye_pipeline_description describe(wye_pipeline pipeline) const {
        return rig.describe(pipeline);
    }
    [[nodiscard]] Job job(wye_pipeline through, std::uint64_t k = 1) const {
        Job out(0, 0);
        out.desc.pipeline = through;
        out.param(k).resident(0, x).resident(1, r);
        return out;
    }
    [[nodiscard]] Words results() const { return rig.download<std::uint32_t>(r, 4); }
    [[nodiscard]] wye_counters counters() const { return rig.counters(device); }
    Outcome free_program() const {
        return attempt([&](wye_error** e) { return wye_program_free(rig.context, program, e); });
    }
    Outcome free(wye_pipeline pipeline) const {
        return attempt([&](wye_error** e) { return wye_pipeline_free(rig.context, pipeline, e); });
    }
};

}  // namespace wye::exec::test
