// SPDX-License-Identifier: Apache-2.0
//
// Manifest: the JSON file `<name>.wye.json` beside a plugin, read before the plugin is opened.
//
//   {"schema": 1, "kind": "plugin", "id": "name", "library": "wye_name.so", "arch": "x86_64",
//    "abi": {"major": 1, "minor_needed": 0, "minor_built": 0},
//    "backend": "name", "version": "0.1.0",
//    "needs": [{"soname": "libOpenCL.so.1", "min_version": "1.2", "version_from": "symbols",
//               "package": "ocl-icd-libopencl1"}]}
//
// plugin-abi/manifest.schema.json is its schema. Unknown keys are ignored, so that later schemas
// can add keys, and are listed for a warning. Pure; free-threaded; does not throw for any input.
// Errors are BAD_MANIFEST and name the key ("abi.major").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::registry {

inline constexpr std::size_t kManifestBytes = 64 * 1024;  // larger files are refused unread
inline constexpr int kManifestDepth = 8;                  // files with deeper nesting are refused
inline constexpr std::string_view kManifestSuffix = ".wye.json";

// A system library that the plugin opens at run time. If the library is absent, the plugin is not
// opened.
struct Need {
    std::string soname;
    std::string min_version;  // may be empty
    // How the version is found. "symbols": the highest of the versions that the library defines for
    // its symbols ("NAME_3.0" is 3.0). "file": what follows ".so." in its file name.
    std::string version_from;
    std::string package;  // the library's Debian package; may be empty
};

// A format that the plugin's compiler can make from a format that the host lowers to.
struct Translation {
    std::string format;
    std::string from;           // the host's format
    std::string target_option;  // the compiler option before the target's name; may be empty
};

// Something that the driver's devices depend on, besides the libraries that the driver loads.
// Exactly one member is set.
struct Watch {
    std::string path;  // a file, or a folder with its files; `~/` is the user's home
    // An environment variable, "PREFIX_*" for several; paths in its value are watched too.
    std::string variable;
    // An environment variable whose value alone is watched, since it may name a cache folder.
    std::string value_of;
};

enum class PluginKind : std::uint8_t {
    plugin,
    layer,  // wye/abi_layer.h
};

struct Manifest {
    PluginKind kind = PluginKind::plugin;
    std::string id;       // [a-z][a-z0-9_]*, the selector name
    std::string library;  // a file name in the manifest's own folder
    std::string arch;     // in the form that `uname -m` prints
    std::uint32_t abi_major = 0;
    std::uint32_t draft = 0;         // of the major version; 0: no draft is named
    std::uint32_t minor_needed = 0;  // the oldest host minor that the plugin works with
    std::uint32_t minor_built = 0;   // the minor that the plugin was built against
    std::string backend;             // the driver interface, as free text
    std::string version;             // dotted numbers, e.g. "0.1.0"
    std::vector<Need> needs;
    std::vector<Translation> translates;
    std::vector<Watch> watches;
    std::vector<std::string> unknown_keys;  // the first unknown keys, as full paths: "abi.nmajor"
};

// `path` is for messages only.
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view bytes, std::string_view path);

// True for [a-z][a-z0-9_]* of at most 64 characters, except the keywords of the selector.
[[nodiscard]] bool valid_plugin_id(std::string_view id) noexcept;

// Compares dotted versions part by part: numbers by value ("0.10" is after "0.9"), other parts as
// text. Returns a negative number, zero or a positive number.
[[nodiscard]] int compare_versions(std::string_view left, std::string_view right) noexcept;

// The machine architecture of this build ("x86_64").
[[nodiscard]] std::string_view host_arch() noexcept;

}  // namespace wye::registry
