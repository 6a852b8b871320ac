// SPDX-License-Identifier: Apache-2.0
#include "cache/entry.hpp"
#include "rig.hpp"

using namespace wye;
using namespace wye::cache;
using namespace wye::cache::test;

TEST_CASE("an entry gives back its key and value, whatever their bytes are") {
    for (const std::string& key :
         {std::string(), std::string("k\0\xff", 3), std::string(5000, 'k')})
        for (const std::string& value :
             {std::string(), std::string("v\n"), std::string(9999, '\0')}) {
            const auto packed = pack_entry(bytes(key), bytes(value));
            const auto parts = unpack_entry(packed);
            REQUIRE(parts.ok());
            CHECK(text(parts->key) == key);
            CHECK(text(parts->value) == value);
        }
    CHECK(entry_name(bytes("")).size() == 32);
    CHECK(entry_name(bytes("a")) != entry_name(bytes("b")));
}

TEST_CASE("every cut and every changed bit is seen") {
    const auto packed = pack_entry(bytes("program=x\n\ncode"), bytes("machine code"));
    for (std::size_t size = 0; size < packed.size(); ++size)
        CHECK_FALSE(unpack_entry(Bytes(packed).first(size)).ok());
    for (std::size_t at = 0; at < packed.size(); ++at)
        for (unsigned bit = 0; bit < 8; ++bit) {
            auto changed = packed;
            changed[at] ^= std::byte{static_cast<unsigned char>(1U << bit)};
            CHECK_FALSE(unpack_entry(changed).ok());
        }
    auto longer = packed;
    longer.push_back(std::byte{0});
    CHECK_FALSE(unpack_entry(longer).ok());
}
