// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "planned.hpp"

namespace wye::plan::test {
namespace {

Ask saxpy_request() { return Ask().param(0).in(0, 40).in(1, 40).out(2, 40); }

TEST_CASE("an admitted launch knows every size, the grid and the parameter block") {
    const Planned saxpy = planned(kSaxpy);
    Ask ask = Ask().param(0x40490fdb).in(0, 4096).in(1, 4096).out(2, 4096);
    const auto launch = admitted(saxpy, ask);
    REQUIRE(launch->buffer_count == 3);
    for (const BoundBuffer& bound : launch->bound()) {
        CHECK(bound.elements == 1024);
        CHECK(bound.bytes == 4096);
    }
    CHECK(launch->groups == Count3{4, 1, 1});
    CHECK(launch->workgroup == Count3{256, 1, 1});
    CHECK(!launch->empty);
    CHECK(launch->params_size == 4);
    float a = 0;
    std::memcpy(&a, launch->params, 4);
    CHECK(a == 3.14159274101257324F);
    CHECK(launch->buffers[0].input == Ask::memory(0));
    CHECK(launch->buffers[2].input == nullptr);
    CHECK(launch->buffers[2].output == Ask::memory(2));
    CHECK(launch->buffers[2].read_size == 4096);
    CHECK(launch->buffers[0].output == nullptr);
}

TEST_CASE("parameters are laid out in declared order, naturally aligned") {
    const Planned p = planned(R"(wye 1; program p; workgroup 1;
        param a: u32; param b: f64; param c: i32; output r: f64[1]; grid groups 1;
        main { r[0] = b; })");
    Ask ask = Ask().param(7).param(0x3ff0000000000000).param(0xffffffff).out(0, 8);
    const auto launch = admitted(p, ask);
    CHECK(launch->params_size == 24);
    std::uint32_t a = 0;
    double b = 0;
    std::int32_t c = 0;
    std::memcpy(&a, launch->params, 4);
    std::memcpy(&b, launch->params + 8, 8);
    std::memcpy(&c, launch->params + 16, 4);
    CHECK(a == 7);
    CHECK(b == 1.0);
    CHECK(c == -1);
}

TEST_CASE("options are honoured or refused by name") {
    const Planned saxpy = planned(kSaxpy);
    Ask ask = saxpy_request();
    CHECK(admitted(saxpy, ask)->groups == Count3{1, 1, 1});

    const auto with = [&](auto change) {
        Ask changed = saxpy_request();
        change(changed.request);
        return changed;
    };
    refused(saxpy, with([](Request& r) { r.speculation = true; }), Code::UNSUPPORTED,
            "speculation");
    refused(saxpy, with([](Request& r) { r.persistent = true; }), Code::UNSUPPORTED,
            "persistent threads");
    refused(saxpy, with([](Request& r) {
                r.workgroup = {64, 1, 1};
            }),
            Code::INVALID_ARGUMENT, "not adjustable");
    refused(saxpy, with([](Request& r) { r.elements = 4; }), Code::INVALID_ARGUMENT,
            "without WYE_DISPATCH_ELEMENTS");
    refused(saxpy, with([](Request& r) {
                r.grid = {1, 1, 1};
            }),
            Code::INVALID_ARGUMENT, "without WYE_DISPATCH_GRID");
    refused(saxpy, with([](Request& r) { r.max_output_bytes = 39; }), Code::LIMIT_EXCEEDED,
            "40 bytes, above the request's limit of 39");
    admitted(saxpy, with([](Request& r) { r.max_output_bytes = 40; }));
    for (const std::uint32_t count : {0U, 1U, 3U})
        CHECK(
            admitted(saxpy, with([&](Request& r) { r.fixpoint_iterations = count; }))->iterations ==
            std::max(count, 1U));
    refused(saxpy, with([](Request& r) { r.has_fixpoint = true; }), Code::INVALID_ARGUMENT,
            "0 fixpoint iterations");
    CHECK(admitted(saxpy, with([](Request& r) {
                       r.has_fixpoint = true;
                       r.fixpoint_iterations = 3;
                   }))
              ->iterations == 3);
}

TEST_CASE("a workgroup override needs an adjustable program and sane sizes") {
    const Planned p = planned(R"(wye 1; program p; workgroup 8 adjustable; output r: u32[64];
        grid elements 64; main { if global_id.x < len(r) { r[global_id.x] = 1u; } })");
    Ask ask = Ask().out(0, 256);
    CHECK(admitted(p, ask)->groups == Count3{8, 1, 1});
    ask.request.workgroup = {32, 1, 1};
    const auto launch = admitted(p, ask);
    CHECK(launch->groups == Count3{2, 1, 1});
    CHECK(launch->workgroup == Count3{32, 1, 1});
    CHECK(launch->has_override);
    for (const Count3& bad : {Count3{0, 1, 1}, Count3{4097, 1, 1}, Count3{64, 65, 1}}) {
        ask.request.workgroup = bad;
        refused(p, ask, Code::INVALID_ARGUMENT, "workgroup size");
    }
}

TEST_CASE("parameters: count and range") {
    const Planned saxpy = planned(kSaxpy);
    refused(saxpy, Ask().in(0, 40).in(1, 40).out(2, 40), Code::INVALID_ARGUMENT,
            "has 1 parameters, the request gives 0");
    refused(saxpy, saxpy_request().param(1), Code::INVALID_ARGUMENT, "gives 2");
    refused(saxpy, Ask().param(UINT64_C(1) << 32U).in(0, 40).in(1, 40).out(2, 40),
            Code::INVALID_ARGUMENT, "parameter `a` has type f32");
}

TEST_CASE("arguments: known, once, complete, of a fitting kind") {
    const Planned saxpy = planned(kSaxpy);
    const auto base = [] { return Ask().param(0); };
    refused(saxpy, saxpy_request().in(5, 4), Code::INVALID_ARGUMENT, "no binding 5");
    refused(saxpy, saxpy_request().in(500, 4), Code::INVALID_ARGUMENT, "no binding 500");
    refused(saxpy, saxpy_request().in(1, 40), Code::DUPLICATE, "`y` (binding 1) is bound twice");
    refused(saxpy, base().in(0, 40).out(2, 40), Code::INVALID_ARGUMENT,
            "input `y` (binding 1) has no argument");
    refused(saxpy, base().in(0, 40).in(1, 40).in(2, 40), Code::INVALID_ARGUMENT,
            "output `r` (binding 2) takes no input bytes");
    refused(saxpy, base().inout(0, 40).in(1, 40).out(2, 40), Code::INVALID_ARGUMENT,
            "input `x` (binding 0) asks for an output, but is never read back");
    refused(saxpy, base().discard(0).in(1, 40).out(2, 40), Code::INVALID_ARGUMENT,
            "only an output can be");
    Ask null = saxpy_request();
    null.arguments[0].input = nullptr;
    refused(saxpy, null, Code::INVALID_ARGUMENT, "pointer is null");
    null = saxpy_request();
    null.arguments[2].output = nullptr;
    refused(saxpy, null, Code::INVALID_ARGUMENT, "pointer is null");

    const Planned p = planned(R"(wye 1; program p; workgroup 4; persistent state: u32[];
        shared s: u32[4]; grid groups 1; main { s[local_index] = 1u; state[local_index] = 2u; })");
    refused(p, Ask().in(0, 16), Code::INVALID_ARGUMENT,
            "persistent `state` (binding 0) is bound to host bytes");
    refused(p, Ask().resident(0, 9, 16).in(1, 16), Code::INVALID_ARGUMENT,
            "shared `s` (binding 1) is workgroup memory");
    CHECK(admitted(p, Ask().resident(0, 9, 16))->buffers[0].elements == 4);
    // A caller may ask for the size only, to make a buffer.
    Ask size = Ask().discard(0, 24);
    refused(p, size, Code::INVALID_ARGUMENT, "only an output can be");
    size.request.sizes_only = true;
    CHECK(admitted(p, size)->buffers[0].elements == 6);
}

TEST_CASE("resident ranges: inside the buffer, naturally aligned, exact where the count is known") {
    const Planned saxpy = planned(kSaxpy);
    const auto with = [](std::uint64_t offset, std::uint64_t size) {
        return Ask().param(0).in(0, 40).resident(1, 77, 64, offset, size).out(2, 40);
    };
    const auto launch = admitted(saxpy, with(8, 40));
    CHECK(launch->buffers[1].offset == 8);
    CHECK(launch->buffers[1].bytes == 40);
    admitted(saxpy, with(24, 0));  // size 0: to the end of the buffer
    refused(saxpy, with(28, 40), Code::INVALID_ARGUMENT, "40 bytes at offset 28");
    refused(saxpy, with(65, 0), Code::INVALID_ARGUMENT, "offset 65 of a resident buffer of 64");
    refused(saxpy, with(UINT64_MAX, UINT64_MAX), Code::INVALID_ARGUMENT, "resident buffer of 64");
    refused(saxpy, with(2, 40), Code::INVALID_ARGUMENT, "not a multiple of 4");
    refused(saxpy, with(0, 0), Code::INVALID_ARGUMENT,
            "takes 40 bytes (10 elements of f32), got 64");
}

}  // namespace
}  // namespace wye::plan::test
