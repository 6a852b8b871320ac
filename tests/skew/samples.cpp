// SPDX-License-Identifier: Apache-2.0
//
// Files that version 1.0 wrote (samples/) must keep their meaning. Parts that a later version may
// add must be skipped or listed, or the file must be refused.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cache/entry.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"
#include "registry/find/manifest.hpp"
#include "registry/probe/verdict.hpp"
#include "wye/sdk/kept_text.hpp"
#include "wye/sdk/wire.hpp"

namespace {

using namespace wye;
using namespace wye::registry;

std::string sample(const std::string& name) {
    std::ifstream file(std::string(WYE_SAMPLES) + "/" + name, std::ios::binary);
    REQUIRE_MESSAGE(file, name);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, from);
    return text.replace(at, from.size(), to);
}

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// A message about the plugin `vendor` that contains a report.
std::string message_with(const std::string& report) {
    std::string line = report;
    std::erase(line, '\n');
    return "{\"wye_probe\":1}\n{\"report\":" + line + "}\n{\"done\":true}\n";
}

}  // namespace

TEST_CASE("a wire form has the meaning of the text that it was made of") {
    for (const auto& [form, source] :
         {std::pair("scale.wire", "../scale.wye"), std::pair("language.wire", "language.wye")}) {
        const auto text = ir::parse(sample(source));
        REQUIRE(text.ok());
        const std::string wire = sample(form);
        auto program = ir::decode(bytes(wire));
        REQUIRE(program.ok());
        CHECK(ir::validate(*program).empty());
        CHECK(ir::print(*program) == ir::print(text.program));
    }
}

TEST_CASE("a wire form of a later version is refused by its number") {
    for (const auto& [at, number] : {std::pair(8, "99.0"), std::pair(10, "1.99")}) {
        std::string wire = sample("scale.wire");
        wire[static_cast<std::size_t>(at)] = 99;
        const auto program = ir::decode(bytes(wire));
        REQUIRE_FALSE(program.ok());
        CHECK(program.error().code == Code::INVALID_WIRE);
        CHECK(program.error().message.find(number) != std::string::npos);
        CHECK(program.error().fix.starts_with("Fix: "));
    }
}

TEST_CASE("a manifest has the same members, and unknown ones are listed") {
    const std::string text = sample("wye_vendor.wye.json");
    const auto manifest = parse_manifest(text, "m");
    REQUIRE(manifest.ok());
    CHECK(manifest->kind == PluginKind::plugin);
    CHECK(manifest->id == "vendor");
    CHECK(manifest->library == "wye_vendor.so");
    CHECK(manifest->arch == "x86_64");
    CHECK(manifest->abi_major == 1);
    CHECK(manifest->draft == 0);
    CHECK(manifest->minor_needed == 0);
    CHECK(manifest->minor_built == 0);
    CHECK(manifest->backend == "fixed function");
    CHECK(manifest->version == "1.0.0");
    REQUIRE(manifest->needs.size() == 1);
    CHECK(manifest->needs[0].soname == "libc.so.6");
    CHECK(manifest->needs[0].min_version == "2.17");
    CHECK(manifest->needs[0].version_from == "symbols");
    CHECK(manifest->needs[0].package == "libc6");
    REQUIRE(manifest->watches.size() == 3);
    CHECK(manifest->watches[0].path == "/etc/vendor");
    CHECK(manifest->watches[1].variable == "VENDOR_DEVICES");
    CHECK(manifest->watches[2].value_of == "VENDOR_CACHE");
    REQUIRE(manifest->translates.size() == 1);
    CHECK(manifest->translates[0].format == "vendor-code");
    CHECK(manifest->translates[0].from == "opencl-c");
    CHECK(manifest->translates[0].target_option == "--device=");
    CHECK(manifest->unknown_keys.empty());

    const auto later = parse_manifest(replaced(replaced(text, "\"draft\": 0", "\"later\": 0"),
                                               "\"backend\"", "\"more\": {}, \"backend\""),
                                      "m");
    REQUIRE(later.ok());
    CHECK(later->unknown_keys == std::vector<std::string>{"abi.later", "more"});
    const auto schema = parse_manifest(replaced(text, "\"schema\": 1", "\"schema\": 2"), "m");
    REQUIRE_FALSE(schema.ok());
    CHECK(schema.error().code == Code::BAD_MANIFEST);
    CHECK(schema.error().message.find("schema 2 is not known") != std::string::npos);
}

TEST_CASE("a report describes its devices, and unknown members are skipped") {
    const std::string text = sample("report.json");
    for (const std::string& report :
         {text,
          replaced(replaced(text, "\"schema_version\"", "\"later\": [{}], \"schema_version\""),
                   "\"int64\"", "\"later\": {}, \"int64\"")}) {
        const auto message = parse_probe_message(message_with(report), "vendor");
        REQUIRE(message.ok());
        CHECK(message->ready);
        CHECK(message->version == "1.0.0");
        CHECK(message->vendor == "Vendor");
        CHECK(message->abi_minor == 0);
        REQUIRE(message->devices.size() == 1);
        const DeviceInfo& device = *message->devices[0];
        CHECK(device.usable);
        CHECK(device.name == "Fixed function");
        CHECK(device.formats == std::vector<std::string>{"wye-program"});
        CHECK(device.facts.number(WYE_FACT_KEY_MAX_BUFFERS) == 64);
        CHECK(device.facts.triple(WYE_FACT_KEY_MAX_WORKGROUP_SIZE)->at(2) == 1024);
        CHECK(device.facts.text(WYE_FACT_KEY_DEVICE_KIND) == "accelerator");
        CHECK_FALSE(device.facts.has(WYE_FACT_KEY_INT64));
    }
}

TEST_CASE("a verdict of a probe is the same, and one of a later version is not taken") {
    const std::string file = sample("verdict.kept");
    const auto parts = sdk::kept_parts(file);
    REQUIRE(parts.has_value());
    CHECK(parts->kind == "plugin-probe");
    const std::string text(parts->text);
    const auto check = [](const std::optional<KeptVerdict>& kept) {
        REQUIRE(kept.has_value());
        CHECK(kept->verdict.end == ProbeEnd::good);
        CHECK(kept->verdict.times == 1);
        CHECK(kept->verdict.made_unix_ns == 1795957558534501736);
        CHECK(kept->plugin ==
              FileStamp{"/usr/lib/wye/wye_vendor.so", 65024, 11059314, 14344, 1795957553013339694});
        CHECK(kept->hash == "383dcaecb7b5a8dff2c16cb04859d986");
        REQUIRE(kept->files.size() == 3);
        CHECK(kept->files[0].path == "/etc/ld.so.cache");
        REQUIRE(kept->verdict.message.devices.size() == 1);
        CHECK(kept->verdict.message.devices[0]->facts.number(WYE_FACT_KEY_MAX_BUFFERS) == 64);
        REQUIRE(kept->verdict.message.checks.size() == 1);
        CHECK_FALSE(kept->verdict.message.checks[0].wrong);
        CHECK(kept->verdict.message.libraries.size() == 1);
    };
    check(parse_kept_verdict(text, "vendor"));
    check(parse_kept_verdict(
        replaced(replaced(text, "{", "{\"later\":{},"), "{\"check\"", "{\"more\":1,\"check\""),
        "vendor"));
    CHECK_FALSE(parse_kept_verdict(replaced(text, "\"wye_probe\":1", "\"wye_probe\":2"), "vendor")
                    .has_value());
    CHECK_FALSE(parse_kept_verdict(replaced(text, "\"good\"", "\"later\""), "vendor").has_value());
    CHECK_FALSE(sdk::kept_parts(replaced(file, "wye kept 1 ", "wye kept 2 ")).has_value());
}

TEST_CASE("an entry of the cache is read whole, and one of a later version is not taken") {
    const std::string file = sample("entry.cache");
    const auto parts = cache::unpack_entry(bytes(file));
    REQUIRE(parts.ok());
    const auto text = [](cache::Bytes part) {
        return std::string(reinterpret_cast<const char*>(part.data()), part.size());
    };
    CHECK(text(parts->key).starts_with("kind=program\nprogram=scale\nformat=wye-program\n"));
    CHECK(text(parts->value).find("fixed function 1") != std::string::npos);
    CHECK(parts->key.size() + parts->value.size() == file.size() - 32);
    const auto later = cache::unpack_entry(bytes(replaced(file, "WYECACH2", "WYECACH3")));
    REQUIRE_FALSE(later.ok());
    CHECK(later.error().message.find("another version") != std::string::npos);
}
