// SPDX-License-Identifier: Apache-2.0
//
// The helpers that plugins share: descriptions, facts, compiler logs.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "wye/sdk/compiler_log.hpp"
#include "wye/sdk/facts.hpp"
#include "wye/sdk/findings.hpp"

namespace wye::sdk {
namespace {

Error refused() { return {Code::COMPILE_FAILED, "it does not compile", "Fix: correct it", "p"}; }

TEST_CASE("the first complaint of a compiler's log is the sentence, with its source line") {
    const std::string source = "first\nsecond\nthird";
    struct Row {
        const char* log;
        const char* message;
    };
    const Row rows[] = {
        {"a.cl:1:2: warning: odd\na.cl:2:5: error: bad\nmore",
         "X refused program `p`: a.cl:2:5: error: bad [source line 2: second]"},
        {"wye.cu(3): error: no",
         "X refused program `p`: wye.cu(3): error: no [source line 3: third]"},
        {"ptx input, line 1; error   : no",
         "X refused program `p`: ptx input, line 1; error   : no [source line 1: first]"},
        {"error: nowhere", "X refused program `p`: error: nowhere"},
        {"a.cl:99:1: error: beyond",
         "X refused program `p`: a.cl:99:1: error: beyond [source line 99: ]"},
        {"it just failed", "it does not compile"},
    };
    for (const Row& row : rows) {
        const Error error = with_log(refused(), "X", source, row.log);
        CHECK(error.message == row.message);
        CHECK(error.fix == "Fix: correct it");
        REQUIRE(error.cause != nullptr);
        CHECK(error.cause->message == row.log);
    }
    CHECK(with_log(refused(), "X", source, "").cause == nullptr);
}

TEST_CASE("what a device does not report is unsupported, and an unknown key is known to be one") {
    wye_fact out = facts::empty();
    CHECK(facts::number(out, 0, "s") == WYE_UNSUPPORTED);
    CHECK(facts::text(out, "", "s") == WYE_UNSUPPORTED);
    CHECK(facts::list(out, {}, "s") == WYE_UNSUPPORTED);
    CHECK(out.type == WYE_FACT_NONE);
    CHECK(facts::triple(out, {1, 5'000'000'000, 3}, "s") == WYE_OK);
    CHECK(out.type == WYE_FACT_U32X3);
    CHECK(out.xyz[0] == 1);
    CHECK(out.xyz[1] == 0xffffffffU);
    CHECK(from_abi(out.source) == "s");
    CHECK(facts::known(WYE_FACT_KEY_INT64));
    CHECK_FALSE(facts::known(0x7ffffff0U));
}

TEST_CASE("what a probe found is told by device and by whole names") {
    using Values = std::map<std::string, std::string, std::less<>>;
    Values values;
    wye_host_table host{};
    host.self = reinterpret_cast<wye_host_object*>(&values);
    host.config_get = [](wye_host_object* self, wye_string key, wye_string* out) -> wye_status {
        const auto& all = *reinterpret_cast<const Values*>(self);
        const auto at = all.find(from_abi(key));
        if (at == all.end()) return WYE_NOT_FOUND;
        *out = to_abi(at->second);
        return WYE_OK;
    };
    CHECK_FALSE(found_by_probe(host, 0, "f64").has_value());
    values = {{"probed", "1"}, {"probed.0", "int64 ieee_f64 "}, {"probed.10", "f64 "}};
    CHECK(found_by_probe(host, 0, "int64") == true);
    CHECK(found_by_probe(host, 0, "ieee_f64") == true);
    CHECK(found_by_probe(host, 0, "f64") == false);
    CHECK(found_by_probe(host, 1, "f64") == false);
    CHECK(found_by_probe(host, 10, "f64") == true);
}

TEST_CASE("a query is answered for every host since minor 0") {
    static constexpr wye_plugin_table kTable{};
    static constexpr wye_plugin_desc kDesc =
        describe("id", "1.2", "me", kTable, WYE_BUILD_UNLOADABLE);
    CHECK(from_abi(kDesc.id) == "id");
    CHECK(kDesc.header.size == sizeof(wye_plugin_desc));
    CHECK((kDesc.build_flags & WYE_BUILD_UNLOADABLE) != 0);
    // The plugin answers any minor version, since only the host compares versions.
    for (const std::uint32_t minor : {WYE_ABI_MINOR, WYE_ABI_MINOR + 1}) {
        for (const std::uint32_t draft : {0U, 3U, 9U}) {
            wye_hello hello = sdk::hello();
            hello.minor_max = hello.minor_floor = minor;
            hello.draft = draft;
            const wye_plugin_desc* out = nullptr;
            CHECK(answer_query(&hello, kDesc, &out) == WYE_OK);
            CHECK(out == &kDesc);
        }
    }
    const wye_plugin_desc* out = nullptr;
    wye_hello hello = sdk::hello();
    hello.header.size = offsetof(wye_hello, draft);  // a host of the first draft
    CHECK(answer_query(&hello, kDesc, &out) == WYE_ABI_MISMATCH);
    CHECK(answer_query(nullptr, kDesc, &out) == WYE_ABI_MISMATCH);
    CHECK(out == nullptr);
}

}  // namespace
}  // namespace wye::sdk
