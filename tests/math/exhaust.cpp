// SPDX-License-Identifier: Apache-2.0
//
// Compares results of f32 division, square root and inverse square root with the host's correctly
// rounded ones. The results come from a device's own inverse square root, or from integers:
// - the middle forms and the definition `.._from_start`. The device's instruction may give any f32
//   within 8 steps of the nearest one (specifications state 2 ulp). A form scales its operands by
//   their exponents, so two binades cover all operands except those at the ends of the range.
// - the emulations and definitions that the forms leave some results to, on the `cpu` device.
// - divisions whose quotients are nearest to the middle of two f32: all of these.
// The test tries a part of the values. WYE_MATH_ALL=1 tries all. WYE_MATH_DEVICE=vulkan:0 tries the
// operations themselves on that device, with all 2^32 operands.
#include <doctest/doctest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "forms.hpp"
#include "lower/math_text.hpp"
#include "lower/middle/library.hpp"
#include "support/random.hpp"
#include "wye/wye.hpp"

namespace {

using Words = std::vector<std::uint32_t>;
__extension__ using Wide = unsigned __int128;

const bool kAll = std::getenv("WYE_MATH_ALL") != nullptr;
constexpr std::size_t kChunk = std::size_t{1} << 20;

float value(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
bool same(std::uint32_t a, float right) {
    return bits(right) == a || (std::isnan(right) && std::isnan(value(a)));
}

// The correctly rounded inverse square root. The f64 result has an error of at most 2 ulp of f64.
// So squares are compared, as integers, only if the result is near the middle of two f32.
float inverse_root(float x) {
    const double near = 1 / std::sqrt(static_cast<double>(x));
    const auto narrow = static_cast<float>(near);
    const std::uint64_t rest = std::bit_cast<std::uint64_t>(near) & 0x1fffffffU;
    if (!(x > 0) || std::isinf(x) || rest < 0x10000000U - 8 || rest > 0x10000000U + 8)
        return narrow;
    const auto low = std::bit_cast<double>(std::bit_cast<std::uint64_t>(near) & ~0x1fffffffULL);
    const auto below = static_cast<float>(low);  // the f32 below; the middle is half a step up
    int x_exponent = 0, y_exponent = 0;
    const auto m = static_cast<Wide>(std::ldexp(std::frexp(x, &x_exponent), 24));
    const auto y = static_cast<Wide>(std::ldexp(std::frexp(below, &y_exponent), 24));
    const Wide square = m * (2 * y + 1) * (2 * y + 1);
    // Is m * 2^(ex - 24) * ((2y + 1) * 2^(ey - 25))^2 below 1?
    const int one = 24 - x_exponent + 2 * (25 - y_exponent);
    REQUIRE(one > 0);
    REQUIRE(one < 127);
    return square < Wide{1} << one ? std::nextafter(below, std::numeric_limits<float>::infinity())
                                   : below;
}

struct Tally {
    std::string what;
    unsigned long long tried = 0, left = 0, wrong = 0;

    void add(const Words& a, const Words& b, const Words& results, bool may_leave,
             float (*right)(float, float)) {
        add(a, b, results, may_leave,
            [right](float x, float y, std::size_t) { return right(x, y); });
    }
    template <typename Right>  // `right` also gets the index
    void add(const Words& a, const Words& b, const Words& results, bool may_leave, Right right) {
        for (std::size_t i = 0; i < a.size(); ++i) {
            const float x = value(a[i]);
            const float y = b.empty() ? 0 : value(b[i]);
            const float expected = right(x, y, i);
            ++tried;
            if (same(results[i], expected)) continue;
            if (may_leave && std::isnan(value(results[i]))) {
                ++left;
            } else if (++wrong <= 3) {
                std::printf("%s(%a, %a) gives %a, not %a\n", what.c_str(), static_cast<double>(x),
                            static_cast<double>(y), static_cast<double>(value(results[i])),
                            static_cast<double>(expected));
            }
        }
    }
    // Prints the counts. `most_left`: the maximum share of results that may be left to an
    // emulation.
    void report(double most_left) const {
        std::printf("%-34s %12llu tried, %9llu left to an emulation, %llu wrong\n", what.c_str(),
                    tried, left, wrong);
        std::fflush(stdout);
        CHECK_MESSAGE(wrong == 0, what);
        CHECK_MESSAGE(static_cast<double>(left) <= most_left * static_cast<double>(tried), what);
        CHECK(tried > 0);
    }
};

float divided(float a, float b) { return a / b; }
float root(float a, float) { return std::sqrt(a); }
float inverse(float a, float) { return inverse_root(a); }

// Calls `visit` with the values from `first` to below `end` in steps of `step`, in chunks.
template <typename Visit>
void chunks(std::uint64_t first, std::uint64_t end, std::uint64_t step, Visit visit) {
    Words x;
    for (std::uint64_t at = first; at < end;) {
        x.clear();
        for (; at < end && x.size() < kChunk; at += step)
            x.push_back(static_cast<std::uint32_t>(at));
        visit(x);
    }
}

// Divisors b of 24 bits that are odd or twice an odd number (one of `step`), with dividends a whose
// quotient is next to the middle of two f32 q and q + 1: a * 2^25 (or a * 2^24) is b * (2q + 1)
// plus a small rest. If the divisor is a multiple of 4, so is the rest, which is then not small.
template <typename Visit>
void hard_divisions(std::uint32_t step, Visit visit) {
    Words a, b;
    for (std::uint32_t odd = 0x400001; odd < 0x1000000; odd += 2 * step) {
        const std::uint32_t factor = odd < 0x800000 ? 2 : 1;
        std::uint32_t inverse_of = odd;  // modulo 2^32
        for (int k = 0; k < 5; ++k) inverse_of *= 2 - odd * inverse_of;
        for (const int rest : {-5, -3, -1, 1, 3, 5})
            for (const std::uint64_t modulus : {std::uint64_t{1} << 24U, std::uint64_t{1} << 25U}) {
                const std::uint64_t period = modulus / factor;
                std::uint64_t middle = (static_cast<std::uint32_t>(-rest) * inverse_of) % period;
                for (; middle < 0x2000000; middle += period) {
                    if (middle < 0x1000000) continue;  // q has 24 bits
                    const std::uint64_t dividend =
                        (odd * middle + static_cast<std::uint64_t>(rest)) / period;
                    if (dividend < 0x800000 || dividend >= 0x1000000) continue;
                    a.push_back(bits(static_cast<float>(dividend)));
                    b.push_back(bits(static_cast<float>(factor * odd)));
                }
            }
        if (a.size() < kChunk && odd + 2 * step < 0x1000000) continue;
        visit(a, b);
        a.clear();
        b.clear();
    }
}

template <typename Visit>
void random_divisions(std::uint64_t seed, std::size_t count, bool ordinary, Visit visit) {
    support::Random random(seed);
    Words a(std::min(count, kChunk)), b(a.size());
    for (std::size_t done = 0; done < count; done += a.size()) {
        for (std::size_t i = 0; i < a.size(); ++i) {
            const std::uint64_t both = random.next();
            a[i] = static_cast<std::uint32_t>(both);
            b[i] = static_cast<std::uint32_t>(both >> 32U);
            if (!ordinary) continue;
            a[i] = (a[i] & 0x80ffffffU) + 0x3f000000U;
            b[i] = (b[i] & 0x80ffffffU) + 0x3f000000U;
        }
        visit(a, b);
    }
}

// Errors of the start value, in steps: all up to WYE_MATH_STEPS, which is 8 if unset. Without
// WYE_MATH_ALL, only some.
std::vector<int> offsets() {
    if (!kAll) return {-4, -1, 0, 3};
    const char* most = std::getenv("WYE_MATH_STEPS");
    const int steps = most == nullptr ? 8 : std::atoi(most);
    std::vector<int> out;
    for (int k = -steps; k <= steps; ++k) out.push_back(k);
    return out;
}

constexpr std::uint32_t kOne = 0x3f800000, kFour = 0x40800000;

// Numbers with special mantissas and any exponent. They include the ends of the ranges in which
// forms need no special case, and the ends of all f32.
Words edges() {
    Words out;
    for (std::uint32_t exponent = 0; exponent < 256; ++exponent)
        for (const std::uint32_t sign : {0U, 0x80000000U})
            for (const std::uint32_t mantissa :
                 {0U, 1U, 2U, 0x3fffffU, 0x400000U, 0x5a8279U, 0x7ffffeU, 0x7fffffU})
                out.push_back(sign | exponent << 23U | mantissa);
    return out;
}

// ---- Programs -----------------------------------------------------------------------------------

template <typename T>
T take(wye::Result<T> result) {
    if (!result.ok()) FAIL(result.error().text());
    return std::move(result).value();
}

class Device {
  public:
    explicit Device(const std::string& selector)
        : context_(take(wye::Context::create(options(selector)))),
          device_(take(context_.open(selector))) {}

    // Runs a program that has `functions` and stores the result of `call` of x and y for each pair.
    void run(const std::string& functions, const std::string& call, const Words& a, const Words& b,
             std::uint32_t offset, Words& results) {
        const std::string text =
            "wye 1; program exhaust; workgroup 64; param offset: u32; input xs: u32[]; "
            "input ys: u32[]; output results: u32[len(xs)]; grid elements len(xs);\n" +
            functions +
            "\nmain { let i = global_id.x; let x = bitcast<f32>(xs[i]); let y = "
            "bitcast<f32>(ys[i]);\n"
            "if i < len(results) { results[i] = bitcast<u32>(" +
            call + "); } }\n";
        if (text != text_) program_.emplace(take(context_.program_from_text(text_ = text)));
        results.resize(a.size());
        wye::Dispatch dispatch(*program_, device_);
        dispatch.input("xs", a).input("ys", b.empty() ? a : b).output("results", results);
        dispatch.param("offset", offset);
        (void)take(dispatch.run());
    }

  private:
    static wye::ContextOptions options(const std::string& selector) {
        wye::ContextOptions out;
        if (selector == "cpu") out.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT;
        return out;
    }

    wye::Context context_;
    wye::Device device_;
    std::optional<wye::Program> program_;
    std::string text_;
};

// The definition of `rsqrt` on f32 with `offset` added to the bits of the device's own `rsqrt`,
// from which it starts.
std::string definitions() {
    std::string all;
    for (const char* part : wye::lower::kMathText) all += part;
    const std::size_t first = all.find("fn math_rsqrt_f32_from_start");
    std::string text = wye::lower::kInverseRootText;
    text += all.substr(first, all.find("fn math_cbrt_f32") - first);
    for (const std::string own : {"rsqrt(x)", "rsqrt(v)"}) {
        const std::size_t at = text.find(" " + own);
        REQUIRE(at != std::string::npos);
        text.replace(at, own.size() + 1, " bitcast<f32>(bitcast<u32>(" + own + ") + offset)");
    }
    return text;
}

std::string emulations() {
    const std::string text = wye::lower::middle::emulations_text();
    const std::size_t first = text.find("workgroup 1;") + 12;
    return text.substr(first, text.rfind("main {") - first);
}

// Counts for the forms of one device.
struct FormTallies {
    explicit FormTallies(const std::string& by)
        : roots{"sqrt" + by},
          inverses{"rsqrt" + by},
          quotients{"/" + by},
          hard{"/" + by + ", hard"},
          any{"/ and sqrt" + by + ", any"} {}
    Tally roots, inverses, quotients, hard, any;

    void add(const FormTallies& other) {
        for (Tally FormTallies::*each :
             {&FormTallies::roots, &FormTallies::inverses, &FormTallies::quotients,
              &FormTallies::hard, &FormTallies::any}) {
            (this->*each).tried += (other.*each).tried;
            (this->*each).left += (other.*each).left;
            (this->*each).wrong += (other.*each).wrong;
        }
    }
};

namespace middle = wye::lower::middle;
constexpr auto kDivide = middle::operation(wye::ir::Op::DIV, wye::ir::Kind::F32);
constexpr auto kRoot = middle::operation(wye::ir::Op::SQRT, wye::ir::Kind::F32);
constexpr auto kFused = middle::operation(wye::ir::Op::FMA, wye::ir::Kind::F32);
constexpr auto kInverse = middle::key::kInverseRoot;

// Tries the forms with a start that is `offset` steps off the nearest f32.
void try_forms(bool fused, int offset, FormTallies& out) {
    exhaust::FormRunner runner(fused);
    const auto steps = static_cast<std::uint32_t>(offset);
    Words results;
    const auto divisions = [&](Tally& tally) {
        return [&](const Words& a, const Words& b) {
            runner.run(kDivide, a, b, steps, results);
            tally.add(a, b, results, true, divided);
        };
    };
    chunks(kOne, kFour, kAll ? 1 : 13, [&](const Words& x) {
        runner.run(kRoot, x, {}, steps, results);
        out.roots.add(x, {}, results, true, root);
        runner.run(kInverse, x, {}, steps, results);
        out.inverses.add(x, {}, results, fused, inverse);
    });
    const Words ends = edges();
    runner.run(kRoot, ends, {}, steps, results);
    out.any.add(ends, {}, results, true, root);
    runner.run(kInverse, ends, {}, steps, results);
    (fused ? out.any : out.inverses).add(ends, {}, results, fused, inverse);
    hard_divisions(kAll ? 1 : 1021, divisions(out.hard));
    random_divisions(3, kAll ? std::size_t{1} << 26 : 100000, true, divisions(out.quotients));
    random_divisions(4, kAll ? std::size_t{1} << 22 : 50000, false, divisions(out.any));
    Words a = {kOne, kOne}, b = {0x3fffffff, 0xbfffffff};  // exceptions of Markstein's theorem
    for (const std::uint32_t x : ends)
        for (std::size_t k = x % 7; k < ends.size(); k += kAll ? 7 : 211) {
            a.push_back(x);
            b.push_back(ends[k]);
        }
    divisions(out.any)(a, b);
}

// Runs work(0) to work(count - 1); with WYE_MATH_ALL on all cores.
template <typename Work>
void on_cores(std::size_t count, Work work) {
    std::atomic<std::size_t> next = 0;
    const auto loop = [&] {
        for (std::size_t i = next++; i < count; i = next++) work(i);
    };
    std::vector<std::thread> threads;
    for (unsigned t = 1; kAll && t < std::thread::hardware_concurrency(); ++t)
        threads.emplace_back(loop);
    loop();
    for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("forms of quotients and roots, from any start within 8 steps") {
    for (const bool fused : {false, true}) {
        const std::string by = fused ? " by fma" : " by parts";
        const std::vector<int> all = offsets();
        std::vector<FormTallies> each(all.size(), FormTallies(by));
        on_cores(all.size(), [&](std::size_t i) { try_forms(fused, all[i], each[i]); });
        FormTallies sum(by);
        for (const FormTallies& one : each) sum.add(one);
        sum.roots.report(0x1p-13);
        sum.inverses.report(fused ? 0x1p-13 : 0);
        sum.quotients.report(0x1p-12);
        sum.hard.report(1);
        sum.any.report(1);
    }
}

// c is any number, or close to -(a * b). The operands of a round are ordinary numbers, numbers of
// any size, or numbers of `edges`.
TEST_CASE("the form of fma on a device that takes subnormal numbers for zeros") {
    exhaust::FormRunner runner(true);
    support::Random random(5);
    Tally ordinary{"fma of ordinary numbers"}, any{"fma of any numbers"};
    const Words ends = edges();
    Words a(1024), b(1024), c(1024), results;
    for (std::size_t round = 0; round < (kAll ? 1U << 18U : 1U << 9U); ++round) {
        const std::size_t kind = round % 4;
        for (std::size_t i = 0; i < a.size(); ++i) {
            for (Words* const each : {&a, &b, &c}) {
                const std::uint64_t drawn = random.next();
                (*each)[i] =
                    kind == 3 ? ends[drawn % ends.size()] : static_cast<std::uint32_t>(drawn);
                if (kind < 2) (*each)[i] = ((*each)[i] & 0x83ffffffU) + 0x3e000000U;
            }
            if (kind % 2 == 1 && random.below(4) != 0)
                c[i] = bits(-(value(a[i]) * value(b[i]))) +
                       static_cast<std::uint32_t>(random.between(-2, 2));
        }
        runner.run(kFused, a, b, 0, results, c);
        (kind < 2 ? ordinary : any).add(a, b, results, true, [&](float x, float y, std::size_t i) {
            return std::fma(x, y, value(c[i]));
        });
    }
    ordinary.report(0x1p-3);  // left: sums that are zero
    any.report(1);
}

TEST_CASE("the form of the inverse square root, of all f32") {
    constexpr std::size_t kParts = 64;
    const std::string what = "rsqrt, all f32";
    std::vector<Tally> each(kParts, Tally{what});
    on_cores(kParts, [&](std::size_t part) {
        exhaust::FormRunner runner(false);
        Words results;
        const std::uint64_t first = part << 26U;
        chunks(first, first + (std::uint64_t{1} << 26U), kAll ? 1 : 4099, [&](const Words& x) {
            runner.run(kInverse, x, {}, 0, results);
            each[part].add(x, {}, results, false, inverse);
        });
    });
    Tally sum{what};
    for (const Tally& one : each) {
        sum.tried += one.tried;
        sum.wrong += one.wrong;
    }
    sum.report(0);
}

TEST_CASE("definitions and emulations, on the cpu") {
    Device cpu("cpu");
    const std::string text = definitions();
    Words results;
    Tally words{"rsqrt in words"}, started{"rsqrt from a start"};
    chunks(0, std::uint64_t{1} << 32, kAll ? 1 : 4099, [&](const Words& x) {
        cpu.run(text, "math_rsqrt_f32_in_words(x)", x, {}, 0, results);
        words.add(x, {}, results, false, inverse);
    });
    for (const int offset : offsets())
        chunks(kOne, kFour, kAll ? 1 : 13, [&](const Words& x) {
            cpu.run(text, "math_rsqrt_f32_from_start(x)", x, {}, static_cast<std::uint32_t>(offset),
                    results);
            started.add(x, {}, results, false, inverse);
        });
    chunks(0, std::uint64_t{1} << 32, kAll ? 127 : 40009, [&](const Words& x) {
        cpu.run(text, "math_rsqrt_f32_from_start(x)", x, {}, 0, results);
        started.add(x, {}, results, false, inverse);
    });
    words.report(0);
    started.report(0);

    const std::string library = emulations();
    Tally roots{"sqrt in words"}, quotients{"/ in words"};
    chunks(0, std::uint64_t{1} << 32, kAll ? 17 : 100003, [&](const Words& x) {
        cpu.run(library, "sqrt32(x)", x, {}, 0, results);
        roots.add(x, {}, results, false, root);
    });
    const auto divide = [&](const Words& a, const Words& b) {
        cpu.run(library, "div32(x, y)", a, b, 0, results);
        quotients.add(a, b, results, false, divided);
    };
    hard_divisions(kAll ? 1 : 4001, divide);
    random_divisions(5, kAll ? std::size_t{1} << 26 : 20000, false, divide);
    roots.report(0);
    quotients.report(0);
}

TEST_CASE("the operations themselves, on the device of WYE_MATH_DEVICE") {
    const char* selector = std::getenv("WYE_MATH_DEVICE");
    Device device(selector != nullptr ? selector : "cpu");
    const std::uint64_t step = selector != nullptr ? 1 : 40009;
    Words results;
    Tally roots{"sqrt(x)"}, inverses{"rsqrt(x)"}, quotients{"x / y"};
    chunks(0, std::uint64_t{1} << 32, step, [&](const Words& x) {
        device.run("", "sqrt(x)", x, {}, 0, results);
        roots.add(x, {}, results, false, root);
    });
    chunks(0, std::uint64_t{1} << 32, step, [&](const Words& x) {
        device.run("", "rsqrt(x)", x, {}, 0, results);
        inverses.add(x, {}, results, false, inverse);
    });
    const auto divide = [&](const Words& a, const Words& b) {
        device.run("", "x / y", a, b, 0, results);
        quotients.add(a, b, results, false, divided);
    };
    hard_divisions(selector != nullptr ? 1 : 4001, divide);
    random_divisions(6, selector != nullptr ? std::size_t{1} << 30 : 20000, true, divide);
    random_divisions(7, selector != nullptr ? std::size_t{1} << 28 : 20000, false, divide);
    roots.report(0);
    inverses.report(0);
    quotients.report(0);
}
