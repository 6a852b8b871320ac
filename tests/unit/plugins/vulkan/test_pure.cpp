// SPDX-License-Identifier: Apache-2.0
//
// The parts of the Vulkan plugin that need no driver: where barriers go, which bytes of a ring are
// free, which memory a buffer lives in, what a module and a saved program must look like.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "vulkan/commands/barriers.hpp"
#include "vulkan/resources/layouts.hpp"
#include "vulkan/resources/memory.hpp"
#include "vulkan/resources/module.hpp"
#include "vulkan/resources/saved.hpp"
#include "wye/sdk/ring.hpp"

using namespace wye::vulkan;

namespace {

Access reads(std::uint64_t buffer, std::uint64_t offset = 0, std::uint64_t size = 64) {
    return {buffer, offset, size, false};
}
Access writes(std::uint64_t buffer, std::uint64_t offset = 0, std::uint64_t size = 64) {
    return {buffer, offset, size, true};
}

// An operation of a list. plan() returns the barrier before each operation.
struct Planned {
    Stage stage;
    std::vector<Access> accesses;
};
std::vector<std::optional<Barrier>> plan(const std::vector<Planned>& operations) {
    BarrierPlanner planner;
    std::vector<std::optional<Barrier>> out;
    for (const Planned& op : operations) out.push_back(planner.before(op.stage, op.accesses));
    return out;
}

constexpr Barrier kAfterCompute{true, false};
constexpr Barrier kAfterTransfer{false, true};
constexpr Barrier kAfterBoth{true, true};
constexpr auto kCompute = Stage::Compute;
constexpr auto kTransfer = Stage::Transfer;

}  // namespace

TEST_CASE("programs share layouts, as far as the device's limits go") {
    VkPhysicalDeviceLimits limits{};
    limits.maxPerStageDescriptorStorageBuffers = 20;
    limits.maxDescriptorSetStorageBuffers = 96;
    limits.maxPushConstantsSize = 256;
    CHECK(served_by({0, 0}, limits) == LayoutShape{8, 128});
    CHECK(served_by({8, 128}, limits) == LayoutShape{8, 128});
    CHECK(served_by({9, 132}, limits) == LayoutShape{16, 256});
    CHECK(served_by({17, 4}, limits) == LayoutShape{20, 128});
    // A layout beyond a limit is left to the driver, which refuses it.
    CHECK(served_by({21, 4}, limits) == LayoutShape{21, 128});
    limits.maxPerStageDescriptorStorageBuffers = 4;
    CHECK(served_by({1, 4}, limits) == LayoutShape{4, 128});
}

TEST_CASE("barriers stand between accesses of which one writes") {
    CHECK(plan({{kCompute, {writes(1)}}, {kCompute, {reads(1)}}})[1] == kAfterCompute);
    CHECK(plan({{kCompute, {reads(1)}}, {kCompute, {writes(1)}}})[1] == kAfterCompute);
    CHECK(plan({{kCompute, {writes(1)}}, {kCompute, {writes(1)}}})[1] == kAfterCompute);
    CHECK(plan({{kTransfer, {writes(1)}}, {kCompute, {reads(1)}}})[1] == kAfterTransfer);
    CHECK(plan({{kCompute, {writes(1)}}, {kTransfer, {reads(1)}}})[1] == kAfterCompute);
    CHECK_FALSE(plan({{kCompute, {reads(1)}}, {kCompute, {reads(1)}}})[1]);
    CHECK_FALSE(plan({{kCompute, {reads(1)}}, {kTransfer, {reads(1)}}})[1]);
}

TEST_CASE("other buffers, other ranges and empty ranges need no barrier") {
    CHECK_FALSE(plan({{kCompute, {writes(1)}}, {kCompute, {writes(2)}}})[1]);
    CHECK_FALSE(plan({{kTransfer, {writes(1, 0, 64)}}, {kTransfer, {writes(1, 64, 64)}}})[1]);
    CHECK_FALSE(plan({{kTransfer, {writes(1, 64, 64)}}, {kTransfer, {writes(1, 0, 64)}}})[1]);
    CHECK(plan({{kTransfer, {writes(1, 0, 65)}}, {kTransfer, {writes(1, 64, 64)}}})[1]);
    CHECK_FALSE(plan({{kTransfer, {writes(1, 8, 0)}}, {kTransfer, {writes(1, 0, 64)}}})[1]);
    CHECK_FALSE(plan({{kTransfer, {writes(1, 0, 64)}}, {kTransfer, {reads(1, 8, 0)}}})[1]);
}

TEST_CASE("a buffer that is not known yet may be any other") {
    CHECK(plan({{kCompute, {writes(kAnyBuffer)}}, {kTransfer, {reads(1)}}})[1] == kAfterCompute);
    CHECK(plan({{kTransfer, {writes(1)}}, {kCompute, {reads(kAnyBuffer)}}})[1] == kAfterTransfer);
    CHECK(plan({{kCompute, {writes(kAnyBuffer)}}, {kCompute, {writes(kAnyBuffer)}}})[1] ==
          kAfterCompute);
    CHECK_FALSE(plan({{kCompute, {reads(kAnyBuffer)}}, {kCompute, {reads(1)}}})[1]);
    CHECK_FALSE(plan({{kCompute, {writes(kAnyBuffer)}}, {kTransfer, {reads(1, 8, 0)}}})[1]);
}

TEST_CASE("a barrier covers everything before it, whatever it was for") {
    // The third operation conflicts with the first, but the barrier before the second covers that.
    const auto barriers = plan({{kCompute, {writes(1), writes(2)}},
                                {kTransfer, {reads(1), writes(3)}},
                                {kCompute, {reads(2)}},
                                {kCompute, {reads(3)}}});
    CHECK_FALSE(barriers[0]);
    CHECK(barriers[1] == kAfterCompute);
    CHECK_FALSE(barriers[2]);
    CHECK(barriers[3] == kAfterBoth);  // not covered yet: a transfer and a dispatch
}

TEST_CASE(
    "a chain of dependent dispatches has a barrier at each link, independent ones have none") {
    std::vector<Planned> chain;
    std::vector<Planned> apart;
    for (std::uint64_t i = 0; i < 64; ++i) {
        chain.push_back({kCompute, {reads(i), writes(i + 1)}});
        apart.push_back({kCompute, {reads(1000), writes(i)}});
    }
    const auto links = plan(chain);
    for (std::size_t i = 0; i < links.size(); ++i) CHECK(links[i].has_value() == (i != 0));
    for (const auto& barrier : plan(apart)) CHECK_FALSE(barrier);
}

TEST_CASE("a new submit forgets the accesses of the last, and long lists are cut by a barrier") {
    BarrierPlanner planner;
    const Access access = writes(1);
    CHECK_FALSE(planner.before(kCompute, {&access, 1}));
    planner.restart();
    CHECK_FALSE(planner.before(kCompute, {&access, 1}));

    planner.restart();
    int barriers = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const Access other = writes(i);
        barriers += planner.before(kCompute, {&other, 1}).has_value() ? 1 : 0;
    }
    CHECK(barriers >= 1);
    CHECK(barriers < 10);
}

// The test compares the ring with a simple list of the ranges in use.
TEST_CASE("a ring gives out free bytes only, in one piece, aligned, and all of them again") {
    constexpr std::uint64_t kSize = 256;
    wye::sdk::Ring ring(kSize);
    struct Used {
        std::uint64_t offset, size, value;
    };
    std::deque<Used> used;
    std::uint64_t seed = 1;
    const auto random = [&](std::uint64_t below) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        return (seed >> 33U) % below;
    };
    std::uint64_t value = 0;
    std::uint64_t given = 0;
    for (int round = 0; round < 20000; ++round) {
        const std::uint64_t size = 1 + random(100);
        const std::uint64_t alignment = std::uint64_t{1} << random(6);
        const auto offset = ring.take(size, alignment);
        if (offset) {
            ++given;
            CHECK(*offset % alignment == 0);
            REQUIRE(*offset + size <= kSize);
            for (const Used& other : used)
                REQUIRE((*offset + size <= other.offset || other.offset + other.size <= *offset));
            used.push_back({*offset, size, value + 1});
            if (random(8) == 0) {
                ring.drop();
                std::erase_if(used, [&](const Used& u) { return u.value == value + 1; });
            } else if (random(2) == 0) {
                ring.mark(++value);
            }
        } else {
            REQUIRE_FALSE(used.empty());
            if (!ring.oldest()) ring.mark(++value);
            const std::uint64_t reached = std::min(*ring.oldest() + random(2), value);
            ring.release(reached);
            while (!used.empty() && used.front().value <= reached) used.pop_front();
        }
    }
    CHECK(given > 10000);
    ring.mark(value + 1);
    ring.release(value + 1);
    CHECK_FALSE(ring.oldest());
    CHECK(ring.take(kSize, 64) == 0);
    CHECK_FALSE(ring.take(1, 1));
}

namespace {

VkPhysicalDeviceMemoryProperties memory_of(
    std::initializer_list<std::pair<VkMemoryPropertyFlags, std::uint32_t>> types,
    std::initializer_list<VkMemoryHeapFlags> heaps) {
    VkPhysicalDeviceMemoryProperties out{};
    for (const auto& [flags, heap] : types) out.memoryTypes[out.memoryTypeCount++] = {flags, heap};
    for (const VkMemoryHeapFlags flags : heaps)
        out.memoryHeaps[out.memoryHeapCount++] = {std::uint64_t{1} << 30U, flags};
    return out;
}

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kMapped =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kCached = kMapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

}  // namespace

TEST_CASE("a device of its own memory keeps buffers there, and transfers in cached host memory") {
    // The types of memory that an NVIDIA H200 lists: no property, local, mapped, mapped and cached,
    // local and mapped.
    const auto memory =
        memory_of({{0, 1}, {kLocal, 0}, {kMapped, 1}, {kCached, 1}, {kLocal | kMapped, 2}},
                  {VK_MEMORY_HEAP_DEVICE_LOCAL_BIT, 0, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT});
    CHECK(choose_memory_type(memory, 0b11111, Placement::Device) == 1);
    CHECK(choose_memory_type(memory, 0b11111, Placement::Host) == 3);
    CHECK(choose_memory_type(memory, 0b11111, Placement::Upload) == 2);
    CHECK(choose_memory_type(memory, 0b10101, Placement::Device) == 4);
    CHECK(choose_memory_type(memory, 0b00110, Placement::Host) == 2);
    CHECK_FALSE(choose_memory_type(memory, 0b00010, Placement::Host));
    CHECK_FALSE(choose_memory_type(memory, 0, Placement::Device));
}

TEST_CASE("where the host shares all memory, buffers are mapped") {
    const auto memory = memory_of({{kLocal, 0}, {kLocal | kMapped, 0}, {kLocal | kCached, 0}},
                                  {VK_MEMORY_HEAP_DEVICE_LOCAL_BIT});
    CHECK(choose_memory_type(memory, 0b111, Placement::Device) == 2);
    CHECK(choose_memory_type(memory, 0b111, Placement::Host) == 2);
    const auto protect = memory_of({{kLocal | VK_MEMORY_PROPERTY_PROTECTED_BIT, 0}, {kLocal, 0}},
                                   {VK_MEMORY_HEAP_DEVICE_LOCAL_BIT});
    CHECK(choose_memory_type(protect, 0b11, Placement::Device) == 1);
}

namespace {

// Header, then: OpEntryPoint GLCompute %4 "main"; OpExecutionMode %4 LocalSize 64 1 1;
// %4 = OpFunction; OpFunctionEnd.
const std::vector<std::uint32_t> kModule = {
    0x07230203, 0x00010300, 0,  10, 0, (5U << 16U) | 15U, 5, 4, 0x6e69616d, 0, (6U << 16U) | 16U,
    4,          17,         64, 1,  1, (5U << 16U) | 54U, 2, 4, 0,          3, (1U << 16U) | 56U};

std::string refusal(const std::vector<std::uint32_t>& code, std::string_view entry = "main",
                    std::array<std::uint32_t, 3> workgroup = {64, 1, 1}) {
    const auto result = check_module(code, entry, workgroup);
    if (result.ok()) return "";
    CHECK(result.error().code == wye::Code::COMPILE_FAILED);
    CHECK(result.error().fix.rfind("Fix: ", 0) == 0);
    return result.error().message;
}

}  // namespace

TEST_CASE("a module is looked at before a driver sees it") {
    CHECK(refusal(kModule).empty());
    CHECK(refusal({}).find("magic") != std::string::npos);
    auto broken = kModule;
    broken[0] = 0x03022307;
    CHECK(refusal(broken).find("magic") != std::string::npos);
    broken = kModule;
    broken.resize(15);
    CHECK(refusal(broken).find("cut off at word 10") != std::string::npos);
    broken.resize(10);
    CHECK(refusal(broken).find("ends before") != std::string::npos);
    broken = kModule;
    broken.pop_back();
    CHECK(refusal(broken).find("ends before") != std::string::npos);
    broken = kModule;
    broken[10] = 16;  // an instruction of no words
    CHECK(refusal(broken).find("cut off at word 10") != std::string::npos);
    CHECK(refusal(kModule, "main", {8, 4, 2}).empty());  // as many invocations, laid out along x
    CHECK(refusal(kModule, "other").find("`other`; it has `main`") != std::string::npos);
    CHECK(refusal(kModule, "main", {32, 1, 1}).find("64x1x1, and the artifact says 32x1x1") !=
          std::string::npos);
}

TEST_CASE("a saved program comes back as it was, and only for the driver that made it") {
    VkPhysicalDeviceProperties device{};
    device.vendorID = 7;
    device.deviceID = 9;
    device.pipelineCacheUUID[3] = 5;
    VkPipelineCacheHeaderVersionOne header{};
    header.headerSize = sizeof header;
    header.headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE;
    header.vendorID = 7;
    header.deviceID = 9;
    header.pipelineCacheUUID[3] = 5;
    std::vector<std::byte> cache(sizeof header + 100, std::byte{42});
    std::memcpy(cache.data(), &header, sizeof header);

    const auto saved = pack_saved(cache);
    const auto back = unpack_saved({saved.data(), saved.size()}, device, "p");
    REQUIRE(back.ok());
    CHECK(std::equal(back->begin(), back->end(), cache.begin(), cache.end()));

    const auto refused = [&](const std::vector<std::byte>& bytes) {
        const auto result = unpack_saved({bytes.data(), bytes.size()}, device, "p");
        return !result.ok() && result.error().code == wye::Code::UNSUPPORTED;
    };
    for (std::size_t cut = 0; cut < saved.size(); ++cut)
        CHECK(refused({saved.begin(), saved.begin() + static_cast<std::ptrdiff_t>(cut)}));
    for (std::size_t at = 0; at < saved.size(); ++at) {
        auto damaged = saved;
        damaged[at] ^= std::byte{1};
        CHECK(refused(damaged));
    }
    device.pipelineCacheUUID[3] = 6;
    CHECK(refused(saved));
}
