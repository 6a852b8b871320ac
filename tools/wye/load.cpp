// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "wye/program_format.h"

namespace wye::tool {

namespace {

bool is_wire(const ProgramFile& file) {
    return file.bytes.size() >= WYE_PROGRAM_MAGIC_SIZE &&
           std::memcmp(file.bytes.data(), WYE_PROGRAM_MAGIC, WYE_PROGRAM_MAGIC_SIZE) == 0;
}

std::string_view text_in(const ProgramFile& file) {
    return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

// The path of a file that a `variant` clause names.
std::string path_of(const ProgramFile& file, std::string_view name) {
    return (std::filesystem::path(file.path).parent_path() / name).string();
}

// The files that the `variant` clauses of a program name. Opens none of these files. Ignores errors
// of the program, which are reported when the program is loaded.
std::vector<FileUse> variant_files(const ProgramFile& file) {
    std::vector<FileUse> out;
    if (is_wire(file) || text_in(file).find("variant") == std::string_view::npos) return out;
    // This context writes no trace and keeps nothing on disk.
    const auto context =
        Context::create({.flags = WYE_CONTEXT_NO_PLUGINS | WYE_CONTEXT_IGNORE_ENVIRONMENT,
                         .config = {{"cache_size", "0"}}});
    if (!context.ok()) return out;
    const auto note = [&](std::string_view name) -> Result<std::vector<std::byte>> {
        out.push_back({fmt::format("variant file `{}`", name), path_of(file, name)});
        return std::vector<std::byte>(1);
    };
    (void)context->program_from_text(text_in(file), file.path, note);
    return out;
}

}  // namespace

Result<ProgramFile> read_program(const std::string& path, std::vector<FileUse> others) {
    others.push_back({"the program", path});
    WYE_TRY(check_files(others));
    // Reads up to one byte more than the larger limit, so that the library reports the limit.
    WYE_ASSIGN(auto bytes, read_file(path, "program", WYE_LIMIT_WIRE_BYTES + 1));
    ProgramFile out{path, std::move(bytes)};
    for (FileUse& one : variant_files(out)) others.push_back(std::move(one));
    WYE_TRY(check_files(std::move(others)));
    return out;
}

Result<Program> load_program(const Context& context, const ProgramFile& file) {
    if (is_wire(file)) return context.program_from_wire(file.bytes, file.path);
    return context.program_from_text(text_in(file), file.path, [&](std::string_view name) {
        return read_file(path_of(file, name), "variant file", WYE_LIMIT_VARIANT_BYTES,
                         Kind::Regular);
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
