// SPDX-License-Identifier: Apache-2.0
//
// Tests how the C++ layer prevents mistakes: element types, borrowed values, failed results.
#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "support/half.hpp"
#include "take.hpp"
#include "wye/pipeline.hpp"
#include "wye/wye.hpp"

namespace {

using wye::bf16;
using wye::Code;
using wye::f16;

using api_test::take;

// Values that are gone, or overwritten, before run() uses them are refused at compile time.
template <typename R>
concept Takes = requires(wye::Dispatch& dispatch, R&& values) {
    dispatch.input("x", std::forward<R>(values));
    dispatch.output("r", std::forward<R>(values));
};
template <typename P>
concept Dispatches = requires(P&& program, const wye::Device& device) {
    wye::Dispatch(std::forward<P>(program), device);
};
template <typename B>
concept Binds = requires(wye::Dispatch& dispatch, B&& buffer) {
    dispatch.bind("x", std::forward<B>(buffer));
};
static_assert(Takes<std::vector<float>&> && Takes<std::span<float>>);
static_assert(!Takes<std::vector<float>> && !Takes<std::array<float, 3>>);
static_assert(Dispatches<const wye::Program&> && !Dispatches<wye::Program>);
static_assert(Binds<const wye::Buffer&> && !Binds<wye::Buffer>);

// Elements whose owner is gone at the end of the statement are refused as well.
template <typename O>
concept Gives = requires(O&& owner) {
    std::forward<O>(owner).template get<float>("r");
};
template <typename P>
concept GivesOutput = requires(P&& pending) {
    std::forward<P>(pending).template output<float>("r");
};
static_assert(Gives<const wye::Outputs&> && Gives<wye::Outputs&>);
static_assert(!Gives<wye::Outputs> && !Gives<const wye::Outputs>);
static_assert(Gives<const wye::OutputSlots&> && Gives<wye::OutputSlots&>);
static_assert(!Gives<wye::OutputSlots> && !Gives<const wye::OutputSlots>);
static_assert(GivesOutput<const wye::Pending&> && GivesOutput<wye::Pending&>);
static_assert(!GivesOutput<wye::Pending> && !GivesOutput<const wye::Pending>);

// Descriptions of temporary objects are refused too, since the object owns the text.
template <typename O>
concept Describes = requires(O&& object) {
    std::forward<O>(object).describe();
};
template <typename P>
concept DescribesProgram = requires(P&& pipeline) {
    std::forward<P>(pipeline).describe_program();
};
static_assert(Describes<const wye::Pipeline&> && !Describes<wye::Pipeline>);
static_assert(DescribesProgram<const wye::Pipeline&> && !DescribesProgram<wye::Pipeline>);
static_assert(Describes<wye::Program&> && !Describes<wye::Program>);
static_assert(Describes<wye::Buffer&> && !Describes<wye::Buffer>);
static_assert(Describes<wye::Queue&> && !Describes<const wye::Queue>);

// Values that no buffer can hold are refused too.
struct Pair {
    int a, b;
};
static_assert(Takes<std::vector<std::array<float, 4>>&> && Takes<std::vector<std::byte>&>);
static_assert(!Takes<std::vector<Pair>&> && !Takes<std::vector<std::array<float, 5>>&>);
static_assert(!Takes<std::vector<const char*>&>);

TEST_CASE("an f16 is every f16's value, and the nearest one of every float") {
    for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
        const f16 h = f16::from_bits(static_cast<std::uint16_t>(bits));
        const double value = support::value_of_half(bits);
        const auto f = static_cast<float>(h);
        if (std::isnan(value)) {
            CHECK(std::isnan(f));
            CHECK(f16(f).bits == 0x7e00U);
            continue;
        }
        REQUIRE(static_cast<double>(f) == value);
        REQUIRE(std::signbit(f) == ((bits & 0x8000U) != 0));
        REQUIRE(f16(f).bits == bits);
    }
    CHECK(f16::from_bits(0x8000U) == f16(0.0F));
    CHECK_FALSE(f16(NAN) == f16(NAN));
}

TEST_CASE("floats are rounded to f16 and bf16 to the nearest, ties to even") {
    // Each f32 exponent and sign, with significands around all ties of f16 and bf16.
    std::uint64_t wrong = 0;
    for (std::uint32_t head = 0; head < 0x200U; ++head)
        for (std::uint32_t top = 0; top < 0x800U; ++top)
            for (const std::uint32_t low : {0x000U, 0x001U, 0x7ffU, 0x800U, 0x801U, 0xfffU}) {
                const auto f = std::bit_cast<float>((head << 23U) | (top << 12U) | low);
                wrong += f16(f).bits == support::half_of_value(static_cast<double>(f)) ? 0 : 1;
                wrong += bf16(f).bits == support::bf16_of_value(static_cast<double>(f)) ? 0 : 1;
            }
    CHECK(wrong == 0);
}

TEST_CASE("elements must have the type that the program declares") {
    const auto context = take(
        wye::Context::create({.flags = WYE_CONTEXT_NO_PLUGINS | WYE_CONTEXT_IGNORE_ENVIRONMENT}));
    const auto device = take(context.open("cpu"));
    const auto program = take(context.program_from_text(R"(wye 1; program p; workgroup 4;
input x: f16[]; input v: f32x4[]; output r: bf16[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(x) { r[i] = f32(x[i]) + v[0].w; } })"));
    const std::vector<f16> x = {f16(1.5F), f16(-2), f16(0.25F)};
    const std::vector<std::array<float, 4>> v = {{0, 0, 0, 1}};
    const std::vector<float> flat = {0, 0, 0, 2};
    std::vector<bf16> r(3);
    const auto run = [&](const auto& in, const auto& vector, auto& out) {
        return wye::Dispatch(program, device)
            .input("x", in)
            .input("v", vector)
            .output("r", out)
            .run();
    };
    take(run(x, v, r));
    CHECK(r == std::vector<bf16>{bf16(2.5F), bf16(-1), bf16(1.25F)});
    take(run(x, flat, r));  // the components, one after the other
    CHECK(r == std::vector<bf16>{bf16(3.5F), bf16(0), bf16(2.25F)});
    take(run(std::as_bytes(std::span(x)), v, r));
    CHECK(static_cast<float>(r[0]) == 2.5F);

    const auto refused = [](const wye::Result<wye_report>& result, const char* message) {
        REQUIRE_FALSE(result.ok());
        CHECK(result.error().code == Code::INVALID_ARGUMENT);
        CHECK(result.error().message == message);
        CHECK(result.error().fix.find("Fix: ") == 0);
    };
    const std::vector<std::uint16_t> raw(3);
    refused(run(raw, v, r), "`x` has elements of type f16, got u16");
    refused(run(r, v, r), "`x` has elements of type f16, got bf16");
    refused(run(x, std::vector<double>(4), r), "`v` has elements of type f32x4, got f64");
    refused(run(x, std::vector<std::array<float, 3>>(4), r),
            "`v` has elements of type f32x4, got f32x3");
    std::vector<float> wide(3);
    refused(run(x, v, wide), "`r` has elements of type bf16, got f32");
}

// Runs `body` in a child process. Returns how the child ended, and what it wrote to standard error.
template <typename Body>
std::pair<int, std::string> ended(Body body) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)dup2(ends[1], STDERR_FILENO);
        body();
        _exit(0);
    }
    close(ends[1]);
    std::string text(4096, '\0');
    std::size_t size = 0;
    for (ssize_t more = 0; (more = read(ends[0], text.data() + size, text.size() - size)) > 0;)
        size += static_cast<std::size_t>(more);
    close(ends[0]);
    text.resize(size);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return {WIFSIGNALED(status) ? WTERMSIG(status) : 0, text};
}

TEST_CASE("the value of a failed result ends the program with the error's text") {
    const wye::Result<int> failed =
        wye::Error(Code::NO_DEVICE, "there is no device `x:0`", "Fix: see `wye info`");
    const auto [signal, text] = ended([&] { _exit(failed.value()); });
    CHECK(signal == SIGABRT);
    CHECK(text ==
          "wye: the value of a failed result was used: there is no device `x:0`. "
          "Fix: see `wye info`\n");
    const wye::Result<int> good = 7;
    const auto [other, words] = ended([&] { _exit(good.error().message.empty() ? 1 : 2); });
    CHECK(other == SIGABRT);
    CHECK(words == "wye: the error of a result without one was used\n");
    CHECK(ended([&] { _exit(good.value() - 7); }).first == 0);
}

}  // namespace
