// SPDX-License-Identifier: Apache-2.0
#include "rig.hpp"

#include <algorithm>
#include <deque>

namespace {

harness::Subject& chosen() {
    static harness::Subject value;
    return value;
}

}  // namespace

const harness::Subject& harness::subject() { return chosen(); }

namespace layer_test {

void choose(const std::string& library, const std::vector<std::string>& layers,
            std::map<std::string, std::string> config) {
    static std::deque<std::string> kept;  // the subject points to these names
    chosen() = {};
    chosen().library = kept.emplace_back(library).c_str();
    chosen().format = WYE_FORMAT_PROGRAM;
    chosen().config = std::move(config);
    for (const std::string& name : layers)
        chosen().layers.push_back(
            kept.emplace_back(std::string(WYE_LAYERS_FOLDER "/wye_layer_") + name + ".so").c_str());
}

bool logs(const harness::Host& host, const std::string& first, const std::string& second) {
    const std::vector<std::string> lines = host.log();
    return std::ranges::any_of(lines, [&](const std::string& line) {
        return line.find(first) != line.npos && line.find(second) != line.npos;
    });
}

}  // namespace layer_test
