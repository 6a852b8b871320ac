// SPDX-License-Identifier: Apache-2.0
#include "differential/tally.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

namespace differential {
namespace {

bool refuses(const Finding& finding) {
    return finding.kind == Finding::Kind::Error &&
           (finding.code == wye::Code::UNSUPPORTED || finding.code == wye::Code::LIMIT_EXCEEDED);
}

// Why a result is not equal, in one word: "bytes", "trap", "ended", or the name of an error's code,
// such as "limit_exceeded".
std::string reason(const Finding& finding) {
    if (finding.kind == Finding::Kind::Bytes) return "bytes";
    if (finding.kind == Finding::Kind::Trap) return "trap";
    if (finding.kind == Finding::Kind::Ended) return "ended";
    std::string out(wye::code_text(finding.code));
    std::ranges::replace(out, ' ', '_');
    return out;
}

}  // namespace

void Tally::add(const Finding& finding) {
    const bool late = finding.kind == Finding::Kind::Error && finding.code == wye::Code::TIMEOUT;
    timeouts_ = late ? timeouts_ + 1 : 0;
    if (finding.kind == Finding::Kind::Equal) {
        ++equal;
    } else if (finding.kind == Finding::Kind::Useless) {
        ++useless;
    } else {
        ++(refuses(finding) ? refused : different);
        ++reasons[reason(finding)];
    }
}

std::string Tally::line(double seconds) const {
    std::string out;
    const auto field = [&](const std::string& name, std::uint64_t value) {
        out += name + "=" + std::to_string(value) + " ";
    };
    field("programs", programs());
    field("equal", equal);
    field("different", different);
    field("refused", refused);
    field("useless", useless);
    field("not_run", not_run);
    field("left_out", left_out);
    for (const auto& [name, count] : reasons) field(name, count);
    rusage own{}, children{};
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    const long peak = std::max(own.ru_maxrss, children.ru_maxrss);
    char end[64];
    std::snprintf(end, sizeof end, "seconds=%.1f peak_MiB=%ld", seconds, peak / 1024);
    return out + end;
}

}  // namespace differential
