// SPDX-License-Identifier: Apache-2.0
// Fuzz target: manifests. Any bytes must give a manifest, or an error with a location and a remedy.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "registry/find/manifest.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto manifest = wye::registry::parse_manifest(bytes, "fuzz");
    if (manifest.ok()) {
        if (!wye::registry::valid_plugin_id(manifest->id)) std::abort();
        if (manifest->library.find('/') != std::string::npos) std::abort();
        if (wye::registry::compare_versions(manifest->version, manifest->version) != 0)
            std::abort();
    } else if (manifest.error().code != wye::Code::BAD_MANIFEST ||
               manifest.error().fix.rfind("Fix: ", 0) != 0) {
        std::abort();
    }
    return 0;
}
