// SPDX-License-Identifier: Apache-2.0
#include "support/operations.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "support/half.hpp"
#include "wye/program_format.h"

namespace support {
namespace {

using u64 = std::uint64_t;
__extension__ using Wide = __int128;
__extension__ using UWide = unsigned __int128;

// An f16. The member is a double of the same value.
struct Half {
    double value;
};

template <typename T>
constexpr unsigned kind_of_type() {
    if constexpr (std::is_same_v<T, std::int32_t>) return WYE_KIND_I32;
    if constexpr (std::is_same_v<T, std::uint32_t>) return WYE_KIND_U32;
    if constexpr (std::is_same_v<T, std::int64_t>) return WYE_KIND_I64;
    if constexpr (std::is_same_v<T, std::uint64_t>) return WYE_KIND_U64;
    if constexpr (std::is_same_v<T, float>) return WYE_KIND_F32;
    if constexpr (std::is_same_v<T, double>) return WYE_KIND_F64;
    if constexpr (std::is_same_v<T, Half>) return WYE_KIND_F16;
}

// Reads the values from a table, since this function is called millions of times.
double half_value(u64 bits) {
    static const std::vector<double> values = [] {
        std::vector<double> all(std::size_t{1} << 16U);
        for (std::size_t b = 0; b < all.size(); ++b) all[b] = value_of_half(b);
        return all;
    }();
    return values[bits & 0xffffU];
}

template <typename T>
T in(u64 bits) {
    if constexpr (std::is_same_v<T, Half>) {
        return {half_value(bits)};
    } else {
        T value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
}

template <typename T>
u64 out(T value) {
    if constexpr (std::is_same_v<T, Half>) {
        return half_of_value(value.value);
    } else {
        if constexpr (std::is_floating_point_v<T>)
            if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
        u64 bits = 0;
        std::memcpy(&bits, &value, sizeof value);
        return bits;
    }
}

// Collects the operations on a type.
template <typename T>
class Table {
  public:
    template <typename F>
    void add(const std::string& text, F f) {
        using R = std::invoke_result_t<F, T, T, T>;
        operations_.push_back({text, kind_of_type<R>(), [f](u64 x, u64 y, u64 z) {
                                   return out<R>(f(in<T>(x), in<T>(y), in<T>(z)));
                               }});
    }
    template <typename F>
    void test(const std::string& text, F f) {
        add("u32(" + text + ")",
            [f](T x, T y, T z) -> std::uint32_t { return f(x, y, z) ? 1 : 0; });
    }
    // Adds an operation that stores x in a buffer of the kind `kind`, which is narrower than x.
    void store(unsigned kind, std::function<u64(u64)> expected) {
        operations_.push_back({"x", kind, [expected](u64 x, u64, u64) { return expected(x); }});
    }
    [[nodiscard]] std::vector<Operation> take() { return std::move(operations_); }

  private:
    std::vector<Operation> operations_;
};

template <typename T>
constexpr unsigned kBits = sizeof(T) * 8;

template <typename T>
T clamped(Wide value) {
    using L = std::numeric_limits<T>;
    return value < Wide{L::min()} ? L::min() : value > Wide{L::max()} ? L::max() : T(value);
}

template <typename T>
T divided(T x, T y) {
    return y == 0 ? x : T(Wide{x} / Wide{y});
}

template <typename T>
void compares(Table<T>& table) {
    table.test("x == y", [](T x, T y, T) { return x == y; });
    table.test("x != y", [](T x, T y, T) { return x != y; });
    table.test("x < y", [](T x, T y, T) { return x < y; });
    table.test("x <= y", [](T x, T y, T) { return x <= y; });
    table.test("x > y", [](T x, T y, T) { return x > y; });
    table.test("x >= y", [](T x, T y, T) { return x >= y; });
}

template <typename T>
void integer_bits(Table<T>& table) {
    using U = std::make_unsigned_t<T>;
    table.add("~x", [](T x, T, T) { return T(~x); });
    table.add("x & y", [](T x, T y, T) { return T(x & y); });
    table.add("x | y", [](T x, T y, T) { return T(x | y); });
    table.add("x ^ y", [](T x, T y, T) { return T(x ^ y); });
    table.add("x << u32(y)", [](T x, T y, T) { return T(U(x) << (U(y) & (kBits<T> - 1))); });
    table.add("x >> u32(y)", [](T x, T y, T) { return T(x >> (U(y) & (kBits<T> - 1))); });
    table.add("popcount(x)", [](T x, T, T) { return T(std::popcount(U(x))); });
    table.add("clz(x)", [](T x, T, T) { return T(std::countl_zero(U(x))); });
    table.add("ctz(x)", [](T x, T, T) { return T(std::countr_zero(U(x))); });
    table.add("reverse_bits(x)", [](T x, T, T) {
        U r = 0;
        for (unsigned n = 0; n < kBits<T>; ++n) r = U(r << 1) | ((U(x) >> n) & 1U);
        return T(r);
    });
    if constexpr (std::is_unsigned_v<T>) {
        table.add("rotl(x, u32(y))", [](T x, T y, T) { return std::rotl(x, int(y % kBits<T>)); });
        table.add("rotr(x, u32(y))", [](T x, T y, T) { return std::rotr(x, int(y % kBits<T>)); });
    }
}

template <typename T>
void integer_arithmetic(Table<T>& table) {
    using U = std::make_unsigned_t<T>;
    table.add("x + y", [](T x, T y, T) { return T(U(x) + U(y)); });
    table.add("x - y", [](T x, T y, T) { return T(U(x) - U(y)); });
    table.add("x * y", [](T x, T y, T) { return T(UWide(U(x)) * U(y)); });
    table.add("x / y", [](T x, T y, T) { return divided(x, y); });
    table.add("x % y",
              [](T x, T y, T) { return y == 0 ? T(0) : T(Wide{x} - Wide{divided(x, y)} * y); });
    table.add("mul_hi(x, y)", [](T x, T y, T) {
        if constexpr (std::is_signed_v<T>)
            return T((Wide{x} * Wide{y}) >> kBits<T>);
        else
            return T((UWide(x) * UWide(y)) >> kBits<T>);
    });
    table.add("add_sat(x, y)", [](T x, T y, T) { return clamped<T>(Wide{x} + Wide{y}); });
    table.add("sub_sat(x, y)", [](T x, T y, T) { return clamped<T>(Wide{x} - Wide{y}); });
    table.add("min(x, y)", [](T x, T y, T) { return x < y ? x : y; });
    table.add("max(x, y)", [](T x, T y, T) { return x < y ? y : x; });
    table.add("clamp(x, y, z)", [](T x, T y, T z) {
        const T low = x < y ? y : x;
        return low < z ? low : z;
    });
    table.add("select(x < y, y, z)", [](T x, T y, T z) { return x < y ? y : z; });
    if constexpr (std::is_signed_v<T>) {
        table.add("-x", [](T x, T, T) { return T(U(0) - U(x)); });
        table.add("abs(x)", [](T x, T, T) { return x < 0 ? T(U(0) - U(x)) : x; });
    }
}

template <typename T, typename R>
void integer_to(Table<T>& table, const std::string& name) {
    if constexpr (!std::is_same_v<T, R>) table.add(name + "(x)", [](T x, T, T) { return R(x); });
}

template <typename T>
void integer_conversions(Table<T>& table) {
    integer_to<T, std::int32_t>(table, "i32");
    integer_to<T, std::uint32_t>(table, "u32");
    integer_to<T, std::int64_t>(table, "i64");
    integer_to<T, std::uint64_t>(table, "u64");
    integer_to<T, float>(table, "f32");
    integer_to<T, double>(table, "f64");
    // All integers that are finite as f16 are exact as double, so this rounds only once.
    table.add("f16(x)", [](T x, T, T) { return Half{double(x)}; });
    if constexpr (sizeof(T) == 4)
        table.add("bitcast<f32>(x)", [](T x, T, T) { return std::bit_cast<float>(x); });
    else
        table.add("bitcast<f64>(x)", [](T x, T, T) { return std::bit_cast<double>(x); });
}

template <typename T>
std::vector<Operation> integers() {
    Table<T> table;
    integer_arithmetic(table);
    integer_bits(table);
    compares(table);
    integer_conversions(table);
    if constexpr (std::is_same_v<T, std::uint32_t>) {
        table.store(WYE_KIND_U8, [](u64 x) { return x & 0xffU; });
        table.store(WYE_KIND_U16, [](u64 x) { return x & 0xffffU; });
        table.add("bitcast<u32>(f16x2(bitcast<f16x2>(x).y, bitcast<f16x2>(y).x))",
                  [](std::uint32_t x, std::uint32_t y, std::uint32_t) {
                      const std::uint32_t low = half_of_value(in<Half>(x >> 16U).value);
                      const std::uint32_t high = half_of_value(in<Half>(y).value);
                      return low | high << 16U;
                  });
    }
    if constexpr (std::is_same_v<T, std::int32_t>) {
        table.store(WYE_KIND_I8, [](u64 x) { return x & 0xffU; });
        table.store(WYE_KIND_I16, [](u64 x) { return x & 0xffffU; });
    }
    return table.take();
}

template <typename T>
T smaller(T x, T y) {
    if (std::isnan(x)) return y;
    if (std::isnan(y)) return x;
    if (x == y) return std::signbit(x) ? x : y;
    return x < y ? x : y;
}
template <typename T>
T larger(T x, T y) {
    return -smaller(-x, -y);
}

template <typename I>
I saturated(double x) {
    using L = std::numeric_limits<I>;
    if (std::isnan(x)) return 0;
    if (x <= double(L::min())) return L::min();
    if (x >= std::ldexp(1.0, int(kBits<I>) - (std::is_signed_v<I> ? 1 : 0))) return L::max();
    return I(x);
}

template <typename T>
std::vector<Operation> floats() {
    Table<T> table;
    table.add("x + y", [](T x, T y, T) { return x + y; });
    table.add("x - y", [](T x, T y, T) { return x - y; });
    table.add("x * y", [](T x, T y, T) { return x * y; });
    table.add("x / y", [](T x, T y, T) { return x / y; });
    table.add("sqrt(x)", [](T x, T, T) { return std::sqrt(x); });
    table.add("fma(x, y, z)", [](T x, T y, T z) { return std::fma(x, y, z); });
    table.add("x * y + z", [](T x, T y, T z) {
        volatile T product = x * y;
        return product + z;
    });
    table.add("-x", [](T x, T, T) { return -x; });
    table.add("abs(x)", [](T x, T, T) { return std::fabs(x); });
    table.add("copysign(x, y)",
              [](T x, T y, T) { return std::copysign(x, std::isnan(y) ? T(1) : y); });
    table.add("min(x, y)", [](T x, T y, T) { return smaller(x, y); });
    table.add("max(x, y)", [](T x, T y, T) { return larger(x, y); });
    table.add("clamp(x, y, z)", [](T x, T y, T z) { return smaller(larger(x, y), z); });
    table.add("floor(x)", [](T x, T, T) { return std::floor(x); });
    table.add("ceil(x)", [](T x, T, T) { return std::ceil(x); });
    table.add("trunc(x)", [](T x, T, T) { return std::trunc(x); });
    table.add("round(x)", [](T x, T, T) { return std::nearbyint(x); });
    table.add("select(x < y, y, z)", [](T x, T y, T z) { return x < y ? y : z; });
    compares(table);
    table.test("isnan(x)", [](T x, T, T) { return std::isnan(x); });
    table.test("isinf(x)", [](T x, T, T) { return std::isinf(x); });
    table.add("i32(x)", [](T x, T, T) { return saturated<std::int32_t>(x); });
    table.add("u32(x)", [](T x, T, T) { return saturated<std::uint32_t>(x); });
    table.add("i64(x)", [](T x, T, T) { return saturated<std::int64_t>(x); });
    table.add("u64(x)", [](T x, T, T) { return saturated<std::uint64_t>(x); });
    table.add("f16(x)", [](T x, T, T) { return Half{x}; });
    if constexpr (sizeof(T) == 4) {
        table.add("f64(x)", [](T x, T, T) { return double(x); });
        table.add("bitcast<u32>(x + y)",
                  [](T x, T y, T) { return static_cast<std::uint32_t>(out(x + y)); });
        table.store(WYE_KIND_BF16, [](u64 x) { return u64{bf16_of_value(in<float>(x))}; });
    } else {
        table.add("f32(x)", [](T x, T, T) { return float(x); });
        table.add("bitcast<u64>(x + y)", [](T x, T y, T) { return out(x + y); });
    }
    return table.take();
}

std::vector<Operation> halves() {
    Table<Half> table;
    const auto op = [&](const std::string& text, double (*f)(double, double, double)) {
        table.add(text, [f](Half x, Half y, Half z) { return Half{f(x.value, y.value, z.value)}; });
    };
    const auto test = [&](const std::string& text, bool (*f)(double, double)) {
        table.test(text, [f](Half x, Half y, Half) { return f(x.value, y.value); });
    };
    op("x", [](double x, double, double) { return x; });
    op("x + y", [](double x, double y, double) { return x + y; });
    op("x - y", [](double x, double y, double) { return x - y; });
    op("x * y", [](double x, double y, double) { return x * y; });
    op("x / y", [](double x, double y, double) { return x / y; });
    op("sqrt(x)", [](double x, double, double) { return std::sqrt(x); });
    op("fma(x, y, z)", [](double x, double y, double z) {
        volatile float product = static_cast<float>(x * y);  // exact; the sum then rounds to f32
        return static_cast<double>(product + static_cast<float>(z));
    });
    op("-x", [](double x, double, double) { return -x; });
    op("abs(x)", [](double x, double, double) { return std::fabs(x); });
    op("copysign(x, y)",
       [](double x, double y, double) { return std::copysign(x, std::isnan(y) ? 1.0 : y); });
    op("min(x, y)", [](double x, double y, double) { return smaller(x, y); });
    op("max(x, y)", [](double x, double y, double) { return larger(x, y); });
    op("clamp(x, y, z)", [](double x, double y, double z) { return smaller(larger(x, y), z); });
    op("floor(x)", [](double x, double, double) { return std::floor(x); });
    op("ceil(x)", [](double x, double, double) { return std::ceil(x); });
    op("trunc(x)", [](double x, double, double) { return std::trunc(x); });
    op("round(x)", [](double x, double, double) { return std::nearbyint(x); });
    op("select(x < y, y, z)", [](double x, double y, double z) { return x < y ? y : z; });
    test("x == y", [](double x, double y) { return x == y; });
    test("x != y", [](double x, double y) { return x != y; });
    test("x < y", [](double x, double y) { return x < y; });
    test("x <= y", [](double x, double y) { return x <= y; });
    test("x > y", [](double x, double y) { return x > y; });
    test("x >= y", [](double x, double y) { return x >= y; });
    test("isnan(x)", [](double x, double) { return std::isnan(x); });
    test("isinf(x)", [](double x, double) { return std::isinf(x); });
    table.add("i32(x)", [](Half x, Half, Half) { return saturated<std::int32_t>(x.value); });
    table.add("u32(x)", [](Half x, Half, Half) { return saturated<std::uint32_t>(x.value); });
    table.add("i64(x)", [](Half x, Half, Half) { return saturated<std::int64_t>(x.value); });
    table.add("u64(x)", [](Half x, Half, Half) { return saturated<std::uint64_t>(x.value); });
    table.add("f32(x)", [](Half x, Half, Half) { return static_cast<float>(x.value); });
    table.add("f64(x)", [](Half x, Half, Half) { return x.value; });
    return table.take();
}

template <typename T>
std::vector<Operation> integer_chains() {
    using U = std::make_unsigned_t<T>;
    Table<T> table;
    table.add("x & ~y", [](T x, T y, T) { return T(x & ~y); });
    table.test("x < y && !(x == y) || x > y", [](T x, T y, T) { return x != y; });
    table.add("(x ^ y) + x", [](T x, T y, T) { return T(U(x ^ y) + U(x)); });
    table.add("x - (x * y)", [](T x, T y, T) { return T(U(x) - U(UWide(U(x)) * U(y))); });
    table.add("(x << 5u) ^ y", [](T x, T y, T) { return T((U(x) << 5U) ^ U(y)); });
    table.add("(x - y) << 3u", [](T x, T y, T) { return T((U(x) - U(y)) << 3U); });
    table.add("(x & y) | y - x", [](T x, T y, T) { return T((x & y) | T(U(y) - U(x))); });
    return table.take();
}

template <typename T>
std::vector<Operation> float_chains() {
    Table<T> table;
    table.add("clamp(x, y, x + y)", [](T x, T y, T) { return smaller(larger(x, y), x + y); });
    table.add("fma(x, x, -y)", [](T x, T y, T) { return std::fma(x, x, -y); });
    table.add("y - x * y", [](T x, T y, T) {
        volatile T product = x * y;
        return y - product;
    });
    table.add("(x - y) * y", [](T x, T y, T) { return (x - y) * y; });
    return table.take();
}

// Loads and stores of elements of 8 or 16 bits. Each bit pattern is used once.
std::vector<Operation> loads(unsigned kind) {
    const auto extended = [](unsigned bits) {
        return [bits](u64 x, u64, u64) {
            const u64 sign = u64{1} << (bits - 1);
            return ((x ^ sign) - sign) & 0xffffffffU;
        };
    };
    const auto same = [](u64 x, u64, u64) { return x; };
    switch (kind) {
        case WYE_KIND_I8:
            return {{"x", WYE_KIND_I32, extended(8)}, {"x", WYE_KIND_I8, same}};
        case WYE_KIND_I16:
            return {{"x", WYE_KIND_I32, extended(16)}, {"x", WYE_KIND_I16, same}};
        case WYE_KIND_BF16:
            return {{"x", WYE_KIND_F32, [](u64 x, u64, u64) { return out(in<float>(x << 16U)); }},
                    {"x", WYE_KIND_BF16,
                     [](u64 x, u64, u64) { return u64{bf16_of_value(in<float>(x << 16U))}; }}};
        default:
            return {{"x", WYE_KIND_U32, same}, {"x", kind, same}};
    }
}

}  // namespace

std::vector<Sweep> operations() {
    std::vector<Sweep> all;
    for (const unsigned kind :
         {WYE_KIND_I8, WYE_KIND_U8, WYE_KIND_I16, WYE_KIND_U16, WYE_KIND_BF16})
        all.push_back({kind, loads(kind)});
    all.push_back({WYE_KIND_I32, integers<std::int32_t>()});
    all.push_back({WYE_KIND_U32, integers<std::uint32_t>()});
    all.push_back({WYE_KIND_I64, integers<std::int64_t>()});
    all.push_back({WYE_KIND_U64, integers<std::uint64_t>()});
    all.push_back({WYE_KIND_F16, halves()});
    all.push_back({WYE_KIND_F32, floats<float>()});
    all.push_back({WYE_KIND_F64, floats<double>()});
    return all;
}

std::vector<Sweep> chains() {
    return {{WYE_KIND_I32, integer_chains<std::int32_t>()},
            {WYE_KIND_U32, integer_chains<std::uint32_t>()},
            {WYE_KIND_I64, integer_chains<std::int64_t>()},
            {WYE_KIND_U64, integer_chains<std::uint64_t>()},
            {WYE_KIND_F32, float_chains<float>()},
            {WYE_KIND_F64, float_chains<double>()}};
}

Kind kind_of(unsigned kind) {
    switch (kind) {
#define WYE_TEST_KIND(name, code, text, bytes, bits) \
    case code:                                       \
        return {text, bytes};
        WYE_KINDS(WYE_TEST_KIND)
#undef WYE_TEST_KIND
        default:
            return {"?", 0};
    }
}

}  // namespace support
