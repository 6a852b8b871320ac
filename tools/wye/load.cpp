// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "files.hpp"
#include "wye/program_format.h"

namespace wye::tool {

Result<Program> load_program(const Context& context, const std::string& path) {
    // Reads up to one byte more than the larger limit, so that the library reports the limit.
    WYE_ASSIGN(const auto bytes, read_file(path, "program", WYE_LIMIT_WIRE_BYTES + 1));
    if (bytes.size() >= WYE_PROGRAM_MAGIC_SIZE &&
        std::memcmp(bytes.data(), WYE_PROGRAM_MAGIC, WYE_PROGRAM_MAGIC_SIZE) == 0)
        return context.program_from_wire(bytes, path);
    const auto folder = std::filesystem::path(path).parent_path();
    return context.program_from_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                     path, [&](std::string_view name) {
                                         return read_file((folder / name).string(), "variant file",
                                                          WYE_LIMIT_VARIANT_BYTES, Kind::Regular);
                                     });
}

Result<Assignment> parse_assignment(const std::string& text, const char* flag) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        return Error(Code::INVALID_ARGUMENT, fmt::format("`{} {}` is not name=value", flag, text),
                     fmt::format("Fix: write {} NAME=VALUE", flag), text);
    return Assignment{text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace wye::tool
