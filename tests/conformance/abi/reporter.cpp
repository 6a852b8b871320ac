// SPDX-License-Identifier: Apache-2.0
//
// Writes what doctest finds to the report of this process, if it has one.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <string_view>

#include "conformance/abi/harness.hpp"
#include "conformance/abi/report.hpp"

namespace {

// "CHECK( a == b ) is false: 1 == 2 (memory.cpp:12)".
std::string assert_text(const doctest::AssertData& data) {
    std::string out = doctest::assertString(data.m_at);
    out += std::string("( ") + data.m_expr + " )";
    if (data.m_threw)
        out += std::string(" threw ") + data.m_exception.c_str();
    else
        out += std::string(" is false: ") + data.m_decomp.c_str();
    return out;
}

std::string place_text(const char* file, int line) {
    const std::string_view path = file;
    return " (" + std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(line) + ")";
}

constexpr std::string_view kNotApplicable = "does not apply: ";
constexpr std::string_view kSetup = "set-up: ";

doctest::String told(std::string_view kind, std::string_view text) {
    return (std::string(kind) + std::string(text)).c_str();
}

REGISTER_EXCEPTION_TRANSLATOR(const harness::NotApplicable& what) {
    return told(kNotApplicable, what.reason);
}
REGISTER_EXCEPTION_TRANSLATOR(const harness::SetupFailed& what) {
    return told(kSetup, what.what());
}

class Reporter : public doctest::IReporter {
  public:
    explicit Reporter(const doctest::ContextOptions&) {}

    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override { say("done"); }
    void test_case_start(const doctest::TestCaseData& data) override {
        failures_ = 0;
        say("case", {data.m_name});
    }
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override { say("end"); }
    void test_case_exception(const doctest::TestCaseException& data) override {
        const std::string_view text = data.error_string.c_str();
        if (text.starts_with(kNotApplicable))
            return say("skip", {text.substr(kNotApplicable.size())});
        if (text.starts_with(kSetup)) return say("fail", {text.substr(kSetup.size())});
        say("rule", {"P-8"});
        say("fail", {"an exception left a slot: " + std::string(text)});
    }
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData& data) override {
        if (!data.m_failed) return;
        const std::string_view thrown = data.m_exception.c_str();
        if (data.m_threw && thrown.starts_with(kNotApplicable))
            return say("skip", {thrown.substr(kNotApplicable.size())});
        if (data.m_threw && !thrown.starts_with(kSetup)) say("rule", {"P-8"});
        fail(assert_text(data), data.m_file, data.m_line);
    }
    void log_message(const doctest::MessageData& data) override {
        if ((data.m_severity & doctest::assertType::is_warn) != 0) return;
        fail(data.m_string.c_str(), data.m_file, data.m_line);
    }
    void test_case_skipped(const doctest::TestCaseData&) override {}

  private:
    static constexpr int kMost = 100;  // maximum of reported failures of one case

    void fail(std::string text, const char* file, int line) {
        if (++failures_ > kMost) return;
        const int contexts = IReporter::get_num_active_contexts();
        for (int i = 0; i < contexts; ++i) {
            std::ostringstream what;
            IReporter::get_active_contexts()[i]->stringify(&what);
            text += (i == 0 ? "; with " : ", ") + what.str();
        }
        say("fail", {text + place_text(file, line)});
    }
    static void say(std::string_view kind, std::initializer_list<std::string_view> fields = {}) {
        if (harness::report() != nullptr) harness::report()->line(kind, fields);
    }

    int failures_ = 0;
};

}  // namespace

DOCTEST_REGISTER_REPORTER("conform", 1, Reporter);
