// SPDX-License-Identifier: Apache-2.0
//
// Measures the device time of f32 math functions, division and square root. Each function is
// measured strict and, if the device has a native form, native within an error budget. An
// invocation calls the function 256 times. Then measures whole programs, with 8 times as many
// elements: `math_programs/`, and nbody with 2^16 bodies.
//
//   math_bench [DEVICE...] [--only NAME,...] [--elements N] [--ulp N] [--math SET]
//
// Without a device, the first device of each API is used. Prints the least milliseconds of seven
// runs. For each device, prints its strict time divided by the native time of the first device.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "math_programs.hpp"
#include "support.hpp"
#include "wye/wye.hpp"

namespace {

using wye::bench::must;

struct Function {
    const char* name;
    const char* call;
    float first, step;  // the first argument and the step between arguments
};
constexpr Function kFunctions[] = {
    {"none", "v", 0.5F, 0.01F},         {"/", "a / v", 0.5F, 0.01F},
    {"1 /", "1.0 / v", 0.5F, 0.01F},    {"sqrt", "sqrt(v)", 0.5F, 0.01F},
    {"rsqrt", "rsqrt(v)", 0.5F, 0.01F}, {"exp", "exp(v)", -2, 0.01F},
    {"exp2", "exp2(v)", -2, 0.01F},     {"exp10", "exp10(v)", -2, 0.01F},
    {"log", "log(v)", 0.5F, 0.01F},     {"log2", "log2(v)", 0.5F, 0.01F},
    {"log10", "log10(v)", 0.5F, 0.01F}, {"sin", "sin(v)", -2, 0.01F},
    {"cos", "cos(v)", -2, 0.01F},       {"tan", "tan(v)", -1, 0.01F},
    {"asin", "asin(v)", -0.6F, 0.004F}, {"acos", "acos(v)", -0.6F, 0.004F},
    {"atan", "atan(v)", -1, 0.01F},     {"atan2", "atan2(v, a)", -1, 0.01F},
    {"sinh", "sinh(v)", -1, 0.01F},     {"cosh", "cosh(v)", -1, 0.01F},
    {"tanh", "tanh(v)", -1, 0.01F},     {"erf", "erf(v)", -1, 0.01F},
    {"cbrt", "cbrt(v)", 0.5F, 0.01F},   {"hypot", "hypot(v, a)", 0.5F, 0.01F},
    {"pow", "pow(v, a)", 0.5F, 0.01F},  {"fma", "fma(v, a, s)", 0.5F, 0.01F},
    {"expm1", "expm1(v)", -2, 0.01F},   {"log1p", "log1p(v)", 0.5F, 0.01F},
    {"sinpi", "sinpi(v)", -2, 0.01F},   {"cospi", "cospi(v)", -2, 0.01F},
};
constexpr std::size_t kOfSet2 = 4;  // functions of math set 2 only: the last ones of kFunctions

std::string text(const Function& f) {
    return "wye 1; program calls; workgroup 256; param first: f32; param by: f32;\n"
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

// A program to measure, with its math set, parameters, inputs and outputs. The program writes every
// output.
struct Subject {
    const char* name;
    std::string text;
    std::vector<std::pair<const char*, float>> params;
    std::vector<const char*> inputs;
    std::vector<const char*> outputs;
    std::span<const float> x;  // the elements of each input
};

std::vector<Subject> subjects(const std::string& set, std::span<const float> few,
                              std::span<const float> many) {
    std::vector<Subject> out;
    for (const Function& f :
         std::span(kFunctions, std::size(kFunctions) - (set == "1" ? kOfSet2 : 0)))
        out.push_back({f.name, text(f), {{"first", f.first}, {"by", f.step}}, {"x"}, {"r"}, few});
    out.push_back({"softmax", std::string(wye::bench::kSoftmax), {}, {"x"}, {"r"}, many});
    out.push_back({"gelu", std::string(wye::bench::kGelu), {}, {"x"}, {"r"}, many});
    out.push_back({"layer_norm", std::string(wye::bench::kLayerNorm), {}, {"x"}, {"r"}, many});
    out.push_back({"black_scholes",
                   std::string(wye::bench::kBlackScholes),
                   {},
                   {"price", "strike", "years"},
                   {"call", "put"},
                   many});
    out.push_back({"nbody",
                   std::string(wye::bench::kNbody),
                   {{"dt", 0.001F}, {"softening", 0.01F}},
                   {"position", "velocity"},
                   {"next_position", "next_velocity"},
                   few.first(std::min(few.size(), std::size_t{4} << 16U))});
    for (Subject& subject : out) {
        const std::string head = "wye 1;";
        subject.text.insert(subject.text.find(head) + head.size(), " math " + set + ";");
    }
    return out;
}

// The shortest device time in milliseconds; negative: the device does not run the program.
double measure(const wye::Program& program, const wye::Device& device, const Subject& subject,
               std::uint32_t ulp, bool& native) {
    // Resident buffers: with host arguments, the device time would include the transfers.
    std::vector<wye::Buffer> inputs, outputs;
    for (std::size_t k = 0; k < subject.inputs.size(); ++k) {
        inputs.push_back(must(device.buffer(subject.x.size_bytes())));
        must(inputs.back().upload(subject.x));
    }
    for (std::size_t k = 0; k < subject.outputs.size(); ++k)
        outputs.push_back(must(device.buffer(subject.x.size_bytes())));
    double least = -1;
    for (int run = 0; run < 7; ++run) {
        wye::Dispatch dispatch(program, device);
        for (const auto& [name, value] : subject.params) dispatch.param(name, value);
        for (std::size_t k = 0; k < inputs.size(); ++k) dispatch.bind(subject.inputs[k], inputs[k]);
        for (std::size_t k = 0; k < outputs.size(); ++k)
            dispatch.bind(subject.outputs[k], outputs[k]);
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
    std::vector<float> few(elements);
    for (std::size_t i = 0; i < few.size(); ++i)
        few[i] = static_cast<float>(i & 0xffffU) * 0x1p-20F;
    std::vector<float> many(8 * elements);
    for (std::size_t i = 0; i < many.size(); ++i)
        many[i] = 0.5F + static_cast<float>(i * 2654435761U >> 16U & 0xffffU) * 0x1p-15F;
    if (selectors.empty()) selectors = {"cuda", "vulkan", "opencl"};
    const wye::Context context = must(wye::Context::create());
    std::vector<wye::Device> devices;
    std::printf("%-13s", "ms");
    for (const std::string& selector : selectors) {
        auto device = context.open(selector);
        if (!device.ok()) {
            std::fprintf(stderr, "%s\n", device.error().text().c_str());
            return 3;
        }
        devices.push_back(std::move(device).value());
        std::printf(" | %-24s", selector.c_str());
    }
    std::printf("\n%-13s", "");
    for (std::size_t k = 0; k < devices.size(); ++k) std::printf(" | strict   native      by");
    std::printf("\n");
    for (const Subject& subject : subjects(set, few, many)) {
        if (!named(only, subject.name)) continue;
        const wye::Program program = must(context.program_from_text(subject.text));
        std::printf("%-13s", subject.name);
        double base = -1;
        for (const wye::Device& device : devices) {
            bool native = false;
            const double strict = measure(program, device, subject, 0, native);
            const double fast = measure(program, device, subject, ulp, native);
            if (&device == devices.data() && native) base = fast;
            std::printf(" | %7.3f", strict);
            native ? std::printf(" %7.3f", fast) : std::printf("       -");
            base > 0 ? std::printf(" %7.2f", strict / base) : std::printf("       -");
            std::fflush(stdout);
        }
        std::printf("\n");
    }
    return 0;
}
