// SPDX-License-Identifier: Apache-2.0
//
// Short texts that a plugin keeps in the host's cache folder (`cache_folder` of the configuration)
// between processes, by a kind ("vulkan-self-test") and a key: the conditions under which the text
// is valid, such as the driver's build. The build id of the plugin is always part of the key. A
// file holds kind, key, text and a checksum over them; a file that fails the checksum is ignored.
// Readers see a whole old text or a whole new one. The host lists and clears such files by their
// names. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wye/sdk/result.hpp"

namespace wye::sdk {

// Nothing if the file is absent, damaged, or it or its folder is another user's or writable by
// others.
[[nodiscard]] std::optional<std::string> read_kept(const std::string& folder, std::string_view kind,
                                                   std::string_view key);
// Creates folders with mode 0700. Text and key together have at most 256 KiB. Errors: IO;
// UNSUPPORTED in a plugin that was linked without a build id.
[[nodiscard]] Result<void> keep_text(const std::string& folder, std::string_view kind,
                                     std::string_view key, std::string_view text);
void drop_kept(const std::string& folder, std::string_view kind, std::string_view key) noexcept;
// Drops those of any build whose key begins so.
void drop_kept_of(const std::string& folder, std::string_view kind,
                  std::string_view key_begin) noexcept;

// ---- The form of such files ------------------------------------------------------------------

inline constexpr std::size_t kMostKeptBytes = std::size_t{256} << 10U;

// KIND-0123456789abcdef, by a hash of the key. The kind has letters and hyphens only.
[[nodiscard]] std::string kept_name(std::string_view kind, std::string_view key);
// Whether `name` is that of a kept text, or of an unfinished one.
[[nodiscard]] bool is_kept_name(std::string_view name) noexcept;
[[nodiscard]] std::string kept_file(std::string_view kind, std::string_view key,
                                    std::string_view text);
struct KeptParts {
    std::string_view kind, key, text;  // borrowed from the file's bytes
};
// Nothing if the file is damaged.
[[nodiscard]] std::optional<KeptParts> kept_parts(std::string_view file);

}  // namespace wye::sdk
