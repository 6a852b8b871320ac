// SPDX-License-Identifier: Apache-2.0
//
// `wye conform`: runs the conformance kits on a plugin's file and says whether it keeps the
// contract. The plugin is opened in other processes only.
#include <elf.h>
#include <stdlib.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "../helper.hpp"
#include "../numbers.hpp"
#include "../verbs.hpp"
#include "command/output.hpp"
#include "command/progress.hpp"
#include "groups.hpp"
#include "screen.hpp"

namespace wye::tool {
namespace conform {
namespace {

namespace fs = std::filesystem;

// The formats that the host lowers programs to, and the program format itself.
constexpr std::string_view kLowered[] = {WYE_FORMAT_PROGRAM, WYE_FORMAT_OPENCL_C, WYE_FORMAT_CUDA_C,
                                         WYE_FORMAT_SPIRV};

// The time for random programs with `--full`: a run then takes about a quarter of an hour where the
// driver compiles slowly.
constexpr std::chrono::seconds kRandomTime{300};

Error no_plugin(const std::string& path, const std::string& why) {
    return {Code::INVALID_ARGUMENT, fmt::format("`{}` is no plugin: {}", path, why),
            "Fix: name the shared object that a plugin is built as, as in wye_acme.so", path};
}

// Whether the file can be a plugin at all. A case of the kit checks what the file exports.
Result<void> check_file(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status))
        return Error(Code::NOT_FOUND, fmt::format("`{}` does not exist", path),
                     "Fix: name the plugin's file", path);
    if (!fs::is_regular_file(status)) return no_plugin(path, "it is not a file");
    std::ifstream in(path, std::ios::binary);
    Elf64_Ehdr header{};
    in.read(reinterpret_cast<char*>(&header), sizeof header);
    if (!in.is_open())
        return Error(Code::IO, fmt::format("`{}` cannot be read: {}", path, std::strerror(errno)),
                     "Fix: check its permissions", path);
    if (in.gcount() != sizeof header || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return no_plugin(path, "it is not an ELF file");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        return no_plugin(path, "it is not for machines of 64 bits, little endian");
    if (header.e_type != ET_DYN) return no_plugin(path, "it is not a shared object");
#if defined(__x86_64__)
    constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
    constexpr Elf64_Half kMachine = EM_AARCH64;
#elif defined(__riscv)
    constexpr Elf64_Half kMachine = EM_RISCV;
#else
    const Elf64_Half kMachine = header.e_machine;
#endif
    if (header.e_machine != kMachine) return no_plugin(path, "it is for another machine");
    return {};
}

// A link to the plugin's file, in a folder of its own. The link has the file name that the host
// expects for the plugin's id.
class Link {
  public:
    Link() = default;
    ~Link() {
        std::error_code none;
        if (!folder_.empty()) fs::remove_all(folder_, none);
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    [[nodiscard]] Result<std::string> make(const std::string& plugin, const std::string& id) {
        std::error_code error;
        std::string name = (fs::temp_directory_path(error) / "wye-conform.XXXXXX").string();
        if (error || ::mkdtemp(name.data()) == nullptr) return failed(name);
        folder_ = name;
        const std::string path = fmt::format("{}/wye_{}.so", folder_, id);
        fs::create_symlink(fs::canonical(plugin, error), path, error);
        if (error) return failed(path);
        return path;
    }

  private:
    static Error failed(const std::string& path) {
        return {Code::IO, fmt::format("`{}` cannot be made", path),
                "Fix: set TMPDIR to a folder that can be written", path};
    }
    std::string folder_;
};

bool takes_programs(const Device& device) {
    return std::any_of(std::begin(kLowered), std::end(kLowered), [&](std::string_view format) {
        return std::find(device.formats.begin(), device.formats.end(), format) !=
               device.formats.end();
    });
}

// Why the groups with these needs cannot run; empty: they can.
std::string hindrance(Needs needs, const Verdict& verdict) {
    if (needs == Needs::file) return {};
    const Group* const load = verdict.find("load");
    if (load != nullptr && load->count(Outcome::failed) != 0)
        return "the plugin does not load as the contract asks";
    if (needs == Needs::plugin) return {};
    if (!verdict.device) return "the plugin has no usable device here";
    if (needs == Needs::device || takes_programs(*verdict.device)) return {};
    return fmt::format("the device takes {} only, which the host lowers no program to",
                       fmt::join(verdict.device->formats, ", "));
}

// Why a group does not run with layers; empty: it does. The group `skew` has hosts of other
// versions, which know no layers. The groups of the language run as an application, to which
// --layer does not apply.
std::string hindrance_by_layers(const GroupPlan& plan, const Setup& setup) {
    const bool runs = plan.needs != Needs::language && std::string_view(plan.name) != "skew";
    return setup.layers.empty() || runs ? "" : "this group does not run with --layer";
}

class Run {
  public:
    Run(const ConformOptions& options, Setup setup)
        : options_(options),
          setup_(std::move(setup)),
          progress_("groups",
                    options.only.empty() ? group_plans().size() : options.only.size() + 1) {
        verdict_.path = options.plugin;
        verdict_.depth = setup_.depth;
    }

    [[nodiscard]] Result<void> all() {
        for (const GroupPlan& plan : group_plans()) {
            const std::string_view name = plan.name;
            const bool opens = name == "load";  // all other groups need the results of `load`
            if (!opens && !chosen(plan)) continue;
            WYE_TRY(one(plan, !opens || chosen(plan)));
            if (opens) WYE_TRY(choose_device());
        }
        return {};
    }
    [[nodiscard]] const Verdict& verdict() const { return verdict_; }

  private:
    [[nodiscard]] bool chosen(const GroupPlan& plan) const {
        if (options_.only.empty()) return !plan.full || setup_.depth == Depth::full;
        return std::find(options_.only.begin(), options_.only.end(), plan.name) !=
               options_.only.end();
    }

    [[nodiscard]] Result<void> one(const GroupPlan& plan, bool shown) {
        Group group;
        group.name = plan.name;
        group.about = plan.about;
        group.not_tried = hindrance(plan.needs, verdict_);
        if (group.not_tried.empty()) group.not_tried = hindrance_by_layers(plan, setup_);
        if (group.not_tried.empty()) {
            WYE_ASSIGN(group, run_group(plan, setup_, verdict_));
        }
        const std::string root = verdict_.root();
        for (Case& one : group.cases)
            if (one.result == Outcome::failed) one.consequence_of = root;
        const bool loads = std::string_view(plan.name) == "load";
        if (loads) {
            group.cases.push_back(check_manifest(verdict_));
            print(heading_of(verdict_));
            for (const Group& earlier : verdict_.groups) print(lines_of(earlier));
        }
        // Before the group `load`, the plugin's name is not known.
        if (loads || verdict_.find("load") != nullptr)
            if (shown || group.count(Outcome::failed) != 0) print(lines_of(group));
        verdict_.groups.push_back(std::move(group));
        progress_.at(verdict_.groups.size());
        return {};
    }

    [[nodiscard]] Result<void> choose_device() {
        if (verdict_.id.empty()) return {};
        WYE_ASSIGN(setup_.link, link_.make(options_.plugin, verdict_.id));
        if (!options_.device.empty()) {
            WYE_ASSIGN(const std::uint32_t index, find_device(options_.device, setup_, verdict_));
            for (const Device& device : verdict_.devices)
                if (device.index == index) verdict_.device = device;
            if (!verdict_.device || !verdict_.device->usable)
                return Error(Code::NO_DEVICE,
                             fmt::format("`--device {}`: the plugin `{}` has no usable device {}",
                                         options_.device, verdict_.id, index),
                             "Fix: leave --device out, or name one that `wye info` shows",
                             "--device");
        } else {
            for (const Device& device : verdict_.devices)
                if (device.usable && !verdict_.device) verdict_.device = device;
        }
        print(device_line(verdict_));
        return {};
    }

    void print(const std::string& text) {
        if (options_.json) return;
        progress_.hide();
        std::fputs(text.c_str(), output());
        std::fflush(output());
    }

    const ConformOptions& options_;
    Setup setup_;
    Link link_;
    Verdict verdict_;
    Progress progress_;
};

Result<void> check_groups(const std::vector<std::string>& only) {
    std::string names;
    for (const GroupPlan& plan : group_plans())
        names += (names.empty() ? "" : ", ") + std::string(plan.name);
    for (const std::string& name : only)
        if (std::none_of(group_plans().begin(), group_plans().end(),
                         [&](const GroupPlan& plan) { return plan.name == name; }))
            return Error(Code::INVALID_ARGUMENT, fmt::format("there is no group `{}`", name),
                         "Fix: use some of " + names, "--only");
    return {};
}

// Parses an option's number of seconds. `fault`: the error message's text about 0 seconds.
Result<std::chrono::seconds> seconds_of(const char* option, const std::string& text,
                                        const char* fault) {
    WYE_ASSIGN(const std::uint64_t seconds, parse_number(option, text, 86400));
    if (seconds == 0)
        return Error(Code::INVALID_ARGUMENT, fmt::format("`{} 0` {}", option, fault),
                     "Fix: give a number of seconds of at least 1", option);
    return std::chrono::seconds(seconds);
}

Result<Setup> set_up(const ConformOptions& options) {
    WYE_TRY(check_file(options.plugin));
    if (is_layer(options.plugin))
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`{}` is a layer, and the kits judge plugins", options.plugin),
                     "Fix: name a plugin, and add this file with --layer", options.plugin);
    WYE_TRY(check_groups(options.only));
    Setup setup;
    setup.plugin = fs::absolute(options.plugin).string();
    setup.config = options.config;
    for (const std::string& layer : options.layers) {
        WYE_TRY(check_file(layer));
        setup.layers.push_back(fs::absolute(layer).string());
    }
    setup.depth = options.quick ? Depth::quick : options.full ? Depth::full : Depth::usual;
    setup.limit = std::chrono::seconds(options.quick ? 60 : options.full ? 600 : 180);
    if (!options.timeout.empty()) {
        WYE_ASSIGN(setup.limit, seconds_of("--timeout", options.timeout, "lets no case end"));
    }
    if (options.full) setup.random_time = kRandomTime;
    if (!options.random_time.empty()) {
        WYE_ASSIGN(setup.random_time,
                   seconds_of("--random-time", options.random_time, "lets no program begin"));
    }
    for (const std::string& setting : options.config)
        if (setting.find('=') == setting.npos || setting.starts_with('='))
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("`--config {}` is not KEY=VALUE", setting),
                         "Fix: write a key, `=` and a value", "--config");
    WYE_ASSIGN(setup.abi_kit, find_helper("conform-abi"));
    WYE_ASSIGN(setup.language_kit, find_helper("conform-language"));
    return setup;
}

Result<bool> judge(const ConformOptions& options) {
    WYE_ASSIGN(Setup setup, set_up(options));
    Run run(options, std::move(setup));
    WYE_TRY(run.all());
    fmt::print(output(), "{}\n",
               options.json ? document_of(run.verdict()) : sentence_of(run.verdict()));
    return run.verdict().conforms();
}

}  // namespace
}  // namespace conform

ExitCode conform_plugin(const ConformOptions& options) {
    const auto conforms = conform::judge(options);
    if (!conforms.ok()) {
        const ExitCode code = fail(conforms.error());
        // MISSING_DEPENDENCY means that a helper program is missing, so kNoDevice would be wrong.
        return conforms.error().code == Code::MISSING_DEPENDENCY ? kFailed : code;
    }
    return *conforms ? kOk : kFailed;
}

}  // namespace wye::tool
