// SPDX-License-Identifier: Apache-2.0
//
// Device time of f32 math functions, division and square root: strict, and native within an error
// budget where the device's dialect has a native form. Each invocation calls the function 256
// times.
//
//   math_bench [DEVICE...] [--only NAME,...] [--elements N] [--ulp N] [--math SET]
//
// Without a device: the first of each API. Prints milliseconds, the least of seven runs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "support.hpp"
#include "wye/wye.hpp"

namespace {

using wye::bench::must;

struct Function {
    const char* name;
    const char* call;
    float first, step;  // arguments of an invocation, before a small shift for each
};
constexpr Function kFunctions[] = {
    {"none", "v", 0.5F, 0.01F},           {"/", "a / v", 0.5F, 0.01F},
    {"1 /", "1.0 / v", 0.5F, 0.01F},      {"sqrt", "sqrt(v)", 0.5F, 0.01F},
    {"rsqrt", "rsqrt(v)", 0.5F, 0.01F},   {"exp", "exp(v)", -2, 0.01F},
    {"exp2", "exp2(v)", -2, 0.01F},       {"log", "log(v)", 0.5F, 0.01F},
    {"log2", "log2(v)", 0.5F, 0.01F},     {"sin", "sin(v)", -2, 0.01F},
    {"cos", "cos(v)", -2, 0.01F},         {"tanh", "tanh(v)", -1, 0.01F},
    {"erf", "erf(v)", -1, 0.01F},         {"cbrt", "cbrt(v)", 0.5F, 0.01F},
    {"atan", "atan(v)", -1, 0.01F},       {"pow", "pow(v, a)", 0.5F, 0.01F},
    {"fma", "fma(v, a, s)", 0.5F, 0.01F}, {"expm1", "expm1(v)", -2, 0.01F},
    {"log1p", "log1p(v)", 0.5F, 0.01F},   {"sinpi", "sinpi(v)", -2, 0.01F},
    {"cospi", "cospi(v)", -2, 0.01F}};
constexpr std::size_t kOfSet2 = 4;  // the last ones

std::string text(const Function& f, const std::string& set) {
    return "wye 1; math " + set +
           "; program calls; workgroup 256; param first: f32; param by: f32;\n"
           "input x: f32[]; output r: f32[len(x)]; grid elements len(x);\n"
           "main { let i = global_id.x; if i < len(x) {\n"
           "let a = 1.0 + x[i]; var v = first + x[i]; var s = 0.0;\n"
           "for k in 0u..256u { s = s + " +
           std::string(f.call) + "; v = v + by; }\nr[i] = s; } }\n";
}

bool named(const std::string& list, const char* name) {
    return list.empty() ||
           ("," + list + ",").find("," + std::string(name) + ",") != std::string::npos;
}

// The least device time in milliseconds; below 0 if the device does not run it.
double measure(const wye::Program& program, const wye::Device& device, const Function& f,
               const std::vector<float>& x, std::uint32_t ulp, bool& native) {
    double least = -1;
    for (int run = 0; run < 7; ++run) {
        wye::Dispatch dispatch(program, device);
        dispatch.param("first", f.first).param("by", f.step).input("x", x).discard("r");
        dispatch.timed().ulp_budget(ulp);
        const auto report = dispatch.run();
        if (!report.ok()) {
            std::printf(" [%s]", report.error().text().c_str());
            return -1;
        }
        native = report.value().native_functions != 0;
        if (report.value().device_ns == WYE_TIME_UNKNOWN) return -1;
        const double ms = static_cast<double>(report.value().device_ns) * 1e-6;
        if (least < 0 || ms < least) least = ms;
    }
    return least;
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<std::string> selectors;
    std::string only;
    std::uint64_t elements = std::uint64_t{4} << 20U;
    std::uint32_t ulp = 16;
    std::string set = "1";
    for (int k = 1; k < count; ++k) {
        const std::string word = arguments[k];
        if (k + 1 < count && word == "--only")
            only = arguments[++k];
        else if (k + 1 < count && word == "--elements")
            elements = std::strtoull(arguments[++k], nullptr, 10);
        else if (k + 1 < count && word == "--ulp")
            ulp = static_cast<std::uint32_t>(std::strtoul(arguments[++k], nullptr, 10));
        else if (k + 1 < count && word == "--math")
            set = arguments[++k];
        else
            selectors.push_back(word);
    }
    std::vector<float> x(elements);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i & 0xffffU) * 0x1p-20F;
    if (selectors.empty()) selectors = {"cuda", "vulkan", "opencl"};
    const wye::Context context = must(wye::Context::create());
    std::vector<wye::Device> devices;
    std::printf("%-6s", "ms");
    for (const std::string& selector : selectors) {
        auto device = context.open(selector);
        if (!device.ok()) {
            std::fprintf(stderr, "%s\n", device.error().text().c_str());
            return 3;
        }
        devices.push_back(std::move(device).value());
        std::printf(" | %-26s", selector.c_str());
    }
    std::printf("\n%-6s", "");
    for (std::size_t k = 0; k < devices.size(); ++k) std::printf(" | strict   native      by");
    std::printf("\n");
    for (const Function& f :
         std::span(kFunctions, std::size(kFunctions) - (set == "1" ? kOfSet2 : 0))) {
        if (!named(only, f.name)) continue;
        const wye::Program program = must(context.program_from_text(text(f, set)));
        std::printf("%-6s", f.name);
        for (const wye::Device& device : devices) {
            bool native = false;
            const double strict = measure(program, device, f, x, 0, native);
            const double fast = measure(program, device, f, x, ulp, native);
            if (native && fast > 0)
                std::printf(" | %7.3f  %7.3f  %6.2f", strict, fast, strict / fast);
            else
                std::printf(" | %7.3f        -       -", strict);
            std::fflush(stdout);
        }
        std::printf("\n");
    }
    return 0;
}
