// SPDX-License-Identifier: Apache-2.0
//
// The trace of a context on a driver whose times the test sets. trace_check.py reads the traces of
// real drivers.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "registry/hold/ownership.hpp"
#include "registry/json.hpp"
#include "rig.hpp"
#include "support/temp_dir.hpp"

namespace wye::exec::test::test_trace {
namespace {

using registry::Json;
using Words = std::vector<std::uint32_t>;

std::string text(const Json& object, std::string_view name) {
    const Json* const found = object.find(name);
    return found == nullptr ? "" : found->text();
}

// The file that the next context of this process writes: its name has the context's number, since
// only the first context writes `file` itself.
std::string numbered(const std::filesystem::path& file) {
    const auto tag = registry::ContextTag::take();
    REQUIRE(tag.ok());
    const std::string number = "." + std::to_string(tag->value() + 1);
    return (file.parent_path() / file.stem()).string() + number + file.extension().string();
}

struct Traced {
    support::TempDir folder;
    std::string given = (folder / "trace.json").string();
    std::string file = numbered(given);

    // The events of one category in the file.
    std::vector<Json> events(std::string_view category) const {
        const Json document = Json::parse(support::read_file(file));
        const Json* const all = document.find("traceEvents");
        REQUIRE(all != nullptr);
        std::vector<Json> out;
        for (std::size_t i = 0; i < all->size(); ++i)
            if (text(all->at(i), "ph") == "X" && text(all->at(i), "cat") == category)
                out.push_back(all->at(i));
        return out;
    }
    bool has_track(std::string_view name) const {
        return support::read_file(file).find("{\"name\":\"" + std::string(name) + "\"}") !=
               std::string::npos;
    }
};

// Runs a dispatch of 12 bytes each way in a context of its own. `ok`: whether it must succeed.
void run(const Traced& traced, bool ok, auto&& prepare) {
    Rig rig({{"trace.file", traced.given}});
    rig.driver.kernel = add_kernel;
    prepare(rig.driver);
    const Words x = {1, 2, 3};
    Words r(3);
    Job job(rig.program(kAdd), rig.device());
    job.param(1).in(0, x.data(), 12).out(1, r.data(), 12);
    CHECK(job.run(rig).ok() == ok);
    CHECK(job.report.device_ns == (ok ? WYE_TIME_UNKNOWN : 0));  // the request asked for no time
    CHECK(rig.driver.timed_submits == rig.driver.submits);
}

TEST_CASE("work has the times that the driver says, to the nanosecond") {
    const Traced traced;
    run(traced, true, [](FakeDriver& driver) {
        driver.has_timing = true;
        driver.begin_ns = 5'000'000'007;
        driver.end_ns = 5'000'001'009;
    });
    const auto events = traced.events("device");
    REQUIRE(events.size() == 1);
    CHECK(text(events[0], "name") == "add");
    CHECK(text(events[0], "ts") == "5000000.007");
    CHECK(text(events[0], "dur") == "1.002");
    const Json* const about = events[0].find("args");
    REQUIRE(about != nullptr);
    CHECK(text(*about, "bytes_uploaded") == "12");
    CHECK(text(*about, "bytes_downloaded") == "12");
    CHECK(text(*about, "ok") == "true");
    CHECK(traced.events("seen").empty());
    CHECK(traced.has_track("queue 0"));
}

TEST_CASE("work without times of the driver is the host's view, and its track says so") {
    for (const std::uint64_t end : {0, 5}) {  // 0: unknown; 5: before the begin
        CAPTURE(end);
        const Traced traced;
        run(traced, true, [&](FakeDriver& driver) {
            driver.has_timing = end != 0;
            driver.begin_ns = end == 0 ? 0 : 9;
            driver.end_ns = end;
        });
        CHECK(traced.events("device").empty());
        CHECK(traced.events("seen").size() == 1);
        CHECK(traced.has_track("queue 0 (host's view: submit to seen end, no driver times)"));
    }
}

TEST_CASE("failed work is marked, and has no times of the driver") {
    const Traced traced;
    run(traced, false, [](FakeDriver& driver) {
        driver.has_timing = true;
        driver.begin_ns = 5;
        driver.end_ns = 9;
        driver.fail_wait = true;
    });
    const auto events = traced.events("seen");
    REQUIRE(events.size() == 1);
    const Json* const about = events[0].find("args");
    REQUIRE(about != nullptr);
    CHECK(text(*about, "ok") == "false");
}

TEST_CASE("copies from and to staging memory are uploads and downloads") {
    const Traced traced;
    {
        Rig rig({{"trace.file", traced.given}});
        rig.driver.stages = true;
        rig.driver.facts[WYE_FACT_KEY_MAX_BUFFER_BYTES] = 1 << 30;
        const wye_device device = rig.device();
        const Words words(1 << 20, 7);
        const wye_buffer one = rig.buffer(device, words.size() * 4);
        const wye_buffer two = rig.buffer(device, words.size() * 4);
        rig.upload(one, words);
        check_ok(attempt([&](wye_error** e) {
            return wye_buffer_copy(rig.context, one, 0, two, 0, words.size() * 4, e);
        }));
        CHECK(rig.download<std::uint32_t>(two, words.size()) == words);
        const auto kinds = rig.driver.kinds();
        CHECK(std::ranges::count(kinds, WYE_OPERATION_COPY) == std::ssize(kinds));
    }
    std::uint64_t up = 0, down = 0, moved = 0;
    for (const Json& event : traced.events("seen")) {
        const Json* const about = event.find("args");
        REQUIRE(about != nullptr);
        const std::string name = text(event, "name");
        up += name == "upload" ? std::stoull(text(*about, "bytes_uploaded")) : 0;
        down += name == "download" ? std::stoull(text(*about, "bytes_downloaded")) : 0;
        moved += name == "copy or fill" ? std::stoull(text(*about, "bytes_copied_or_filled")) : 0;
    }
    CHECK(up == 1 << 22);
    CHECK(down == 1 << 22);
    CHECK(moved == 1 << 22);
}

TEST_CASE("a public queue has a track of its own, with its label, waited for or not") {
    const Traced traced;
    {
        Rig rig({{"trace.file", traced.given}});
        rig.driver.facts[WYE_FACT_KEY_MAX_QUEUES] = 8;
        const wye_device device = rig.device();
        wye_queue_create_desc desc;
        WYE_INIT(desc);
        desc.label = wye_str("mine");
        wye_queue queue = 0;
        check_ok(rig.create(device, desc, queue));
        wye_transfer_desc fill;
        WYE_INIT(fill);
        fill.kind = WYE_TRANSFER_FILL;
        fill.queue = queue;
        fill.buffer = rig.buffer(device, 16);
        fill.size = 16;
        fill.pattern_size = 4;
        check_ok(rig.transfer(fill));
        const wye_pending pending = rig.submitted(fill);
        check_ok(rig.wait(pending));
    }
    CHECK(traced.events("seen").size() == 2);
    CHECK(traced.has_track("queue 4 `mine` (host's view: submit to seen end, no driver times)"));
}

TEST_CASE("without a trace no submit is timed") {
    Rig rig;
    rig.upload(rig.buffer(rig.device(), 4), Words{1});
    CHECK(rig.driver.submits == 1);
    CHECK(rig.driver.timed_submits == 0);
}

// Opens a device in a context with this trace file, which must succeed, and returns the warnings.
std::string warnings(const std::string& file) {
    FakeDriver driver;
    driver.config = {{"trace.file", file}};
    std::string out;
    driver.log = [&](std::uint32_t level, std::string_view area, std::string_view said) {
        if (level == WYE_LOG_WARNING && area == "trace") out += said;
    };
    wye_context* const context = driver.context();
    REQUIRE(context != nullptr);
    const std::string at_once = out;
    wye_device device = 0;
    CHECK(wye_device_open(context, wye_str("fake:0"), 0, &device, nullptr) == WYE_OK);
    wye_context_destroy(context);
    CHECK(out == at_once);
    return out;
}

TEST_CASE("a file that cannot be made is a warning, and nothing that is there is replaced") {
    const support::TempDir folder;
    const auto check_warned = [](const std::string& given) {
        const std::string file = numbered(given);
        CAPTURE(file);
        const std::string said = warnings(given);
        CHECK(said.find("`" + file + "`") != std::string::npos);
        CHECK(said.find("Fix: ") != std::string::npos);
        CHECK(said.find(code_text(Code::IO)) != std::string::npos);
    };
    check_warned((folder / "missing/trace.json").string());
    check_warned("/proc/trace.json");
    const std::string pipe = numbered(folder / "pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const std::string said = warnings((folder / "pipe").string());
    CHECK(said.find(pipe) != std::string::npos);
    CHECK(said.find("regular file") != std::string::npos);
    struct stat status {};
    CHECK(::stat(pipe.c_str(), &status) == 0);
    CHECK(S_ISFIFO(status.st_mode));
    CHECK(warnings("").empty());
}

TEST_CASE("a trace file that cannot be written at the end is a warning too") {
    const support::TempDir folder;
    const std::filesystem::path place = folder / "place";
    std::filesystem::create_directory(place);
    FakeDriver driver;
    driver.config = {{"trace.file", (place / "trace.json").string()}};
    std::string said;
    driver.log = [&](std::uint32_t level, std::string_view area, std::string_view text) {
        if (level == WYE_LOG_WARNING && area == "trace") said += text;
    };
    wye_context* const context = driver.context();
    REQUIRE(context != nullptr);
    CHECK(said.empty());
    std::filesystem::remove_all(place);
    wye_context_destroy(context);
    CHECK(said.find("cannot be written") != std::string::npos);
    CHECK(said.find("Fix: ") != std::string::npos);
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the trace file of an earlier process is replaced as a whole") {
    const Traced traced;
    traced.folder.write(std::filesystem::path(traced.file).filename().string(),
                        std::string(1'000'000, 'x'));
    run(traced, true, [](FakeDriver&) {});
    CHECK(traced.events("seen").size() == 1);
    std::size_t files = 0;
    for (const auto& one : std::filesystem::directory_iterator(traced.folder.path()))
        files += one.is_regular_file() ? 1 : 0;
    CHECK(files == 1);
}

TEST_CASE("the limit of events must be a number") {
    const Traced traced;
    for (const char* limit : {"0", "many", "-1", ""}) {
        CAPTURE(limit);
        FakeDriver driver;
        driver.config = {{"trace.file", traced.given}, {"trace.events", limit}};
        CHECK(driver.context() == nullptr);
    }
    CHECK(std::filesystem::is_empty(traced.folder.path()));
}

}  // namespace
}  // namespace wye::exec::test::test_trace
