// SPDX-License-Identifier: Apache-2.0
//
// Short texts that a plugin keeps in the host's cache folder (`cache_folder` of the configuration)
// from one process to the next. Readers see a whole old text or a whole new one. The reader has to
// look at what it gets: it may be from another version, or damaged. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wye/sdk/result.hpp"

namespace wye::sdk {

// For names of files and checks against damage; FNV-1a.
[[nodiscard]] std::uint64_t text_hash(std::string_view text) noexcept;

// "KIND-0123456789abcdef", by the hash of a key.
[[nodiscard]] std::string kept_name(std::string_view kind, std::string_view key);

// At most 4 KiB. Nothing: there is none, or it is not this user's alone.
[[nodiscard]] std::optional<std::string> read_kept(const std::string& folder,
                                                   const std::string& name);
// Makes the folders with mode 0700. IO.
[[nodiscard]] Result<void> keep_text(const std::string& folder, const std::string& name,
                                     std::string_view text);

}  // namespace wye::sdk
