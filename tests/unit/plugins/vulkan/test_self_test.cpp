// SPDX-License-Identifier: Apache-2.0
//
// The self-test: whether its inputs find faults, its verdict on this machine's device, and the file
// that keeps the verdict.
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "checked.hpp"
#include "vulkan/self_test/probe_inputs.hpp"
#include "vulkan/self_test/probe_modules.hpp"
#include "vulkan/self_test/verdict_file.hpp"
#include "vulkan/setup/float_modes.hpp"
#include "wye/sdk/facts.hpp"
#include "wye/sdk/kept_text.hpp"

using namespace wye::vulkan;
namespace fs = std::filesystem;
using Config = std::map<std::string, std::string>;

namespace {

// The number of inputs that show the fault of a device which computes `sloppy` for `op`. The few
// inputs of the spot check must show the fault, too.
template <typename Float, typename Sloppy>
unsigned caught(ProbeOp op, Sloppy&& sloppy, bool spot = true) {
    const HostArithmetic arithmetic;
    if (spot) {
        const auto few = spot_inputs<Float>();
        unsigned found = 0;
        for (std::uint32_t i = 0; i < kSpotCount; ++i)
            found +=
                gives<Float>(op, few.a[i], few.b[i], few.c[i], sloppy(few.a[i], few.b[i], few.c[i]))
                    ? 0
                    : 1;
        CHECK((found != 0) == (caught<Float>(op, sloppy, false) != 0));
    }
    const auto in = probe_inputs<Float>();
    unsigned out = 0;
    for (std::uint32_t i = 0; i < kProbeCount; ++i)
        out +=
            gives<Float>(op, in.a[i], in.b[i], in.c[i], sloppy(in.a[i], in.b[i], in.c[i])) ? 0 : 1;
    return out;
}

template <typename Float>
Float flushed(Float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(Float{0}, value) : value;
}

template <typename Float>
void check_rounding_faults_are_found() {
    const auto halves_away = [](Float a, Float, Float) { return std::round(a); };
    CHECK(caught<Float>(ProbeOp::RoundEven, halves_away) > 0);
    const std::pair<ProbeOp, Float (*)(Float)> operations[] = {
        {ProbeOp::Floor, [](Float a) { return std::floor(a); }},
        {ProbeOp::Ceil, [](Float a) { return std::ceil(a); }},
        {ProbeOp::Trunc, [](Float a) { return std::trunc(a); }},
        {ProbeOp::RoundEven, [](Float a) { return std::nearbyint(a); }}};
    for (const auto& operation : operations) {
        const auto op = operation.first;
        const auto whole = operation.second;
        CAPTURE(static_cast<int>(op));
        CHECK(caught<Float>(op, [&](Float a, Float, Float) { return whole(a); }) == 0);
        // Faults: lost signs of zero; values limited to those of i32; fractions kept from 2^24 on,
        // as by lavapipe 22.3 (f32 has no fractions there).
        CHECK(caught<Float>(op, [&](Float a, Float, Float) { return whole(a) + Float{0}; }) > 0);
        CHECK(caught<Float>(op, [&](Float a, Float, Float) {
                  return std::copysign(std::min(std::fabs(whole(a)), Float{0x1p31F}), a);
              }) > 0);
        const unsigned kept = caught<Float>(op, [&](Float a, Float, Float) {
            return std::fabs(a) < Float{0x1p24F} ? whole(a) : a;
        });
        CHECK((kept > 0) == (sizeof(Float) == 8));
    }
}

template <typename Float>
void check_faults_are_found() {
    const auto add = [](Float a, Float b, Float) { return a + b; };
    CHECK(caught<Float>(ProbeOp::Add, add) == 0);
    CHECK(caught<Float>(ProbeOp::Add,
                        [](Float a, Float b, Float) { return flushed(a) + flushed(b); }) > 0);
    CHECK(caught<Float>(ProbeOp::Multiply, [](Float a, Float b, Float) { return flushed(a * b); }) >
          0);
    CHECK(caught<Float>(ProbeOp::Less, [](Float a, Float b, Float) {
              return flushed(a) < flushed(b) ? Float{1} : Float{0};
          }) > 0);
    CHECK(caught<Float>(ProbeOp::Divide,
                        [](Float a, Float b, Float) { return a * (Float{1} / b); }) > 0);
    // One step of Newton's method: wrong only next to a rounding boundary.
    CHECK(caught<Float>(ProbeOp::Divide, [](Float a, Float b, Float) {
              const Float r = Float{1} / b;
              const Float q = a * r;
              const Float better = std::fma(std::fma(-b, q, a), r, q);
              return std::isfinite(better) && std::isnormal(a / b) ? better : a / b;
          }) > 0);
    CHECK(caught<Float>(ProbeOp::SquareRoot, [](Float a, Float, Float) {
              const Float root = std::sqrt(a);
              return std::isnormal(root) ? a * (Float{1} / root) : root;
          }) > 0);
    CHECK(caught<Float>(ProbeOp::Fma, [](Float a, Float b, Float c) { return a * b + c; }) > 0);
    CHECK(caught<Float>(ProbeOp::FmaOfNormals,
                        [](Float a, Float b, Float c) { return a * b + c; }) > 0);
    const auto flushes = [](Float a, Float b, Float c) {
        return flushed(std::fma(flushed(a), flushed(b), flushed(c)));
    };
    CHECK(caught<Float>(ProbeOp::Fma, flushes) > 0);
    CHECK(caught<Float>(ProbeOp::FmaOfNormals, flushes) == 0);
    check_rounding_faults_are_found<Float>();
    CHECK(caught<Float>(ProbeOp::AddZero, [](Float a, Float, Float) { return a; }) > 0);
    CHECK(caught<Float>(ProbeOp::SubtractFromZero, [](Float a, Float, Float) { return -a; }) > 0);
    CHECK(caught<Float>(ProbeOp::MultiplyZero, [](Float, Float, Float) { return Float{0}; }) > 0);
    CHECK(caught<Float>(ProbeOp::DivideZero, [](Float, Float, Float) { return Float{0}; }) > 0);
}

// A folder of this process, removed by the destructor.
class Folder {
  public:
    Folder() : path_(fs::temp_directory_path() / ("wye-verdict-" + std::to_string(getpid()))) {
        fs::remove_all(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::string below(const char* name) const { return (path_ / name).string(); }

  private:
    fs::path path_;
};

std::string content(const fs::path& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
}

std::vector<fs::path> files_of(const std::string& folder) {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path());
    return out;
}

std::string flipped(std::string text, std::size_t bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1U << bit % 8));
    return text;
}

// The kept file with another value in one line, and with the right checksum for that.
std::string with_line(const std::string& file, const std::string& name, const std::string& value) {
    const auto parts = wye::sdk::kept_parts(file);
    REQUIRE(parts);
    std::string text(parts->text);
    const std::size_t at = text.find(name + " ");
    REQUIRE(at != std::string::npos);
    const std::size_t start = at + name.size() + 1;
    text.replace(start, text.find('\n', start) - start, value);
    return wye::sdk::kept_file(parts->kind, parts->key, text);
}

// The facts from the self-test, as text.
std::string self_test_facts(const CheckedPlugin& plugin) {
    REQUIRE_MESSAGE(plugin.status == WYE_OK, plugin.failure.message);
    std::string out;
    for (const std::uint32_t key : std::initializer_list<std::uint32_t>{
             WYE_FACT_KEY_IEEE_F32, WYE_FACT_KEY_IEEE_F64, WYE_FACT_KEY_NATIVE_F32_DIV,
             WYE_FACT_KEY_NATIVE_F32_SQRT, WYE_FACT_KEY_NATIVE_F32_FMA,
             wye::sdk::facts::kNativeNormalF32Fma, WYE_FACT_KEY_NATIVE_F64_DIV,
             WYE_FACT_KEY_NATIVE_F64_SQRT, WYE_FACT_KEY_NATIVE_F64_FMA,
             WYE_FACT_KEY_NATIVE_F32_ROUND, WYE_FACT_KEY_NATIVE_F64_ROUND,
             WYE_FACT_KEY_FOLDS_LITERAL_ZERO, WYE_FACT_KEY_KEEPS_F32_DENORMALS,
             WYE_FACT_KEY_F32_DENORM_MODE, WYE_FACT_KEY_NATIVE_F16_CONVERT,
             WYE_FACT_KEY_LOOP_ROUNDS}) {
        wye_status status = WYE_OK;
        const wye_fact fact = plugin.fact(key, &status);
        out += std::to_string(status) + ":" + std::to_string(status == WYE_OK ? fact.u : 0) + " ";
    }
    return out;
}
std::string self_test_facts(const std::string& cache) {
    return self_test_facts(CheckedPlugin(Config{{"cache_folder", cache}}));
}

// Opens the first device, and closes it again.
harness::Failure open_once(const CheckedPlugin& plugin) {
    harness::Sink sink;
    wye_device_object* device = nullptr;
    const wye_device_table* table = nullptr;
    if (plugin.open(&device, &table, sink.out(), 0) == WYE_OK) table->close(device);
    return sink.failure();
}

}  // namespace

TEST_CASE("the inputs find flushed subnormals, inexact operations and folded zeros") {
    check_faults_are_found<float>();
    check_faults_are_found<double>();
}

TEST_CASE("halves are converted to nearest even, there and back") {
    const HostArithmetic arithmetic;
    for (std::uint32_t h = 0; h < 0x10000; ++h) {
        const float value = float_of(static_cast<std::uint16_t>(h));
        if (std::isnan(value)) continue;
        CHECK(half_of(value) == h);
        // The midpoint to the next larger magnitude goes to the even one of the two.
        if ((h & 0x7fffU) >= 0x7bff) continue;
        const float next = float_of(static_cast<std::uint16_t>(h + 1));
        CHECK(half_of((value + next) / 2) == (h % 2 == 0 ? h : h + 1));
    }
    CHECK(half_of(65519.996F) == 0x7bff);
    CHECK(half_of(65520.0F) == 0x7c00);
    CHECK(half_of(-1e30F) == 0xfc00);
    CHECK(half_of(NAN) == 0x7e00);
    CHECK(half_of(0x1p-25F) == 0);
    CHECK(half_of(0x1.000002p-25F) == 1);
}

TEST_CASE("a verdict is remembered line by line, and nothing else is taken for one") {
    Verdict verdict;
    verdict.ran = true;
    verdict.f32_plain.arithmetic = verdict.f64.rounds = verdict.f16_convert = true;
    verdict.f64.folds_literal_zero = false;
    verdict.loop_rounds = 65535;
    const std::string text = verdict_text(verdict);
    const auto back = verdict_of(text);
    REQUIRE(back);
    CHECK(back->ran);
    CHECK(verdict_text(*back) == text);
    CHECK_FALSE(verdict_of(text + "\n"));
    for (std::size_t size = 0; size < text.size(); ++size)
        CHECK_FALSE(verdict_of(text.substr(0, size)));
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::string damaged = text;
        damaged[at] = '?';
        CHECK_FALSE(verdict_of(damaged));
    }
}

TEST_CASE("the device's verdict is remembered, read again, and found anew when damaged") {
    const Folder folder;
    const std::string cache = folder.below("some/cache");
    const auto divides = [&] {
        CheckedPlugin plugin(Config{{"cache_folder", cache}});
        REQUIRE_MESSAGE(plugin.status == WYE_OK, plugin.failure.message);
        wye_status status = WYE_OK;
        const wye_fact fact = plugin.fact(WYE_FACT_KEY_NATIVE_F64_DIV, &status);
        REQUIRE(status == WYE_OK);
        return fact.u;
    };
    {  // Other facts do not run the self-test.
        CheckedPlugin plugin(Config{{"cache_folder", cache}});
        CHECK(plugin.fact(WYE_FACT_KEY_MAX_SHARED_BYTES).u > 0);
        CHECK_FALSE(fs::exists(cache));
    }
    const std::uint64_t found = divides();
    auto files = files_of(cache);
    REQUIRE(files.size() == 1);
    struct stat state {};
    REQUIRE(stat(files[0].c_str(), &state) == 0);
    CHECK((state.st_mode & 0777U) == 0600);
    const std::string text = content(files[0]);

    // An intact file is believed where a wrong value would only cost time.
    if (found == 1) {
        std::ofstream(files[0]) << with_line(text, "f64.divides", "0");
        CHECK(divides() == 0);
    }
    // A damaged file is not believed.
    std::ofstream(files[0]) << text.substr(0, text.size() / 2);
    CHECK(divides() == found);
    CHECK(content(files[0]) == text);
    CHECK(files_of(cache).size() == 1);
}

TEST_CASE("a changed bit of the remembered verdict changes nothing") {
    const Folder folder;
    const std::string cache = folder.below("cache");
    const auto facts = self_test_facts(cache);
    const fs::path path = files_of(cache).at(0);
    const std::string text = content(path);
    for (std::size_t bit = 0; bit < text.size() * 8; ++bit)
        CHECK_FALSE(wye::sdk::kept_parts(flipped(text, bit)));
    // Through the plugin, with a wrong bit in a name, in a value and in the checksum.
    for (const std::size_t at :
         {text.find("f32_plain.fuses"), text.find("f32_plain.fuses 0") + 16, text.size() - 3}) {
        std::ofstream(path) << flipped(text, at * 8);
        CHECK(self_test_facts(cache) == facts);
        CHECK(content(path) == text);
    }
}

// The checksum is right, but the text is wrong: the driver changed and kept its name, or the file
// was forged.
TEST_CASE("a device whose remembered verdict is looser than it is refused once, and tested anew") {
    const Folder folder;
    const std::string cache = folder.below("cache");
    const auto facts = self_test_facts(cache);
    const fs::path path = files_of(cache).at(0);
    const std::string text = content(path);
    const std::pair<const char*, const char*> claims[] = {{"f32_plain.fuses", "1"},
                                                          {"f32_plain.fuses_normals", "1"},
                                                          {"f32_plain.folds_literal_zero", "0"},
                                                          {"f64.fuses", "1"},
                                                          {"f64.folds_literal_zero", "0"},
                                                          {"f64.rounds", "1"},
                                                          {"f16_convert", "1"},
                                                          {"f32_preserved.arithmetic", "1"},
                                                          {"loop_rounds", "0"},
                                                          {"loop_rounds", "65534"},
                                                          {"f32_plain.divides", "1"}};
    unsigned refuted = 0;
    for (const auto& claim : claims) {
        const char* const name = claim.first;
        const std::string looser = with_line(text, name, claim.second);
        if (looser == text) continue;  // true of this device
        CAPTURE(name);
        std::ofstream(path) << looser;
        {
            const CheckedPlugin plugin(Config{{"cache_folder", cache}});
            const bool believed = self_test_facts(plugin) != facts;
            const harness::Failure failure = open_once(plugin);
            if (failure.code == WYE_OK) {
                // A verdict that no device of this kind can have is not even loaded.
                CHECK_FALSE(believed);
            } else {
                ++refuted;
                CHECK(failure.code == WYE_DRIVER);
                CHECK(failure.message.find("saved self-test") != std::string::npos);
                CHECK(failure.fix.starts_with("Fix: start the program again"));
                CHECK_FALSE(fs::exists(path));
                CHECK(open_once(plugin).code == WYE_DRIVER);  // the plugin keeps the wrong facts
            }
        }
        const CheckedPlugin next(Config{{"cache_folder", cache}});
        CHECK(self_test_facts(next) == facts);
        CHECK(content(path) == text);
        CHECK(open_once(next).code == WYE_OK);
    }
    CHECK(refuted != 0);
}

TEST_CASE("facts from a remembered verdict open no device, and the first opening confirms them") {
    const Folder folder;
    const std::string cache = folder.below("cache");
    const auto facts = self_test_facts(cache);
    const CheckedPlugin plugin(Config{{"cache_folder", cache}});
    CHECK(self_test_facts(plugin) == facts);
    CHECK(open_once(plugin).code == WYE_OK);
    // Facts that are asked for after the opening come from a new self-test.
    const fs::path path = files_of(cache).at(0);
    const CheckedPlugin late(Config{{"cache_folder", cache}});
    const std::string other = with_line(content(path), "loop_rounds", "7");
    std::ofstream(path) << other;
    CHECK(open_once(late).code == WYE_OK);
    CHECK(self_test_facts(late) == facts);
}

TEST_CASE("a cache folder that cannot be made costs the memory, not the facts") {
    CheckedPlugin plugin(Config{{"cache_folder", "/proc/wye-cannot-be-made"}});
    wye_status status = WYE_UNSUPPORTED;
    (void)plugin.fact(WYE_FACT_KEY_IEEE_F32, &status);
    CHECK(status == WYE_OK);
    bool told = false;
    for (const std::string& line : plugin.host.log())
        told = told || line.find("/proc/wye-cannot-be-made") != std::string::npos;
    CHECK(told);
}

TEST_CASE("asking for DenormPreserve that is not advertised is the one message passed over") {
    CheckedPlugin plugin;
    harness::Device device(plugin);
    const auto words = float_module(64, 32, {true, false, false}, probe_ops(true, false));
    const std::string_view code(reinterpret_cast<const char*>(words.data()), words.size() * 4);
    const wye_slot slots[] = {{WYE_SLOT_BUFFER, 0, 0, 1, 0, {}},
                              {WYE_SLOT_BUFFER, 1, 0, 1, 0, {}},
                              {WYE_SLOT_BUFFER, 2, 0, 1, 0, {}},
                              {WYE_SLOT_BUFFER, 3, 0, 2, 0, {}}};
    CHECK(device.program(harness::artifact(code, "main", slots, 4, 64)) != nullptr);
}

template <typename Float>
void check_products() {
    CheckedPlugin plugin;
    harness::Device device(plugin);
    constexpr std::uint32_t kInvocations = 64;
    const auto words = product_module(kInvocations, sizeof(Float) * 8);
    const std::string_view code(reinterpret_cast<const char*>(words.data()), words.size() * 4);
    const wye_slot slots[] = {{WYE_SLOT_BUFFER, 0, 0, 1, 0, {}}, {WYE_SLOT_BUFFER, 1, 0, 3, 0, {}}};
    wye_program_object* program =
        device.program(harness::artifact(code, "main", slots, 2, kInvocations));
    REQUIRE_MESSAGE(program != nullptr, device.failure.message);
    std::vector<Float> floats(1 + kInvocations, Float{2});
    wye_buffer_object* rounds = device.buffer(harness::bytes_of(std::vector<std::uint32_t>{3, 0}));
    wye_buffer_object* values = device.buffer(harness::bytes_of(floats));
    const std::uint64_t size = floats.size() * sizeof(Float);
    const wye_binding bindings[] = {harness::binding(rounds, 0, 2),
                                    harness::binding(values, 0, size / 4)};
    CHECK(device.run(harness::dispatch(program, bindings, {1, 1, 1})) == WYE_OK);
    floats = harness::values_of<Float>(device.download(values, size));
    CHECK(floats[0] == 2);
    for (std::uint32_t i = 1; i <= kInvocations; ++i) CHECK(floats[i] == 8 * 136);  // 1 + ... + 16
}

TEST_CASE("the modules that are timed compute their products") {
    check_products<float>();
    check_products<double>();
}

TEST_CASE("how fast f64 is is measured on a GPU, and remembered") {
    const auto rate = [](const Config& config) {
        wye_status status = WYE_OK;
        const CheckedPlugin plugin(config);
        const wye_fact fact = plugin.fact(wye::sdk::facts::kF32ToF64Rate, &status);
        return status == WYE_OK ? fact.u : 0;
    };
    CHECK(rate({}) == 0);  // lavapipe is a CPU
    const Folder folder;
    const std::string cache = folder.below("cache");
    const Config as_gpu{{"vulkan.kind", "gpu"}, {"cache_folder", cache}};
    CHECK(rate(as_gpu) >= 1);
    const fs::path path = files_of(cache).at(0);
    const std::string other = with_line(content(path), "f32_to_f64_rate", "64");
    std::ofstream(path) << other;
    CHECK(rate(as_gpu) == 64);
}

TEST_CASE("DenormPreserve that is not advertised is declared only for a driver with the quirk") {
    DeviceInfo device;
    const auto declared = [&](VkDriverId driver, bool advertised, bool may_try) {
        device.properties.driver.driverID = driver;
        device.properties.float_controls.shaderDenormPreserveFloat32 = advertised ? 1 : 0;
        device.unadvertised_denorm = may_try;
        return float_modes(device).f32_denorm;
    };
    for (const bool may_try : {false, true}) {
        CHECK(declared(VK_DRIVER_ID_MESA_LLVMPIPE, true, may_try));
        CHECK_FALSE(declared(VK_DRIVER_ID_MESA_LLVMPIPE, false, may_try));
        CHECK(declared(VK_DRIVER_ID_NVIDIA_PROPRIETARY, true, may_try));
        CHECK(declared(VK_DRIVER_ID_NVIDIA_PROPRIETARY, false, may_try) == may_try);
    }
}

// Whether lavapipe is told to use vectors wider than the processor's, in which it rounds wrongly.
bool is_too_wide() {
    const char* const width = std::getenv("LP_NATIVE_VECTOR_WIDTH");
#if defined(__x86_64__)
    return width != nullptr && std::string_view(width) == "512" &&
           __builtin_cpu_supports("avx512f") == 0;
#else
    return width != nullptr && std::string_view(width) == "512";
#endif
}

// The expected verdicts were measured by other means, on the drivers that tests usually meet.
TEST_CASE(
    "lavapipe divides exactly, does not fuse, keeps subnormals, folds zeros and ends long loops") {
    CheckedPlugin plugin;
    const wye_fact platform = plugin.fact(WYE_FACT_KEY_PLATFORM);
    const bool lavapipe = std::string_view(platform.text.data, platform.text.size) == "llvmpipe";
    for (const std::uint32_t key :
         {WYE_FACT_KEY_IEEE_F32, WYE_FACT_KEY_IEEE_F64, WYE_FACT_KEY_NATIVE_F32_DIV,
          WYE_FACT_KEY_NATIVE_F32_SQRT, WYE_FACT_KEY_NATIVE_F64_DIV, WYE_FACT_KEY_NATIVE_F64_SQRT,
          WYE_FACT_KEY_NATIVE_F32_ROUND, WYE_FACT_KEY_KEEPS_F32_DENORMALS,
          WYE_FACT_KEY_NATIVE_F16_CONVERT}) {
        CAPTURE(key);
        wye_status status = WYE_OK;
        const wye_fact fact = plugin.fact(key, &status);
        CHECK(status == WYE_OK);
        CHECK(std::string_view(fact.source.data, fact.source.size) == "self-test");
        const bool exact = key != WYE_FACT_KEY_NATIVE_F32_ROUND || !is_too_wide();
        if (lavapipe) CHECK(fact.u == (exact ? 1 : 0));
    }
    if (!lavapipe) return;
    CHECK_FALSE(plugin.flag(WYE_FACT_KEY_NATIVE_F32_FMA));
    CHECK_FALSE(plugin.flag(wye::sdk::facts::kNativeNormalF32Fma));
    CHECK_FALSE(plugin.flag(WYE_FACT_KEY_NATIVE_F64_FMA));
    CHECK(plugin.flag(WYE_FACT_KEY_FOLDS_LITERAL_ZERO));
    CHECK(plugin.fact(WYE_FACT_KEY_LOOP_ROUNDS).u == 65535);
}

#if defined(__x86_64__)
// A subgroup has as many lanes as 32-bit numbers fit a register. lavapipe 22.3 uses SSE4.1, AVX or
// AVX-512 to round vectors of exactly the size of a register, and rounds all others by its own
// code, made for f32.
TEST_CASE("lavapipe rounds doubles rightly where its vectors of them fill a register") {
    CheckedPlugin plugin;
    const wye_fact platform = plugin.fact(WYE_FACT_KEY_PLATFORM);
    if (std::string_view(platform.text.data, platform.text.size) != "llvmpipe") return;
    const wye_fact lanes = plugin.fact(WYE_FACT_KEY_SUBGROUP_SIZES);
    REQUIRE(lanes.list_size != 0);
    const std::uint64_t bits = lanes.list[0] * 64;
    CAPTURE(bits);
    CHECK(plugin.flag(WYE_FACT_KEY_NATIVE_F64_ROUND) ==
          ((bits == 256 && __builtin_cpu_supports("avx") != 0) ||
           (bits == 512 && __builtin_cpu_supports("avx512f") != 0)));
}
#endif
