// SPDX-License-Identifier: Apache-2.0
// The message of the helper and the kept text of a verdict, both of which come from outside.
#include <doctest/doctest.h>

#include <string>

#include "registry/probe/verdict.hpp"

namespace test_verdict {

using namespace wye;
using namespace wye::registry;

namespace {

const std::string kHello = "{\"wye_probe\":1}\n";
const std::string kReport =
    R"({"report":{"plugins":[{"id":"x","abi":{"major":1,"minor":0},"state":"ready","version":"1.2",)"
    R"("vendor":"v"}],"devices":[{"plugin":"x","selector":"x:0","name":"a\u001b[2J","usable":true,)"
    R"("formats":["f"],"facts":{"int64":true,"max_workgroup_size":[1,2,3],"memory_bytes":)"
    R"(18446744073709551615,"subgroup_sizes":[4,8]},"fact_sources":{"memory_bytes":"s"}}],)"
    R"("records":[]}})"
    "\n";
const std::string kDone = "{\"done\":true}\n";

bool refused(const std::string& text) {
    const auto message = parse_probe_message(text, "x");
    return !message.ok() && message.error().code == Code::BAD_PLUGIN &&
           message.error().fix.starts_with("Fix: ");
}

}  // namespace

TEST_CASE("a whole message of the helper is read in full") {
    const auto message = parse_probe_message(
        kHello + "{\"in\":\"init\"}\n" + kReport +
            R"({"check":{"device":"x:0","code":"PLUGIN_FAULT","wrong":true,"message":"m"}})"
            "\n{\"in\":\"\"}\n" +
            kDone,
        "x");
    REQUIRE(message.ok());
    CHECK(message->done);
    CHECK(message->ready);
    CHECK(message->slot.empty());
    CHECK(message->version == "1.2");
    REQUIRE(message->devices.size() == 1);
    const DeviceInfo& device = *message->devices[0];
    CHECK(device.name == "a\\x1b[2J");
    CHECK(device.facts.has(WYE_FACT_KEY_INT64));
    CHECK(device.facts.number(WYE_FACT_KEY_MEMORY_BYTES) == UINT64_MAX);
    CHECK(device.facts.find(WYE_FACT_KEY_MEMORY_BYTES)->source == "s");
    CHECK(device.facts.triple(WYE_FACT_KEY_MAX_WORKGROUP_SIZE)->at(2) == 3);
    REQUIRE(message->checks.size() == 1);
    CHECK(message->checks[0].wrong);
}

TEST_CASE("a code of a later minor, which has no name here, is read as unknown") {
    const auto later = static_cast<Code>(WYE_STATUS_FIRST_FREE);
    const auto message = parse_probe_message(
        kHello + R"({"record":{"stage":"initialised","severity":"refused","code":")" +
            std::string(code_name(later)) + "\"}}\n" + kDone,
        "x");
    REQUIRE(message.ok());
    REQUIRE(message->records.size() == 1);
    CHECK(message->records[0].code == later);
}

TEST_CASE("a message that ends early has what came before, and where") {
    const auto message = parse_probe_message(kHello + "{\"in\":\"init\"}\n{\"repo", "x");
    REQUIRE(message.ok());
    CHECK(message->slot == "init");
    CHECK_FALSE(message->done);
    CHECK_FALSE(message->ready);
}

TEST_CASE("if the plugin overwrote the message, the slot before the damage is known") {
    const std::string init = "{\"in\":\"init\"}\n";
    const std::string probe = "{\"in\":\"probe_devices\"}\n";
    CHECK(slot_before_fault(kHello + init + "nothing\n" + probe, "x") == "init");
    CHECK(slot_before_fault(kHello + init + "nothing" + probe, "x") == "init");
    CHECK(slot_before_fault(kHello + init + probe + "{\"in\":7}\n", "x") == "probe_devices");
    CHECK(slot_before_fault("", "x").empty());
    CHECK(is_probe_message(kHello + init));
    CHECK_FALSE(is_probe_message(init));
    CHECK_FALSE(is_probe_message("{\"wye_probe\":2}\n"));
}

TEST_CASE("bytes that are no message are refused") {
    CHECK(refused(""));
    CHECK(refused("\n"));
    CHECK(refused("{\"wye_probe\":2}\n"));
    CHECK(refused("{\"in\":\"init\"}\n"));
    CHECK(refused(kHello + "nothing\n"));
    CHECK(refused(kHello + "[]\n"));
    CHECK(refused(kHello + std::string(100000, '[') + "\n"));
    CHECK(refused(kHello + "{\"in\":7}\n"));
    CHECK(refused(kHello + "{\"done\":\"yes\"}\n"));
    CHECK(refused(kHello + "{\"dispatch_ns\":-1}\n"));
    CHECK(refused(kHello + "{\"check\":{\"device\":\"x:0\",\"code\":\"NONE\"}}\n"));
    CHECK(refused(kHello + "{\"record\":{\"stage\":\"init\"}}\n"));
    CHECK(refused(kHello + R"({"report":{"devices":[{"plugin":"x","selector":"y:0"}]}})" + "\n"));
    CHECK(refused(
        kHello + R"({"report":{"devices":[{"plugin":"x","selector":"x:0","facts":{"int64":1}}]}})" +
        "\n"));
    CHECK(refused(kHello + "{\"in\":\"" + std::string(100000, 'a') + "\"}\n"));
    CHECK(refused(kHello + std::string(kMostMessageBytes, ' ')));
}

TEST_CASE("a kept verdict comes back as it was") {
    KeptVerdict kept;
    kept.verdict.end = ProbeEnd::good;
    kept.verdict.times = 3;
    kept.verdict.made_unix_ns = 123456789;
    kept.plugin = {"/a \"b\"", 1, 2, 3, -4};
    kept.hash = "abc";
    kept.files = {{"/c", 0, 0, 0, 0}};
    kept.message = without_progress(kHello + "{\"in\":\"init\"}\n" + kReport + kDone);
    const std::string text = to_text(kept);
    CHECK(text.find("\"in\"") == std::string::npos);
    const auto back = parse_kept_verdict(text, "x");
    REQUIRE(back.has_value());
    CHECK(back->verdict.remembered);
    CHECK(back->verdict.times == 3);
    CHECK(back->verdict.made_unix_ns == 123456789);
    CHECK(back->plugin == kept.plugin);
    CHECK(back->files == kept.files);
    CHECK(back->verdict.message.devices.size() == 1);
    // A good verdict needs the devices, which a shortened file lacks.
    for (std::size_t cut = 0; cut < text.size(); ++cut)
        CHECK_FALSE(parse_kept_verdict(text.substr(0, cut), "x").has_value());
    CHECK_FALSE(parse_kept_verdict("{\"end\":\"well\"}\n", "x").has_value());
}

}  // namespace test_verdict
