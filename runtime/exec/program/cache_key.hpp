// SPDX-License-Identifier: Apache-2.0
//
// The key of a program in the disk cache: everything that its bytes depend on. Lines `name=value`
// for people and `wye cache list`, an empty line, then the program's bytes, since a fingerprint
// does not resist forgery. Pure but for asking the plugin for its identity.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "exec/program/compiled_program.hpp"
#include "lower/quirks/quirks.hpp"
#include "registry/device.hpp"

namespace wye::exec {

// A program compiled for a device. `lines` are the device's, from below; `format` is that of the
// artifact.
[[nodiscard]] std::vector<std::byte> program_key(const std::string& build,
                                                 const registry::NativeDevice& device,
                                                 const std::string& lines, std::string_view format,
                                                 std::string_view name, const Form& form,
                                                 const Encoding& encoding);

// A translated artifact. `target` is what the device contributes; empty without one.
[[nodiscard]] std::vector<std::byte> translation_key(const std::string& build,
                                                     const std::string& translator,
                                                     std::string_view target,
                                                     const wye_artifact& artifact,
                                                     std::string_view format);

// Lines that tell one kind of device and driver from another, lowering facts included. Two devices
// that are alike give the same. `quirks`: what lowering for it works around.
[[nodiscard]] std::string device_lines(const registry::DeviceInfo& info, lower::QuirkSet quirks);

}  // namespace wye::exec
