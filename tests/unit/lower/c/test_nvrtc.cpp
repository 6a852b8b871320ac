// SPDX-License-Identifier: Apache-2.0
//
// Compiles lowered CUDA C with NVRTC to PTX and to machine code (NVRTC contains ptxas), for the
// oldest, a middle and the newest family of devices. The PTX must contain no operation that strict
// mode forbids. The variables WYE_RANDOM_PROGRAMS and WYE_RANDOM_SEED set the number of random
// programs and the first seed.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

#include "lower/lower.hpp"
#include "nvrtc.hpp"
#include "programs.hpp"
#include "support/examples.hpp"
#include "support/random_program.hpp"
#include "support/slice.hpp"

namespace {

const nvrtc::Library& library() {
    static const nvrtc::Library opened;
    return opened;
}

// Returns the architectures that this NVRTC supports among 7.5, 9.0 and 12.0. Every version
// supports 9.0.
std::vector<int> architectures() {
    std::vector<int> out;
    for (const int wanted : {75, 90, 120})
        if (std::ranges::count(library().architectures(), wanted) != 0) out.push_back(wanted);
    return out;
}

struct Job {
    std::string name, text;
    bool folded = false;
    int architecture = 90;
};

// Returns an operation in the PTX that strict mode forbids, or an empty string.
std::string forbidden(std::string ptx, const std::string& source) {
    // The definition of `rsqrt` on f32 starts from this instruction and corrects its result by fma.
    constexpr std::string_view kStart = "rsqrt.approx.ftz.f32";
    const bool roots = source.find(kStart) != std::string::npos;
    for (std::size_t at = 0; roots && (at = ptx.find(kStart)) != std::string::npos;)
        ptx.erase(at, kStart.size());
    for (const char* word : {".ftz", ".approx", "div.full", "mad.f", ".sat.f"})
        if (ptx.find(word) != std::string::npos) return word;
    // An fma is a contracted multiplication and addition, unless the source itself calls an fma.
    const bool fuses = source.find("__fma") != std::string::npos;
    return !fuses && ptx.find("fma.") != std::string::npos ? "fma." : "";
}

// Compiles the job's program. Returns what is wrong, or an empty string.
std::string complaint(const Job& job) {
    wye::lower::Options options;
    options.folded_grid = job.folded;
    const auto artifact =
        wye::lower::lower(valid_program(job.text), WYE_FORMAT_CUDA_C, {}, options);
    if (!artifact.ok()) return "refused: " + artifact.error().text();
    const std::string source(artifact->text());
    const auto compiled = library().compile(source, artifact->options, job.architecture);
    if (!compiled.ok) return compiled.log + source;
    if (compiled.cubin_bytes == 0) return "no machine code";
    if (const std::string word = forbidden(compiled.ptx, source); !word.empty())
        return word + " in\n" + compiled.ptx;
    if (compiled.ptx.find(".entry wye_main") == std::string::npos)
        return "no entry in\n" + compiled.ptx;
    return {};
}

// Compiles all jobs, on every core. Reports up to five jobs that fail.
void compile_all(const std::vector<Job>& jobs) {
    (void)library();  // a missing library throws here, not on a thread
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::vector<std::string> failures;
    const auto work = [&] {
        for (std::size_t i = next++; i < jobs.size(); i = next++) {
            std::string wrong;
            try {
                wrong = complaint(jobs[i]);
            } catch (const std::exception& error) {
                wrong = error.what();
            }
            if (wrong.empty()) continue;
            const std::lock_guard lock(mutex);
            failures.push_back(jobs[i].name + ", sm_" + std::to_string(jobs[i].architecture) +
                               ": " + wrong);
        }
    };
    std::vector<std::thread> threads;
    for (unsigned t = 1; t < std::max(1U, std::thread::hardware_concurrency()); ++t)
        threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < failures.size() && i < 5; ++i) FAIL_CHECK(failures[i]);
    CHECK(failures.empty());
}

// A program that applies every operation of its type to two inputs.
std::string operations(const std::string& type) {
    const bool is_float = type[0] == 'f';
    const bool is_signed = type[0] == 'i';
    const std::string zero = is_float ? (type == "f64" ? "0.0f64" : "0.0")
                                      : std::string("0") + (type == "u32"   ? "u"
                                                            : type == "i32" ? ""
                                                                            : type);
    std::vector<std::string> values = {"x + y",     "x - y",     "x * y",         "x / y",
                                       "min(x, y)", "max(x, y)", "clamp(x, y, z)"};
    const auto also = [&](std::initializer_list<const char*> more) {
        values.insert(values.end(), more.begin(), more.end());
    };
    if (is_float)
        also({"sqrt(x)", "-x", "abs(x)", "copysign(x, y)", "floor(x)", "ceil(x)", "trunc(x)",
              "round(x)"});
    else
        also({"x % y", "x & y", "x | y", "x ^ y", "~x", "x << u32(y)", "x >> u32(y)", "x << 3u",
              "popcount(x)", "clz(x)", "ctz(x)", "reverse_bits(x)", "mul_hi(x, y)", "add_sat(x, y)",
              "sub_sat(x, y)"});
    if (is_signed) also({"-x", "abs(x)"});
    if (!is_float && !is_signed) also({"rotl(x, u32(y))", "rotr(x, u32(y))", "rotl(x, 7u)"});
    std::string body;
    for (const std::string& value : values) body += "    s = s + (" + value + ");\n";
    for (const char* sign : {"==", "!=", "<", "<=", ">", ">="})
        body += std::string("    if x ") + sign + " y { s = s - z; }\n";
    if (is_float) body += "    if isnan(x) || isinf(y) { s = s - x; }\n";
    for (const char* to : {"i32", "u32", "i64", "u64", "f32", "f64"})
        body += std::string("    s = s + ") + type + "(" + to + "(x) + " + to + "(y));\n";
    std::string out = "wye 1; program operations; workgroup 64;\ninput a: " + type +
                      "[]; output r: " + type + "[len(a)]; input_output v: " + type + "x4[];\n";
    out += "input_output w: " + type +
           "x3[];\nmain {\n    let i = global_id.x;\n    let x = a[i];" +
           " let y = a[i + 1u]; let z = a[i + 2u];\n    var s = " + zero + ";\n" + body +
           "    r[i] = s;\n    v[i] = v[i] + v[i + 1u] * v[i];\n    w[i] = w[i] - w[i + "
           "1u];\n}\n";
    return out;
}

std::string atomics(const std::string& type) {
    std::string out = "wye 1; program atomics; workgroup 64;\ninput_output a: " + type +
                      "[]; output r: " + type + "[64]; shared t: " + type + "[64];\nmain {\n";
    int n = 0;
    for (const char* array : {"a", "t"})
        for (const char* op : {"add", "min", "max", "and", "or", "xor", "exchange"}) {
            const std::string place = std::string(array) + "[global_id.x & 63u]";
            const std::string old = "o" + std::to_string(n++);
            out += "    let " + old + " = atomic_" + op + "(" + place + ", " + type + "(" +
                   std::to_string(n) + "u)); r[local_index] = " + old + ";\n";
            out += "    atomic_" + std::string(op) + "(" + place + ", " + old + ");\n";
        }
    out += "    let c = atomic_cas(a[0], " + type + "(1u), " + type +
           "(2u)); atomic_store(t[3], c);\n";
    out += "    let d = atomic_load(t[local_index]); atomic_store(a[global_id.x], d);\n}\n";
    return out;
}

// Operations of f16, bf16, float atomics and subgroups.
constexpr const char* kOthers = R"(wye 1; program others; workgroup 64;
input h: f16[]; input b: bf16x4[]; input_output f: f32[]; input_output d: f64[]; output g: f16x4[];
shared s: f32[64]; output c: bf16[]; output q: u32x4[]; output e: f16[];
main {
    let i = global_id.x;
    let x = h[i];
    e[i] = fma(sqrt(x), x / h[i + 1u], f16(f[i]) + min(x, f16(d[i])));
    g[i] = f16x4(b[i]);
    c[i] = f32(x) * b[i].x;
    atomic_add(s[local_index & 7u], f32(x)); let old = atomic_add(f[0], 1.0);
    let wide = atomic_add(d[0], 2.0f64);
    let sum = subgroup_add(f[i]); let below = subgroup_exclusive_add(i); let top = subgroup_max(d[i]);
    let other = subgroup_shuffle_xor(d[i], i); let first = subgroup_broadcast(i, 3u);
    let some = subgroup_any(i == 3u); let every = subgroup_all(sum > 1.0); let bits = subgroup_and(u64(i));
    let votes = subgroup_ballot(i < 9u);
    q[i] = votes + u32x4(below, first, u32(bits), subgroup_lane + subgroup_id);
    if some || every { f[i] = sum + old + s[0]; d[i] = top + other + wide; }
})";

// A program with every math function. The strict pass replaces these by calls of their definitions.
std::string math(const std::string& type) {
    std::string out =
        "wye 1; math 2; program math; workgroup 64;\ninput x: " + type + "[]; output r: " + type +
        "[len(x)];\nmain {\n    let i = global_id.x; let a = x[i]; let b = x[i + 1u];\n" +
        "    var s = a;\n";
    for (const char* name : {"exp",  "exp2", "exp10", "log",   "log2",  "log10", "sin",  "cos",
                             "tan",  "asin", "acos",  "atan",  "sinh",  "cosh",  "tanh", "rsqrt",
                             "cbrt", "erf",  "expm1", "log1p", "sinpi", "cospi"})
        // The definition of f32 `rsqrt` has an fma, which would hide a contraction in another
        // definition.
        if (type != "f32" || name != std::string_view("rsqrt"))
            out += "    s = s + " + std::string(name) + "(a);\n";
    for (const char* name : {"atan2", "pow", "hypot"})
        out += "    s = s + " + std::string(name) + "(a, b);\n";
    return out + "    r[i] = s;\n}\n";
}

// Grid barriers in loops, with workgroup memory that is zero in each phase.
constexpr const char* kGridBarriers = R"(wye 1; program waits; workgroup 8, 8; param rounds: u32;
input x: u32[]; input_output a: u32[len(x)]; input_output b: u32[len(x)]; shared s: u32[100];
main {
    let n = len(x);
    s[local_index] = x[global_id.x];
    barrier;
    a[global_id.x] = s[63u - local_index];
    for r in 0u..rounds {
        grid_barrier;
        b[global_id.x] = a[(global_id.x + 1u) % n] + r;
        grid_barrier;
        for q in 0u..2u { grid_barrier; a[global_id.x] = b[(global_id.x + q) % n] + s[local_index]; }
    }
    grid_barrier;
    let i = global_id.x;
    if i > n { trap 3; }
    if i > 7u { return; }
    b[i] = a[n - 1u - i];
})";

// Workgroup memory: vectors, and more memory than can be declared statically.
constexpr const char* kShared = R"(wye 1; program memory; workgroup 64;
shared a: u32[3]; shared b: f64[8000]; shared v: f32x4[64]; shared h: f16x2[64]; output r: f64[64];
main {
    let i = local_index;
    a[i % 3u] = 1u; b[i] = f64(i); v[i] = f32x4(1.0); h[i] = f16x2(f16(2.0));
    barrier;
    let w = v[63u - i]; let k = h[63u - i];
    r[i] = b[63u - i] + f64(a[0]) + f64(w.z) + f64(k.y);
})";

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("this NVRTC knows the middle family, as every supported version does") {
    CHECK(std::ranges::count(library().architectures(), 90) == 1);
}

TEST_CASE(
    "every operation and atomic becomes machine code, with nothing that strict mode forbids") {
    std::vector<Job> jobs;
    for (const int architecture : architectures()) {
        for (const char* type : {"i32", "u32", "i64", "u64", "f32", "f64"})
            jobs.push_back({type, operations(type), false, architecture});
        for (const char* type : {"i32", "u32", "i64", "u64"})
            jobs.push_back({std::string("atomics ") + type, atomics(type), false, architecture});
        jobs.push_back({"others", kOthers, false, architecture});
        jobs.push_back({"shared", kShared, false, architecture});
        std::string fewer = kShared;
        fewer.replace(fewer.find("8000"), 4, "80");
        jobs.push_back({"shared, declared", fewer, false, architecture});
        for (const char* type : {"f32", "f64"})
            jobs.push_back({std::string("math ") + type, math(type), false, architecture});
        jobs.push_back(
            {"rsqrt",
             "wye 1; program root; workgroup 64; input x: f32[]; output r: f32x2[len(x)];"
             "main { let i = global_id.x; r[i] = rsqrt(f32x2(x[i], x[i + 1u])); }",
             false, architecture});
    }
    compile_all(jobs);
}

TEST_CASE("with an error budget NVRTC takes the native forms, and the approximate instructions") {
    for (const char* type : {"f32", "f64"}) {
        wye::lower::Options options;
        options.ulp_budget = 16;
        const auto artifact =
            wye::lower::lower(valid_program(math(type)), WYE_FORMAT_CUDA_C, {}, options);
        REQUIRE(artifact.ok());
        CHECK(artifact->natives != 0);
        const auto made = library().compile(std::string(artifact->text()), artifact->options, 90);
        CHECK_MESSAGE(made.ok, made.log);
    }
    wye::lower::Options options;
    options.ulp_budget = 2;
    const auto artifact = wye::lower::lower(
        valid_program("wye 1; program p; workgroup 1; input x: f32[4]; output r: f32[4];\n"
                      "main { r[0] = x[0] / x[1] + sqrt(x[2]); }"),
        WYE_FORMAT_CUDA_C, {}, options);
    REQUIRE(artifact.ok());
    const auto made = library().compile(std::string(artifact->text()), artifact->options, 90);
    REQUIRE_MESSAGE(made.ok, made.log);
    CHECK(made.ptx.find("div.full.f32") != std::string::npos);
    CHECK(made.ptx.find("sqrt.approx.f32") != std::string::npos);
    CHECK(made.ptx.find(".ftz") == std::string::npos);
}

TEST_CASE("every example becomes machine code, folded too") {
    std::vector<Job> jobs;
    for (const int architecture : architectures())
        for (const std::string& name : support::example_programs())
            jobs.push_back({name, support::example_text(name), architecture == 75, architecture});
    compile_all(jobs);
}

TEST_CASE("random programs become machine code") {
    const std::uint64_t first = number_from("WYE_RANDOM_SEED", 1);
    const std::uint64_t count = number_from("WYE_RANDOM_PROGRAMS", 200);
    const std::vector<int> all = architectures();
    std::vector<Job> jobs;
    constexpr std::size_t kParts = 2;
    const auto slice = support::Slice::of_this_run();
    std::cout << "slice: random programs for NVRTC, " << slice.text(kParts) << '\n';
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        if (!slice.has(seed / 24, kParts)) continue;  // 24 seeds in a row cover all kinds
        support::RandomProgramOptions options;
        options.traps = seed % 4 == 0;
        options.subgroups = {32};
        options.size = 4 + static_cast<unsigned>(seed % 8);
        jobs.push_back({"seed " + std::to_string(seed), support::random_program(seed, options).text,
                        seed % 3 == 0, all[seed % all.size()]});
    }
    compile_all(jobs);
}

TEST_CASE("the options are what keeps the forbidden operations out") {
    const auto artifact = wye::lower::lower(valid_program(R"(wye 1; program p; workgroup 64;
input x: f32[]; output r: f32[len(x)];
main { let i = global_id.x; r[i] = sqrt(x[i]) / x[i + 1u] * x[i + 2u] + x[i + 3u]; })"),
                                            WYE_FORMAT_CUDA_C, {});
    REQUIRE(artifact.ok());
    const std::string source(artifact->text());
    CHECK(forbidden(library().compile(source, artifact->options, 90).ptx, source).empty());
    CHECK(forbidden(library().compile(source, "--std=c++17", 90).ptx, source) == "fma.");
    CHECK(forbidden(library().compile(source, "--std=c++17 --use_fast_math", 90).ptx, source) ==
          ".ftz");
}

TEST_CASE("text that is not CUDA C is refused with the compiler's log") {
    const auto compiled =
        library().compile("extern \"C\" __global__ void k() { undeclared; }", "", 90);
    CHECK_FALSE(compiled.ok);
    CHECK(compiled.log.find("undeclared") != std::string::npos);
}

TEST_CASE("grid barriers become one kernel that counts its workgroups") {
    std::vector<Job> jobs;
    for (const int architecture : architectures())
        jobs.push_back({"grid barriers", kGridBarriers, false, architecture});
    compile_all(jobs);
    const auto artifact = wye::lower::lower(valid_program(kGridBarriers), WYE_FORMAT_CUDA_C, {});
    REQUIRE(artifact.ok());
    const auto compiled =
        library().compile(std::string(artifact->text()), artifact->options, architectures()[0]);
    REQUIRE_MESSAGE(compiled.ok, compiled.log);
    for (const char* word : {"bar.sync", "atom.global.add", "ld.volatile.global"})
        CHECK_MESSAGE(compiled.ptx.find(word) != std::string::npos, word);
    CHECK((compiled.ptx.find("membar.gl") != std::string::npos ||
           compiled.ptx.find("fence.") != std::string::npos));
}
