// SPDX-License-Identifier: Apache-2.0
//
// The disk cache of compiled programs, with the fake driver. Two rigs in sequence act as two
// processes: they share only the folder.
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "exec/program/saved_program.hpp"
#include "rig.hpp"
#include "wye/sdk/build_id.hpp"

namespace test_disk_cache {

using namespace wye;
using namespace wye::exec;
using namespace wye::exec::test;

namespace {

struct Folder {
    std::filesystem::path root;
    Folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "wye-disk-XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()) != nullptr);
        root = pattern;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(root, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
};

struct Ran {
    std::uint32_t compiled = 9, disk = 9;
    int programs = 0, loaded = 0, saved = 0;
    std::vector<std::string> codes;
    std::vector<std::uint32_t> result;
    std::string log;
};

using Change = std::function<void(FakeDriver&)>;

// One process: opens the device, runs kAdd (or another text) on it, ends.
Ran process(const Folder& folder, const Change& change = {}, std::string_view text = kAdd,
            std::array<std::uint32_t, 3> workgroup = {0, 0, 0}, std::uint64_t timeout_ns = 0) {
    Ran out;
    FakeDriver driver;
    driver.format = WYE_FORMAT_OPENCL_C;
    driver.saves = true;
    driver.kernel = add_kernel;
    driver.config = {{"cache_folder", folder.root.string()}};
    driver.log = [&](std::uint32_t, std::string_view area, std::string_view said) {
        if (area == "cache") out.log += std::string(said) + "\n";
    };
    if (change) change(driver);
    struct Context {
        wye_context* context;
        ~Context() { wye_context_destroy(context); }
    };
    {
        const Context owner{driver.context()};
        wye_device device = 0;
        check_ok(attempt([&](wye_error** e) {
            return wye_device_open(owner.context, wye_str("fake:0"), 0, &device, e);
        }));
        wye_program_source source;
        WYE_INIT(source);
        source.text = {text.data(), text.size()};
        wye_program program = 0;
        check_ok(attempt([&](wye_error** e) {
            return wye_program_create(owner.context, &source, &program, e);
        }));
        const std::vector<std::uint32_t> x = {1, 2, 3};
        out.result.assign(3, 0);
        Job job(program, device);
        job.param(40).in(0, x.data(), 12).out(1, out.result.data(), 12);
        for (int axis = 0; axis < 3; ++axis) job.desc.workgroup[axis] = workgroup[axis];
        job.desc.arguments = job.arguments.data();
        job.desc.argument_count = job.arguments.size();
        job.desc.params = job.params.data();
        job.desc.param_count = job.params.size();
        job.desc.timeout_ns = timeout_ns;
        const Outcome ran = attempt(
            [&](wye_error** e) { return wye_dispatch(owner.context, &job.desc, &job.report, e); });
        if (driver.fail_submit)
            CHECK_FALSE(ran.ok());
        else
            check_ok(ran);
        out.compiled = job.report.compiled;
        out.disk = job.report.disk_cache;
    }
    out.programs = driver.programs;
    out.loaded = driver.loaded;
    out.saved = driver.saved;
    out.codes = driver.codes;
    CHECK(driver.live_programs == 0);
    return out;
}

constexpr std::string_view kAdjustable =
    R"(wye 1; program add; workgroup 64 adjustable; param k: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] + k; } })";

void check_missed(const Ran& ran) {
    CHECK(ran.compiled == 1);
    CHECK(ran.disk == WYE_DISK_MISS);
    CHECK(ran.programs == 1);
    CHECK(ran.loaded == 0);
    CHECK(ran.result == std::vector<std::uint32_t>{41, 42, 43});
}

void check_hit(const Ran& ran) {
    CHECK(ran.compiled == 0);
    CHECK(ran.disk == WYE_DISK_HIT);
    CHECK(ran.programs == 0);
    CHECK(ran.loaded == 1);
    CHECK(ran.saved == 0);
    CHECK(ran.result == std::vector<std::uint32_t>{41, 42, 43});
}

std::size_t entries(const Folder& folder) {
    std::size_t out = 0;
    for (const auto& one : std::filesystem::directory_iterator(folder.root / "programs"))
        out += one.path().filename().string().size() == 32 ? 1 : 0;
    return out;
}

std::filesystem::path only_entry(const Folder& folder) {
    std::filesystem::path out;
    for (const auto& one : std::filesystem::directory_iterator(folder.root / "programs"))
        if (one.path().filename().string().size() == 32) {
            CHECK(out.empty());
            out = one.path();
        }
    REQUIRE_FALSE(out.empty());
    return out;
}

}  // namespace

TEST_CASE("the second process loads what the first one compiled: the same code, the same bytes") {
    const Folder folder;
    const Ran first = process(folder);
    check_missed(first);
    CHECK(first.saved == 1);
    const Ran second = process(folder);
    check_hit(second);
    CHECK(second.codes == first.codes);
    CHECK(first.log.empty());
    CHECK(second.log.empty());
}

TEST_CASE("an entry is written once the launch was submitted, whether it succeeds or not") {
    const Folder folder;
    std::size_t at_launch = 9;
    check_missed(process(folder, [&](FakeDriver& d) {
        d.kernel = [&](const wye_dispatch_op& op) {
            at_launch = entries(folder);
            add_kernel(op);
        };
    }));
    CHECK(at_launch == 0);
    check_hit(process(folder));

    const Folder limited;
    check_missed(process(limited, {}, kAdd, {0, 0, 0}, 1'000'000'000));
    check_hit(process(limited));

    const Folder failed;
    (void)process(failed, [](FakeDriver& d) { d.fail_submit = true; });
    check_hit(process(failed));
}

TEST_CASE("whatever the code depends on makes another entry") {
    const Folder folder;
    check_missed(process(folder));
    check_hit(process(folder));
    SUBCASE("the plugin's version") {
        check_missed(process(folder, [](FakeDriver& d) { d.version = "0.0.2"; }));
    }
    SUBCASE("a lowering fact: a self-test's verdict") {
        check_missed(
            process(folder, [](FakeDriver& d) { d.facts[WYE_FACT_KEY_NATIVE_F32_DIV] = 1; }));
    }
    SUBCASE("a capability") {
        check_missed(process(folder, [](FakeDriver& d) { d.facts[WYE_FACT_KEY_STORAGE16] = 1; }));
    }
    SUBCASE("the format") {
        check_missed(process(folder, [](FakeDriver& d) { d.format = WYE_FORMAT_CUDA_C; }));
    }
    SUBCASE("a folded grid") {
        check_missed(process(folder, [](FakeDriver& d) {
            for (std::uint32_t& axis : d.max_groups) axis = 0;
            d.max_groups[0] = 1;
        }));
    }
    SUBCASE("the program") { check_missed(process(folder, {}, kAdjustable)); }
    SUBCASE("the amount of memory makes no other entry") {
        check_hit(
            process(folder, [](FakeDriver& d) { d.facts[WYE_FACT_KEY_MEMORY_BYTES] = 12345; }));
    }
    // The first entry is still there.
    check_hit(process(folder));
}

TEST_CASE("a workgroup override is part of the key") {
    const Folder folder;
    check_missed(process(folder, {}, kAdjustable));
    check_missed(process(folder, {}, kAdjustable, {32, 1, 1}));
    check_hit(process(folder, {}, kAdjustable, {32, 1, 1}));
    check_hit(process(folder, {}, kAdjustable));
}

TEST_CASE("a damaged entry is told of, compiled again and replaced") {
    const Folder folder;
    check_missed(process(folder));
    const auto path = only_entry(folder);
    const auto size = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, size - 1);
    const Ran again = process(folder);
    check_missed(again);
    CHECK(again.log.find("was ignored") != std::string::npos);
    CHECK(std::filesystem::file_size(only_entry(folder)) == size);
    check_hit(process(folder));
}

TEST_CASE("an entry that the plugin does not load any more is compiled again") {
    const Folder folder;
    check_missed(process(folder));
    const Ran again = process(folder, [](FakeDriver& d) { d.refuses_saved = true; });
    check_missed(again);
    CHECK(again.log.find("the fake refuses what it saved") != std::string::npos);
    check_hit(process(folder));
}

TEST_CASE("a plugin that can save only what has run is asked again at the end") {
    const Folder folder;
    const Ran first = process(folder, [](FakeDriver& d) { d.saves_late = true; });
    check_missed(first);
    CHECK(first.saved == 1);
    check_hit(process(folder));
}

TEST_CASE(
    "nothing is looked for without a folder, with a limit of 0, or if the plugin saves nothing") {
    const Folder folder;
    const auto unused = [](const Ran& ran) {
        CHECK(ran.compiled == 1);
        CHECK(ran.disk == WYE_DISK_UNUSED);
        CHECK(ran.saved == 0);
    };
    unused(process(folder, [](FakeDriver& d) { d.config.clear(); }));
    unused(process(folder, [](FakeDriver& d) { d.config["cache_size"] = "0"; }));
    unused(process(folder, [](FakeDriver& d) { d.config["cache_size"] = "much"; }));
    unused(process(folder, [](FakeDriver& d) { d.saves = false; }));
    CHECK(std::filesystem::is_empty(folder.root));
}

TEST_CASE("a cache folder that cannot be used is one warning, and changes nothing else") {
    const Folder folder;
    std::ofstream(folder.root / "programs") << "a file in the way";
    const Ran ran = process(folder);
    check_missed(ran);
    CHECK(ran.log.find("Fix: ") != std::string::npos);
}

TEST_CASE("a program is prepared ahead, and the report tells how") {
    const Folder folder;
    const auto prepare = [&](std::string_view text) {
        Rig rig;
        wye_context_destroy(rig.context);
        rig.driver.format = WYE_FORMAT_OPENCL_C;
        rig.driver.saves = true;
        rig.driver.config = {{"cache_folder", folder.root.string()}};
        rig.context = rig.driver.context();
        const wye_program program = rig.program(text);
        wye_prepare_report report;
        WYE_INIT(report);
        check_ok(attempt([&](wye_error** e) {
            return wye_program_prepare(rig.context, program, rig.device(), &report, e);
        }));
        return report;
    };
    const wye_prepare_report first = prepare(kAdd);
    CHECK(first.compiled == 1);
    CHECK(first.disk_cache == WYE_DISK_MISS);
    CHECK(first.total_ns >= first.lower_ns + first.driver_ns);
    const wye_prepare_report second = prepare(kAdd);
    CHECK(second.compiled == 0);
    CHECK(second.disk_cache == WYE_DISK_HIT);
    CHECK(second.lower_ns == 0);
    CHECK(second.kept_bytes == std::filesystem::file_size(only_entry(folder)));
    CHECK(second.kept_bytes == first.kept_bytes);
}

TEST_CASE("preparing refuses what a dispatch would refuse") {
    Rig rig;
    const wye_device device = rig.device();
    const wye_program wide = rig.program(
        "wye 1; program wide; workgroup 4096; output r: u32[64]; main { r[local_index] = 1u; }");
    check_refused(rig.prepare(device, wide), WYE_UNSUPPORTED, "cannot run program `wide`");
    check_refused(rig.prepare(device, 0), WYE_STALE_HANDLE, "");
    CHECK(rig.driver.programs == 0);
}

TEST_CASE("the kept form of a program reads back, and nothing else does") {
    lower::Artifact artifact;
    artifact.format = WYE_FORMAT_SPIRV;
    artifact.code = {std::byte{3}, std::byte{2}};
    artifact.entry = "main";
    artifact.options = "-x";
    artifact.slots = {{WYE_SLOT_BUFFER, 0, 0, 3, 0, {}}, {WYE_SLOT_TRAP, 0, 8, 0, 0, {}}};
    artifact.binding_count = 1;
    artifact.workgroup = {8, 4, 2};
    artifact.subgroup = 16;
    artifact.shared_bytes = 100;
    artifact.params_size = 12;
    artifact.uses_trap = true;
    const std::vector<std::byte> saved(77, std::byte{7});
    const auto bytes = write_saved(artifact, saved);
    const auto kept = read_saved(bytes);
    REQUIRE(kept.ok());
    CHECK(write_saved(kept->artifact, kept->native) == bytes);
    CHECK(kept->artifact.slots[1].offset == 8);
    CHECK(kept->artifact.uses_trap);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK_FALSE(read_saved(std::span(bytes).first(size)).ok());
    static const char inside = 0;
    CHECK(sdk::build_id(&inside).size() >= 16);
    CHECK(sdk::build_id(nullptr).empty());
}

}  // namespace test_disk_cache
