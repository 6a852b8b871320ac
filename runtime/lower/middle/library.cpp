// SPDX-License-Identifier: Apache-2.0
#include "lower/middle/library.hpp"

#include <cassert>

#include "lower/math_text.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"
#include "wye/sdk/lasting.hpp"

namespace wye::lower::middle {
namespace {

// Words in the names below. `fraction`: an integer whose highest bit is at a fixed position.
// `exponent`: the power of two for which the lowest bit of a fraction stands, or, as an argument of
// pack32 and pack64, the highest bit. `jam`: shifts right, and sets bit 0 if ones were lost, which
// is all that rounding needs to know.
constexpr std::string_view kHead = "wye 1; program library; workgroup 1;\n";
constexpr std::string_view kText = R"(

// ---- Division of 64-bit integers, by words (Hacker's Delight, 9-4 and 9-5) ----

// (u << 16 | next) / (v1 << 16 | v0), which must fit in 16 bits; bit 15 of v1 must be set.
fn quotient_digit(u: u32, next: u32, v1: u32, v0: u32) -> u32 {
    let q = u / v1;
    let r = u - q * v1;
    let large = q > 0xffffu || q * v0 > (r << 16u | next);
    let p = q - u32(large);
    let s = r + select(large, v1, 0u);
    let again = large && s <= 0xffffu && (p > 0xffffu || p * v0 > (s << 16u | next));
    return p - u32(again);
}
// (high << 32 | low) / divisor, where high < divisor.
fn quotient_word(high: u32, low: u32, divisor: u32) -> u32 {
    let n = clz(divisor);
    let v = divisor << n;
    let v1 = v >> 16u;
    let v0 = v & 0xffffu;
    let u = u32((u64(high) << 32u | u64(low)) << n >> 32u);
    let rest = low << n;
    let first = quotient_digit(u, rest >> 16u, v1, v0);
    let middle = (u << 16u | rest >> 16u) - first * v;
    return first << 16u | quotient_digit(middle, rest & 0xffffu, v1, v0);
}
fn quotient64(a: u64, b: u64) -> u64 {  // b is not 0
    let ah = u32(a >> 32u);
    let bh = u32(b >> 32u);
    let bl = u32(b);
    var result = 0u64;
    if bh == 0u {
        let upper = ah / bl;
        result = u64(upper) << 32u | u64(quotient_word(ah - upper * bl, u32(a), bl));
    } else {
        let n = clz(bh);
        let half = a >> 1u;
        let digits = quotient_word(u32(half >> 32u), u32(half), u32(b << n >> 32u));
        let near = u64(digits) << n >> 31u;  // at most one too large
        let low = near - u64(near != 0u64);
        result = low + u64(a - low * b >= b);
    }
    return result;
}
fn signed_quotient64(a: i64, b: i64) -> i64 {
    let q = quotient64(bitcast<u64>(abs(a)), bitcast<u64>(abs(b)));
    return bitcast<i64>(select((a ^ b) < 0i64, 0u64 - q, q));
}

// ---- f32 in 32-bit integers ----

fn fraction32(x: u32) -> u32 {  // 24 bits
    let f = x & 0x7fffffu;
    return select((x & 0x7f800000u) == 0u, f << (clz(f) - 8u), f | 0x800000u);
}
fn exponent32(x: u32) -> i32 {
    let e = i32(x >> 23u & 0xffu);
    return select(e == 0, -141 - i32(clz(x & 0x7fffffu)), e - 150);
}
// h has bit 31 set, which stands for 2^exponent.
fn pack32(sign: u32, exponent: i32, h: u32) -> f32 {
    let extra = u32(clamp(-126 - exponent, 0, 31));
    let m = h >> extra | u32((h & ((1u << extra) - 1u)) != 0u);
    let rest = m & 0xffu;
    let q = m >> 8u;
    let rounded = q + u32(rest > 0x80u || rest == 0x80u && (q & 1u) != 0u);
    let bits = (u32(max(exponent, -126) + 126) << 23u) + rounded;
    return bitcast<f32>(sign | select(exponent > 127, 0x7f800000u, bits));
}
fn div32(x: f32, y: f32) -> f32 {
    let a = bitcast<u32>(x);
    let b = bitcast<u32>(y);
    let am = a & 0x7fffffffu;
    let bm = b & 0x7fffffffu;
    let sign = (a ^ b) & 0x80000000u;
    var result = nan_f32;
    if am < 0x7f800000u && bm < 0x7f800000u && am != 0u && bm != 0u {
        let divisor = fraction32(bm);
        var rest = fraction32(am);
        var exponent = exponent32(am) - exponent32(bm);
        if rest < divisor {
            rest = rest << 1u;
            exponent = exponent - 1;
        }
        var quotient = 0u;
        for k in 0u..27u {
            let bit = rest >= divisor;
            rest = select(bit, rest - divisor, rest) << 1u;
            quotient = quotient << 1u | u32(bit);
        }
        result = pack32(sign, exponent, quotient << 5u | u32(rest != 0u));
    } else if am > 0x7f800000u || bm > 0x7f800000u || am == bm {
        result = nan_f32;
    } else if am == 0x7f800000u || bm == 0u {
        result = bitcast<f32>(sign | 0x7f800000u);
    } else {
        result = bitcast<f32>(sign);
    }
    return result;
}
fn sqrt32(x: f32) -> f32 {
    let a = bitcast<u32>(x);
    var result = x;  // zeros, infinity
    if a > 0x7f800000u && a != 0x80000000u {
        result = nan_f32;
    } else if a != 0u && a < 0x7f800000u {
        let e = exponent32(a);
        let even = u32(e & 1) ^ 1u;
        var left = fraction32(a) << (7u + even);
        var rest = 0u;
        var root = 0u;
        for k in 0u..27u {
            rest = rest << 2u | left >> 30u;
            left = left << 2u;
            let trial = root << 2u | 1u;
            let bit = rest >= trial;
            rest = select(bit, rest - trial, rest);
            root = root << 1u | u32(bit);
        }
        result = pack32(0u, (e - i32(even) + 23) / 2, root << 5u | u32(rest != 0u));
    }
    return result;
}

// The last argument of the functions below is the result that make_float.cpp computes from a
// device's own operation. That result is right if `certain` is true.
fn quotient_or_div32(x: f32, y: f32, certain: bool, quotient: f32) -> f32 {
    var result = quotient;
    if !certain {
        result = div32(x, y);
    }
    return result;
}
fn root_or_sqrt32(x: f32, certain: bool, root: f32) -> f32 {
    var result = root;
    if !certain {
        result = sqrt32(x);
    }
    return result;
}
fn inverse_root_or_rsqrt32(x: f32, certain: bool, root: f32) -> f32 {
    var result = root;
    if !certain {
        result = math_rsqrt_f32_in_words(x);
    }
    return result;
}

// ---- Whole numbers ----

// Adding and then subtracting the least power of two above which f32 has no fractions rounds a
// value. NaNs, infinities and larger values are left alone. The sign is set last, since some
// drivers lose the sign of a zero.
fn round32(x: f32) -> f32 {
    let near = (abs(x) + 0x1p23) - 0x1p23;
    return select(abs(x) < 0x1p23, copysign(near, x), x);
}
fn floor32(x: f32) -> f32 {
    let near = round32(x);
    return copysign(select(near > x, near - 1.0, near), x);
}
fn ceil32(x: f32) -> f32 {
    let near = round32(x);
    return copysign(select(near < x, near + 1.0, near), x);
}
fn trunc32(x: f32) -> f32 {
    return copysign(floor32(abs(x)), x);
}
fn round64(x: f64) -> f64 {
    let near = (abs(x) + 0x1p52f64) - 0x1p52f64;
    return select(abs(x) < 0x1p52f64, copysign(near, x), x);
}
fn floor64(x: f64) -> f64 {
    let near = round64(x);
    return copysign(select(near > x, near - 1.0f64, near), x);
}
fn ceil64(x: f64) -> f64 {
    let near = round64(x);
    return copysign(select(near < x, near + 1.0f64, near), x);
}
fn trunc64(x: f64) -> f64 {
    return copysign(floor64(abs(x)), x);
}

// ---- f64 in 64-bit integers ----

fn fraction64(x: u64) -> u64 {  // 53 bits
    let f = x & 0xfffffffffffffu64;
    return select((x & 0x7ff0000000000000u64) == 0u64, f << u32(clz(f) - 11u64),
                  f | 0x10000000000000u64);
}
fn exponent64(x: u64) -> i32 {
    let e = i32(x >> 52u & 0x7ffu64);
    return select(e == 0, -1063 - i32(clz(x & 0xfffffffffffffu64)), e - 1075);
}
// h has bit 63 set, which stands for 2^exponent.
fn pack64(sign: u64, exponent: i32, h: u64) -> f64 {
    let extra = u32(clamp(-1022 - exponent, 0, 63));
    let m = h >> extra | u64((h & ((1u64 << extra) - 1u64)) != 0u64);
    let rest = m & 0x7ffu64;
    let q = m >> 11u;
    let rounded = q + u64(rest > 0x400u64 || rest == 0x400u64 && (q & 1u64) != 0u64);
    let bits = (u64(max(exponent, -1022) + 1022) << 52u) + rounded;
    return bitcast<f64>(sign | select(exponent > 1023, 0x7ff0000000000000u64, bits));
}
fn div64(x: f64, y: f64) -> f64 {
    let a = bitcast<u64>(x);
    let b = bitcast<u64>(y);
    let infinity = 0x7ff0000000000000u64;
    let am = a & 0x7fffffffffffffffu64;
    let bm = b & 0x7fffffffffffffffu64;
    let sign = (a ^ b) & 0x8000000000000000u64;
    var result = nan_f64;
    if am < infinity && bm < infinity && am != 0u64 && bm != 0u64 {
        let divisor = fraction64(bm);
        var rest = fraction64(am);
        var exponent = exponent64(am) - exponent64(bm);
        if rest < divisor {
            rest = rest << 1u;
            exponent = exponent - 1;
        }
        var quotient = 0u64;
        for k in 0u..56u {
            let bit = rest >= divisor;
            rest = select(bit, rest - divisor, rest) << 1u;
            quotient = quotient << 1u | u64(bit);
        }
        result = pack64(sign, exponent, quotient << 8u | u64(rest != 0u64));
    } else if am > infinity || bm > infinity || am == bm {
        result = nan_f64;
    } else if am == infinity || bm == 0u64 {
        result = bitcast<f64>(sign | infinity);
    } else {
        result = bitcast<f64>(sign);
    }
    return result;
}
fn sqrt64(x: f64) -> f64 {
    let a = bitcast<u64>(x);
    let infinity = 0x7ff0000000000000u64;
    var result = x;  // zeros, infinity
    if a > infinity && a != 0x8000000000000000u64 {
        result = nan_f64;
    } else if a != 0u64 && a < infinity {
        let e = exponent64(a);
        let odd = u32(e & 1);
        var left = fraction64(a) << (10u + odd);
        var rest = 0u64;
        var root = 0u64;
        for k in 0u..56u {
            rest = rest << 2u | left >> 62u;
            left = left << 2u;
            let trial = root << 2u | 1u64;
            let bit = rest >= trial;
            rest = select(bit, rest - trial, rest);
            root = root << 1u | u64(bit);
        }
        result = pack64(0u64, (e - i32(odd)) / 2 + 26, root << 8u | u64(rest != 0u64));
    }
    return result;
}

// ---- Division and square root by fused steps (Markstein, IBM J. R&D 34(1), 1990) ----
//
// `start` is about 1 / sqrt(r), where r is radicand_of_divisor64(y) or radicand64(x). Its first 20
// bits must be right, so a device's own function may compute `start`. If an exponent is so small or
// large that a step could be subnormal or overflow, the result is computed in integers instead.

fn ordinary(high: u32) -> bool {  // from 2^-400 to 2^401
    return (high & 0x7ff00000u) - 0x26f00000u < 0x32100000u;
}
// An f32 above zero as f64, with `exponent` (in place in the upper word) added to its own.
fn widened(f: f32, exponent: u32) -> f64 {
    let w = bitcast<u32>(f);
    return bitcast<f64>(u64((w >> 3u) + 0x38000000u + exponent) << 32u | u64(w << 29u));
}
fn radicand_of_divisor64(y: f64) -> f32 {  // the fraction of y, from 1 to 2
    return bitcast<f32>(u32(bitcast<u64>(y) >> 29u) & 0x7fffffu | 0x3f800000u);
}
// r is the nearest f64 to 1 / y, unless the fraction of y is the greatest. q is within one step of
// x / y, and so the last sum is rounded correctly (Markstein's theorem).
fn div64_by_fma(x: f64, y: f64, start: f32) -> f64 {
    let a = u32(bitcast<u64>(x) >> 32u);
    let b = u32(bitcast<u64>(y) >> 32u);
    let s = copysign(widened(start * start, 0x3ff00000u - (b & 0x7ff00000u)), y);
    let e = fma(-y, s, 1.0f64);
    let t = fma(s, fma(e, e, e), s);
    let r = fma(t, fma(-y, t, 1.0f64), t);
    let product = x * r;
    let q = fma(fma(-y, product, x), r, product);
    var result = fma(fma(-y, q, x), r, q);
    if !(ordinary(a) && ordinary(b) && u32(bitcast<u64>(y)) != 0xffffffffu) {
        result = div64(x, y);
    }
    return result;
}
fn radicand64(x: f64) -> f32 {  // x * 4^k, from 1 to 4
    return bitcast<f32>((u32(bitcast<u64>(x) >> 29u) & 0xffffffu ^ 0x800000u) + 0x3f800000u);
}
fn sqrt64_by_fma(x: f64, start: f32) -> f64 {
    let a = u32(bitcast<u64>(x) >> 32u);
    let twice = (a & 0x1fffffu ^ 0x100000u) + 0x3ff00000u - a;  // -2k, in place
    let r = widened(start, bitcast<u32>(bitcast<i32>(twice) >> 1u));
    let g = x * r;
    let h = 0.5f64 * r;
    let e = fma(-g, h, 0.5f64);
    let g1 = fma(g, e, g);
    let h1 = fma(h, e, h);
    let e1 = fma(-g1, h1, 0.5f64);
    let g2 = fma(g1, e1, g1);
    var result = fma(fma(-g2, g2, x), fma(h1, e1, h1), g2);
    if !(ordinary(a) && a < 0x80000000u) {
        result = sqrt64(x);
    }
    return result;
}

// ---- Fused multiply and add ----

// Product and addend as 62-bit integers with one exponent.
fn fma32_in_integers(x: f32, y: f32, z: f32) -> f32 {
    let a = bitcast<u32>(x);
    let b = bitcast<u32>(y);
    let c = bitcast<u32>(z);
    let am = a & 0x7fffffffu;
    let bm = b & 0x7fffffffu;
    let cm = c & 0x7fffffffu;
    var result = z;
    if am == 0u || bm == 0u || am >= 0x7f800000u || bm >= 0x7f800000u {
        result = x * y + z;  // the product is exact
    } else if cm == 0u {
        result = x * y;
    } else if cm < 0x7f800000u {
        let ep = exponent32(am) + exponent32(bm) - 14;
        let ec = exponent32(cm) - 38;
        let p = (u64(fraction32(am)) * u64(fraction32(bm))) << 14u;
        let q = u64(fraction32(cm)) << 38u;
        let shift_p = u32(clamp(ec - ep, 0, 63));
        let shift_q = u32(clamp(ep - ec, 0, 63));
        let m = p >> shift_p | u64((p & ((1u64 << shift_p) - 1u64)) != 0u64);
        let n = q >> shift_q | u64((q & ((1u64 << shift_q) - 1u64)) != 0u64);
        let same = ((a ^ b ^ c) & 0x80000000u) == 0u;
        let larger = max(m, n);
        let smaller = min(m, n);
        let total = select(same, larger + smaller, larger - smaller);
        let sign = select(m >= n, (a ^ b) & 0x80000000u, c & 0x80000000u);
        let zeros = u32(clz(total));
        let top = total << zeros;
        let h = u32(top >> 32u) | u32((top & 0xffffffffu64) != 0u64);
        result = select(total == 0u64, 0.0, pack32(sign, max(ep, ec) + 63 - i32(zeros), h));
    }
    return result;
}
fn fused_or_fma32(x: f32, y: f32, z: f32, certain: bool, fused: f32) -> f32 {
    var result = fused;
    if !certain {
        result = fma32_in_integers(x, y, z);
    }
    return result;
}
// Halves of 128 bits: x is the low one.
fn left128(v: u64x2, n: u32) -> u64x2 {  // n below 128
    let carried = select(n == 0u, 0u64, v.x >> (64u - n));
    return select(n < 64u, u64x2(v.x << n, v.y << n | carried), u64x2(0u64, v.x << (n - 64u)));
}
fn jam128(v: u64x2, n: u32) -> u64x2 {  // n below 128
    let carried = select(n == 0u, 0u64, v.y << (64u - n));
    let near = u64x2(v.x >> n | carried | u64((v.x & ((1u64 << n) - 1u64)) != 0u64), v.y >> n);
    let lost = v.x != 0u64 || (v.y & ((1u64 << (n - 64u)) - 1u64)) != 0u64;
    let far = u64x2(v.y >> (n - 64u) | u64(lost), 0u64);
    return select(n < 64u, near, far);
}
// Product and addend as 126-bit integers with one exponent.
fn fma64(x: f64, y: f64, z: f64) -> f64 {
    let a = bitcast<u64>(x);
    let b = bitcast<u64>(y);
    let c = bitcast<u64>(z);
    let infinity = 0x7ff0000000000000u64;
    let top_bit = 0x8000000000000000u64;
    let am = a & 0x7fffffffffffffffu64;
    let bm = b & 0x7fffffffffffffffu64;
    let cm = c & 0x7fffffffffffffffu64;
    var result = z;
    if am == 0u64 || bm == 0u64 || am >= infinity || bm >= infinity {
        result = x * y + z;  // the product is exact
    } else if cm == 0u64 {
        result = x * y;
    } else if cm < infinity {
        let ep = exponent64(am) + exponent64(bm) - 20;
        let ec = exponent64(cm) - 73;
        let fa = fraction64(am);
        let fb = fraction64(bm);
        let p = jam128(left128(u64x2(fa * fb, mul_hi(fa, fb)), 20u), u32(clamp(ec - ep, 0, 127)));
        let q = jam128(left128(u64x2(fraction64(cm), 0u64), 73u), u32(clamp(ep - ec, 0, 127)));
        let larger_p = p.y > q.y || p.y == q.y && p.x >= q.x;
        let m = select(larger_p, p, q);
        let n = select(larger_p, q, p);
        let same = ((a ^ b ^ c) & top_bit) == 0u64;
        let low = select(same, m.x + n.x, m.x - n.x);
        let carry = select(same, u64(low < m.x), 0u64 - u64(m.x < n.x));
        let high = select(same, m.y + n.y, m.y - n.y) + carry;
        let sign = select(larger_p, a ^ b, c) & top_bit;
        let zeros = select(high == 0u64, 64u + u32(clz(low)), u32(clz(high)));
        let top = left128(u64x2(low, high), min(zeros, 127u));
        let packed = pack64(sign, max(ep, ec) + 127 - i32(zeros), top.y | u64(top.x != 0u64));
        result = select((low | high) == 0u64, 0.0f64, packed);
    }
    return result;
}
main {
}
)";

}  // namespace

std::string emulations_text() {
    std::string text(kHead);
    text += kInverseRootText;
    return text += kText;
}

const ir::Program& emulations() {
    static const sdk::Lasting<const ir::Program> library([] {
        ir::ParseResult parsed = ir::parse(emulations_text());
        [[maybe_unused]] const bool valid = parsed.ok() && ir::validate(parsed.program).empty();
        assert(valid);
        return std::move(parsed.program);
    });
    return *library;
}

std::uint32_t emulation_index(std::string_view name) {
    const ir::Program& program = emulations();
    std::uint32_t index = 0;
    while (program.functions[index].name != name) ++index;
    return index;
}

}  // namespace wye::lower::middle
