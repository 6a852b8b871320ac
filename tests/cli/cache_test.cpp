// SPDX-License-Identifier: Apache-2.0
//
// The disk cache of compiled programs, which processes share, seen through the commands.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "command.hpp"

namespace wye::test::cache_test {
namespace {

using Environment = std::map<std::string, std::string>;

const std::string kPrograms = WYE_PROGRAMS;

nlohmann::json report(const Environment& environment) {
    const Outcome outcome = wye_command({"cache", "--json"}, environment);
    REQUIRE(outcome.code == 0);
    return nlohmann::json::parse(outcome.out);
}

// An environment with a cache folder for this test alone, of the default size.
Environment environment_of(const TempFolder& folder) {
    return {{"WYE_CACHE_DIR", folder.path("cache")}, {"WYE_CACHE_SIZE", "512MiB"}};
}

// Runs the program mix on 1024 words, and returns the output.
std::string run_mix(const std::string& device, const TempFolder& folder, const Environment& env,
                    std::string& said) {
    std::string words;
    for (unsigned i = 0; i < 4096; ++i) words += static_cast<char>(i * 37 + i / 256);
    const Outcome outcome = wye_command(
        {"run", kPrograms + "/mix.wye", "-d", device, "--in",
         "words=" + folder.write("words", words), "--out", "words=" + folder.path("out")},
        env);
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    said = outcome.err;
    return read_bytes(folder.path("out"));
}

std::vector<std::string> drivers() {
    std::vector<std::string> out = listed_devices();
    std::erase_if(out,
                  [](const std::string& one) { return one != "opencl:0" && one != "vulkan:0"; });
    return out;
}

}  // namespace

TEST_CASE("the second process of each driver loads, with the same result") {
    for (const std::string& device : drivers()) {
        CAPTURE(device);
        const TempFolder folder;
        const Environment env = environment_of(folder);
        std::string said;
        const std::string first = run_mix(device, folder, env, said);
        CHECK(contains(said, "compiled now"));
        CHECK(report(env)["stored"] == 1);
        CHECK(run_mix(device, folder, env, said) == first);
        CHECK(contains(said, "compiled before"));
        const auto after = report(env);
        CHECK(after["hits"] == 1);
        CHECK(after["misses"] == 1);
        CHECK(after["entries"].size() == 1);
        CHECK(after["entries"][0]["program"] == "mix");
        std::string plain;
        CHECK(run_mix("cpu", folder, env, plain) == first);
        CHECK(report(env)["entries"].size() == 1);  // the CPU's programs are not cached
    }
}

#ifdef WYE_HAS_NVRTC
TEST_CASE("code that NVRTC made is kept too, and NVRTC then stays closed") {
    const TempFolder folder;
    const Environment env = environment_of(folder);
    const std::vector<std::string> lower = {"lower", kPrograms + "/saxpy.wye", "--to",
                                            "cubin:sm_90"};
    const Outcome first = wye_command(lower, env);
    REQUIRE_MESSAGE(first.code == 0, first.err);
    const Outcome second = wye_command(lower, env);
    CHECK(second.code == 0);
    CHECK(second.out == first.out);
    CHECK(report(env)["hits"] == 1);
    const Outcome other =
        wye_command({"lower", kPrograms + "/saxpy.wye", "--to", "cubin:sm_80"}, env);
    CHECK(other.out != first.out);
    CHECK(report(env)["entries"].size() == 2);
}
#endif

TEST_CASE("several processes at once") {
    const auto devices = drivers();
    if (devices.empty()) return;
    const TempFolder folder;
    const Environment env = environment_of(folder);
    std::vector<std::thread> threads;
    std::vector<int> codes(4, -1);
    const std::string input = folder.write("words", std::string(4096, 'x'));
    for (std::size_t n = 0; n < codes.size(); ++n)
        threads.emplace_back([&, n] {
            codes[n] = wye_command({"run", kPrograms + "/mix.wye", "-d", devices.back(), "--in",
                                    "words=" + input},
                                   env)
                           .code;
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(codes == std::vector<int>(4, 0));
    const auto after = report(env);
    CHECK(after["entries"].size() == 1);
    CHECK(after["damaged"] == 0);
    CHECK(after["hits"].get<int>() + after["misses"].get<int>() == 4);
}

TEST_CASE("what is kept is shown and cleared, and the size is the user's") {
    const TempFolder folder;
    Environment env = environment_of(folder);
    const Outcome empty = wye_command({"cache"}, env);
    CHECK(empty.code == 0);
    CHECK(contains(empty.out, folder.path("cache") + "/programs"));
    CHECK(contains(empty.out, "0 entries"));
    if (!drivers().empty()) {
        std::string said;
        run_mix(drivers().back(), folder, env, said);
        const Outcome list = wye_command({"cache", "list"}, env);
        CHECK(list.code == 0);
        CHECK(contains(list.out, "mix"));
        CHECK(contains(wye_command({"cache", "clear"}, env).out, "freed"));
        CHECK(report(env)["entries"].empty());
        CHECK(report(env)["bytes"] == 0);
    }
    env["WYE_CACHE_SIZE"] = "0";
    CHECK(contains(wye_command({"cache"}, env).out, "off"));
    // Entries of an earlier process are still shown, and can be cleared.
    const std::string entry = "cache/programs/0123456789abcdef0123456789abcdef";
    (void)folder.write(entry, "12345");
    CHECK(contains(wye_command({"cache"}, env).out, "size     5 B of 0 B, 1 entries\n"));
    CHECK(contains(wye_command({"cache", "clear"}, env).out, "freed 5 B"));
    CHECK_FALSE(std::filesystem::exists(folder.path(entry)));
    env["WYE_CACHE_SIZE"] = "lots";
    CHECK(contains(wye_command({"cache"}, env).out, "`lots` is not a valid size. Fix: "));
    CHECK(contains(wye_command({"info", "doctor"}, env).out, "`lots` is not a valid size\n"));
    env["WYE_CACHE_SIZE"] = "1M";
    env["WYE_CACHE_DIR"] = "";
    CHECK(contains(wye_command({"cache"}, env).out, "off      it has no folder. Fix: "));
    CHECK(wye_command({"cache", "burn"}, env).code == 2);

    const Outcome user = run_command(
        {WYE_TOOL, "cache"}, {{"XDG_CACHE_HOME", folder.path("xdg")}, {"WYE_CACHE_SIZE", "1M"}});
    CHECK(contains(user.out, folder.path("xdg") + "/wye/programs"));
}

TEST_CASE("what self-tests found out is shown and cleared too") {
    const auto devices = drivers();
    if (std::ranges::find(devices, "vulkan:0") == devices.end()) return;
    const TempFolder folder;
    const Environment env = environment_of(folder);
    std::string said;
    const std::string first = run_mix("vulkan:0", folder, env, said);
    const auto kept = report(env)["kept"];
    REQUIRE(kept.size() >= 1);
    for (const auto& one : kept) CHECK(one["sound"] == true);
    CHECK(kept[0]["kind"] == "vulkan-self-test");
    CHECK(contains(kept[0]["key"], "build="));
    CHECK(contains(wye_command({"cache", "list"}, env).out, "vulkan-self-test"));
    // A damaged entry is reported, not used, and made again.
    const std::string path = folder.path("cache") + "/" + kept[0]["name"].get<std::string>();
    const std::string text = read_bytes(path);
    std::string changed = text;
    const std::size_t at = changed.find("f32_plain.fuses ") + 16;
    changed[at] = changed[at] == '1' ? '0' : '1';
    (void)folder.write("cache/" + kept[0]["name"].get<std::string>(), changed);
    CHECK(report(env)["kept"][0]["sound"] == false);
    CHECK(run_mix("vulkan:0", folder, env, said) == first);
    CHECK(read_bytes(path) == text);
    (void)folder.write("cache/notes.txt", "mine");
    CHECK(wye_command({"cache", "clear"}, env).code == 0);
    CHECK(report(env)["kept"].empty());
    CHECK(read_bytes(folder.path("cache/notes.txt")) == "mine");
    Environment off = env;
    off["WYE_CACHE_SIZE"] = "0";  // programs are not cached, but verdicts still are
    run_mix("vulkan:0", folder, off, said);
    CHECK(report(off)["kept"].size() == 1);
    CHECK(wye_command({"cache", "clear"}, off).code == 0);
    CHECK(report(off)["kept"].empty());
}

TEST_CASE("a home that is not there is not made") {
    const TempFolder folder;
    const Environment env = {{"HOME", folder.path("nobody")},
                             {"XDG_CACHE_HOME", folder.path("none/cache")},
                             {"POCL_CACHE_DIR", folder.path("pocl")},
                             {"MESA_SHADER_CACHE_DIR", folder.path("mesa")},
                             {"WYE_CACHE_SIZE", "1M"}};
    CHECK(wye_command({"info"}, env).code == 0);
    Environment home = env;
    home["XDG_CACHE_HOME"] = "";
    CHECK(wye_command({"info"}, home).code == 0);
    const Outcome size = wye_command({"cache"}, home);
    CHECK(size.code == 0);
    CHECK(contains(size.out, "off"));
    for (const std::string& name : folder.names()) {
        CHECK(name != "nobody");
        CHECK(name != "none");
    }
}

TEST_CASE(
    "a cache folder that cannot be used turns the cache off, and no other folder is used instead") {
    const TempFolder folder;
    const std::string open = folder.path("open");
    std::filesystem::create_directories(open);
    std::filesystem::permissions(open, std::filesystem::perms::all);
    const std::string file = folder.write("file", "mine");
    const std::string below = file + "/cache";  // cannot be created
    for (const std::string& wrong :
         {std::string("scratch"), open, file, below, std::string("/proc/wye"), std::string("/")}) {
        CAPTURE(wrong);
        const Environment env = {{"HOME", folder.path("")},
                                 {"XDG_CACHE_HOME", folder.path("xdg")},
                                 {"WYE_CACHE_DIR", wrong},
                                 {"WYE_CACHE_SIZE", "1M"}};
        for (const char* action : {"size", "list", "clear"}) {
            check_complaint(wye_command({"cache", action}, env),
                            (wrong == "scratch" || wrong == "/" ? 2 : 1), "`" + wrong + "`");
        }
        const Outcome info = wye_command({"info", "--json"}, env);
        bool recorded = false;
        const auto said_info = nlohmann::json::parse(info.out);
        for (const auto& record : said_info["records"])
            recorded = recorded || contains(record.value("message", ""), "the cache is off");
        CHECK(recorded);
        const Outcome doctor = wye_command({"info", "doctor"}, env);
        CHECK(doctor.code == 1);
        CHECK(contains(doctor.out, "the cache is off: "));
        CHECK_FALSE(contains(doctor.out, "plugin `" + wrong + "`"));
        const Outcome run = wye_command(
            {"run", kPrograms + "/mix.wye", "-d", "cpu", "-q", "--in", "words=@zeros(16)"}, env);
        CHECK(run.code == 0);
        CHECK(run.err.starts_with("wye: warning: cache: "));
        CHECK(contains(run.err, "the cache is off: "));
        CHECK(contains(run.err, "Fix: "));
        std::string said;
        if (!drivers().empty()) run_mix(drivers().back(), folder, env, said);
        CHECK_FALSE(std::filesystem::exists(folder.path("xdg")));
        CHECK_FALSE(std::filesystem::exists("scratch"));
    }
    CHECK(std::filesystem::is_empty(open));
    CHECK(read_bytes(file) == "mine");
}

TEST_CASE("a link may lead to the cache folder, and verdicts take an eighth of the size at most") {
    if (drivers().empty()) return;
    const TempFolder folder;
    std::filesystem::create_directory(folder.path("real"));
    std::filesystem::permissions(folder.path("real"), std::filesystem::perms::owner_all);
    std::filesystem::create_symlink("real", folder.path("cache"));
    Environment env = environment_of(folder);
    env["WYE_CACHE_SIZE"] = "1M";
    env["WYE_PROBE"] = "auto";
    const auto bytes = [&] {
        std::uint64_t out = 0;
        const auto all = report(env);
        for (const auto& one : all["kept"]) out += one["bytes"].get<std::uint64_t>();
        return out;
    };
    std::string said;
    run_mix(drivers().back(), folder, env, said);
    const auto first = report(env);
    CHECK(std::ranges::count(first["entries"], "mix", [](const auto& one) {
              return one["program"].template get<std::string>();
          }) == 1);
    for (const auto& one : first["kept"]) CHECK(one["sound"] == true);
    const std::uint64_t once = bytes();
    CHECK(once != 0);
    // Makes old entries, like those that earlier values of a driver's variables leave.
    for (int n = 0; n < 8; ++n) {
        const std::string name = "cache/plugin-probe-000000000000000" + std::to_string(n);
        const std::string path = folder.write(name, std::string(30'000, 'x'));
        std::filesystem::last_write_time(
            path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(n + 1));
    }
    env["POCL_CACHE_DIR"] = folder.path("pocl");  // gives another verdict
    env["VK_LAYER_PATH"] = folder.path("layers");
    run_mix(drivers().back(), folder, env, said);
    CHECK(bytes() <= 131072);
    CHECK(std::filesystem::exists(folder.path("cache/plugin-probe-0000000000000000")));
    CHECK_FALSE(std::filesystem::exists(folder.path("cache/plugin-probe-0000000000000007")));
}

}  // namespace wye::test::cache_test
