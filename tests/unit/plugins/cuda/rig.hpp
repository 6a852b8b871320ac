// SPDX-License-Identifier: Apache-2.0
//
// The CUDA plugin on the fake driver, shared by the tests of this folder. The fake driver has one
// state per process, so each test begins with a Rig, which resets that state.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "conformance/abi/harness.hpp"
#include "cuda/fake_cuda.hpp"

namespace rig {

using Config = std::map<std::string, std::string>;

inline const fake_cuda::Control& driver() {
    static const auto& control =
        harness::control_of<fake_cuda::Control>(WYE_FAKE_CUDA, "fake_cuda_control");
    return control;
}

// A fake machine with one GPU, before the plugin sees it.
struct Machine {
    explicit Machine(int devices = 1, int architecture = 90) {
        driver().reset(devices, architecture);
    }
};

struct Rig : Machine {
    explicit Rig(Config config = {}) : plugin(with_fake(std::move(config))) {}
    static Config with_fake(Config config) {
        config.emplace("cuda.library", WYE_FAKE_CUDA);
        return config;
    }
    harness::Plugin plugin;
};

// Text that the fake driver accepts as PTX: it contains the kernel's name.
inline constexpr std::string_view kPtx = ".visible .entry add\n.visible .entry other\n";
inline constexpr wye_slot kSlots[] = {{WYE_SLOT_BUFFER, 0, 0, 1, 0, {}},
                                      {WYE_SLOT_BUFFER, 1, 0, 3, 0, {}},
                                      {WYE_SLOT_LENGTH, 1, 0, 0, 0, {}},
                                      {WYE_SLOT_PARAMS, 0, 0, 0, 0, {}}};

inline wye_artifact artifact(std::string_view entry = "add") {
    wye_artifact out = harness::artifact(kPtx, entry, kSlots, 2, 64, 4);
    return out;
}

}  // namespace rig
