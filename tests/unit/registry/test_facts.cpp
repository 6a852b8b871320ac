// SPDX-License-Identifier: Apache-2.0
// Facts of the right type, with values that no device has.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "registry/open/facts.hpp"
#include "wye/sdk/facts.hpp"
#include "wye/sdk/plugin.hpp"

namespace test_facts {

using namespace wye;
using namespace wye::registry;

namespace {

// Whether the registry takes `fact` as a value of `key`; a refusal has a reason with its name.
bool takes(std::uint32_t key, const wye_fact& fact) {
    std::vector<std::string> faults;
    const Facts facts = read_facts(
        [&](std::uint32_t asked, wye_fact* out) -> wye_status {
            if (asked != key) return WYE_UNSUPPORTED;
            *out = fact;
            return WYE_OK;
        },
        Memory::unknown, faults);
    CHECK(faults.empty() == (facts.find(key) != nullptr));
    for (const std::string& fault : faults)
        CHECK(fault.find("a value that no device has") != std::string::npos);
    return faults.empty();
}

wye_fact text_fact(const char* text) {
    wye_fact out = wye::sdk::facts::empty();
    out.type = WYE_FACT_TEXT;
    out.text = sdk::to_abi(text);
    return out;
}

wye_fact number_fact(std::uint64_t number) {
    wye_fact out = wye::sdk::facts::empty();
    out.type = WYE_FACT_U64;
    out.u = number;
    return out;
}

wye_fact triple_fact(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    wye_fact out = wye::sdk::facts::empty();
    out.type = WYE_FACT_U32X3;
    out.xyz[0] = x;
    out.xyz[1] = y;
    out.xyz[2] = z;
    return out;
}

wye_fact list_fact(const std::vector<std::uint64_t>& list) {
    wye_fact out = wye::sdk::facts::empty();
    out.type = WYE_FACT_U64_LIST;
    out.list = list.data();
    out.list_size = list.size();
    return out;
}

}  // namespace

TEST_CASE("nonsense is not taken for a fact") {
    CHECK(takes(WYE_FACT_KEY_DEVICE_KIND, text_fact("gpu")));
    CHECK_FALSE(takes(WYE_FACT_KEY_DEVICE_KIND, text_fact("toaster")));
    CHECK(takes(WYE_FACT_KEY_PCI_ADDRESS, text_fact("0000:3b:00.0")));
    CHECK_FALSE(takes(WYE_FACT_KEY_PCI_ADDRESS, text_fact("3b:00.0")));
    CHECK_FALSE(takes(WYE_FACT_KEY_PCI_ADDRESS, text_fact("0000-3b:00.0")));
    CHECK(takes(WYE_FACT_KEY_UUID, text_fact("00112233445566778899aabbccddeeff")));
    CHECK_FALSE(takes(WYE_FACT_KEY_UUID, text_fact("GPU-0011")));
    CHECK_FALSE(takes(WYE_FACT_KEY_LUID, text_fact("00112233445566778899aabbccddeeff")));
    CHECK(takes(WYE_FACT_KEY_COMPUTE_UNITS, number_fact(132)));
    CHECK_FALSE(takes(WYE_FACT_KEY_COMPUTE_UNITS, number_fact(0)));
    CHECK_FALSE(takes(WYE_FACT_KEY_COMPUTE_UNITS, number_fact(UINT64_MAX)));
    CHECK(takes(WYE_FACT_KEY_MEMORY_BYTES, number_fact(std::uint64_t{141} << 30U)));
    CHECK_FALSE(takes(WYE_FACT_KEY_MEMORY_BYTES, number_fact(UINT64_MAX)));
    CHECK(takes(WYE_FACT_KEY_BUFFER_ALIGNMENT, number_fact(256)));
    CHECK_FALSE(takes(WYE_FACT_KEY_BUFFER_ALIGNMENT, number_fact(0)));
    CHECK_FALSE(takes(WYE_FACT_KEY_BUFFER_ALIGNMENT, number_fact(48)));
    CHECK(takes(WYE_FACT_KEY_MAX_WORKGROUP_SIZE, triple_fact(1024, 1024, 64)));
    CHECK_FALSE(takes(WYE_FACT_KEY_MAX_WORKGROUP_SIZE, triple_fact(1024, 0, 64)));
    CHECK(takes(WYE_FACT_KEY_SUBGROUP_SIZES, list_fact({16, 32})));
    CHECK_FALSE(takes(WYE_FACT_KEY_SUBGROUP_SIZES, list_fact({32, 16})));
    CHECK_FALSE(takes(WYE_FACT_KEY_SUBGROUP_SIZES, list_fact({0, 16})));
}

}  // namespace test_facts
