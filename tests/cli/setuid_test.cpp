// SPDX-License-Identifier: Apache-2.0
//
// A set-user-id copy of `wye` that another user starts must use nothing of that user: no variable,
// plugin, cache folder or helper. Needs root, to make the copy and to become the other user.
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "wye/abi.h"

namespace fs = std::filesystem;
using nlohmann::json;
using wye::test::Outcome;
using wye::test::run_command;
using wye::test::TempFolder;

namespace {

constexpr unsigned kStranger = 65534;

// A folder for temporary files that all users may enter and that allows set-user-id; empty: none.
fs::path place_for_all() {
    for (const fs::path& place :
         {fs::temp_directory_path(), fs::path("/tmp"), fs::path("/var/tmp")}) {
        struct statvfs mounted {};
        bool open = ::statvfs(place.c_str(), &mounted) == 0 && (mounted.f_flag & ST_NOSUID) == 0;
        for (fs::path at = fs::absolute(place); open; at = at.parent_path()) {
            open = (fs::status(at).permissions() & fs::perms::others_exec) != fs::perms::none;
            if (at == at.root_path()) break;
        }
        if (open) return place;
    }
    return {};
}

// Why this test cannot run here; empty: it can.
std::string obstacle() {
    if (::geteuid() != 0) return "only root can make a set-user-id copy for another user";
    if (place_for_all().empty())
        return "no folder for temporary files can be entered by every user and allows set-user-id";
    return {};
}

// The other user's plugins, helper, home and cache folder.
class StrangersThings {
  public:
    StrangersThings() {
        fs::permissions(folder_.path(""), fs::perms(0755));
        make("plugins");
        make("home/.local/share/wye/plugins");
        make("libexec");
        copy_plugin(folder_.path("plugins"), "healthy");
        copy_plugin(folder_.path("home/.local/share/wye/plugins"), "plain_chain");
        const std::string helper =
            folder_.write("libexec/wye-fuzz", "#!/bin/sh\ntouch " + marker() + "\nexit 0\n");
        fs::permissions(helper, fs::perms(0755));
        for (const auto& entry : fs::recursive_directory_iterator(folder_.path("")))
            REQUIRE(::chown(entry.path().c_str(), kStranger, kStranger) == 0);
        REQUIRE(::chown(folder_.path("").c_str(), kStranger, kStranger) == 0);
    }
    [[nodiscard]] std::map<std::string, std::string> environment() const {
        return {{"HOME", folder_.path("home")},
                {"XDG_DATA_HOME", ""},
                {"WYE_PLUGIN_PATH", folder_.path("plugins")},
                {"WYE_PLUGIN_PATH_ADD", folder_.path("home/.local/share/wye/plugins")},
                {"WYE_DEVICE", "nonsense:::"},
                {"WYE_LIBEXEC", folder_.path("libexec")},
                {"WYE_CACHE_DIR", folder_.path("cache")},
                {"WYE_CACHE_SIZE", "1000000"},
                {"WYE_TRACE", folder_.path("trace")},
                {"WYE_LOG", "debug"}};
    }
    [[nodiscard]] std::string marker() const { return folder_.path("helper-ran"); }
    [[nodiscard]] bool has(const std::string& name) const { return fs::exists(folder_.path(name)); }

  private:
    void make(const std::string& name) const { fs::create_directories(folder_.path(name)); }
    static void copy_plugin(const fs::path& to, const std::string& id) {
        fs::copy_file(fs::path(WYE_FAKES) / (id + ".so"), to / (id + ".so"));
        const json manifest = {{"schema", 1},
                               {"id", id},
                               {"library", id + ".so"},
                               {"arch", WYE_ARCH},
                               {"abi",
                                {{"major", 1},
                                 {"draft", WYE_ABI_MINOR_DRAFT},
                                 {"minor_needed", 0},
                                 {"minor_built", 0}}},
                               {"backend", "fake"},
                               {"version", "0.1.0"}};
        std::FILE* file = std::fopen((to / (id + ".wye.json")).c_str(), "w");
        REQUIRE(file != nullptr);
        std::fputs(manifest.dump().c_str(), file);
        std::fclose(file);
    }
    TempFolder folder_{place_for_all()};
};

// Copies the program and the library to a folder of root, since the other user may not be allowed
// to enter the build folder.
std::string copy_of_wye(const TempFolder& folder, unsigned mode) {
    fs::permissions(folder.path(""), fs::perms(0755));
    const std::string out = folder.path("wye");
    std::string program = wye::test::read_bytes(WYE_SETUID_TOOL);
    const std::string old_path = WYE_SETUID_LIBRARY_PATH;
    const std::string own_path = folder.path("");
    const std::size_t at = program.find(old_path);
    REQUIRE(at != std::string::npos);
    REQUIRE(own_path.size() <= old_path.size());
    // Slashes at the end of a path have no effect, so they fill the space.
    program.replace(at, old_path.size(),
                    own_path + std::string(old_path.size() - own_path.size(), '/'));
    REQUIRE(folder.write("wye", program) == out);
    fs::copy_file(WYE_SETUID_LIBRARY, folder.path("libwye.so.0"));
    fs::permissions(folder.path("libwye.so.0"), fs::perms(0755));
    REQUIRE(::chmod(out.c_str(), mode) == 0);
    return out;
}

Outcome as_stranger(const std::string& program, const std::vector<std::string>& words,
                    const StrangersThings& things) {
    std::vector<std::string> all = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                                    program};
    all.insert(all.end(), words.begin(), words.end());
    return run_command(all, things.environment());
}

bool lists(const json& report, const std::string& plugin) {
    for (const json& each : report.at("plugins"))
        if (each.at("id") == plugin && each.at("state") != "refused") return true;
    return false;
}

bool has_record(const json& report, const std::string& start) {
    for (const json& record : report.at("records"))
        if (record.at("message").get<std::string>().starts_with(start)) return true;
    return false;
}

}  // namespace

TEST_CASE("a set-user-id program takes nothing from the user who starts it, and says so") {
    if (const std::string why = obstacle(); !why.empty()) {
        std::printf("not run: %s\n", why.c_str());
        std::exit(77);  // Meson shows the test as skipped
    }
    const TempFolder folder(place_for_all());
    const StrangersThings things;
    const std::string program = copy_of_wye(folder, 04755);
    const Outcome info = as_stranger(program, {"info", "--json"}, things);
    CAPTURE(info.err);
    const json report = json::parse(info.out, nullptr, false);
    REQUIRE_FALSE(report.is_discarded());
    CHECK(lists(report, "cpu"));
    CHECK_FALSE(lists(report, "healthy"));
    CHECK_FALSE(lists(report, "plain_chain"));
    for (const auto& variable : things.environment()) {
        if (!variable.first.starts_with("WYE_")) continue;
        CAPTURE(variable.first);
        CHECK(has_record(report, variable.first + " is ignored, because the process has raised"));
    }
    CHECK(has_record(report, "the user's plugin folder is ignored"));
    CHECK(report.at("filters").size() == 1);  // only the selector
    CHECK_FALSE(things.has("cache"));
    CHECK_FALSE(things.has("trace"));
    CHECK(info.err.empty());  // WYE_LOG=debug is ignored

    const Outcome fuzz = as_stranger(program, {"fuzz"}, things);
    CHECK(fuzz.code == 1);
    CHECK(fuzz.err.find("has raised privileges") != std::string::npos);
    CHECK_FALSE(things.has("helper-ran"));
}

TEST_CASE("without set-user-id the program uses the user's files") {
    if (!obstacle().empty()) return;  // the test above has said why
    const TempFolder folder(place_for_all());
    const StrangersThings things;
    const std::string program = copy_of_wye(folder, 0755);
    auto without_device = things.environment();
    without_device.erase("WYE_DEVICE");
    const Outcome info = run_command(
        {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "info", "--json"},
        without_device);
    CAPTURE(info.err);
    const json report = json::parse(info.out, nullptr, false);
    REQUIRE_FALSE(report.is_discarded());
    CHECK(lists(report, "healthy"));
    CHECK(lists(report, "plain_chain"));
    (void)as_stranger(program, {"fuzz"}, things);
    CHECK(things.has("helper-ran"));
}
