// SPDX-License-Identifier: Apache-2.0
//
// The key of a program in the disk cache: everything that its compiled bytes depend on. It consists
// of readable lines `name=value`, also used by `wye cache list`, then an empty line, then the
// program's bytes (not only its fingerprint, which can be forged). Pure, except that it asks the
// plugin for its identity.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "exec/program/compiled_program.hpp"
#include "lower/target.hpp"
#include "registry/open/device.hpp"

namespace wye::exec {

// The key of a program compiled for a device. `lines`: the result of device_lines for the device;
// `format`: the format of the artifact.
[[nodiscard]] std::vector<std::byte> program_key(const std::string& build,
                                                 const registry::NativeDevice& device,
                                                 const std::string& lines, std::string_view format,
                                                 std::string_view name, const Form& form,
                                                 const Encoding& encoding);

// The key of a translated artifact. `target`: the device's part of the key; empty without a device.
[[nodiscard]] std::vector<std::byte> translation_key(const std::string& build,
                                                     const std::string& translator,
                                                     std::string_view target,
                                                     const wye_artifact& artifact,
                                                     std::string_view format);

// Lines that identify the kind of device and driver, including lowering facts. Equal devices have
// equal lines. `target`: the device facts that lowering uses.
[[nodiscard]] std::string device_lines(const registry::DeviceInfo& info,
                                       const lower::TargetFacts& target);

}  // namespace wye::exec
