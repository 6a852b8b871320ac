// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "registry/choose/identity.hpp"

namespace test_identity {

using namespace wye;
using namespace wye::registry;

namespace {

using Devices = std::vector<std::shared_ptr<const DeviceInfo>>;

constexpr const char* kUuid1 = "5a1b0c2d3e4f5061728394a5b6c7d8e9";
constexpr const char* kUuid2 = "00112233445566778899aabbccddeeff";
const HostProcessor kHost{"Acme Quartz 7 @ 2.50GHz"};

// A device as a plugin could report it; empty and 0: not reported.
struct Sketch {
    std::string plugin, platform;
    std::string pci = {}, uuid = {};
    std::uint64_t vendor = 0;
    std::string name = "Acme GPU";
    bool on_host = false;
    std::uint64_t units = 0;
};

std::shared_ptr<DeviceInfo> sketch(const Sketch& from, std::uint32_t index = 0) {
    auto out = std::make_shared<DeviceInfo>();
    out->plugin = from.plugin;
    out->index = index;
    out->selector = from.plugin + ":" + std::to_string(index);
    out->id = "id of " + out->selector;
    out->name = from.name;
    out->usable = true;
    const auto text = [&](std::uint32_t key, const std::string& value) {
        if (!value.empty()) out->facts.set(key, {value, {}});
    };
    text(WYE_FACT_KEY_PLATFORM, from.platform);
    text(WYE_FACT_KEY_PCI_ADDRESS, from.pci);
    text(WYE_FACT_KEY_UUID, from.uuid);
    if (from.vendor != 0) out->facts.set(WYE_FACT_KEY_VENDOR_ID, {from.vendor, {}});
    if (from.units != 0) out->facts.set(WYE_FACT_KEY_COMPUTE_UNITS, {from.units, {}});
    out->facts.set(WYE_FACT_KEY_HOST_PROCESSOR, {from.on_host, {}});
    return out;
}

Devices sketches(const std::vector<Sketch>& from) {
    Devices out;
    std::vector<std::string> seen;
    for (const Sketch& one : from) {
        const auto index = std::count(seen.begin(), seen.end(), one.plugin);
        seen.push_back(one.plugin);
        out.push_back(sketch(one, static_cast<std::uint32_t>(index)));
    }
    return out;
}

// "a:0 b:0 | c:0": the selectors of each physical device.
std::string groups(const Devices& devices, const HostProcessor& host = kHost) {
    std::string out;
    for (const PhysicalDevice& one : identify(devices, host).physical) {
        if (!out.empty()) out += " |";
        for (const std::size_t at : one.members)
            out += (out.empty() ? "" : " ") + devices[at]->selector;
    }
    return out;
}

}  // namespace

TEST_CASE("one GPU that three plugins see is one device, for certain by two identifiers") {
    const Devices devices = sketches({
        {"cuda", "NVIDIA CUDA", "0000:65:00.0", kUuid1, 0x10de},
        {"vulkan", "NVIDIA", "0000:65:00.0", kUuid1, 0x10de},
        {"opencl", "NVIDIA CUDA", "0000:65:00.0", kUuid1, 0x10de},
    });
    CHECK(groups(devices) == "cuda:0 vulkan:0 opencl:0");
    const Identities all = identify(devices, kHost);
    CHECK(all.doubts.empty());
    CHECK(all.physical[0].identifier == std::string("uuid ") + kUuid1);
    CHECK(all.physical[0].id.size() == 16);
    const auto others = aliases(devices, all, 1, kHost);
    REQUIRE(others.size() == 2);
    CHECK(others[0].selector == "cuda:0");
    CHECK(others[1].selector == "opencl:0");
    CHECK(others[0].confidence == Confidence::certain);
    CHECK(others[0].evidence == std::string("pci_address 0000:65:00.0, uuid ") + kUuid1);
}

TEST_CASE("the id of a physical device is the same whichever plugins are open") {
    const std::vector<Sketch> gpu = {
        {"cuda", "NVIDIA CUDA", "0000:65:00.0", kUuid1, 0x10de},
        {"vulkan", "NVIDIA", "0000:65:00.0", kUuid1, 0x10de},
        {"cpu", "Wye", "", "", 0, kHost.model, true},
        {"soft", "soft", "", kUuid2, 0, "softpipe", true},
    };
    const Identities all = identify(sketches(gpu), kHost);
    REQUIRE(all.physical.size() == 2);
    for (std::size_t i = 0; i < gpu.size(); ++i) {
        const Identities alone = identify(sketches({gpu[i]}), kHost);
        CHECK(alone.physical[0].id == all.physical[all.of[i]].id);
    }
}

TEST_CASE("two equal GPUs are told apart by their addresses") {
    CHECK(groups(sketches({
              {"cuda", "NVIDIA CUDA", "0000:65:00.0", kUuid1, 0x10de},
              {"cuda", "NVIDIA CUDA", "0000:b3:00.0", kUuid2, 0x10de},
              {"vulkan", "NVIDIA", "0000:b3:00.0", kUuid2, 0x10de},
              {"vulkan", "NVIDIA", "0000:65:00.0", kUuid1, 0x10de},
          })) == "cuda:0 vulkan:1 | cuda:1 vulkan:0");
    // Another order, no UUIDs, and addresses that are written differently.
    CHECK(groups(sketches({
              {"cuda", "NVIDIA CUDA", "0000:65:00.0", ""},
              {"cuda", "NVIDIA CUDA", "0000:B3:00.0", ""},
              {"vulkan", "NVIDIA", "00000000:b3:00.0", ""},
              {"vulkan", "NVIDIA", "0000:65:00.0", ""},
          })) == "cuda:0 vulkan:1 | cuda:1 vulkan:0");
}

TEST_CASE("one identifier is enough, and its confidence says so") {
    const Devices by_address = sketches({
        {"cuda", "a", "0000:65:00.0", kUuid1, 0x10de},
        {"opencl", "b", "0000:65:00.0", "", 0x10de},
    });
    CHECK(groups(by_address) == "cuda:0 opencl:0");
    Identities all = identify(by_address, kHost);
    CHECK(aliases(by_address, all, 0, kHost)[0].confidence == Confidence::strong);
    const Devices by_uuid = sketches({
        {"cuda", "a", "0000:65:00.0", kUuid1, 0x10de},
        {"opencl", "b", "", "5A1B0C2D-3E4F-5061-7283-94A5B6C7D8E9", 0x10de},
    });
    CHECK(groups(by_uuid) == "cuda:0 opencl:0");
    all = identify(by_uuid, kHost);
    CHECK(aliases(by_uuid, all, 1, kHost)[0].evidence == std::string("uuid ") + kUuid1);
    // Devices without any identifier may be different, even with equal names.
    CHECK(groups(sketches({{"cuda", "a"}, {"opencl", "b"}})) == "cuda:0 | opencl:0");
}

TEST_CASE("devices are joined through a third, with the weaker confidence") {
    const Devices devices = sketches({
        {"cuda", "a", "", kUuid1},
        {"vulkan", "b", "0000:65:00.0", kUuid1},
        {"opencl", "c", "0000:65:00.0", ""},
    });
    CHECK(groups(devices) == "cuda:0 vulkan:0 opencl:0");
    const auto others = aliases(devices, identify(devices, kHost), 0, kHost);
    REQUIRE(others.size() == 2);
    CHECK(others[1].selector == "opencl:0");
    CHECK(others[1].evidence.starts_with("through `vulkan:0`: "));
    CHECK(others[1].confidence == Confidence::strong);
}

TEST_CASE("contradictory evidence keeps devices apart, and is told") {
    // The same UUID at two addresses.
    Devices devices = sketches({
        {"cuda", "a", "0000:65:00.0", kUuid1},
        {"vulkan", "b", "0000:b3:00.0", kUuid1},
    });
    CHECK(groups(devices) == "cuda:0 | vulkan:0");
    Identities all = identify(devices, kHost);
    REQUIRE(all.doubts.size() == 1);
    CHECK(all.doubts[0].why.find("0000:65:00.0 is not 0000:b3:00.0") != std::string::npos);
    CHECK(all.physical[0].id != all.physical[1].id);
    // The same UUID, and another maker of the hardware.
    devices = sketches({{"cuda", "a", "", kUuid1, 0x10de}, {"vulkan", "b", "", kUuid1, 0x1002}});
    CHECK(groups(devices) == "cuda:0 | vulkan:0");
    // A GPU's UUID on a software device.
    devices = sketches(
        {{"cuda", "a", "0000:65:00.0", kUuid1}, {"soft", "b", "", kUuid1, 0, "softpipe", true}});
    CHECK(groups(devices) == "cuda:0 | soft:0");
    CHECK(identify(devices, kHost).doubts.size() == 1);
    // Drivers that give one card different UUIDs.
    devices = sketches({{"a", "a", "0000:65:00.0", kUuid1}, {"b", "b", "0000:65:00.0", kUuid2}});
    CHECK(groups(devices) == "a:0 b:0");
    all = identify(devices, kHost);
    CHECK(all.physical[0].identifier == "pci_address 0000:65:00.0");
    CHECK(aliases(devices, all, 0, kHost)[0].evidence ==
          "pci_address 0000:65:00.0; different uuid");
    CHECK(aliases(devices, all, 0, kHost)[0].confidence == Confidence::strong);
}

TEST_CASE("an identifier that a plugin gives to several devices identifies none") {
    CHECK(groups(sketches({
              {"liar", "x", "", kUuid1},
              {"liar", "x", "", kUuid1},
              {"cuda", "a", "0000:65:00.0", kUuid1},
          })) == "liar:0 | liar:1 | cuda:0");
    // Parts of one card share the card's address, and are told apart by their UUIDs.
    CHECK(groups(sketches({
              {"cuda", "a", "0000:65:00.0", kUuid1},
              {"cuda", "a", "0000:65:00.0", kUuid2},
              {"vulkan", "b", "", kUuid2},
          })) == "cuda:0 | cuda:1 vulkan:0");
    // Two drivers of one API may both list one card.
    CHECK(groups(sketches({
              {"vulkan", "first", "0000:65:00.0", kUuid1},
              {"vulkan", "second", "0000:65:00.0", kUuid1},
          })) == "vulkan:0 vulkan:1");
}

TEST_CASE("a lie joins at most the device that it names") {
    // The plugin claims the UUID of cuda:0, without an address.
    const Devices devices = sketches({
        {"cuda", "a", "0000:65:00.0", kUuid1},
        {"cuda", "a", "0000:b3:00.0", kUuid2},
        {"liar", "x", "", kUuid1},
        {"vulkan", "b", "0000:65:00.0", kUuid1},
    });
    CHECK(groups(devices) == "cuda:0 liar:0 vulkan:0 | cuda:1");
    // The lie is a strong match. The true match stays certain.
    const auto others = aliases(devices, identify(devices, kHost), 0, kHost);
    CHECK(others[0].confidence == Confidence::strong);
    CHECK(others[1].confidence == Confidence::certain);
}

TEST_CASE("identifiers that mean nothing are ignored") {
    for (const char* uuid : {"00000000000000000000000000000000", "ffffffffffffffffffffffffffffffff",
                             "123", "not a uuid at all, but long text"})
        CHECK(groups(sketches({{"a", "a", "", uuid}, {"b", "b", "", uuid}})) == "a:0 | b:0");
    for (const char* pci : {"0000:00:00.0", "65:00.0", "0000:65:00", "0000:65:00.x", ":65:00.0",
                            "000000000:65:00.0", "../../../etc"})
        CHECK(groups(sketches({{"a", "a", pci}, {"b", "b", pci}})) == "a:0 | b:0");
}

TEST_CASE("devices on this machine's processors are one, with the reason") {
    const Devices devices = sketches({
        {"cpu", "Wye", "", "", 0, "Acme Quartz 7 @ 2.50GHz", true, 8},
        {"opencl", "Pool", "", "", 0, "pool-v3-Acme(R) Quartz(TM) 7 @ 2.50GHz", true, 8},
        {"vulkan", "soft", "", kUuid2, 0x10005, "softpipe (LLVM 15, 256 bits)", true},
    });
    CHECK(groups(devices) == "cpu:0 opencl:0 vulkan:0");
    const Identities all = identify(devices, kHost);
    CHECK(all.physical[0].identifier == "processor " + kHost.model);
    const auto others = aliases(devices, all, 0, kHost);
    REQUIRE(others.size() == 2);
    CHECK(others[0].confidence == Confidence::likely);
    CHECK(others[0].evidence ==
          "the same processor model `Acme Quartz 7 @ 2.50GHz`, 8 compute units each");
    CHECK(others[1].confidence == Confidence::presumed);
    CHECK(others[1].evidence.find("the name of `vulkan:0` has no processor model") !=
          std::string::npos);
    // One driver may list the processors twice.
    CHECK(groups(sketches({{"opencl", "Pool", "", "", 0, "basic", true},
                           {"opencl", "Pool", "", "", 0, "pool", true}})) == "opencl:0 opencl:1");
}

TEST_CASE("a processor of another model, or behind a bus, is another device") {
    CHECK(groups(sketches({
              {"cpu", "Wye", "", "", 0, "Acme Quartz 7 @ 2.50GHz", true},
              {"far", "Net", "", "", 0, "Acme Quartz 9 @ 3.10GHz", true},
              {"card", "Card", "0000:17:00.0", "", 0, "Acme Quartz 7 @ 2.50GHz", true},
          })) == "cpu:0 | far:0 | card:0");
    // An equal GPU name does not make a processor.
    CHECK(groups(sketches({
              {"cpu", "Wye", "", "", 0, "Acme Quartz 7 @ 2.50GHz", true},
              {"gpu", "G", "", "", 0, "Acme Quartz 7 @ 2.50GHz", false},
          })) == "cpu:0 | gpu:0");
    // Different numbers of compute units: the same processors, but with less confidence.
    const Devices some = sketches({
        {"cpu", "Wye", "", "", 0, "Acme Quartz 7 @ 2.50GHz", true, 4},
        {"opencl", "Pool", "", "", 0, "Acme Quartz 7 @ 2.50GHz", true, 8},
    });
    const auto others = aliases(some, identify(some, kHost), 0, kHost);
    CHECK(others[0].confidence == Confidence::presumed);
    CHECK(others[0].evidence.find("but 4 and 8 compute units") != std::string::npos);
}

TEST_CASE("a device answers to its UUID and its address in the usual forms") {
    const auto device = sketch({"cuda", "a", "0000:65:00.0", kUuid1});
    for (const char* id :
         {kUuid1, "GPU-5a1b0c2d-3e4f-5061-7283-94a5b6c7d8e9",
          "5A1B0C2D-3E4F-5061-7283-94A5B6C7D8E9", "0000:65:00.0", "00000000:65:00.0"})
        CHECK(answers_to(*device, id));
    for (const char* id : {"", "5a1b", "0000:b3:00.0", kUuid2, "GPU-"})
        CHECK_FALSE(answers_to(*device, id));
    CHECK_FALSE(answers_to(*sketch({"x", "y"}), ""));
}

TEST_CASE("a thousand devices with one UUID are told apart in good time") {
    Devices devices;
    for (std::uint32_t i = 0; i < 1000; ++i)
        devices.push_back(sketch({"liar", "platform " + std::to_string(i % 500), "", kUuid1}, i));
    const Identities all = identify(devices, kHost);
    CHECK(all.of.size() == 1000);
    CHECK(all.physical.size() == 1000);  // each platform has two of these devices
}

}  // namespace test_identity
