// SPDX-License-Identifier: Apache-2.0
//
// What a kit tells `wye conform`, which runs it as a child: one line for each thing, on a
// descriptor of its own, so that the parent knows the case in which the plugin ended the process.
//
//   plugin ID VERSION VENDOR MAJOR MINOR NEEDED DRAFT
//   opened SELECTOR     by the kit of the language
//   device INDEX usable|unusable NAME REASON FORMATS
//   case NAME           a case begins; its name ends with the rules that it checks, "(P-1, P-2)"
//   rule RULE           what fails next breaks this rule, too
//   fail TEXT           the case fails
//   skip REASON         the case does not apply to this plugin or device
//   note TEXT           worth telling, no failure
//   work                the case goes on
//   end                 the case has ended
//   leave               the process ends now, and the cases left need another one
//   rest COUNT          COUNT cases do not begin, since the time for them is over
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

    // Whole lines, as they are.
    void write(std::string_view lines) const;
    [[nodiscard]] int descriptor() const { return descriptor_; }

    // A process that ends with it has lost its descriptor: its plugin closed that.
    static constexpr int kLostReport = 99;

  private:
    int descriptor_;
};

// The report of this process; null: nobody asked for one.
[[nodiscard]] const Report* report() noexcept;
// Makes it; once, before any case. The process then ends with its parent, and leaves no core file.
void report_to(int descriptor);

// Says that the case does not apply, in the report or on standard output; the case then returns.
void not_applicable(std::string_view reason);
// The same by an exception, from within a case.
struct NotApplicable {
    std::string reason;
};
// Something worth telling that is no failure.
void note(std::string_view text);
// What the case finds wrong next breaks this rule before those that its name lists.
void blame(std::string_view rule);
// The case breaks the rule, and the process cannot go on, since a call of the plugin does not
// return or runs into a fault. Ends it; may be called from a handler of a signal. Both texts are
// short and have no control characters.
[[noreturn]] void fail_and_leave(const char* rule, const char* text);

}  // namespace harness
