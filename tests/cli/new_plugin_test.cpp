// SPDX-License-Identifier: Apache-2.0
// `wye new-plugin`: what it writes, and what it refuses. The projects are built in tests/package.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "command.hpp"

namespace wye::test::new_plugin_test {
namespace {

// The files of a folder: each path inside the folder, with the file's content.
std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
    std::map<std::string, std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.is_regular_file())
            out.emplace(std::filesystem::relative(entry.path(), folder).string(),
                        read_bytes(entry.path().string()));
    return out;
}

Outcome make(const std::string& name, const std::string& format, const std::string& out) {
    return run_command({WYE_TOOL, "new-plugin", name, "--format", format, "--out", out});
}

TEST_CASE("a project has a source, a manifest, both build systems, a CI and tests") {
    const TempFolder folder;
    for (const std::string format : {"opencl-c", "wye-program", "com.vendor.acme-code"}) {
        CAPTURE(format);
        const std::string out = folder.path(format);
        const Outcome made = make("tensor_9", format, out);
        CAPTURE(made.err);
        REQUIRE(made.code == 0);
        CHECK(contains(made.out, format));
        const auto files = files_of(out);
        for (const char* name :
             {".gitignore", "CMakeLists.txt", "README.md", "ci.sh", "meson.build", "plugin.map",
              "src/plugin.cpp", "src/program.hpp", "tests/program.sh", "tests/program.wye",
              "wye_tensor_9.wye.json.in"}) {
            CAPTURE(name);
            CHECK(files.count(name) == 1);
        }
        CHECK((files.count("src/compiler.hpp") == 1) == (format != "wye-program"));
        for (const auto& file : files) {
            const std::string& text = file.second;
            CAPTURE(file.first);
            CHECK_FALSE(text.empty());
            std::string rest = text;  // without the vendor's format, which may contain any word
            for (std::size_t at = 0; (at = rest.find(format, at)) != std::string::npos;)
                rest.erase(at, format.size());
            for (const char* left : {"acme", "ACME", "# <", "// <", "# </", "// </"})
                CHECK_FALSE(contains(rest, left));
        }
        CHECK(contains(files.at("src/plugin.cpp"), "literal(\"tensor_9\")"));
        CHECK(contains(files.at("src/program.hpp"), format == "com.vendor.acme-code"
                                                        ? "\"com.vendor.acme-code\""
                                                        : "kFormat = WYE_FORMAT_"));
        CHECK(contains(files.at("meson.build"), "TENSOR_9_VERSION"));

        // The manifest, after the build has filled in the numbers.
        std::string manifest = files.at("wye_tensor_9.wye.json.in");
        for (const char* number : {"@WYE_ABI_MAJOR@", "@WYE_ABI_MINOR_DRAFT@", "@WYE_ABI_MINOR@"})
            for (std::size_t at; (at = manifest.find(number)) != std::string::npos;)
                manifest.replace(at, std::string(number).size(), "1");
        const auto read = nlohmann::json::parse(manifest);
        CHECK(read["id"] == "tensor_9");
        CHECK(read["library"] == "wye_tensor_9.so");

        for (const char* script : {"ci.sh", "tests/program.sh"}) {
            const auto mode =
                std::filesystem::status(std::filesystem::path(out) / script).permissions();
            CHECK((mode & std::filesystem::perms::owner_exec) != std::filesystem::perms::none);
        }
        const Outcome checked =
            run_command({WYE_TOOL, "check", folder.path(format + "/tests/program.wye")});
        CHECK(checked.code == 0);
    }
    CHECK(folder.names() ==
          std::vector<std::string>{"com.vendor.acme-code", "opencl-c", "wye-program"});
}

TEST_CASE("what exists is never touched, and nothing is left of a failure") {
    const TempFolder folder;
    const std::string file = folder.write("taken", "mine");
    std::filesystem::create_directory(folder.path("empty"));
    std::filesystem::create_symlink(folder.path("nowhere"), folder.path("link"));
    for (const char* name : {"taken", "empty", "link"}) {
        CAPTURE(name);
        check_complaint(make("acme", "opencl-c", folder.path(name)), 2, "exists already");
    }
    const Outcome nowhere = make("acme", "opencl-c", folder.path("no/such/place"));
    CHECK(nowhere.code == 2);
    CHECK(contains(nowhere.err, "there is no folder"));
    CHECK(contains(nowhere.err, "mkdir -p"));
    CHECK(read_bytes(file) == "mine");
    CHECK(std::filesystem::is_empty(folder.path("empty")));
    CHECK(folder.names() == std::vector<std::string>{"empty", "link", "taken"});
}

TEST_CASE("the command that is printed enters the folder, whatever its name") {
    const TempFolder folder;
    for (const char* name : {"plain", "two words", "it's", "$(echo no)", "a\nb\\c"}) {
        CAPTURE(name);
        const Outcome made = make("acme", "opencl-c", folder.path(name));
        REQUIRE(made.code == 0);
        const std::size_t at = made.out.find("    cd ");
        REQUIRE(at != std::string::npos);
        const std::string command = made.out.substr(at, made.out.find('\n', at) - at);
        CHECK(wye::test::run_command({"bash", "-c", command + " && test -f meson.build"}).code ==
              0);
    }
}

TEST_CASE("a name that is no id is refused with the nearest one") {
    const TempFolder folder;
    const std::map<std::string, std::string> nearest = {
        {"Tensor", "Fix: use `tensor`"},
        {"tensor-core", "Fix: use `tensor_core`"},
        {"9tensor", "Fix: use `tensor`"},
        {"a b/../c", "Fix: use `a_b_c`"},
        {"cpu", "Fix: use `cpu_device`"},
        {"cuda", "Fix: use `cuda_device`"},
        {"auto", "Fix: use `auto_device`"},
        {std::string(65, 'a'), "Fix: use `" + std::string(64, 'a') + "`"},
        {"42", "Fix: choose another name"},
        {"\xc3\xa9", "Fix: choose another name"},
    };
    for (const auto& one : nearest) {
        CAPTURE(one.first);
        const Outcome refused = make(one.first, "opencl-c", folder.path("p"));
        CHECK(refused.code == 2);
        CHECK(contains(refused.err, "cannot be the id of a plugin"));
        CHECK(contains(refused.err, one.second));
    }
    for (const char* format :
         {"opencl", "", "com..x", ".com", "com.x.", "com x.y", "spirv-vulkan"}) {
        CAPTURE(format);
        const Outcome refused = make("acme", format, folder.path("p"));
        CHECK(refused.code == 2);
        CHECK(contains(refused.err, "there is no project for the format"));
        CHECK(contains(refused.err, "wye-program"));
    }
    CHECK(folder.names().empty());
}

}  // namespace

}  // namespace wye::test::new_plugin_test
