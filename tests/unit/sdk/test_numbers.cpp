// SPDX-License-Identifier: Apache-2.0
//
// Numbers, sizes and times as people write them; hex digits; parts of a text.
#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/ascii.hpp"
#include "wye/sdk/numbers.hpp"
#include "wye/sdk/words.hpp"

namespace {

using namespace wye::sdk;

TEST_CASE("sizes are read as people write them") {
    CHECK(parse_size("0") == 0);
    CHECK(parse_size("65536") == 65536);
    CHECK(parse_size("4K") == 4096);
    CHECK(parse_size("512MiB") == std::uint64_t{512} << 20U);
    CHECK(parse_size("64 MiB") == std::uint64_t{64} << 20U);
    CHECK(parse_size("64 mib") == std::uint64_t{64} << 20U);
    CHECK(parse_size("7B") == 7);
    // Powers of 1024 and of 1000 are told apart, as in a selector.
    CHECK(parse_size("3GiB") == std::uint64_t{3} << 30U);
    CHECK(parse_size("3GB") == 3'000'000'000);
    CHECK(parse_size("2TB") == 2'000'000'000'000);
    CHECK(parse_size("1.5GiB") == std::uint64_t{3} << 29U);
    CHECK(parse_size("1.5G") == std::uint64_t{3} << 29U);
    CHECK(parse_size("0.000001MB") == 1);
    CHECK(parse_size("8.0") == 8);
    CHECK(parse_size("18446744073709551615") == UINT64_MAX);
    for (const char* no : {"",
                           "-1",
                           "+1",
                           "M",
                           "12x",
                           "1Gi",
                           "99999999999999T",
                           " 1",
                           "1 ",
                           "1  M",
                           "1.5",
                           "1.5B",
                           "1.",
                           "1.GiB",
                           ".5GiB",
                           "1.0000001GiB",
                           "1e3",
                           "0x10",
                           "18446744073709551616",
                           "16777216TiB",
                           "2GHz",
                           "5ms"})
        CHECK_FALSE(parse_size(no).has_value());
}

TEST_CASE("a quantity has one of the given units") {
    CHECK(parse_quantity("20us", {kTimeUnits}) == 20'000);
    CHECK(parse_quantity("1.5 s", {kTimeUnits}) == 1'500'000'000);
    CHECK(parse_quantity("3ns", {kTimeUnits}) == 3);
    CHECK(parse_quantity("2.5GHz", {kSizeUnits, kFrequencyUnits}) == 2'500'000'000);
    CHECK(parse_quantity("2kB", {kSizeUnits, kFrequencyUnits}) == 2000);
    CHECK(parse_quantity("12", {kSizeUnits, kFrequencyUnits}) == 12);
    for (const char* no : {"20", "20KiB", "20 m", "0.5ns", "99999999999s"})
        CHECK_FALSE(parse_quantity(no, {kTimeUnits}).has_value());
    CHECK_FALSE(parse_quantity("4K", {kSizeUnits, kFrequencyUnits}).has_value());
}

TEST_CASE("a number is the whole text") {
    CHECK(parse_number<std::uint32_t>("4294967295") == UINT32_MAX);
    CHECK(parse_number<int>("-12") == -12);
    CHECK(parse_number<unsigned char>("ff", 16) == 255);
    CHECK(parse_number<double>("-2.5e3") == -2500.0);
    for (const char* no : {"", " 1", "1 ", "+1", "4294967296", "-1", "1x", "0x1"})
        CHECK_FALSE(parse_number<std::uint32_t>(no).has_value());
    std::string_view text = "12ab";
    int number = 0;
    CHECK(take_number(text, number));
    CHECK(number == 12);
    CHECK(text == "ab");
    CHECK_FALSE(take_number(text, number));
    CHECK(number == 12);
    CHECK(text == "ab");
}

TEST_CASE("numbers with a separator between them") {
    CHECK(parse_numbers<int>("16x8x1", 'x', 3) == std::vector{16, 8, 1});
    CHECK(parse_numbers<int>("16", 'x', 3) == std::vector{16});
    for (const char* no : {"", "x", "1x", "x1", "1xx2", "1x2x3x4", "1x2x3x", "1,2", "1 x2"})
        CHECK_FALSE(parse_numbers<int>(no, 'x', 3).has_value());
}

TEST_CASE("bytes as hex digits") {
    const unsigned char bytes[] = {0x00, 0x5a, 0xff, 0x0f};
    CHECK(hex_of(std::as_bytes(std::span(bytes))) == "005aff0f");
    CHECK(hex_of({}).empty());
}

TEST_CASE("parts of a text") {
    CHECK(trimmed(" \ta b\r\n") == "a b");
    CHECK(trimmed(" \t").empty());
    CHECK(trimmed("").empty());
    std::string_view text = "a, b,c";
    CHECK(cut(text, ", ") == "a");
    CHECK(text == "b,c");
    CHECK(cut(text, ", ") == "b,c");
    CHECK(text.empty());
    CHECK(split("a,,b,", ",") == std::vector<std::string_view>{"a", "", "b"});
    CHECK(split(",", ",") == std::vector<std::string_view>{""});
    CHECK(split("", ",").empty());
}

TEST_CASE("letters in upper and lower case are told apart by no locale") {
    CHECK(ascii::same_but_case("GiB", "gib"));
    CHECK_FALSE(ascii::same_but_case("GiB", "gi"));
    CHECK_FALSE(ascii::same_but_case("\xc4", "\xe4"));
    CHECK(ascii::has_but_case("NVIDIA H200", "h2"));
    CHECK(ascii::small("Az09_") == "az09_");
}

}  // namespace
