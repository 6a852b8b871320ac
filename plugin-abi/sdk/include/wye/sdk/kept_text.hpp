// SPDX-License-Identifier: Apache-2.0
//
// Stores short texts of a plugin between processes, in the host's cache folder (`cache_folder` of
// the configuration). A text has a kind ("vulkan-self-test") and a key: the conditions under which
// it is valid, such as the driver's build. The plugin's build id is always part of the key. A file
// holds kind, key, text and a checksum over them; a file that fails the checksum is ignored.
// Readers see a complete text, old or new. The host lists and clears such files by their names.
// Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wye/sdk/result.hpp"

namespace wye::sdk {

// Reads a text. Returns nothing if the file is absent or damaged, or if the file or its folder
// belongs to another user or is writable by others.
[[nodiscard]] std::optional<std::string> read_kept(const std::string& folder, std::string_view kind,
                                                   std::string_view key);
// Writes a text, and creates folders with mode 0700. Text and key together have at most 256 KiB.
// Errors: IO; UNSUPPORTED in a plugin that was linked without a build id.
[[nodiscard]] Result<void> keep_text(const std::string& folder, std::string_view kind,
                                     std::string_view key, std::string_view text);
void drop_kept(const std::string& folder, std::string_view kind, std::string_view key) noexcept;
// Deletes the texts, of any build, whose key begins with `key_begin`.
void drop_kept_of(const std::string& folder, std::string_view kind,
                  std::string_view key_begin) noexcept;

// ---- The format of the files -----------------------------------------------------------------

inline constexpr std::size_t kMostKeptBytes = std::size_t{256} << 10U;

// The file's name: KIND-0123456789abcdef, with a hash of the key. A kind has letters and hyphens
// only.
[[nodiscard]] std::string kept_name(std::string_view kind, std::string_view key);
// Whether `name` is the name of a kept text's file, or of an unfinished file.
[[nodiscard]] bool is_kept_name(std::string_view name) noexcept;
[[nodiscard]] std::string kept_file(std::string_view kind, std::string_view key,
                                    std::string_view text);
struct KeptParts {
    std::string_view kind, key, text;  // borrowed from the file's bytes
};
// Parses a file's bytes. Returns nothing if the file is damaged.
[[nodiscard]] std::optional<KeptParts> kept_parts(std::string_view file);

}  // namespace wye::sdk
