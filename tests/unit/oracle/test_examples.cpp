// SPDX-License-Identifier: Apache-2.0
// The example programs on the oracle, against plain C++ on the host and published digests.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "oracle/oracle.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"
#include "program/wire/encode.hpp"
#include "support/examples.hpp"
#include "support/random.hpp"
#include "support/sha256.hpp"
#include "support/temp_dir.hpp"

namespace test_examples {

namespace {

std::vector<std::byte> wire_of(const std::string& program) {
    wye::ir::ParseResult parsed = wye::ir::parse(support::example_text(program));
    for (const auto& d : parsed.diagnostics)
        FAIL(program << ":" << d.place.line << ": " << d.message);
    for (const auto& d : wye::ir::validate(parsed.program))
        FAIL(program << ":" << d.place.line << ": " << d.message);
    auto wire = wye::ir::encode(parsed.program);
    REQUIRE(wire.ok());
    return std::move(wire).value();
}

oracle::Outcome run(const std::vector<std::byte>& wire, const std::vector<std::uint64_t>& params,
                    const std::vector<std::vector<std::byte>>& buffers) {
    oracle::Launch launch;
    launch.params = params;
    launch.buffers = buffers;
    launch.check_races = true;
    oracle::Outcome outcome = oracle::run(wire, launch);
    REQUIRE(outcome.error == "");
    CHECK(outcome.race == "");
    return outcome;
}

}  // namespace

TEST_CASE("the example programs give what plain C++ gives, without races") {
    for (const std::string& name : support::example_programs()) {
        const std::vector<std::byte> wire = wire_of(name);
        for (const support::Example& e : support::examples(name, 20)) {
            CAPTURE(name);
            CAPTURE(e.what);
            std::vector<std::vector<std::byte>> buffers;
            for (const auto& b : e.buffers) buffers.push_back(b.before);
            for (const auto& params : e.dispatches) buffers = run(wire, params, buffers).buffers;
            for (std::size_t i = 0; i < buffers.size(); ++i) {
                CAPTURE(e.buffers[i].name);
                CHECK(buffers[i] ==
                      (e.buffers[i].output ? e.buffers[i].expected : e.buffers[i].before));
            }
        }
    }
}

TEST_CASE("the sha256 program gives the published digests") {
    const std::vector<std::byte> wire = wire_of("sha256");
    const auto digest = [&](std::string text) {
        const std::uint64_t length = text.size();
        text.resize((length + 3) / 4 * 4);
        const auto bytes = std::as_bytes(std::span(text));
        const auto outcome = run(wire, {length, length}, {{bytes.begin(), bytes.end()}, {}});
        return support::hex(outcome.buffers[1]);
    };
    CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(digest("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
                 "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu") ==
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

TEST_CASE("three prefix_sum dispatches scan a long array") {
    const std::vector<std::byte> wire = wire_of("prefix_sum");
    support::Random random(3);
    const std::vector<std::byte> x = support::random_bytes(random, 4 * 30001);
    std::vector<std::uint32_t> expected(30001);
    std::memcpy(expected.data(), x.data(), x.size());
    std::partial_sum(expected.begin(), expected.end(), expected.begin());

    const auto sums = run(wire, {}, {x, {}, {}, {}}).buffers[3];
    const auto offsets = run(wire, {}, {sums, {}, {}, {}}).buffers[2];
    const auto scan = run(wire, {}, {x, offsets, {}, {}}).buffers[2];
    CHECK(std::memcmp(scan.data(), expected.data(), scan.size()) == 0);
}

TEST_CASE("the sha256 program agrees with coreutils on a file") {
    support::Random random(11);
    const std::vector<std::byte> bytes = support::random_bytes(random, 4096 * 3 + 1001);
    const support::TempDir dir;
    const auto file =
        dir.write("data", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    const std::string command = "split -b 4096 --filter=sha256sum '" + file.string() + "'";
    std::FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string expected;
    char digest[65];
    while (std::fscanf(pipe, "%64s -", digest) == 1) expected += digest;
    CHECK(pclose(pipe) == 0);

    std::vector<std::byte> data = bytes;
    data.resize((bytes.size() + 3) / 4 * 4);
    const auto outcome = run(wire_of("sha256"), {bytes.size(), 4096}, {data, {}});
    CHECK(support::hex(outcome.buffers[1]) == expected);
    CHECK(expected.size() == 4 * 64);
}

}  // namespace test_examples
