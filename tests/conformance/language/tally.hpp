// SPDX-License-Identifier: Apache-2.0
//
// Tally: counts the cases of a suite, prints those that fail, and writes all of them to the report
// of this process, if there is one. To be used by one thread.
#pragma once

#include <cstdint>
#include <string>

namespace conformance {

class Tally {
  public:
    // Skips the first `skip` cases, then runs at most `most` cases and skips the others. `rules`:
    // the rules of the plugin contract that each case of the suite checks, such as "P-23".
    explicit Tally(std::string rules = "P-23", std::uint64_t skip = 0,
                   std::uint64_t most = UINT64_MAX)
        : rules_(std::move(rules)), skip_(skip), most_(most) {}

    // Begins a case. False: the case is skipped, so do not call `end`.
    [[nodiscard]] bool begin(const std::string& name);
    // Like `begin`, for a case that checks other rules.
    [[nodiscard]] bool begin(const std::string& name, const std::string& rules);
    // Reports that the case still runs. A long case that never calls this counts as hanging.
    void work() const;
    // Ends the case. `problem`: why it failed; empty: it passed.
    void end(const std::string& problem);
    // Ends a case that does not apply to this device.
    void leave_out(const std::string& why);
    // Like `end`, or, if `why` is not empty, like `leave_out`.
    void end(const std::string& problem, const std::string& why) {
        why.empty() ? end(problem) : leave_out(why);
    }
    // Whether the next case is one of the first `skip` cases.
    [[nodiscard]] bool skips() const { return skip_ > 0; }
    // Tells the report that the time is over, and that `left` cases are not begun.
    void stop(std::uint64_t left) const;
    // Begins and ends a case.
    void add(const std::string& name, const std::string& problem) {
        if (begin(name)) end(problem);
    }
    void add_left_out(const std::string& name, const std::string& why) {
        if (begin(name)) leave_out(why);
    }

    [[nodiscard]] std::uint64_t passed() const { return passed_; }
    [[nodiscard]] std::uint64_t failed() const { return failed_; }

  private:
    std::string rules_, name_;
    std::uint64_t skip_, most_;
    std::uint64_t passed_ = 0, failed_ = 0;
};

}  // namespace conformance
