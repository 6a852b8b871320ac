// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"

#include <doctest/doctest.h>

namespace test {
namespace {

template <typename T>
T take(wye::Result<T> result) {
    if (!result.ok()) FAIL(result.error().text());
    return std::move(result).value();
}

// The text of the program that is run.
template <typename T>
std::string program_text(unsigned set, std::string_view function, bool two_arguments) {
    const std::string type = sizeof(T) == 4 ? "f32" : "f64";
    std::string out = "wye 1; math " + std::to_string(set) +
                      "; program values; workgroup 64;\ninput x: " + type + "[]; ";
    if (two_arguments) out += "input y: " + type + "[len(x)]; ";
    out += "output r: " + type + "[len(x)]; grid elements len(x);\nmain { let i = global_id.x; ";
    out += "if i < len(r) { r[i] = " + std::string(function);
    return out + (two_arguments ? "(x[i], y[i])" : "(x[i])") + "; } }\n";
}

}  // namespace

Evaluator::Evaluator()
    : context_(take(wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT}))),
      device_(take(context_.open("cpu"))) {}

template <typename T>
void Evaluator::run(unsigned set, std::string_view function, const std::vector<T>& x,
                    const std::vector<T>& y, std::vector<T>& r) {
    const std::string text = program_text<T>(set, function, !y.empty());
    auto at = programs_.find(text);
    if (at == programs_.end())
        at = programs_.emplace(text, take(context_.program_from_text(text))).first;
    r.resize(x.size());
    wye::Dispatch dispatch(at->second, device_);
    dispatch.input("x", x).output("r", r);
    if (!y.empty()) dispatch.input("y", y);
    (void)take(dispatch.run());
}

template void Evaluator::run(unsigned, std::string_view, const std::vector<float>&,
                             const std::vector<float>&, std::vector<float>&);
template void Evaluator::run(unsigned, std::string_view, const std::vector<double>&,
                             const std::vector<double>&, std::vector<double>&);

}  // namespace test
