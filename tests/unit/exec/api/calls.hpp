// SPDX-License-Identifier: Apache-2.0
//
// The rows of the table in test_wrong_calls.cpp: valid calls, and what each of them needs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "rig.hpp"
#include "wye/buffer.h"
#include "wye/capture.h"
#include "wye/device.h"
#include "wye/native.h"
#include "wye/pipeline.h"
#include "wye/profile.h"
#include "wye/report.h"

namespace wye::exec::test::test_wrong_calls {

// The arguments of valid calls.
struct World {
    wye_context* context = nullptr;
    std::uint64_t device = 0, program = 0, buffer = 0, other = 0, queue = 0, pending = 0, graph = 0;
    std::uint64_t memory = 0, pipeline = 0;
    std::uint64_t shared = 0;  // a mapped buffer
    // A test sets one of these, to make one mistake: a null pointer, or a header of another size.
    bool null = false;
    std::uint32_t wrong_size = 0;

    template <typename T>
    T* pointer(T& object) const {
        return null ? nullptr : &object;
    }
    template <typename T>
    T description() const {
        T out;
        WYE_INIT(out);
        out.header.size += wrong_size;
        return out;
    }
};

using Handle = std::uint64_t World::*;
struct Call {
    const char* name;
    std::function<wye_status(const World&, wye_error**)> run;
    std::vector<Handle> handles = {};   // handles that the call needs
    std::vector<Handle> optional = {};  // handles that may be 0
    bool pointer = false;               // the call needs a pointer that World::null makes null
    bool header = false;                // the call reads a structure
    bool device = false;                // the call fails once the device is lost
};

inline wye_dispatch_desc dispatch(const World& w, wye_argument (&arguments)[2],
                                  const std::uint64_t& k) {
    auto out = w.description<wye_dispatch_desc>();
    out.program = w.program;
    out.device = w.device;
    out.queue = w.queue;
    arguments[0] = arguments[1] = wye_argument{};
    arguments[0].kind = arguments[1].kind = WYE_ARGUMENT_RESIDENT;
    arguments[1].binding = 1;
    arguments[0].buffer = w.buffer;
    arguments[1].buffer = w.other;
    out.arguments = arguments;
    out.argument_count = 2;
    out.params = &k;
    out.param_count = 1;
    return out;
}

template <typename Function>
auto dispatching(Function&& function) {
    return [=](const World& w, wye_error** e) {
        wye_argument arguments[2];
        const std::uint64_t k = 1;
        wye_dispatch_desc desc = dispatch(w, arguments, k);
        return function(w, desc, e);
    };
}

// `pipeline_calls`: the functions of wye/pipeline.h. `resource_calls`: the functions of
// wye/buffer.h, device.h, native.h and report.h.
std::vector<Call> pipeline_calls();
std::vector<Call> resource_calls();

}  // namespace wye::exec::test::test_wrong_calls
