// SPDX-License-Identifier: Apache-2.0
//
// Programs at the limits of the language, and at products of two limits, on a thread with the stack
// that wye.h asks for. Each step, up to a dispatch on the device `cpu`, accepts the program or
// refuses it with an error. A stack overflow would end the process.
#include <doctest/doctest.h>
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "support/sanitized.hpp"
#include "support/slice.hpp"
#include "wye/program_format.h"
#include "wye/wye.h"

namespace {

// The stack size in wye.h, or more in sanitized builds, which have larger stack frames.
constexpr std::size_t kStack = (support::kSanitized ? 4 : 1) * 256 * 1024;

void on_small_stack(const std::function<void()>& work) {
    pthread_attr_t attributes;
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes, kStack) == 0);
    pthread_t thread{};
    const auto run = [](void* argument) -> void* {
        (*static_cast<const std::function<void()>*>(argument))();
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, &attributes, run,
                           const_cast<void*>(static_cast<const void*>(&work))) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string repeated(const char* text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += text;
    return out;
}

// A program with these declarations and this body of main, which may use `n` and `i`.
std::string program(const std::string& head, const std::string& body) {
    return "wye 1; program deep; workgroup 64; param n: u32; output r: u32[64]; grid elements "
           "64;\n" +
           head + "main { let i = global_id.x;\n" + body + "}\n";
}

// ~(~(...inner...))
std::string nots(std::size_t depth, const std::string& inner) {
    return repeated("~(", depth) + inner + repeated(")", depth);
}

// The function h0, and functions that each call the function before, inside an expression of this
// depth.
std::string chain(std::size_t functions, std::size_t depth, const std::string& before = {},
                  const std::string& after = {}) {
    std::string out = "fn h0(y: u32) -> u32 { return y + 1u; }\n";
    for (std::size_t f = 1; f < functions; ++f) {
        const std::string call = nots(depth, "h" + number(f - 1) + "(y)");
        out += "fn h" + number(f) + "(y: u32) -> u32 { ";
        out += before.empty()
                   ? "return " + call + "; }\n"
                   : "var a = y; " + before + "a = " + call + "; " + after + " return a; }\n";
    }
    return out;
}

std::string call_of(std::size_t functions) { return "r[i] = h" + number(functions - 1) + "(i);\n"; }

// Blocks nested around `inner`.
std::string nested(const char* head, std::size_t levels, const std::string& inner) {
    return repeated(head, levels) + inner + repeated("}", levels);
}

struct Case {
    std::string what;
    std::string text;
    bool accepted = true;  // by the validator
};

constexpr std::size_t kBlocks = WYE_LIMIT_BLOCK_NESTING - 1;  // inside the block of main
constexpr std::size_t kDepth = WYE_LIMIT_EXPRESSION_DEPTH;

std::vector<Case> cases() {
    std::vector<Case> out;
    const auto add = [&](std::string what, std::string text, bool accepted = true) {
        out.push_back({std::move(what), std::move(text), accepted});
    };
    // Chains of calls.
    add("24 functions, 120 deep", program(chain(24, 120), call_of(24)));
    add("198 functions, 120 deep", program(chain(198, 120), call_of(198)), false);
    add("1000 shallow functions", program(chain(1000, 0), call_of(1000)));
    add("1024 functions", program(chain(1024, 1), call_of(1024)));
    add("1024 functions, 126 deep", program(chain(1024, kDepth - 2), call_of(1024)), false);
    for (const std::size_t functions : {40U, 1000U})
        add(number(functions) + " functions, calls in nested blocks",
            program(chain(functions, 1, repeated("if y > 1u { ", kBlocks), repeated("}", kBlocks)),
                    call_of(functions)),
            functions == 40);
    std::string loops;
    for (std::size_t k = 0; k < 20; ++k) loops += "for k" + number(k) + " in 0u..1u { ";
    add("100 functions, deep calls in nested loops",
        program(chain(100, 100, loops, repeated("}", 20)), call_of(100)), false);
    add("1025 functions", program(chain(1025, 0), call_of(1025)), false);
    {
        std::string nest = "i";
        for (std::size_t k = 0; k + 2 < kDepth; ++k) nest = "h0(" + nest + ")";
        add("calls in calls", program(chain(1, 0), "r[i] = " + nest + ";\n"));
    }
    // The depth of expressions, also in the deepest blocks.
    add("deepest expression", program("", "r[i] = " + nots(kDepth - 1, "i") + ";\n"));
    add("an expression too deep", program("", "r[i] = " + nots(kDepth, "i") + ";\n"), false);
    add("100,000 parentheses",
        program("", "r[i] = " + repeated("(", 100000) + "i" + repeated(")", 100000) + ";\n"),
        false);
    add("100,000 signs", program("", "r[i] = " + repeated("~", 100000) + "i;\n"), false);
    for (const char* head : {"if n > 1u { ", "for k in 0u..1u { ", "while n > 7u { "}) {
        std::string inner = "r[i] = " + nots(kDepth - 1, "i") + ";";
        std::string blocks;
        for (std::size_t k = 0; k < kBlocks; ++k) {
            std::string one = head;
            if (const auto at = one.find(" k "); at != std::string::npos)
                one.replace(at, 3, " k" + number(k) + " ");
            blocks += one;
        }
        add(std::string("deepest expression in deepest nesting: ") + head,
            program("", blocks + inner + repeated("}", kBlocks) + "\n"));
    }
    add("a block too deep", program("", nested("if n > 1u { ", kBlocks + 1, "") + "\n"), false);
    add("100,000 blocks", program("", nested("if n > 1u { ", 100000, "") + "\n"), false);
    add("else if, as long as may be",
        program("", repeated("if n == 1u { r[i] = 1u; } else ", kBlocks - 1) + "{ r[i] = 2u; }\n"));
    add("100,000 else if",
        program("", repeated("if n == 1u { r[i] = 1u; } else ", 100000) + "{ }\n"), false);
    {
        std::string select = "i";
        for (std::size_t k = 0; k + 3 < kDepth; ++k) select = "select(i > 1u, " + select + ", n)";
        add("selects in selects", program("", "r[i] = " + select + ";\n"));
        std::string loads = "i";
        for (std::size_t k = 0; k + 3 < kDepth; ++k) loads = "x[" + loads + "]";
        add("loads in loads", program("input x: u32[];\n", "r[i] = " + loads + ";\n"));
        std::string vectors = "i";
        for (std::size_t k = 0; 2 * k + 4 < kDepth; ++k) vectors = "u32x4(" + vectors + ").x";
        add("vectors of components", program("", "r[i] = " + vectors + ";\n"));
        std::string logic = "n == 0u";
        for (std::size_t k = 0; k + 4 < kDepth; ++k)
            logic = std::string(k % 2 != 0 ? "n > " : "i < ") + number(k) + "u " +
                    (k % 3 != 0 ? "&& (" : "|| (") + logic + ")";
        add("logic in logic", program("", "if " + logic + " { r[i] = 1u; }\n"));
        std::string maths = "f32(i)";
        for (std::size_t k = 0; k + 4 < kDepth; ++k)
            maths = std::string(k % 2 != 0 ? "sin(" : "exp(") + maths + ")";
        add("math in math", program("", "r[i] = u32(" + maths + ");\n"));
    }
    add("a long chain of &&",
        program("", "if n > 1u" + repeated(" && n > 2u", kDepth - 3) + " { r[i] = 1u; }\n"));
    add("100,000 &&", program("", "if n > 1u" + repeated(" && n > 2u", 100000) + " { }\n"), false);
    add("a long sum", program("", "r[i] = i" + repeated(" + n", kDepth - 2) + ";\n"));
    // Large numbers of locals, statements, parameters and so on.
    {
        std::string lets = "let v0 = n;\n";
        constexpr std::size_t kLets = WYE_LIMIT_LOCALS - 1;
        for (std::size_t k = 1; k < kLets; ++k)
            lets += "let v" + number(k) + " = v" + number(k - 1) + " + 1u;\n";
        add("each let of the one before",
            program("", lets + "r[i] = v" + number(kLets - 1) + ";\n"));
        add("one local too many",
            program("", lets + "let w = 1u; let w2 = 2u; let w3 = 3u; r[i] = w;\n"), false);
    }
    add("100,000 statements",
        program("", "var v = n;\n" + repeated("v = v + i;\n", 100000) + "r[i] = v;\n"));
    add("too many statements",
        program("", "var v = n;\n" + repeated("v = n;\n", WYE_LIMIT_STATEMENTS)), false);
    {
        std::string table = "table t: u32[16384] = { 1u" + repeated(", 2u", 16383) + " };\n";
        add("the largest table", program(table, "r[i] = t[i * n];\n"));
    }
    {
        std::string head;
        for (std::size_t k = 0; k < 63; ++k) head += "param p" + number(k) + ": u64;\n";
        std::string body = "r[i] = n";
        for (std::size_t k = 0; k < 63; ++k) body += " + u32(p" + number(k) + ")";
        add("64 parameters", program(head, body + ";\n"));
    }
    {
        std::string head;
        std::string size = "n";
        for (std::size_t k = 0; k < 30; ++k) size = "(" + size + " + 1)";
        for (std::size_t k = 0; k < 63; ++k)
            head += "output b" + number(k) + ": u8[" + size + "];\n";
        std::string body;
        for (std::size_t k = 0; k < 63; ++k) body += "b" + number(k) + "[i] = i;\n";
        add("64 buffers with deep sizes", program(head, body));
    }
    for (const std::size_t depth : {100000U})
        add("a size too deep",
            program("output b: u8[" + repeated("(", depth) + "n" + repeated(")", depth) + "];\n",
                    "b[i] = 1u;\n"),
            false);
    // 2^18 calls in a short text: with all calls inlined, more nodes than drivers can compile.
    {
        std::string functions = "fn h0(y: u32) -> u32 { return y + 1u; }\n";
        for (std::size_t k = 1; k <= 18; ++k)
            functions += "fn h" + number(k) + "(y: u32) -> u32 { return h" + number(k - 1) +
                         "(y) + h" + number(k - 1) + "(y ^ 1u); }\n";
        add("calls that double 18 times", program(functions, "r[i] = h18(i);\n"), false);
    }
    return out;
}

// The status of a call and the text of its error. said() checks that the error has a remedy.
struct Said {
    wye_status status;
    std::string text;
};
template <typename Call>
Said said(Call call) {
    wye_error* error = nullptr;
    Said out{call(&error), {}};
    if (out.status == WYE_OK) return out;
    const wye_string text = wye_error_text(error);
    const wye_string fix = wye_error_fix(error);
    out.text.assign(text.data, std::min<std::uint64_t>(text.size, 300));
    CHECK(std::string(fix.data, fix.size).starts_with("Fix: "));
    wye_error_free(error);
    return out;
}

// Runs all steps on a program, from the validator to a dispatch.
void pass_through(wye_context* context, wye_device device, const Case& c) {
    INFO(c.what);
    wye_program_source source;
    WYE_INIT(source);
    source.text = {c.text.data(), c.text.size()};
    wye_program program = 0;
    const Said read =
        said([&](auto** e) { return wye_program_create(context, &source, &program, e); });
    INFO(read.text);
    CHECK((read.status == WYE_OK) == c.accepted);
    if (read.status != WYE_OK) return;
    wye_blob* blob = nullptr;
    REQUIRE(wye_program_analysis(context, program, &blob, nullptr) == WYE_OK);
    wye_blob_free(blob);
    for (const char* form : {"text", "wire", "preconditions", "opencl-c", "cuda-c", "spirv-vulkan"})
        for (const std::uint32_t check_free : {0U, 1U}) {
            wye_lower_desc desc;
            WYE_INIT(desc);
            desc.format = wye_str(form);
            desc.check_free = check_free;
            const bool lowered = std::string_view(form).find('-') != std::string_view::npos;
            if (check_free != 0 && !lowered) continue;
            CAPTURE(form);
            const Said made = said([&](auto** e) {
                return wye_program_lower_with(context, program, &desc, &blob, e);
            });
            INFO(made.text);
            CHECK((made.status == WYE_OK || made.status == WYE_LIMIT_EXCEEDED));
            if (made.status != WYE_OK) continue;
            const wye_bytes bytes = wye_blob_bytes(blob);
            if (std::string_view(form) == "text" || std::string_view(form) == "wire") {
                wye_program_source again;
                WYE_INIT(again);
                if (std::string_view(form) == "wire")
                    again.wire = bytes;
                else
                    again.text = {static_cast<const char*>(bytes.data), bytes.size};
                wye_program second = 0;
                const Said reread =
                    said([&](auto** e) { return wye_program_create(context, &again, &second, e); });
                INFO(reread.text);
                // The printed text of a program may exceed the size limit of texts.
                const bool large = again.text.size > WYE_LIMIT_TEXT_BYTES;
                CHECK(reread.status == (large ? WYE_LIMIT_EXCEEDED : WYE_OK));
                if (reread.status == WYE_OK) wye_program_free(context, second, nullptr);
            }
            wye_blob_free(blob);
        }
    wye_program_description description;
    WYE_INIT(description);
    REQUIRE(wye_program_describe(context, program, &description, nullptr) == WYE_OK);
    std::vector<std::uint32_t> bytes(16384);
    std::vector<wye_argument> arguments;
    for (std::uint64_t b = 0; b < description.buffer_count; ++b) {
        wye_argument argument{};
        const wye_buffer_description& buffer = description.buffers[b];
        argument.binding = buffer.binding;
        argument.kind = buffer.in_inputs != 0 ? WYE_ARGUMENT_HOST : WYE_ARGUMENT_DISCARD;
        if (buffer.in_inputs != 0) argument.input = {bytes.data(), 256};
        arguments.push_back(argument);
    }
    const std::vector<std::uint64_t> params(description.param_count, 5);
    wye_dispatch_desc desc;
    WYE_INIT(desc);
    desc.program = program;
    desc.device = device;
    desc.arguments = arguments.data();
    desc.argument_count = arguments.size();
    desc.params = params.data();
    desc.param_count = params.size();
    const Said ran = said([&](auto** e) { return wye_dispatch(context, &desc, nullptr, e); });
    INFO(ran.text);
    CHECK((ran.status == WYE_OK || ran.status == WYE_LIMIT_EXCEEDED));
    wye_program_free(context, program, nullptr);
}

}  // namespace

TEST_CASE("programs at limits, and at products of limits, on a thread with 256 KiB of stack") {
    wye_context_desc desc;
    WYE_INIT(desc);
    desc.flags = WYE_CONTEXT_NO_PLUGINS | WYE_CONTEXT_IGNORE_ENVIRONMENT;
    const std::vector<Case> all = cases();
    // With a sanitizer, all cases would take minutes.
    constexpr std::size_t kParts = support::kSanitized ? 4 : 1;
    const support::Slice slice = support::Slice::of_this_run();
    on_small_stack([&] {
        wye_context* context = nullptr;
        REQUIRE(wye_context_create(&desc, &context, nullptr) == WYE_OK);
        wye_device device = 0;
        REQUIRE(wye_device_open(context, wye_str("cpu"), 0, &device, nullptr) == WYE_OK);
        for (std::size_t i = 0; i < all.size(); ++i)
            if (slice.has(i, kParts)) pass_through(context, device, all[i]);
        wye_context_destroy(context);
    });
    if (support::kSanitized)
        std::printf("slice: programs at limits, %s\n", slice.text(kParts).c_str());
}
