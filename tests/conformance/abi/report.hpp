// SPDX-License-Identifier: Apache-2.0
//
// The report of a conformance kit: what the kit tells `wye conform`, which runs the kit as a child
// process. Each line is one statement. The report has a descriptor of its own, and each case is
// reported when it begins, so that the parent knows in which case a plugin ended the process.
//
//   plugin ID VERSION VENDOR MAJOR MINOR NEEDED DRAFT
//   opened SELECTOR     only from the kit of the language: the device is open
//   device INDEX usable|unusable NAME REASON FORMATS
//   case NAME           a case begins; its name ends with the rules that it checks, "(P-1, P-2)"
//   rule RULE           the next failure breaks this rule, besides the rules in the case's name
//   fail TEXT           the case fails
//   skip REASON         the case does not apply to this plugin or device
//   note TEXT           a remark for the reader, which is no failure
//   work                the case still runs: a sign of life
//   end                 the case has ended
//   leave               this process ends now; another process must run the cases that are left
//   rest COUNT          COUNT cases are not begun, since the time for them is over
//   done                there are no more cases
//
// Fields are separated by tabs. A line break or tab in a text is written as \n or \t, a backslash
// as \\.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace harness {

class Report {
  public:
    explicit Report(int descriptor) : descriptor_(descriptor) {}

    // Ends the process with kLostReport if the descriptor cannot be written.
    void line(std::string_view kind, std::initializer_list<std::string_view> fields = {}) const;

    // Writes lines that are complete and already escaped.
    void write(std::string_view lines) const;
    [[nodiscard]] int descriptor() const { return descriptor_; }

    // The exit status of a process whose plugin has closed the report's descriptor.
    static constexpr int kLostReport = 99;

  private:
    int descriptor_;
};

// The report of this process; null: this process writes no report.
[[nodiscard]] const Report* report() noexcept;
// Makes the report of this process. To be called once, before any case. From then on the process
// ends when its parent ends, and leaves no core file.
void report_to(int descriptor);

// Says, in the report or on standard output, that the case does not apply. The caller must then
// return from the case.
void not_applicable(std::string_view reason);
// An exception with the same meaning, to be thrown from any depth of a case.
struct NotApplicable {
    std::string reason;
};
// Writes a remark for the reader, which is no failure.
void note(std::string_view text);
// Says that the next failure of this case breaks `rule`, besides the rules in the case's name.
void blame(std::string_view rule);
// Reports that the case breaks `rule`, and ends the process. For a process that cannot continue: a
// call of the plugin hangs or has crashed. May be called from a signal handler. Both texts must be
// short and without control characters.
[[noreturn]] void fail_and_leave(const char* rule, const char* text);

}  // namespace harness
