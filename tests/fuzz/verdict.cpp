// SPDX-License-Identifier: Apache-2.0
// Fuzz target: messages of the helper that probes plugins, and kept verdicts. Any bytes must give a
// value or a refusal. A verdict that was read must be the same after it is written and read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "registry/probe/verdict.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wye::registry;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto message = parse_probe_message(bytes, "x");
    if (message.ok()) {
        for (const auto& device : message->devices)
            if (device->plugin != "x") std::abort();
        if (!parse_probe_message(without_progress(bytes), "x").ok()) std::abort();
    }
    if (const auto kept = parse_kept_verdict(bytes, "x")) {
        if (kept->verdict.end == ProbeEnd::good && !kept->verdict.message.ready) std::abort();
        const auto again = parse_kept_verdict(to_text(*kept), "x");
        if (!again || again->verdict.end != kept->verdict.end || again->files != kept->files)
            std::abort();
    }
    return 0;
}
