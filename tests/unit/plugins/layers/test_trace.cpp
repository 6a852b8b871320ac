// SPDX-License-Identifier: Apache-2.0
//
// The layer `trace`: where it writes, its limit, and its lines. trace_check.py reads the JSON.
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "layers/trace/line.hpp"
#include "rig.hpp"
#include "support/temp_dir.hpp"

using harness::Device;
using harness::Plugin;
using layer_test::choose;
using layer_test::logs;

namespace {

std::string content(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t out = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++out;
    return out;
}

void work() {
    Plugin plugin;
    REQUIRE(plugin.status == WYE_OK);
    Device device(plugin);
    wye_buffer_object* buffer = device.buffer(64);
    REQUIRE(device.run(harness::fill(buffer, 0, 64, 1, 4)) == WYE_OK);
    CHECK(device.buffer(64, 99) == nullptr);
}

}  // namespace

TEST_CASE("each call is a line, with arguments, status and results") {
    const support::TempDir folder;
    const std::string path = folder.path() / "calls.txt";
    choose(WYE_CPU_PLUGIN, {"trace"}, {{"layer.trace.file", path}});
    work();
    const std::string text = content(path);
    CHECK(text.starts_with("# Calls of plugins by process "));
    CHECK(count(text, " cpu buffer_create device=") == 2);
    CHECK(count(text, " size=64 alignment=16 usage=0 -> OK ") == 1);
    CHECK(count(text, " usage=99 -> UNSUPPORTED ") == 1);
    CHECK(count(text, " value=1 operations=\"fill 64\" -> OK ") == 1);
    CHECK(count(text, " cpu shutdown -> done ") == 1);
    CHECK(text.back() == '\n');
}

TEST_CASE("copies of the layer in one process share a file; another process's is replaced") {
    const support::TempDir folder;
    const std::string path = folder.path() / "calls.txt";
    std::ofstream(path) << "# Calls of plugins by process 1, which began at tick 2.\nold\n";
    choose(WYE_CPU_PLUGIN, {"trace"}, {{"layer.trace.file", path}});
    work();
    work();
    const std::string text = content(path);
    CHECK(count(text, "old") == 0);
    CHECK(count(text, "# Calls of plugins") == 1);
    CHECK(count(text, " cpu init ") == 2);
}

TEST_CASE("a trace ends at its limit, says so, and stays readable") {
    for (const char* name : {"calls.txt", "calls.json"}) {
        CAPTURE(name);
        const support::TempDir folder;
        const std::string path = folder.path() / name;
        choose(WYE_CPU_PLUGIN, {"trace"},
               {{"layer.trace.file", path}, {"layer.trace.bytes", "1KiB"}});
        work();
        const std::string text = content(path);
        CHECK(text.size() <= 1024);
        CHECK(text.size() > 512);
        CHECK(count(text, "later calls are missing") == 1);
        if (std::string(name) == "calls.json") CHECK(text.ends_with("}\n]\n"));
    }
}

TEST_CASE("a text of a driver stays on its line, and is valid UTF-8") {
    std::string out;
    wye::layers::trace::add_escaped(out, "gr\u00fcn \"\\ \n\u009b\xff");
    CHECK(out == "gr\u00fcn \\\"\\\\ \\\\n\\\\xc2\\\\x9b\\\\xff");
}

TEST_CASE("without a file, lines go to the log") {
    choose(WYE_CPU_PLUGIN, {"trace"});
    const Plugin plugin;
    CHECK(logs(plugin.host, "trace: ", "probe_devices -> OK"));
}

TEST_CASE("a wrong file, format or limit is an error of init, and nothing is left behind") {
    const support::TempDir folder;
    struct Wrong {
        std::map<std::string, std::string> config;
        wye_status status;
        const char* fix;
    };
    const std::string absent = folder.path() / "absent" / "calls.txt";
    const Wrong wrong[] = {
        {{{"layer.trace.file", absent}}, WYE_IO, "Fix: set WYE_LAYER_TRACE"},
        {{{"layer.trace.file", "/dev/null"}}, WYE_IO, "Fix: set WYE_LAYER_TRACE"},
        {{{"layer.trace.file", folder.path()}}, WYE_IO, "Fix: set WYE_LAYER_TRACE"},
        {{{"layer.trace.format", "xml"}}, WYE_INVALID_ARGUMENT, "Fix: give text or chrome"},
        {{{"layer.trace.bytes", "many"}}, WYE_INVALID_ARGUMENT, "Fix: give a number"},
        {{{"layer.trace.bytes", "0"}}, WYE_INVALID_ARGUMENT, "Fix: give a number"},
    };
    for (const Wrong& one : wrong) {
        choose(WYE_CPU_PLUGIN, {"trace"}, one.config);
        const Plugin plugin;
        CHECK(plugin.status == one.status);
        CHECK(plugin.failure.fix.starts_with(one.fix));
    }
    CHECK(std::filesystem::is_empty(folder.path()));
}
