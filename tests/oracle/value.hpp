// SPDX-License-Identifier: Apache-2.0
//
// Value: a value of the language: its type and the bits of up to four components. Every value
// carries its type, so the evaluator needs no typing pass. Components are zero-extended to 64 bits;
// bool is 0 or 1; floats are their bit patterns.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "wye/program_format.h"

namespace oracle {

// Thrown inside the oracle only: a program or launch that cannot be evaluated, with a sentence that
// says why. run() turns it into Outcome::error.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Type {
    std::uint8_t kind = 0;  // enum wye_kind; 0: no value
    std::uint8_t lanes = 1;
    friend bool operator==(Type, Type) = default;
};

inline constexpr Type kBool{WYE_KIND_BOOL, 1};
inline constexpr Type kU32{WYE_KIND_U32, 1};
inline constexpr Type kU64{WYE_KIND_U64, 1};

inline unsigned kind_bits(unsigned kind) {
    switch (kind) {
#define WYE_ORACLE_BITS(name, code, text, bytes, bits) \
    case code:                                         \
        return bits;
        WYE_KINDS(WYE_ORACLE_BITS)
#undef WYE_ORACLE_BITS
        default:
            throw Refused("unknown kind " + std::to_string(kind));
    }
}

inline unsigned kind_bytes(unsigned kind) {
    return kind == WYE_KIND_BOOL ? 0 : kind_bits(kind) / 8;
}

inline bool is_float(unsigned kind) {
    return kind == WYE_KIND_F16 || kind == WYE_KIND_F32 || kind == WYE_KIND_F64;
}
inline bool is_signed(unsigned kind) { return kind == WYE_KIND_I32 || kind == WYE_KIND_I64; }
inline bool is_integer(unsigned kind) {
    return is_signed(kind) || kind == WYE_KIND_U32 || kind == WYE_KIND_U64;
}

inline Type type_of_code(std::uint32_t code) {
    const Type type{static_cast<std::uint8_t>(code & 0xff), static_cast<std::uint8_t>(code >> 8)};
    if (code > 0xffff || type.lanes < 1 || type.lanes > 4)
        throw Refused("bad type code " + std::to_string(code));
    (void)kind_bits(type.kind);
    return type;
}

struct Value {
    Type type;
    std::array<std::uint64_t, 4> c{};

    Value() = default;
    explicit Value(Type t) : type(t) {}
    Value(Type t, std::uint64_t bits) : type(t) { c.fill(0), c[0] = bits; }
};

}  // namespace oracle
