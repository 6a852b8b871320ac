// SPDX-License-Identifier: Apache-2.0
#include "layers/validate/state.hpp"

#include "wye/sdk/numbers.hpp"

namespace wye::layers::validate {

Result<std::unique_ptr<Plugin>> Plugin::create(const wye_host_table& host,
                                               const wye_layer_next& next) {
    const std::string of = sdk::config(host, "layer.validate.of").value_or("both");
    if (of != "host" && of != "plugin" && of != "both")
        return Error(Code::INVALID_ARGUMENT, "`" + of + "` is not known for layer.validate.of",
                     "Fix: give host, plugin or both", "layer.validate.of");
    const std::string late = sdk::config(host, "layer.validate.late_ms").value_or("1000");
    constexpr std::uint64_t kMostMs = 3'600'000;
    const auto late_ms = sdk::parse_number<std::uint64_t>(late);
    if (!late_ms || *late_ms > kMostMs)
        return Error(Code::INVALID_ARGUMENT,
                     "`" + late + "` is no number of milliseconds for layer.validate.late_ms",
                     "Fix: give a number from 0 to " + std::to_string(kMostMs),
                     "layer.validate.late_ms");
    return std::make_unique<Plugin>(host, next, of != "plugin", of != "host", *late_ms * 1'000'000);
}

Frame::~Frame() {
    if (busy.empty() && named.empty()) return;
    const sdk::Lock lock(plugin.mutex);
    for (const auto& [device, timeline] : named)
        if (Timeline* known = device->objects.timelines.find(timeline)) --known->calls;
    for (const auto& [device, command] : busy)
        if (Command* entered = device->objects.commands.find(command)) entered->busy = {};
}

}  // namespace wye::layers::validate
