// SPDX-License-Identifier: Apache-2.0
//
// Input of an application that the host cannot check: damaged code, unknown entry names, huge
// sizes. The plugin must refuse what it cannot use, and must work afterwards.
#include <algorithm>
#include <string>
#include <vector>

#include "conformance/abi/rig.hpp"

using harness::binding;
using harness::bytes_of;
using harness::counting;
using harness::fill;
using harness::Rig;

namespace {

// Checks that program_create gives a program, or an error with a sentence. The program is not run.
void check_built_or_refused(Rig& rig, const wye_artifact& artifact) {
    const wye_device_table& table = *rig.device.table;
    harness::Sink sink;
    wye_program_object* program = nullptr;
    const wye_status status =
        table.program_create(rig.device.object, &artifact, &program, sink.out());
    CHECK((program != nullptr) == (status == WYE_OK));
    if (status != WYE_OK) harness::check_helpful(sink.failure(), status);
    if (program != nullptr) table.program_destroy(rig.device.object, program);
}

// Whether the kit may damage code of the artifact's format. The reader of such code must expect any
// bytes: the plugin itself, or a compiler of source text. SPIR-V is left out: drivers do not check
// it, and may do anything with invalid code.
bool may_be_damaged(const wye_artifact& artifact) {
    return harness::text_of(artifact.format) != WYE_FORMAT_SPIRV;
}

}  // namespace

TEST_SUITE_BEGIN("hostile");

TEST_CASE("a missing entry is refused, or the format needs none (P-8, P-11)") {
    Rig rig;
    const std::string longest(4096, 'x');
    for (const std::string_view entry :
         {std::string_view(""), std::string_view("nothing_of_this_name"),
          std::string_view("add add"), std::string_view("add\0", 4), std::string_view(longest)}) {
        CAPTURE(entry.size());
        wye_artifact artifact = rig.sample();
        artifact.entry = {entry.data(), entry.size()};
        check_built_or_refused(rig, artifact);
    }
    rig.check_works();
}

TEST_CASE("code that is cut off is built or refused (P-8, P-11)") {
    Rig rig;
    const wye_artifact whole = rig.sample();
    if (!may_be_damaged(whole))
        return harness::not_applicable("a driver may do anything with damaged code of this format");
    constexpr std::uint64_t kCuts = 24;
    for (std::uint64_t cut = 0; cut < kCuts; ++cut) {
        CAPTURE(cut);
        // A copy of exactly this size, so that a memory checker reports a read behind its end.
        const auto* code = static_cast<const char*>(whole.code.data);
        const std::string part(code, whole.code.size * cut / kCuts);
        wye_artifact artifact = whole;
        artifact.code = {part.data(), part.size()};
        check_built_or_refused(rig, artifact);
    }
    rig.check_works();
}

TEST_CASE("code with a changed byte is built or refused (P-8, P-11)") {
    Rig rig;
    const wye_artifact whole = rig.sample();
    if (!may_be_damaged(whole))
        return harness::not_applicable("a driver may do anything with damaged code of this format");
    const std::string good(static_cast<const char*>(whole.code.data), whole.code.size);
    constexpr std::size_t kPlaces = 48;
    for (std::size_t n = 0; n < kPlaces; ++n) {
        std::string changed = good;
        const std::size_t at = good.size() * n / kPlaces;
        changed[at] = static_cast<char>(changed[at] ^ (n % 2 == 0 ? 0xff : 0x01));
        CAPTURE(at);
        wye_artifact artifact = whole;
        artifact.code = {changed.data(), changed.size()};
        check_built_or_refused(rig, artifact);
    }
    rig.check_works();
}

TEST_CASE("buffers and operations of no bytes are taken (P-24)") {
    Rig rig;
    harness::Device& device = rig.device;
    for (const std::uint32_t usage : harness::kUsages) {
        CAPTURE(usage);
        wye_buffer_object* none = device.buffer(0, usage);
        REQUIRE_MESSAGE(none != nullptr, device.failure.message);
        const wye_operation work[] = {harness::upload(none, 0, {}), fill(none, 0, 0, 1, 4),
                                      harness::copy(none, none, 0, 0, 0),
                                      harness::download(none, 0, {})};
        REQUIRE(device.submit(work) == WYE_OK);
        CHECK(device.wait() == WYE_OK);
    }
    rig.check_works();
}

TEST_CASE("far too much memory of any usage is refused, and the device works afterwards (P-11)") {
    Rig rig;
    harness::Device& device = rig.device;
    for (const std::uint32_t usage : harness::usages_of(device))
        for (const std::uint64_t size : {std::uint64_t{1} << 50U, UINT64_MAX - 4096, UINT64_MAX}) {
            CAPTURE(usage);
            CAPTURE(size);
            REQUIRE(device.buffer(size, usage) == nullptr);
            const wye_status code = device.failure.code;
            CHECK((code == WYE_DEVICE_MEMORY || code == WYE_OUT_OF_MEMORY ||
                   code == WYE_LIMIT_EXCEEDED));
            harness::check_helpful(device.failure, code);
        }
    rig.check_works();
}

// Not for a device that shares the memory of the machine: nothing of that memory would be left.
TEST_CASE("memory that is used up is refused, and is there again once it was freed (P-11)") {
    Rig rig;
    harness::Device& device = rig.device;
    wye_status known = WYE_OK;
    const wye_fact unified = rig.plugin.fact(WYE_FACT_KEY_UNIFIED_MEMORY, &known);
    if (known != WYE_OK || unified.u != 0)
        return harness::not_applicable("the device does not say that its memory is its own");
    const std::uint64_t total = rig.plugin.fact(WYE_FACT_KEY_MEMORY_BYTES).u;
    if (total == 0) return harness::not_applicable("the size of the device's memory is unknown");
    constexpr std::uint64_t kParts = 16;
    const std::uint64_t most = rig.plugin.fact(WYE_FACT_KEY_MAX_BUFFER_BYTES).u;
    const std::uint64_t size = std::min(most == 0 ? total : most, total / kParts + 1) / 4 * 4;
    std::vector<wye_buffer_object*> held;
    bool refused = false;
    while (!refused && held.size() < 4 * kParts) {
        wye_buffer_object* const buffer = device.buffer(size);
        refused = buffer == nullptr;
        if (!refused) held.push_back(buffer);
    }
    if (refused) {
        const wye_status code = device.failure.code;
        CHECK((code == WYE_DEVICE_MEMORY || code == WYE_OUT_OF_MEMORY));
        harness::check_helpful(device.failure, code);
    } else {
        harness::note("the driver gives more memory than the device has");
    }
    REQUIRE_FALSE_MESSAGE(held.empty(), device.failure.message);
    for (wye_buffer_object* const buffer : held) device.destroy(buffer);
    for (std::size_t i = 0; i < held.size(); ++i) {
        wye_buffer_object* const buffer = device.buffer(size);
        REQUIRE_MESSAGE(buffer != nullptr, device.failure.message);
        CHECK(device.run(fill(buffer, 0, 4, 1, 4)) == WYE_OK);
        device.destroy(buffer);
    }
}

TEST_CASE("a call without an error sink fails with the same status (P-11, P-12)") {
    Rig rig;
    const wye_device_table& table = *rig.device.table;
    wye_artifact foreign = rig.sample();
    foreign.format = {"org.example.format", 18};
    wye_program_object* program = nullptr;
    CHECK(table.program_create(rig.device.object, &foreign, &program, nullptr) == WYE_UNSUPPORTED);
    CHECK((program == nullptr));
    wye_buffer_desc desc{};
    desc.header.size = sizeof desc;
    desc.size = std::uint64_t{1} << 50U;
    desc.alignment = 16;
    wye_buffer_object* buffer = nullptr;
    CHECK(table.buffer_create(rig.device.object, &desc, &buffer, nullptr) != WYE_OK);
    CHECK((buffer == nullptr));
    wye_operation bad{};
    bad.kind = 77;
    wye_submission submission{};
    submission.header.size = sizeof submission;
    submission.operations = &bad;
    submission.operation_count = 1;
    submission.value = rig.device.newest + 1;
    CHECK(rig.device.queue_table->submit(rig.device.queue, &submission, nullptr) ==
          WYE_UNSUPPORTED);
    rig.check_works();
}

TEST_SUITE_END();
