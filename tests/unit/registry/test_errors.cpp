// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "registry/open/error_object.hpp"
#include "registry/open/host_services.hpp"
#include "registry/record.hpp"
#include "wye/sdk/plugin.hpp"

namespace test_errors {

using namespace wye;
using namespace wye::registry;

TEST_CASE("an error goes through a plugin and comes back whole") {
    const auto host = HostServices::create({}, {});
    Error inner(Code::DRIVER, "clCreateContext failed", "Fix: restart", "ctx");
    inner.native_domain = "opencl";
    inner.native_code = -6;
    const Error outer =
        std::move(inner).wrapped(Code::COMPILE_FAILED, "no program", "Fix: none", "prog");
    wye_error* object = nullptr;
    CHECK(sdk::report(host->table(), outer, &object) == WYE_COMPILE_FAILED);
    REQUIRE(object != nullptr);
    CHECK(object->error.text().find("because: clCreateContext failed") != std::string::npos);
    CHECK(object->causes == 1);
    const Error back = take_error(WYE_COMPILE_FAILED, object, "the slot");
    CHECK(back.code == Code::COMPILE_FAILED);
    CHECK(back.message == "no program");
    CHECK(back.fix == "Fix: none");
    CHECK(back.subject == "prog");
    REQUIRE(back.cause != nullptr);
    CHECK(back.cause->native_domain == "opencl");
    CHECK(back.cause->native_code == -6);
}

namespace {

// "0" is the cause of "1", and so on.
Error chain_of(unsigned causes) {
    Error out(Code::DRIVER, "0", "Fix: none");
    for (unsigned n = 1; n <= causes; ++n)
        out = std::move(out).wrapped(Code::DRIVER, std::to_string(n), "Fix: none");
    return out;
}

std::vector<std::string> messages_of(const Error& error) {
    std::vector<std::string> out;
    for (const Error* e = &error; e != nullptr; e = e->cause.get()) out.push_back(e->message);
    return out;
}

}  // namespace

// Copying the chain for each new error would take quadratic time.
TEST_CASE("a chain of 200,000 causes is made, handed over, shortened in the middle, and freed") {
    constexpr unsigned kLong = 200'000;
    const auto host = HostServices::create({}, {});
    const wye_host_table& table = host->table();
    wye_error* object = nullptr;
    for (unsigned n = 0; n <= kLong; ++n) {
        const std::string message = std::to_string(n);
        wye_error_desc desc{};
        desc.header = sdk::header_of(sizeof desc);
        desc.code = WYE_DRIVER;
        desc.message = sdk::to_abi(message);
        desc.cause = object;
        object = table.error_make(table.self, &desc);
    }
    const auto taken = messages_of(take_error(WYE_DRIVER, object, "the slot"));
    CHECK(taken.size() == kMostCauses + 1);
    CHECK(taken.front() == std::to_string(kLong));
    CHECK(taken.back() == "0");

    const Error longer = chain_of(1000);
    CHECK(sdk::report(table, longer, &object) == WYE_DRIVER);
    const auto reported = messages_of(take_error(WYE_DRIVER, object, "the slot"));
    CHECK(reported.size() <= kMostCauses + 1);
    CHECK(reported.front() == "1000");
    CHECK(reported.back() == "0");

    const std::unique_ptr<wye_error, decltype(&release_error_object)> shown(
        make_error_object(longer), &release_error_object);
    CHECK(shown->causes == kMostCauses);
    std::size_t count = 0;
    const wye_error* last = shown.get();
    for (; last->cause; last = last->cause.get()) ++count;
    CHECK(count == kMostCauses);
    CHECK(last->error.message == "0");
    CHECK(shown->text.size() < 4096);
}

TEST_CASE("a status without an object still says what failed") {
    const Error error = take_error(WYE_DRIVER, nullptr, "the slot 'x'");
    CHECK(error.code == Code::DRIVER);
    CHECK(error.message.find("the slot 'x' failed") != std::string::npos);
    CHECK(error.fix.rfind("Fix: ", 0) == 0);
    // A code of a later minor version is kept as it is.
    CHECK(static_cast<wye_status>(take_error(1234, nullptr, "x").code) == 1234);
}

TEST_CASE("what the call returned decides over what the object says") {
    wye_error* object = make_error_object(Error(Code::TIMEOUT, "late", "Fix: wait"));
    CHECK(take_error(WYE_CANCELLED, object, "x").code == Code::CANCELLED);
}

TEST_CASE("a shorter description is taken as far as it goes") {
    const auto host = HostServices::create({}, {});
    wye_error_desc desc{};
    desc.header.size = offsetof(wye_error_desc, fix);
    desc.code = WYE_DRIVER;
    desc.message = sdk::to_abi("short");
    desc.fix = {reinterpret_cast<const char*>(1), 1000};  // beyond the size: must not be read
    wye_error* object = host->table().error_make(host->table().self, &desc);
    REQUIRE(object != nullptr);
    CHECK(object->error.message == "short");
    CHECK(object->error.fix.empty());
    host->table().error_release(host->table().self, object);
    release_error_object(nullptr);
}

TEST_CASE("host services: configuration, log, extensions") {
    std::vector<std::string> lines;
    static const int kTable = 5;
    const auto host = HostServices::create(
        {{"cpu.threads", "3"}},
        [&](std::uint32_t level, std::string_view area, std::string_view text) {
            lines.push_back(std::to_string(level) + " " + std::string(area) + " " +
                            std::string(text));
            throw 1;  // a log callback that throws
        },
        [](std::string_view name, std::uint32_t version) -> const void* {
            return name == "wye.test" && version == 1 ? &kTable : nullptr;
        });
    const wye_host_table& table = host->table();
    CHECK(table.header.size == sizeof(wye_host_table));
    wye_string value{};
    CHECK(table.config_get(table.self, sdk::to_abi("cpu.threads"), &value) == WYE_OK);
    CHECK(sdk::from_abi(value) == "3");
    CHECK(table.config_get(table.self, sdk::to_abi("none"), &value) == WYE_NOT_FOUND);
    CHECK(sdk::from_abi(value) == "3");  // a failed call leaves it unchanged
    table.log(table.self, WYE_LOG_INFO, sdk::to_abi("area"), sdk::to_abi("text"));
    CHECK(lines == std::vector<std::string>{"3 area text"});
    CHECK(table.get_extension(table.self, sdk::to_abi("wye.test"), 1) == &kTable);
    CHECK(table.get_extension(table.self, sdk::to_abi("wye.test"), 2) == nullptr);
}

TEST_CASE("a record reads as one line and as an error") {
    Record record;
    record.stage = Stage::opened;
    record.code = Code::MISSING_DEPENDENCY;
    record.message = "it needs libx";
    record.loader_text = "libx.so: cannot open";
    record.fix = "Fix: install libx";
    record.path = "/p/x.so";
    record.plugin = "x";
    CHECK(to_text(record) == "x: opened: it needs libx [libx.so: cannot open]. Fix: install libx");
    const Error error = to_error(record);
    CHECK(error.code == Code::MISSING_DEPENDENCY);
    CHECK(error.subject == "/p/x.so");
    REQUIRE(error.cause != nullptr);
    CHECK(error.cause->message == "libx.so: cannot open");
    CHECK(code_name(Code::ABI_MISMATCH) == "ABI_MISMATCH");
    CHECK(code_name(static_cast<Code>(999)) == "UNKNOWN");
}

}  // namespace test_errors
