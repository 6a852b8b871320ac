// SPDX-License-Identifier: Apache-2.0
//
// `wye run` with wrong numbers, unusable files or too little memory, and the files that are left
// when the command is killed.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "command.hpp"

extern char** environ;

namespace wye::test::files_test {
namespace {

const std::string kPrograms = WYE_PROGRAMS;

Outcome wye_run(std::vector<std::string> words) {
    words.insert(words.begin(), {WYE_TOOL, "run"});
    words.insert(words.end(), {"-d", "cpu"});
    return run_command(words, {{"WYE_PLUGIN_PATH", "/nowhere"}});
}

// Stores r[i] = i and s[i] = i for the requested number of elements.
const std::string kCount =
    "wye 1;\nprogram count;\nworkgroup 64;\noutput r: u32[];\noutput s: u32[len(r)];\n"
    "grid elements len(r);\nmain { let i = global_id.x; if i < len(r) { r[i] = i; s[i] = i; } }\n";

// Starts a command as a shell would, with default signal handling.
pid_t start(std::vector<std::string> words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    REQUIRE(posix_spawn(&child, pointers[0], &actions, nullptr, pointers.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

}  // namespace

TEST_CASE("numbers are read whole, and the error states the range") {
    const TempFolder folder;
    const std::string program = folder.write("count.wye", kCount);
    const std::string out = "r=" + folder.path("r");
    struct Row {
        const char* flag;
        const char* value;
        const char* part;
    };
    const Row rows[] = {{"--timeout-ms", "18446744073710", "0 to 18446744073709"},
                        {"--timeout-ms", "-1", "0 to 18446744073709"},
                        {"--timeout-ms", "", "0 to"},
                        {"--timeout-ms", "1e3", "0 to"},
                        {"--elements", "-1", "0 to 18446744073709551615"},
                        {"--elements", "", "0 to"},
                        {"--elements", " 4", "0 to"},
                        {"--elements", "0x4", "0 to"},
                        {"--elements", "+4", "0 to"},
                        {"--elements", "18446744073709551616", "0 to"},
                        {"--ulp-budget", "4294967296", "0 to 4294967295"},
                        {"--ulp-budget", "-1", "0 to 4294967295"},
                        {"--grid", "", "0 to 4294967295"},
                        {"--grid", "4294967296", "0 to 4294967295"},
                        {"--grid", "1,", "X[,Y[,Z]]"},
                        {"--grid", "1,2,3,4", "X[,Y[,Z]]"}};
    for (const Row& row : rows) {
        const bool sized = std::string(row.flag) == "--elements";
        std::vector<std::string> words = {program, "--out", out, row.flag, row.value};
        if (!sized) words.insert(words.end(), {"--elements", "4"});
        const Outcome outcome = wye_run(words);
        CAPTURE(row.flag);
        CAPTURE(row.value);
        check_complaint(outcome, 2, row.part);
    }
    CHECK(folder.names() == std::vector<std::string>{"count.wye"});
}

TEST_CASE("values of parameters are read whole, and the error states the range") {
    const TempFolder folder;
    const std::string program = folder.write(
        "p.wye",
        "wye 1;\nprogram p;\nworkgroup 1;\nparam a: u32;\nparam b: i64;\nparam c: f32;\n"
        "output r: u32[1];\ngrid groups 1;\nmain { r[0] = a; }\n");
    const auto ran = [&](const std::string& a, const std::string& b, const std::string& c) {
        return wye_run({program, "--param", "a=" + a, "--param", "b=" + b, "--param", "c=" + c});
    };
    CHECK(ran("4294967295", "-9223372036854775808", "-inf").code == 0);
    CHECK(ran("0xffffffff", "-0x10", "1e-45").code == 0);
    for (const Outcome& outcome :
         {ran("4294967296", "0", "0"), ran("-1", "0", "0"), ran("+1", "0", "0"),
          ran(" 1", "0", "0"), ran("1.0", "0", "0"), ran("0x", "0", "0")}) {
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.err, "0 to 4294967295"));
    }
    CHECK(contains(ran("0", "9223372036854775808", "0").err,
                   "-9223372036854775808 to 9223372036854775807"));
    for (const Outcome& outcome :
         {ran("0", "0", "1e39"), ran("0", "0", "1x"), ran("0", "0", "1e-50")})
        CHECK(contains(outcome.err, "3.4028235e+38"));
}

TEST_CASE("a grid and an element count go together, as in the C API") {
    const TempFolder folder;
    const std::string program = folder.write("count.wye", kCount);
    const Outcome outcome =
        wye_run({program, "--grid", "1", "--elements", "100", "--out", "r=" + folder.path("r")});
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    const std::string r = read_bytes(folder.path("r"));
    REQUIRE(r.size() == 400);  // from --elements
    CHECK(r[63 * 4] == 63);
    CHECK(r[64 * 4] == 0);  // --grid 1 runs one workgroup of 64
    CHECK(contains(wye_run({program, "--grid", "1", "--out", "r=" + folder.path("r")}).err,
                   "run-time output `r` is not given. Fix: add --elements N"));
}

TEST_CASE("two outputs do not go to one file") {
    const TempFolder folder;
    const std::string program = folder.write("count.wye", kCount);
    const std::string r = folder.path("r");
    const auto ran = [&](const std::string& one, const std::string& other) {
        return wye_run({program, "--elements", "4", "--out", "r=" + one, "--out", "s=" + other});
    };
    for (const bool exists : {false, true}) {
        if (exists) (void)folder.write("r", "keep me");
        REQUIRE((!exists || symlink(r.c_str(), folder.path("link").c_str()) == 0));
        for (const std::string& other :
             {r, folder.path("./r"), exists ? folder.path("link") : folder.path(".//r")}) {
            check_complaint(ran(r, other), 2, "one file");
        }
    }
    CHECK(read_bytes(r) == "keep me");
    CHECK(ran("/dev/null", "/dev/null").code == 0);
}

TEST_CASE("what is printed reaches no output if standard descriptors are closed") {
    const TempFolder folder;
    const std::string program = folder.write("count.wye", kCount);
    for (const char* closed : {"2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"}) {
        CAPTURE(closed);
        const std::string shell = std::string("exec \"$0\" \"$@\" ") + closed;
        const Outcome outcome =
            run_command({"/bin/sh", "-c", shell, WYE_TOOL, "run", program, "-d", "cpu",
                         "--elements", "4", "--out", "r=" + folder.path("r")},
                        {{"WYE_PLUGIN_PATH", "/nowhere"}, {"WYE_TRACE", folder.path("t.json")}});
        CHECK(outcome.code == 0);
        CHECK(read_bytes(folder.path("r")).size() == 16);
        CHECK(read_bytes(folder.path("t.json")).ends_with("\n]}\n"));
    }
}

TEST_CASE("an output or a trace is no file that the run uses otherwise, and both are named") {
    const TempFolder folder;
    const std::string program =
        folder.write("p.wye",
                     "wye 1;\nprogram p;\nworkgroup 1;\ninput x: u32[4];\noutput r: u32[4];\n"
                     "grid groups 4;\nmain { let i = global_id.x; r[i] = x[i]; }\n");
    const std::string bytes(16, '\1');
    const std::string x = folder.write("x", bytes);
    const std::string r = folder.path("r");
    const auto refuse = [&](const std::string& out, const std::map<std::string, std::string>& more,
                            const std::string& one, const std::string& other) {
        std::map<std::string, std::string> environment = {{"WYE_PLUGIN_PATH", "/nowhere"}};
        environment.insert(more.begin(), more.end());
        const Outcome outcome = run_command(
            {WYE_TOOL, "run", program, "-d", "cpu", "--in", "x=" + x, "--out", "r=" + out},
            environment);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.err, one));
        CHECK(contains(outcome.err, other));
        CHECK(contains(outcome.err, "Fix: name another file"));
        CHECK(read_bytes(x) == bytes);
        CHECK(folder.names() == std::vector<std::string>{"p.wye", "x"});
    };
    refuse(x, {}, "input `x`", "output `r`");
    refuse(program, {}, "the program", "output `r`");
    refuse(r, {{"WYE_TRACE", r}}, "output `r`", "WYE_TRACE");
    refuse(r, {{"WYE_TRACE", x}}, "input `x`", "WYE_TRACE");
    refuse(r, {{"WYE_LAYERS", "trace"}, {"WYE_LAYER_TRACE", x}}, "input `x`", "WYE_LAYER_TRACE");
}

TEST_CASE("a file of a variant is overwritten by no output and no trace") {
    const TempFolder folder;
    const std::string program =
        folder.write("v.wye",
                     "wye 1;\nprogram v;\nworkgroup 1;\noutput r: u32[1];\nvariant \"opencl-c\" "
                     "entry \"k\" file \"k.cl\";\ngrid groups 1;\nmain { r[0] = 1u; }\n");
    const std::string code = "__kernel void k(__global uint* r) {}";
    const std::string file = folder.write("k.cl", code);
    const std::string report = folder.write("report", "{}");
    const std::string r = "r=" + file;
    const std::pair<std::vector<std::string>, std::map<std::string, std::string>> rows[] = {
        {{"run", program, "-d", "cpu", "--out", r}, {}},
        {{"run", program, "-d", "cpu"}, {{"WYE_TRACE", file}}},
        {{"run", program, "-d", "cpu"}, {{"WYE_LAYERS", "trace"}, {"WYE_LAYER_TRACE", file}}},
        {{"check", program}, {{"WYE_TRACE", file}}},
        {{"lower", program, "--to", "text", "--output", file}, {}},
        {{"info", "--explain", program}, {{"WYE_TRACE", file}}},
        {{"info", "--from", report}, {{"WYE_TRACE", report}}}};
    for (const auto& [words, more] : rows) {
        std::map<std::string, std::string> environment = {{"WYE_PLUGIN_PATH", "/nowhere"}};
        environment.insert(more.begin(), more.end());
        std::vector<std::string> line = {WYE_TOOL};
        line.insert(line.end(), words.begin(), words.end());
        const Outcome outcome = run_command(line, environment);
        CAPTURE(line);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.err, line[2] == "--from" ? "the report" : "variant file `k.cl`"));
        CHECK(contains(outcome.err, "Fix: name another file"));
        CHECK(read_bytes(file) == code);
        CHECK(read_bytes(report) == "{}");
    }
}

TEST_CASE("a program can be a pipe") {
    const Outcome outcome = run_command({"/bin/sh", "-c", "cat \"$1\" | \"$0\" check /dev/stdin",
                                         WYE_TOOL, kPrograms + "/mix.wye"});
    CAPTURE(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "program        mix"));
}

TEST_CASE("a path that cannot be written to is reported before the program runs") {
    const TempFolder folder;
    const std::string program =
        folder.write("endless.wye",
                     "wye 1;\nprogram endless;\nworkgroup 1;\noutput r: u32[1];\n"
                     "grid groups 1;\nmain { while r[0] == 0u { r[0] = 0u; } }\n");
    const Outcome outcome =
        wye_run({program, "--timeout-ms", "3000", "--out", "r=" + folder.path("no/r")});
    CAPTURE(outcome.err);
    CHECK(outcome.code == 1);
    CHECK(contains(outcome.err, "cannot write"));  // and not a time-out: the program did not run
}

TEST_CASE("a trace that cannot be written is told of") {
    const TempFolder folder;
    check_complaint(
        run_command({WYE_TOOL, "run", folder.write("count.wye", kCount), "-d", "cpu", "-q",
                     "--elements", "4"},
                    {{"WYE_PLUGIN_PATH", "/nowhere"}, {"WYE_TRACE", folder.path("no/t.json")}}),
        0, "no trace can be written to");
}

TEST_CASE("what the user names cannot control the terminal") {
    const TempFolder folder;
    const std::string evil = "a\x1b[2J\x7f\xff\u009b31m\u202e\nwye: all is well";
    // Several invocations store the same element, and the message about that names the file.
    const std::string racy = folder.write("\x1b[2J\x7f\xff\u009b31m\u202e.wye",
                                          "//: grid 2 1 1\n//: buffer r output\n//: zeros 4\nwye "
                                          "1;\nprogram racy;\nworkgroup 1;\noutput r: u32[1];\n"
                                          "grid groups 2;\nmain { r[0] = global_id.x; }\n");
    const std::vector<std::pair<std::vector<std::string>, std::map<std::string, std::string>>>
        runs = {{{WYE_TOOL, "run", evil}, {}},
                {{WYE_TOOL, evil}, {}},
                {{WYE_TOOL, "check", kPrograms + "/mix.wye", evil}, {}},
                {{WYE_TOOL, "fuzz", "--replay", evil}, {}},
                {{WYE_TOOL, "fuzz", "--count", evil}, {}},
                {{WYE_TOOL, "fuzz", "--replay", racy, "--devices", "cpu"}, {}},
                {{WYE_TOOL, "lower", racy, "--to", evil}, {}},
                {{WYE_TOOL, "run", racy, "--device", "\"\xff\u009b31m\u202e\",cpu"}, {}},
                {{WYE_TOOL, "run", racy, "--json", "--device", "\"\xff\u009b31m\u202e\",cpu"}, {}},
                {{WYE_TOOL, "run", racy, "--device", evil + ",cpu"}, {}},
                {{WYE_TOOL, "info", "--device", evil}, {}},
                {{WYE_TOOL, "info", "--from", evil}, {}},
                {{WYE_TOOL, "info", "--json"}, {{"WYE_DEVICE", "\"\u009b31m\u202e\",cpu"}}},
                {{WYE_TOOL, "conform", evil}, {}},
                {{WYE_TOOL, "new-plugin", "a", "--out", evil + "/b"}, {}},
                {{WYE_TOOL, "plugins", "trust", evil}, {}},
                {{WYE_TOOL, "explain", evil}, {}},
                {{WYE_TOOL, "bench", "--json", evil + "/b"}, {}},
                {{WYE_TOOL, "run", kPrograms + "/mix.wye", "--in", "words=" + evil}, {}},
                {{WYE_TOOL, "run", kPrograms + "/mix.wye", "--in", "words=/dev/null"},
                 {{"WYE_DEVICE", evil}}},
                {{WYE_TOOL, "check", kPrograms + "/mix.wye"}, {{"WYE_CACHE_DIR", evil}}},
                {{WYE_TOOL, "cache"}, {{"WYE_CACHE_DIR", evil}}},
                {{WYE_TOOL, "info"}, {{"WYE_LAYERS", evil}}},
                {{WYE_TOOL, "info"}, {{"WYE_LOG", evil}}}};
    for (const auto& run : runs) {
        const Outcome outcome = run_command(run.first, run.second);
        CAPTURE(run.first);
        CAPTURE(outcome.err);
        for (const std::string& text : {outcome.out, outcome.err}) {
            CHECK(text.find_first_of("\x1b\x7f\xff") == std::string::npos);
            CHECK_FALSE(contains(text, "\u009b"));
            CHECK_FALSE(contains(text, "\u202e"));
            CHECK_FALSE(contains(text, "\nwye: all is well"));
        }
    }
}

TEST_CASE("a file that is replaced keeps its permissions, but not set-user-id and its like") {
    const TempFolder folder;
    const std::string program = folder.write("count.wye", kCount);
    const std::string out = folder.write("r", "old");
    REQUIRE(::chmod(out.c_str(), 07750) == 0);
    CHECK(wye_run({program, "--elements", "4", "--out", "r=" + out}).code == 0);
    struct stat info {};
    REQUIRE(::stat(out.c_str(), &info) == 0);
    CHECK(info.st_size == 16);
    CHECK((info.st_mode & 07777U) == 0750);
}

TEST_CASE("an input without an end is read as far as it can be used") {
    const TempFolder folder;
    const std::string program =
        folder.write("p.wye",
                     "wye 1;\nprogram p;\nworkgroup 1;\ninput x: u32[4];\ninput y: u32[];\n"
                     "input z: u32[len(y)];\noutput r: u32[4];\n"
                     "grid groups 4;\nmain { let i = global_id.x; r[i] = x[i] + y[i] + z[i]; }\n");
    const std::string file = folder.write("file", std::string(16, '\0'));
    // Each input is endless in turn. The limits: for x its own size, for z the size of y, and for y
    // 64 MiB, the most that is read from a character device such as /dev/zero.
    const std::pair<std::string, std::string> rows[] = {
        {"x", "the 16 bytes"}, {"z", "the 16 bytes"}, {"y", "the 67108864 bytes"}};
    for (const auto& [endless, limit] : rows) {
        std::vector<std::string> words = {program};
        for (const char* name : {"x", "y", "z"})
            words.insert(words.end(),
                         {"--in", name + ("=" + (name == endless ? "/dev/zero" : file))});
        const Outcome outcome = wye_run(words);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.err, "`" + endless + "`"));
        CHECK(contains(outcome.err, limit));
        CHECK(contains(outcome.err, "Fix: "));
    }
}

TEST_CASE("the file of a variant is a regular one in the program's folder") {
    const TempFolder folder;
    (void)folder.write("secret", "code");
    std::filesystem::create_directory(folder.path("sub"));
    REQUIRE(::mkfifo(folder.path("sub/pipe").c_str(), 0600) == 0);
    for (const std::string& file :
         {std::string("../secret"), folder.path("secret"), std::string("x/../../secret"),
          std::string("pipe"), std::string("..")}) {
        CAPTURE(file);
        const std::string program = folder.write(
            "sub/v.wye",
            "wye 1;\nprogram v;\nworkgroup 1;\noutput r: u32[1];\nvariant \"opencl-c\" entry "
            "\"k\" file \"" +
                file + "\";\nmain { r[0] = 1u; }\n");
        check_complaint(run_command({WYE_TOOL, "check", program}), 2,
                        file == "pipe" ? "is no regular file" : "leads out of");
    }
}

// Left out with AddressSanitizer, which reserves more addresses than these two cases allow.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WYE_RESERVES_ADDRESSES
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WYE_RESERVES_ADDRESSES
#endif
#if !defined(WYE_RESERVES_ADDRESSES)

TEST_CASE("an input without an end for a buffer of any size is refused before memory is full") {
    // The limit on the address space is smaller than the file would need in memory.
    const Outcome open_end =
        run_command({"/bin/sh", "-c", "ulimit -v 2000000; exec \"$0\" \"$@\"", WYE_TOOL, "run",
                     kPrograms + "/mix.wye", "-d", "cpu", "--in", "words=/dev/zero"},
                    {{"WYE_PLUGIN_PATH", "/nowhere"}});
    CAPTURE(open_end.err);
    CHECK(open_end.code != 0);
    CHECK(contains(open_end.err, "`words`"));
    CHECK(contains(open_end.err, "bytes"));
    CHECK(contains(open_end.err, "Fix: "));
    CHECK_FALSE(contains(open_end.err, "internal error"));
}

TEST_CASE("the device refuses an output before there is memory for it") {
    const TempFolder folder;
    const std::string program = folder.write("count.wye", kCount);
    // Each buffer has 16 GiB. The device may refuse or run the launch, without an internal error.
    const Outcome outcome = run_command(
        {"/bin/sh", "-c", "ulimit -v 4000000; exec \"$0\" \"$@\"", WYE_TOOL, "run", program, "-d",
         "cpu", "--elements", "4294967295", "--grid", "1", "--out", "r=" + folder.path("r")},
        {{"WYE_PLUGIN_PATH", "/nowhere"}});
    check_complaint(outcome, 1, "17179869180");
    CHECK(folder.names() == std::vector<std::string>{"count.wye"});
}

#endif

TEST_CASE("a full disk behind standard output is an error of writing") {
    for (const char* verb : {"info", "check"}) {
        const Outcome outcome =
            run_command({"/bin/sh", "-c", "exec \"$0\" \"$1\" ${2:+\"$2\"} > /dev/full", WYE_TOOL,
                         verb, std::string(verb) == "check" ? kPrograms + "/mix.wye" : ""},
                        {{"WYE_PLUGIN_PATH", "/nowhere"}});
        CAPTURE(outcome.err);
        CHECK(outcome.code == 1);
        CHECK(contains(outcome.err, "Fix: "));
        CHECK_FALSE(contains(outcome.err, "internal error"));
    }
}

TEST_CASE("a limit on file sizes leaves nothing behind and is named") {
    const TempFolder folder;
    const std::string program = folder.write("count.wye", kCount);
    const Outcome outcome =
        run_command({"/bin/sh", "-c", "ulimit -f 1; exec \"$0\" \"$@\"", WYE_TOOL, "run", program,
                     "-d", "cpu", "--elements", "100000", "--out", "r=" + folder.path("r")},
                    {{"WYE_PLUGIN_PATH", "/nowhere"}});
    CAPTURE(outcome.err);
    CHECK(outcome.code == 1);
    CHECK(contains(outcome.err, "too large"));
    CHECK(folder.names() == std::vector<std::string>{"count.wye"});
}

// With and without an existing file: a killed process has written the whole file, or nothing.
TEST_CASE("a run that is killed at any moment leaves whole files or none") {
    const TempFolder folder;
    const std::string program = folder.write("count.wye", kCount);
    constexpr std::size_t kElements = 4'000'000;
    const std::string old_bytes = "old";
    unsigned killed = 0;
    for (unsigned n = 0; n < 48; ++n) {
        const bool exists = n % 2 == 1;
        std::filesystem::remove(folder.path("r"));
        if (exists) (void)folder.write("r", old_bytes);
        const pid_t child = start({WYE_TOOL, "run", program, "-d", "cpu", "-q", "--elements",
                                   std::to_string(kElements), "--out", "r=" + folder.path("r")});
        std::this_thread::sleep_for(std::chrono::milliseconds(2 + n * 2));
        const int signals[] = {SIGINT, SIGTERM, SIGKILL, SIGHUP};
        kill(child, signals[n / 2 % 4]);
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        killed += WIFSIGNALED(status) ? 1 : 0;
        CAPTURE(n);
        struct stat info {};
        for (const std::string& name : folder.names()) {
            if (name == "r" || name == "count.wye") continue;
            // SIGKILL cannot be delayed, so it may leave the complete new file under a temporary
            // name, beside the old file.
            CAPTURE(name);
            CHECK(signals[n / 2 % 4] == SIGKILL);
            CHECK(exists);
            CHECK(name.starts_with("r."));
            CHECK(std::filesystem::file_size(folder.path(name)) == kElements * 4);
            std::filesystem::remove(folder.path(name));
        }
        if (stat(folder.path("r").c_str(), &info) == 0)
            CHECK((info.st_size == kElements * 4 || (exists && info.st_size == 3)));
        else
            CHECK_FALSE(exists);
    }
    CHECK(killed != 0);
}

}  // namespace wye::test::files_test
