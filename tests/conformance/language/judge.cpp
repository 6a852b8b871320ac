// SPDX-License-Identifier: Apache-2.0
#include "conformance/language/judge.hpp"

#include <cstdio>
#include <span>

#include "oracle/oracle.hpp"

namespace conformance {
namespace {

wye::Result<oracle::Outcome> evaluate(const std::string& wire, const Launch& launch,
                                      const std::vector<std::vector<std::byte>>& bytes) {
    oracle::Launch request;
    request.groups = launch.groups;
    request.params = launch.params;
    request.buffers = bytes;
    oracle::Outcome outcome = oracle::run(std::as_bytes(std::span(wire)), request);
    if (outcome.ok()) return outcome;
    return wye::Error(wye::Code::INTERNAL, "the oracle refuses: " + outcome.error,
                      "Fix: compare only programs that the oracle evaluates");
}

}  // namespace

wye::Result<std::vector<std::vector<std::byte>>> expected(const std::string& wire,
                                                          const std::vector<Launch>& launches) {
    std::vector<std::vector<std::byte>> bytes;
    for (const Binding& b : launches.front().buffers) bytes.push_back(b.bytes);
    for (const Launch& launch : launches) {
        WYE_ASSIGN(oracle::Outcome outcome, evaluate(wire, launch, bytes));
        bytes = std::move(outcome.buffers);
    }
    return bytes;
}

std::string difference(const std::vector<Binding>& buffers,
                       const std::vector<std::vector<std::byte>>& got,
                       const std::vector<std::vector<std::byte>>& wanted) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        if (!buffers[i].output) continue;
        if (got[i].size() != wanted[i].size())
            return "`" + buffers[i].name + "` has " + std::to_string(got[i].size()) +
                   " bytes, wanted " + std::to_string(wanted[i].size());
        std::size_t bad = 0;
        std::size_t first = 0;
        for (std::size_t k = got[i].size(); k-- > 0;)
            if (got[i][k] != wanted[i][k]) ++bad, first = k;
        if (bad == 0) continue;
        char text[96];
        std::snprintf(text, sizeof text,
                      " differs in %zu bytes, first at %zu: got %02x, wanted %02x", bad, first,
                      std::to_integer<unsigned>(got[i][first]),
                      std::to_integer<unsigned>(wanted[i][first]));
        return "`" + buffers[i].name + "`" + text;
    }
    return {};
}

std::string refused_for_lack(const support::Device& device, const wye::Program& program,
                             const wye::Error& error) {
    if (error.code != wye::Code::UNSUPPORTED) return {};
    const std::string lack = device.lacks(program);
    return lack.empty() ? lack : "the device has no " + lack;
}

}  // namespace conformance
