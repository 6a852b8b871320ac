// SPDX-License-Identifier: Apache-2.0
#include "planned.hpp"

namespace wye::plan::test {
namespace {

TEST_CASE("computed and literal counts must match the bytes exactly, run-time ones divide") {
    const Planned saxpy = planned(kSaxpy);
    refused(saxpy, Ask().param(0).in(0, 41).in(1, 40).out(2, 40), Code::INVALID_ARGUMENT,
            "`x` is bound to 41 bytes, which is not a multiple of its element size 4");
    refused(saxpy, Ask().param(0).in(0, 40).in(1, 36).out(2, 40), Code::INVALID_ARGUMENT,
            "`y` takes 40 bytes (10 elements of f32), got 36");
    refused(saxpy, Ask().param(0).in(0, 40).in(1, 40).out(2, 44), Code::INVALID_ARGUMENT,
            "the read-back of `r` has 40 bytes (10 elements of f32), its storage has 44");
    const auto empty = admitted(saxpy, Ask().param(0).in(0, 0).in(1, 0).out(2, 0));
    CHECK(empty->empty);
    CHECK(empty->buffers[2].bytes == 0);

    const Planned literal = planned(R"(wye 1; program p; workgroup 1; uniform k: u32[8];
        output r: u32[1]; grid groups 1; main { r[0] = k[0]; })");
    refused(literal, Ask().in(0, 28).out(1, 4), Code::INVALID_ARGUMENT, "`k` takes 32 bytes");
    admitted(literal, Ask().in(0, 32).out(1, 4));
    admitted(literal, Ask().in(0, 32).discard(1));
    admitted(literal, Ask().in(0, 32).discard(1, 4));
    refused(literal, Ask().in(0, 32).discard(1, 8), Code::INVALID_ARGUMENT, "`r` takes 4 bytes");
}

TEST_CASE("size expressions over parameters and lengths") {
    const Planned p = planned(R"(wye 1; program p; workgroup 1; param n: u32; param k: i32;
        input x: u8[]; output r: u16[(len(x) + n) / 2 - k]; grid groups 1; main { })");
    const auto ask = [](std::uint64_t n, std::int32_t k, std::uint64_t x, std::uint64_t r) {
        return Ask().param(n).param(static_cast<std::uint32_t>(k)).in(0, x).out(1, r);
    };
    CHECK(admitted(p, ask(5, 1, 10, 12))->buffers[1].elements == 6);  // 15 / 2 - 1
    CHECK(admitted(p, ask(5, -3, 10, 20))->buffers[1].elements == 10);
    refused(p, ask(5, 1, 10, 14), Code::INVALID_ARGUMENT, "the read-back of `r` has 12 bytes");
    refused(p, ask(0, 9, 10, 0), Code::INVALID_ARGUMENT, "the count of `r`");  // 5 - 9
}

TEST_CASE("run-time outputs: storage, else elements, else refused") {
    const Planned p = planned(R"(wye 1; program p; workgroup 4; output r: u64[];
        main { if global_id.x < len(r) { r[global_id.x] = 1u64; } })");
    CHECK(admitted(p, Ask().out(0, 80).grid(1))->buffers[0].elements == 10);
    CHECK(admitted(p, Ask().out(0, 80).elements(3))->buffers[0].elements == 10);
    CHECK(admitted(p, Ask().out(0, 24).elements(3))->groups == Count3{1, 1, 1});
    CHECK(admitted(p, Ask().discard(0).elements(7))->buffers[0].elements == 7);
    CHECK(admitted(p, Ask().discard(0, 16).elements(7))->buffers[0].elements == 2);
    CHECK(admitted(p, Ask().resident(0, 3, 64).grid(1))->buffers[0].elements == 8);
    refused(p, Ask().out(0, 81).grid(1), Code::INVALID_ARGUMENT,
            "not a multiple of its element size");
    refused(p, Ask().discard(0).grid(1), Code::INVALID_ARGUMENT, "run-time output `r`");
    refused(p, Ask().discard(0).elements(UINT64_C(1) << 61U), Code::LIMIT_EXCEEDED,
            "`r` would have 2305843009213693952 elements");
}

TEST_CASE("a read-back range limits what is delivered, not the buffer") {
    const Planned p = planned(R"(wye 1; program p; workgroup 1; input_output x: u32[] bytes 4..12;
        output r: u32[] bytes 0..4; grid groups 1; main { r[0] = x[0]; })");
    Ask ask = Ask().in(0, 16).out(1, 4).elements(5);
    ask.arguments[0].output = Ask::memory(0);
    ask.arguments[0].output_size = 8;
    const auto launch = admitted(p, ask);
    CHECK(launch->buffers[0].bytes == 16);
    CHECK(launch->buffers[0].read_offset == 4);
    CHECK(launch->buffers[0].read_size == 8);
    CHECK(launch->buffers[1].bytes == 20);  // from `elements`, not from the storage
    CHECK(launch->buffers[1].read_size == 4);
    ask.arguments[0].output_size = 16;
    refused(p, ask, Code::INVALID_ARGUMENT,
            "the read-back of `x` has 8 bytes, as its `bytes` clause says, its storage has 16");
    refused(p, Ask().in(0, 8).out(1, 4).elements(5), Code::INVALID_ARGUMENT,
            "read-back range 4..12 of `x` ends beyond its 8 bytes");
}

TEST_CASE("asking for sizes needs no storage") {
    const Planned saxpy = planned(kSaxpy);
    Ask ask = Ask().param(0).in(0, 40).in(1, 40).out(2, 0);
    ask.request.sizes_only = true;
    CHECK(admitted(saxpy, ask)->buffers[2].read_size == 40);
    // The launch has the size of a null input if the input's count follows from another buffer. The
    // size of an input that is not null is checked.
    ask.arguments[1].input = nullptr;
    ask.arguments[1].input_size = 0;
    CHECK(admitted(saxpy, ask)->buffers[1].bytes == 40);
    ask.arguments[1].input = Ask::memory(0);
    refused(saxpy, ask, Code::INVALID_ARGUMENT, "`y` takes 40 bytes");
    ask.arguments[1].input_size = 40;
    ask.arguments.pop_back();
    CHECK(admitted(saxpy, ask)->groups == Count3{1, 1, 1});
    ask.arguments.pop_back();
    refused(saxpy, ask, Code::INVALID_ARGUMENT, "input `y` (binding 1) has no argument");
}

}  // namespace
}  // namespace wye::plan::test
