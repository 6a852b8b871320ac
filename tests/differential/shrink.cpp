// SPDX-License-Identifier: Apache-2.0
#include "differential/shrink.hpp"

#include <algorithm>

#include "differential/shrinker.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"

namespace differential {

using namespace wye::ir;

namespace {

std::optional<Program> read(const std::string& text) {
    ParseResult parsed = parse(text);
    if (!parsed.ok()) return std::nullopt;
    for (const Diagnostic& d : validate(parsed.program))
        if (d.severity == Diagnostic::Severity::Error) return std::nullopt;
    return std::move(parsed.program);
}

std::size_t count_statements(const Program& program) {
    std::size_t out = program.main.stmts.size();
    for (const Function& f : program.functions) out += f.code.stmts.size();
    return out;
}

}  // namespace

Shrinker::Shrinker(State first, Finding finding, const Judge& judge, const ShrinkLimits& limits)
    : now_(std::move(first)),
      finding_(std::move(finding)),
      judge_(judge),
      limits_(limits),
      end_(std::chrono::steady_clock::now() +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(
               std::chrono::duration<double>(limits.seconds))) {}

bool Shrinker::ended() const {
    return tries_ >= limits_.tries || std::chrono::steady_clock::now() >= end_;
}

const Code& Shrinker::code(std::size_t index) const {
    const auto& functions = now_.program.functions;
    return index < functions.size() ? functions[index].code : now_.program.main;
}

bool Shrinker::attempt(const Change& change) {
    if (ended()) return false;
    State next = now_;
    if (!change(next)) return false;
    next.what.text = print(next.program);
    if (!seen_.insert(std::hash<std::string>()(support::write_case(next.what, {}))).second)
        return false;
    std::optional<Program> program = read(next.what.text);
    if (!program) return false;
    ++tries_;
    Finding finding = judge_(next.what);
    if (!finding.like(finding_)) return false;
    finding_ = std::move(finding);
    next.program = *std::move(program);
    now_ = std::move(next);
    return true;
}

Shrunk Shrinker::run() {
    for (bool smaller = true; smaller && !ended();) {
        smaller = launch();
        smaller |= declarations();
        smaller |= statements();
        smaller |= structure();
        smaller |= expressions();
        smaller |= inlining();
        smaller |= sizes();
        smaller |= data();
    }
    Shrunk out;
    out.smallest = now_.what;
    out.finding = finding_;
    out.tries = tries_;
    out.statements = count_statements(now_.program);
    out.finished = !ended();
    return out;
}

Shrunk shrink(const Case& first, const Finding& finding, const Judge& judge,
              const ShrinkLimits& limits) {
    std::optional<Program> program = read(first.text);
    if (!program) return {first, finding, 0, 0, false};
    return Shrinker({*std::move(program), first}, finding, judge, limits).run();
}

}  // namespace differential
