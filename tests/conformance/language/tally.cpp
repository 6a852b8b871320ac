// SPDX-License-Identifier: Apache-2.0
#include "conformance/language/tally.hpp"

#include <cstdio>

#include "conformance/abi/report.hpp"

namespace conformance {

bool Tally::begin(const std::string& name) { return begin(name, rules_); }

bool Tally::begin(const std::string& name, const std::string& rules) {
    if (skip_ > 0) {
        --skip_;
        return false;
    }
    if (most_ == 0) return false;
    --most_;
    name_ = name;
    if (harness::report() != nullptr) harness::report()->line("case", {name + " (" + rules + ")"});
    return true;
}

void Tally::work() const {
    if (harness::report() != nullptr) harness::report()->line("work");
}

void Tally::end(const std::string& problem) {
    ++(problem.empty() ? passed_ : failed_);
    if (!problem.empty()) std::printf("FAILED %s: %s\n", name_.c_str(), problem.c_str());
    if (harness::report() == nullptr) return;
    if (!problem.empty()) harness::report()->line("fail", {problem});
    harness::report()->line("end");
}

void Tally::stop(std::uint64_t left) const {
    std::printf("%llu cases did not begin, since the time is over\n",
                static_cast<unsigned long long>(left));
    if (harness::report() != nullptr) harness::report()->line("rest", {std::to_string(left)});
}

void Tally::leave_out(const std::string& why) {
    std::printf("left out: %s, %s\n", name_.c_str(), why.c_str());
    if (harness::report() == nullptr) return;
    harness::report()->line("skip", {why});
    harness::report()->line("end");
}

}  // namespace conformance
