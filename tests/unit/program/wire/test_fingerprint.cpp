// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <xxhash.h>

#include <cstring>

#include "generated.hpp"
#include "program/wire/encode.hpp"

namespace test_fingerprint {

using namespace wye::ir;

TEST_CASE("the fingerprint is XXH3 of the encoding without notes") {
    // Published: XXH128 of no bytes, seed 0 (`xxhsum -H2 /dev/null`).
    CHECK(fingerprint_of_encoding({}).hex() == "99aa06d3014798d86001c324468d497f");

    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Program p = test::scrambled(seed);
        const auto wire = encode(p, Notes::Drop);
        REQUIRE(wire.ok());
        const XXH128_hash_t hash = XXH3_128bits_withSeed(wire->data(), wire->size(), 0);
        char expected[33];
        std::snprintf(expected, sizeof expected, "%016llx%016llx",
                      static_cast<unsigned long long>(hash.high64),
                      static_cast<unsigned long long>(hash.low64));
        const auto print = fingerprint(p);
        REQUIRE(print.ok());
        CHECK(print->hex() == expected);

        // Names of locals and unknown notes do not change the fingerprint. A name that callers see
        // does.
        for (Local& local : p.main.locals) local.name = "renamed";
        p.notes.clear();
        CHECK(*fingerprint(p) == *print);
        p.name += "x";
        CHECK_FALSE(*fingerprint(p) == *print);
    }
}

TEST_CASE("a hint changes the fingerprint, and one that says nothing does not") {
    Program p = test::generated(1);
    REQUIRE(!p.buffers.empty());
    p.buffers[0].hints = {};
    const auto before = fingerprint(p);
    REQUIRE(before.ok());
    p.buffers[0].hints.locality = Locality::UNSPECIFIED;
    CHECK(*fingerprint(p) == *before);
    p.buffers[0].hints.locality = Locality::STREAMING;
    CHECK_FALSE(*fingerprint(p) == *before);
}

TEST_CASE("a program that does not encode has no fingerprint") {
    Program p;
    const auto print = fingerprint(p);  // no body
    REQUIRE_FALSE(print.ok());
    CHECK(print.error().code == wye::Code::INVALID_PROGRAM);
}

}  // namespace test_fingerprint
