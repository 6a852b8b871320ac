// SPDX-License-Identifier: Apache-2.0
// The helpers of tests: reference results, random data, folders.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <string>

#include "support/examples.hpp"
#include "support/random.hpp"
#include "support/sha256.hpp"
#include "support/temp_dir.hpp"
#include "wye/program_format.h"

namespace {

std::string digest(const std::string& text) {
    return support::hex(support::sha256(std::as_bytes(std::span(text))));
}

}  // namespace

// The examples of FIPS 180-4 and of NIST's byte-oriented test vectors.
TEST_CASE("sha256 gives the published digests") {
    CHECK(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(digest("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
                 "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu") ==
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    CHECK(digest(std::string(1000000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("random values repeat with the seed and reach the corners") {
    support::Random a(7);
    support::Random b(7);
    support::Random c(8);
    CHECK(support::random_bytes(a, 100) == support::random_bytes(b, 100));
    CHECK(support::random_bytes(a, 100) != support::random_bytes(c, 100));

    std::set<std::string> seen;
    for (int i = 0; i < 5000; ++i) {
        const auto bits = static_cast<std::uint32_t>(support::random_scalar(a, WYE_KIND_F32));
        const auto f = std::bit_cast<float>(bits);
        if (std::isnan(f)) seen.insert((bits & 0x00400000) != 0 ? "quiet" : "signalling");
        if (std::isinf(f)) seen.insert("infinity");
        if (bits == 0x80000000) seen.insert("minus zero");
        if (std::fpclassify(f) == FP_SUBNORMAL) seen.insert("subnormal");
        if (f == 0.5F) seen.insert("half");
        const auto n = static_cast<std::int32_t>(support::random_scalar(a, WYE_KIND_I32));
        if (n == INT32_MIN) seen.insert("lowest");
        if (n == INT32_MAX) seen.insert("highest");
        if (n == -1) seen.insert("minus one");
        CHECK(support::random_scalar(a, WYE_KIND_U8) < 256);
        const std::int64_t between = a.between(-3, 3);
        CHECK(std::abs(between) <= 3);
    }
    CHECK(seen.size() == 9);
}

TEST_CASE("a folder is made, written to and removed") {
    std::filesystem::path path;
    {
        const support::TempDir dir;
        path = dir.path();
        CHECK(support::read_file(dir.write("a/b.bin", std::string("x\0y", 3))).size() == 3);
        CHECK(std::filesystem::exists(dir / "a/b.bin"));
    }
    CHECK(!std::filesystem::exists(path));
    CHECK_THROWS(support::read_file(path / "a"));
}

TEST_CASE("each example program has a text and launches that fit it") {
    std::set<std::string> on_disk;
    for (const std::string& name : support::example_programs()) {
        CAPTURE(name);
        CHECK(support::example_text(name).find("program " + name + ";") != std::string::npos);
        const auto launches = support::examples(name, 1);
        CHECK(launches.size() >= 4);
        for (const support::Example& e : launches) {
            CHECK(e.program == name);
            for (const auto& d : e.dispatches) CHECK(d.size() == e.params.size());
            for (const auto& b : e.buffers)
                if (b.output) CHECK(b.before.size() == b.expected.size());
        }
    }
    CHECK(support::example_programs().size() == 12);
}
