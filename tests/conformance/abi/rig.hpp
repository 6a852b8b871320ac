// SPDX-License-Identifier: Apache-2.0
//
// The common state of this folder's cases: the plugin, the subject's device, and the sample
// program. Every call of these cases is valid unless the case expects an error status, so the
// plugin must log no error. The destructor checks that.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "conformance/abi/harness.hpp"
#include "conformance/abi/report.hpp"
#include "wye/sdk/samples.hpp"

namespace harness {

using wye::sdk::add_sample;
using wye::sdk::meet_sample;

// The difference between two vectors: "element 7 of 64 is 12, not 5; 3 differ". Empty: none.
template <typename T>
std::string difference(const std::vector<T>& got, const std::vector<T>& wanted) {
    const auto number = [](T value) { return std::to_string(static_cast<std::uint64_t>(value)); };
    if (got.size() == wanted.size() &&
        (got.empty() || std::memcmp(got.data(), wanted.data(), got.size() * sizeof(T)) == 0))
        return {};
    if (got.size() != wanted.size())
        return std::to_string(got.size()) + " elements, not " + std::to_string(wanted.size());
    std::size_t first = got.size(), count = 0;
    for (std::size_t i = got.size(); i-- > 0;)
        if (got[i] != wanted[i]) first = i, ++count;
    return "element " + std::to_string(first) + " of " + std::to_string(got.size()) + " is " +
           number(got[first]) + ", not " + number(wanted[first]) + "; " + std::to_string(count) +
           " differ";
}
// Fails the case if the vectors differ, with the text of `difference`.
template <typename T>
void check_same(const std::vector<T>& got, const std::type_identity_t<std::vector<T>>& wanted,
                const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const std::string text = difference(got, wanted);
    if (!text.empty()) ADD_FAIL_CHECK_AT(file, line, text);
}

struct QuietPlugin : Plugin {
    // If the driver is missing, cases that start the plugin do not apply. The group `load` checks
    // the error.
    QuietPlugin() {
        static bool started = false;
        if (status == WYE_MISSING_DEPENDENCY && !started)
            throw NotApplicable{"the plugin does not start here: " + failure.message};
        REQUIRE_MESSAGE(status == WYE_OK, failure.message);
        started = true;
    }
    ~QuietPlugin() {
        close();
        for (const std::string& line : host.errors()) FAIL_CHECK(line);
    }
    [[nodiscard]] wye_device_info info(std::uint32_t index = subject().device) const {
        wye_device_info out{};
        out.header.size = sizeof out;
        REQUIRE(table->device_info(object, index, &out, nullptr) == WYE_OK);
        return out;
    }
};

struct Rig {
    explicit Rig(bool timed = false) : device(plugin, timed) {}

    QuietPlugin plugin;
    Device device;

    [[nodiscard]] wye_artifact sample() const {
        const wye_device_info info = plugin.info();
        const auto out = add_sample({info.formats, info.format_count});
        if (!out) throw NotApplicable{"the kit has no program in a format of this device"};
        return *out;
    }
    wye_program_object* add_program() {
        wye_program_object* out = device.program(sample());
        if (out == nullptr) blame("P-22");
        REQUIRE_MESSAGE(out != nullptr, device.failure.message);
        return out;
    }
    // A buffer of zeros.
    wye_buffer_object* zeros(std::uint64_t bytes) {
        wye_buffer_object* out = device.buffer(bytes);
        REQUIRE(out != nullptr);
        REQUIRE(device.run(fill(out, 0, bytes, 0, 4)) == WYE_OK);
        return out;
    }
    // Builds the sample program again, and runs it on new buffers.
    void check_works() {
        wye_buffer_object* x = device.buffer(bytes_of(counting(64)));
        wye_buffer_object* r = zeros(256);
        wye_program_object* program = add_program();
        const std::uint32_t by = 5;
        const wye_binding bindings[] = {binding(x, 0, 64), binding(r, 0, 64)};
        REQUIRE(device.run(dispatch(program, bindings, {1, 1, 1}, &by)) == WYE_OK);
        CHECK(words(r, 64) == counting(64, 5));
    }
    std::vector<std::uint32_t> words(wye_buffer_object* buffer, std::uint64_t count) {
        return values_of<std::uint32_t>(device.download(buffer, count * 4));
    }
};

// All usages of buffers on which programs can work.
inline constexpr std::uint32_t kUsages[] = {WYE_BUFFER_USAGE_DEVICE, WYE_BUFFER_USAGE_UPLOAD,
                                            WYE_BUFFER_USAGE_READBACK, WYE_BUFFER_USAGE_SHARED};
// kUsages and STAGING. STAGING is left out if a device without buffer_map refuses it (P-64).
inline std::vector<std::uint32_t> usages_of(Device& device) {
    std::vector<std::uint32_t> out(std::begin(kUsages), std::end(kUsages));
    if (device.table->buffer_map != nullptr ||
        device.buffer(64, WYE_BUFFER_USAGE_STAGING) != nullptr)
        out.push_back(WYE_BUFFER_USAGE_STAGING);
    return out;
}

// A timeline that submits and the host signal. `timeline` is null if the plugin makes no timelines.
struct Timeline {
    explicit Timeline(Device& of) : device(of), table(*of.table) {
        if (table.timeline_create == nullptr) return;
        wye_timeline_desc desc{};
        desc.header.size = sizeof desc;
        REQUIRE(table.timeline_create(device.object, &desc, &timeline, nullptr) == WYE_OK);
        REQUIRE(timeline != nullptr);
    }
    ~Timeline() { destroy(); }
    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;

    [[nodiscard]] wye_event event(std::uint64_t value) const { return {timeline, value, 0, 0}; }
    [[nodiscard]] wye_status query(std::uint64_t value) const {
        const wye_event one = event(value);
        return table.query(device.object, &one, nullptr);
    }
    [[nodiscard]] wye_status wait(std::uint64_t value, std::uint64_t limit = kDeadline) const {
        const wye_event one = event(value);
        return table.wait(device.object, &one, 1, 0, limit, nullptr, nullptr);
    }
    [[nodiscard]] wye_status signal(std::uint64_t value) const {
        const wye_event one = event(value);
        return table.timeline_signal(device.object, &one, nullptr);
    }
    void destroy() {
        if (timeline != nullptr) table.timeline_destroy(device.object, timeline);
        timeline = nullptr;
    }

    Device& device;
    const wye_device_table& table;
    wye_timeline_object* timeline = nullptr;
};

// A helpful error has a code, a sentence, and a remedy (P-11).
inline void check_helpful(const Failure& failure, wye_status status) {
    CHECK(failure.code == status);
    CHECK_FALSE(failure.message.empty());
    CHECK_MESSAGE(failure.fix.rfind("Fix: ", 0) == 0, failure.fix);
}

inline std::string text_of(wye_string s) { return s.size == 0 ? "" : std::string(s.data, s.size); }

}  // namespace harness
