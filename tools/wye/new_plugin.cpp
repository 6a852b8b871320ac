// SPDX-License-Identifier: Apache-2.0
//
// `wye new-plugin`: writes a project for a plugin, from the files of tools/new_plugin, which are
// embedded at build time. In these files the plugin is called `acme`.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "command/output.hpp"
#include "new_plugin_files.hpp"
#include "registry/find/manifest.hpp"
#include "verbs.hpp"
#include "wye/sdk/printable.hpp"
#include "wye/wye.h"

namespace wye::tool {
namespace {

constexpr std::string_view kTemplateId = "acme";
constexpr std::string_view kTemplateFormat = "com.example.acme";
constexpr std::size_t kLongestId = 64;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Names that Wye's own plugins have.
constexpr std::array<std::string_view, 5> kOwn = {"cpu", "cuda", "null", "opencl", "vulkan"};

bool is_own(std::string_view name) { return std::ranges::find(kOwn, name) != kOwn.end(); }

// Whether a name is a plugin id as registry/README.md defines it ("Manifest"), and not the id of
// one of Wye's own plugins.
bool is_plugin_id(std::string_view name) {
    return registry::valid_plugin_id(name) && !is_own(name);
}

// The nearest valid id; empty if there is none.
std::string nearest_id(std::string_view name) {
    std::string out;
    for (char c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        const bool known = is_lower(c) || is_digit(c);
        if (!known) c = '_';
        if (out.empty() && !is_lower(c)) continue;  // an id begins with a letter
        if (c == '_' && out.back() == '_') continue;
        out += c;
    }
    out.resize(std::min(out.size(), kLongestId));
    while (!out.empty() && out.back() == '_') out.pop_back();
    if (out == "auto" || is_own(out)) out += "_device";
    return is_plugin_id(out) ? out : std::string();
}

Result<void> check_name(const std::string& name) {
    if (is_plugin_id(name)) return {};
    const std::string near = nearest_id(name);
    const std::string shown = name.substr(0, kLongestId);
    const char* const why = name == "auto" ? "it is the selector of all devices"
                            : is_own(name)
                                ? "a plugin of Wye's has it"
                                : "an id is a letter a-z, then a-z, 0-9 and _, at most 64 in all";
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("`{}` cannot be the id of a plugin: {}", shown, why),
                 near.empty() ? "Fix: choose another name, as in `wye new-plugin acme`"
                              : fmt::format("Fix: use `{}`", near),
                 shown);
}

// The formats, which decide the parts of the template that a project has.
enum class Form { OpenclC, WyeProgram, Own };

std::string_view part_of(Form form) {
    switch (form) {
        case Form::OpenclC:
            return "opencl-c";
        case Form::WyeProgram:
            return "wye-program";
        case Form::Own:
            break;
    }
    return "own";
}

// A vendor's own format is a name in reverse-DNS order, of the characters that the host accepts.
Result<Form> form_of(const std::string& format) {
    constexpr std::size_t kLongest = 128;
    if (format == WYE_FORMAT_OPENCL_C) return Form::OpenclC;
    if (format == WYE_FORMAT_PROGRAM) return Form::WyeProgram;
    const bool named =
        !format.empty() && format.size() <= kLongest && std::ranges::all_of(format, [](char c) {
            return is_lower(c) || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '_' ||
                   c == '.';
        });
    const std::size_t dot = format.find('.');
    if (named && dot != std::string::npos && dot != 0 && format.back() != '.' &&
        format.find("..") == std::string::npos)
        return Form::Own;
    const std::string shown = format.substr(0, kLongest);
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("there is no project for the format `{}`", shown),
                 "Fix: use opencl-c, wye-program, or a format of your own with a name such as "
                 "com.example.kernel",
                 shown);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

// Quotes a path as one word of a shell. Control characters are escaped as in $'...'.
std::string quoted(const std::string& path) {
    constexpr std::string_view kPlain = "/._-+,:@%";
    const auto is_plain = [&](char c) {
        return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z') ||
               kPlain.find(c) != std::string_view::npos;
    };
    if (path.starts_with('-')) return quoted("./" + path);
    if (std::ranges::all_of(path, is_plain)) return path;
    std::string out = path;
    if (sdk::one_line(path) == path) {
        replace_all(out, "'", "'\\''");
        return "'" + out + "'";
    }
    replace_all(out, "\\", "\\\\");
    replace_all(out, "'", "\\'");
    return "$'" + sdk::one_line(out) + "'";
}

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (is_lower(c)) c = static_cast<char>(c - 'a' + 'A');
    return out;
}

// Whether the lines between the marks `# <word>` and `# </word>` (or with `//`) stay in the
// project.
bool stays(std::string_view word, Form form) {
    return word == part_of(form) || (word == "compiled" && form != Form::WyeProgram);
}

// The file's text without the parts of other formats and the marks of parts.
std::string without_other_parts(std::string_view text, Form form) {
    std::string out;
    bool shown = true;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        const std::string_view line = text.substr(at, end - at);
        at = end;
        const std::size_t open = line.starts_with("# <") ? 3 : line.starts_with("// <") ? 4 : 0;
        if (open == 0 || !line.ends_with(">\n")) {
            if (shown) out += line;
        } else if (line[open] == '/') {
            shown = true;
        } else {
            shown = stays(line.substr(open, line.size() - open - 2), form);
        }
    }
    return out;
}

std::string filled(std::string_view text, const NewPluginOptions& options, Form form) {
    std::string out = without_other_parts(text, form);
    replace_all(out, kTemplateFormat, options.format);
    // The name of the format is not changed, even if the template's id occurs in it.
    std::string made;
    for (std::size_t at = 0; at < out.size();) {
        const std::size_t end = std::min(out.find(options.format, at), out.size());
        std::string part = out.substr(at, end - at);
        replace_all(part, kTemplateId, options.name);
        replace_all(part, upper(kTemplateId), upper(options.name));
        made += part;
        if (end < out.size()) made += options.format;
        at = end + options.format.size();
    }
    return made;
}

Error cannot_write(const std::filesystem::path& path, int problem) {
    return {Code::IO,
            fmt::format("`{}` cannot be written: {}", path.string(),
                        std::generic_category().message(problem)),
            "Fix: choose a folder that may be written to, with --out", path.string()};
}

// A folder that appears as `target` when it is complete, or not at all.
class StagedFolder {
  public:
    explicit StagedFolder(std::filesystem::path target) : target_(std::move(target)) {}
    StagedFolder(const StagedFolder&) = delete;
    StagedFolder& operator=(const StagedFolder&) = delete;
    ~StagedFolder() {
        std::error_code ignored;
        if (!staged_.empty()) std::filesystem::remove_all(staged_, ignored);
    }

    Result<void> open() {
        std::string name = target_.string() + ".XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) return cannot_write(target_, errno);
        staged_ = name;
        const mode_t mask = ::umask(0);
        ::umask(mask);
        if (::chmod(name.c_str(), 0777 & ~mask) != 0) return cannot_write(target_, errno);
        return {};
    }

    Result<void> add(std::string_view name, std::string_view text, bool executable) {
        const std::filesystem::path path = staged_ / name;
        std::error_code problem;
        std::filesystem::create_directories(path.parent_path(), problem);
        if (problem) return cannot_write(target_ / name, problem.value());
        const int file =
            ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, executable ? 0777 : 0666);
        if (file < 0) return cannot_write(target_ / name, errno);
        int failed = 0;
        while (!text.empty() && failed == 0) {
            const ssize_t written = ::write(file, text.data(), text.size());
            if (written > 0)
                text.remove_prefix(static_cast<std::size_t>(written));
            else if (errno != EINTR)
                failed = written == 0 ? ENOSPC : errno;
        }
        if (::close(file) != 0 && failed == 0) failed = errno;
        if (failed != 0) return cannot_write(target_ / name, failed);
        return {};
    }

    // Renames the folder to `target`. Never replaces a file, or a folder with files, that has
    // appeared there meanwhile.
    Result<void> publish() {
        if (::renameat2(AT_FDCWD, staged_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) !=
            0) {
            const bool unknown = errno == EINVAL || errno == ENOSYS;  // the flag is unknown
            if (!unknown || ::rename(staged_.c_str(), target_.c_str()) != 0)
                return cannot_write(target_, errno);
        }
        staged_.clear();
        return {};
    }

  private:
    std::filesystem::path target_, staged_;
};

Result<void> check_target(const std::filesystem::path& target) {
    std::error_code problem;
    if (std::filesystem::symlink_status(target, problem).type() !=
        std::filesystem::file_type::not_found)
        return Error(Code::DUPLICATE, fmt::format("`{}` exists already", target.string()),
                     "Fix: remove it, or name another folder with --out", target.string());
    std::filesystem::path parent = target.parent_path();
    if (parent.empty()) parent = ".";
    if (!std::filesystem::is_directory(parent, problem))
        return Error(Code::NOT_FOUND,
                     fmt::format("there is no folder `{}` to make `{}` in", parent.string(),
                                 target.filename().string()),
                     fmt::format("Fix: make it (mkdir -p {})", quoted(parent.string())),
                     parent.string());
    return {};
}

Result<void> write_project(const NewPluginOptions& options, Form form,
                           const std::filesystem::path& target) {
    WYE_TRY(check_target(target));
    StagedFolder folder(target);
    WYE_TRY(folder.open());
    for (const NewPluginFile& file : kNewPluginFiles) {
        if (!file.part.empty() && !stays(file.part, form)) continue;
        std::string name(file.name);
        replace_all(name, kTemplateId, options.name);
        WYE_TRY(folder.add(name, filled(file.text, options, form), name.ends_with(".sh")));
    }
    return folder.publish();
}

Result<void> make(const NewPluginOptions& options) {
    WYE_TRY(check_name(options.name));
    WYE_ASSIGN(const Form form, form_of(options.format));
    std::filesystem::path target = options.out.empty() ? options.name : options.out;
    if (!target.has_filename()) target = target.parent_path();  // "folder/"
    WYE_TRY(write_project(options, form, target));
    fmt::print(output(),
               "{0}: a plugin for devices that take {1}\n"
               "\n"
               "    cd {3}\n"
               "    meson setup build && meson compile -C build\n"
               "    WYE_PLUGIN_PATH_ADD=$PWD/build wye info -d {2}\n"
               "    wye conform --quick build/wye_{2}.so\n"
               "\n"
               "README.md says what is where.\n",
               sdk::one_line(target.string()), options.format, options.name,
               quoted(target.string()));
    return {};
}

}  // namespace

ExitCode new_plugin(const NewPluginOptions& options) {
    const auto made = make(options);
    return made.ok() ? kOk : fail(made.error());
}

}  // namespace wye::tool
