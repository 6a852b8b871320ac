// SPDX-License-Identifier: Apache-2.0
//
// Program: a program in memory. The wire reader and the parser make it; the validator, the
// printers, the lowerings and the CPU plugin read it. Plain data, with only small look-up
// functions.
//
// A Program owns all its parts. Not synchronised: threads may share a const Program. Indices
// (ExprId, StmtId, BlockId) are valid only within their Code. Operands have smaller ids than their
// expression, so a forward pass over `Code::exprs` sees operands first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wye/program_format.h"

namespace wye::ir {

// ---- Types ----------------------------------------------------------------------------------

enum class Kind : std::uint8_t {
    None = 0,  // no type: a statement, an effect without result, or not yet derived
#define WYE_IR_KIND(name, code, text, bytes, bits) name = code,
    WYE_KINDS(WYE_IR_KIND)
#undef WYE_IR_KIND
};

struct Type {
    Kind kind = Kind::None;
    std::uint8_t lanes = 1;

    friend constexpr bool operator==(Type, Type) = default;
    [[nodiscard]] constexpr std::uint16_t code() const {
        return static_cast<std::uint16_t>(static_cast<unsigned>(kind) |
                                          (static_cast<unsigned>(lanes) << 8U));
    }
    [[nodiscard]] constexpr bool none() const { return kind == Kind::None; }
    [[nodiscard]] constexpr bool scalar() const { return lanes == 1; }
    [[nodiscard]] constexpr Type component() const { return {kind, 1}; }
    [[nodiscard]] constexpr Type with_lanes(std::uint8_t n) const { return {kind, n}; }
    [[nodiscard]] constexpr bool boolean() const { return kind == Kind::BOOL; }
    [[nodiscard]] constexpr bool floating() const {
        return kind == Kind::F16 || kind == Kind::F32 || kind == Kind::F64;
    }
    [[nodiscard]] constexpr bool signed_integer() const {
        return kind == Kind::I32 || kind == Kind::I64;
    }
    [[nodiscard]] constexpr bool unsigned_integer() const {
        return kind == Kind::U32 || kind == Kind::U64;
    }
    [[nodiscard]] constexpr bool integer() const { return signed_integer() || unsigned_integer(); }
    [[nodiscard]] constexpr bool storage() const {  // allowed as elements of buffers only
        return static_cast<unsigned>(kind) >= static_cast<unsigned>(Kind::I8);
    }
    // Bits of one component: 1, 8, 16, 32, 64; 0 for None.
    [[nodiscard]] constexpr unsigned bits() const {
        switch (kind) {
            case Kind::None:
                return 0;
#define WYE_IR_BITS(name, code, text, bytes, bits) \
    case Kind::name:                               \
        return bits;
                WYE_KINDS(WYE_IR_BITS)
#undef WYE_IR_BITS
        }
        return 0;
    }
    // Bytes of one packed element in a buffer or table: the number of lanes times the scalar's
    // size. 0 for bool.
    [[nodiscard]] constexpr unsigned bytes() const {
        switch (kind) {
            case Kind::None:
                return 0;
#define WYE_IR_BYTES(name, code, text, bytes, bits) \
    case Kind::name:                                \
        return bytes * lanes;
                WYE_KINDS(WYE_IR_BYTES)
#undef WYE_IR_BYTES
        }
        return 0;
    }
    // The type of a value loaded from an element of this type: i8 and i16 widen to i32, u8 and u16
    // to u32, bf16 to f32; other types stay.
    [[nodiscard]] constexpr Type loaded() const {
        switch (kind) {
            case Kind::I8:
            case Kind::I16:
                return {Kind::I32, lanes};
            case Kind::U8:
            case Kind::U16:
                return {Kind::U32, lanes};
            case Kind::BF16:
                return {Kind::F32, lanes};
            default:
                return *this;
        }
    }
};

inline constexpr Type kBool{Kind::BOOL, 1};
inline constexpr Type kI32{Kind::I32, 1};
inline constexpr Type kU32{Kind::U32, 1};
inline constexpr Type kI64{Kind::I64, 1};
inline constexpr Type kU64{Kind::U64, 1};
inline constexpr Type kF16{Kind::F16, 1};
inline constexpr Type kF32{Kind::F32, 1};
inline constexpr Type kF64{Kind::F64, 1};

[[nodiscard]] std::string type_name(Type type);  // "f32x4"; "none"
[[nodiscard]] std::optional<Type> type_from_name(std::string_view name);
[[nodiscard]] std::optional<Type> type_from_code(std::uint32_t code);  // checks kind and lanes

// Whether `bits` is the one valid encoding of a literal of this kind: bool is 0 or 1, unused bits
// are zero, and NaN has one form (0x7e00, 0x7fc00000, 0x7ff8 followed by zeros). False for storage
// kinds.
[[nodiscard]] bool canonical_bits(Kind kind, std::uint64_t bits);

// ---- Roles, operations ----------------------------------------------------------------------

enum class Role : std::uint8_t {
#define WYE_IR_ROLE(name, code, text) name = code,
    WYE_ROLES(WYE_IR_ROLE)
#undef WYE_IR_ROLE
};
[[nodiscard]] std::string_view role_name(Role role);
[[nodiscard]] constexpr bool role_writable(Role role) {
    return role != Role::INPUT && role != Role::UNIFORM;
}

// How often the same elements of a buffer are used.
enum class Locality : std::uint8_t {
#define WYE_IR_LOCALITY(name, code, text) name = code,
    WYE_LOCALITIES(WYE_IR_LOCALITY)
#undef WYE_IR_LOCALITY
};
[[nodiscard]] std::string_view locality_name(Locality locality);  // "streaming"

enum class Op : std::uint16_t {
    None = 0,
#define WYE_IR_OP3(name, code, text) name = code,
#define WYE_IR_OP4(name, code, text, operands) name = code,
    WYE_STATEMENTS(WYE_IR_OP3) WYE_LEAVES(WYE_IR_OP4) WYE_OPERATORS(WYE_IR_OP4) WYE_MATH(WYE_IR_OP4)
        WYE_EFFECTS(WYE_IR_OP4)
#undef WYE_IR_OP3
#undef WYE_IR_OP4
};
[[nodiscard]] std::string_view op_text(Op op);  // "fma", "+", "atomic_add"; "?" when unknown
[[nodiscard]] std::string_view builtin_text(
    std::uint16_t index);                         // "local_index"; "?" when unknown
[[nodiscard]] int op_operands(Op op);             // number of operands; -1: not fixed
[[nodiscard]] bool op_known(std::uint32_t code);  // any opcode of this version
[[nodiscard]] constexpr bool op_statement(Op op) { return static_cast<unsigned>(op) < 0x100; }
[[nodiscard]] constexpr bool op_math(Op op) { return (static_cast<unsigned>(op) & 0xf00) == 0x300; }
// The lowest math set that has the operation.
[[nodiscard]] constexpr std::uint32_t op_math_set(Op op) {
    return op >= Op::EXPM1 && op <= Op::COSPI ? 2 : 1;
}
[[nodiscard]] constexpr bool math_set_known(std::uint32_t set) {
    return set >= 1 && set <= WYE_PROGRAM_NEWEST_MATH_SET;
}
[[nodiscard]] constexpr bool op_effect(Op op) {
    return (static_cast<unsigned>(op) & 0xf00) == 0x400;
}
[[nodiscard]] constexpr bool op_atomic(Op op) {
    return op >= Op::ATOMIC_LOAD && op <= Op::ATOMIC_CAS;
}
[[nodiscard]] constexpr bool op_subgroup(Op op) {
    return op >= Op::SUBGROUP_BROADCAST && op <= Op::SUBGROUP_XOR;
}

// ---- Code -----------------------------------------------------------------------------------

using ExprId = std::uint32_t;
using StmtId = std::uint32_t;
using BlockId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffffU;

// A place in the text, 1-based; line 0: unknown (programs read from the wire form).
struct Place {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    friend constexpr bool operator==(Place, Place) = default;
};

struct Expr {
    Op op = Op::None;
    std::uint16_t imm = 0;    // see program_format.h
    Type type;                // derived; None for atomic_store and for ill-typed nodes
    std::uint32_t first = 0;  // operands: Code::operands[first, first + count)
    std::uint32_t count = 0;
    // LITERAL: the bits; LOCAL, LOAD_ARRAY, LEN_ARRAY, LEN64_ARRAY: the local's number.
    std::uint64_t extra = 0;
    Place place;
};

struct Stmt {
    Op op = Op::None;
    std::uint16_t imm = 0;  // see program_format.h
    std::uint32_t local =
        kNone;  // the local declared or assigned (LET, VAR*, FOR, ASSIGN*, STORE_ARRAY)
    std::array<ExprId, 3> args = {kNone, kNone, kNone};  // operands in wire order
    BlockId body = kNone;                                // IF: then; FOR, WHILE: the loop body
    BlockId otherwise = kNone;  // IF: the else block (always present, maybe empty)
    Place place;
};

struct Local {
    enum class Form : std::uint8_t { Argument, Let, Var, Array, For };
    Form form = Form::Let;
    Type type;                // of the value, or of an array's element
    std::uint32_t count = 0;  // of an array: its elements; else 0
    std::string name;         // may be empty
    Place place;
};

// The code of main or of one function.
struct Code {
    std::vector<Expr> exprs;
    std::vector<ExprId> operands;
    std::vector<Stmt> stmts;
    std::vector<std::vector<StmtId>> blocks;
    std::vector<Local> locals;  // arguments first, then in text order
    BlockId root = kNone;
    ExprId result = kNone;  // of a function: the returned expression
    // Set for the code of a math function that the host defines. In such code, no result depends on
    // the bits of a NaN, no subnormal f64 becomes an f32, and an fma on f32 may treat subnormal
    // numbers as zero. Not in the wire form.
    bool math_definition = false;

    [[nodiscard]] std::span<const ExprId> operands_of(const Expr& e) const {
        return {operands.data() + e.first, e.count};
    }
    [[nodiscard]] std::span<const ExprId> operands_of(ExprId id) const {
        return operands_of(exprs[id]);
    }
};

// ---- Declarations ---------------------------------------------------------------------------

struct SizeNode {
    std::uint8_t op = 0;        // enum wye_size_op
    std::uint16_t index = 0;    // PARAM, LEN
    std::uint64_t literal = 0;  // LITERAL
    friend bool operator==(const SizeNode&, const SizeNode&) = default;
};
using SizeExpr = std::vector<SizeNode>;  // prefix order

struct Param {
    std::string name;
    Type type;
    Place place;
};

// What a program says about its accesses to a buffer. Hints change neither results nor whether a
// program runs.
struct Hints {
    std::uint8_t coalesce = 0;       // 1, 2, 3: neighbours along x, y, z use neighbouring elements
    std::uint32_t prefer_align = 0;  // 0: none
    Locality locality = Locality::UNSPECIFIED;

    friend bool operator==(const Hints&, const Hints&) = default;
    [[nodiscard]] bool given() const { return *this != Hints{}; }
    // "x", "y" or "z"; empty if there is no `coalesce` hint.
    [[nodiscard]] std::string_view coalesce_axis() const {
        return coalesce == 0 || coalesce > 3 ? std::string_view()
                                             : std::string_view("xyz").substr(coalesce - 1U, 1);
    }
};

struct Buffer {
    enum class Count : std::uint8_t { Runtime = 0, Literal = 1, Computed = 2 };
    std::string name;
    std::uint32_t binding = 0;
    Role role = Role::INPUT;
    Type type;  // of an element
    bool live = false;
    bool unset = false;
    std::uint32_t align = 0;                            // 0: the natural alignment
    std::optional<std::array<std::uint64_t, 2>> bytes;  // range to read back, [first, end)
    Hints hints;
    Count count_kind = Count::Runtime;
    std::uint64_t count = 0;  // for a literal size
    SizeExpr size;            // for a computed size
    Place place;

    [[nodiscard]] bool shared() const { return role == Role::SHARED; }
    [[nodiscard]] bool in_inputs() const {
        return role == Role::INPUT || role == Role::UNIFORM || role == Role::INPUT_OUTPUT;
    }
    [[nodiscard]] bool in_outputs() const {
        return role == Role::OUTPUT || role == Role::INPUT_OUTPUT || live;
    }
    // The alignment of a bound range: the size of an element, or of the scalar if it has 3 lanes.
    [[nodiscard]] std::uint32_t natural_alignment() const {
        return type.lanes == 3 ? type.component().bytes() : type.bytes();
    }
};

struct Table {
    std::string name;
    Type type;                        // scalar
    std::vector<std::uint64_t> bits;  // one entry per element, zero-extended
    Place place;
};

struct Function {
    std::string name;
    Type type;                    // of the result
    std::uint32_t arguments = 0;  // code.locals[0, arguments)
    Code code;
    Place place;
};

struct Variant {
    std::string format;
    std::string entry;
    std::string filter;               // a device filter; may be empty
    std::vector<std::byte> bytes;     // the native code
    std::optional<std::string> file;  // text form only: the file of `bytes`, until it is read
    Place place;
};

struct Grid {
    std::uint8_t kind = WYE_GRID_NONE;  // enum wye_grid_kind
    std::vector<SizeExpr> axes;         // 1 to 3, if there is a grid clause
};

struct Note {  // an unknown section with an id from WYE_SECTION_NOTE_BASE on, kept unchanged
    std::uint32_t id = 0;
    std::vector<std::byte> bytes;
};

struct Program {
    std::string name;
    std::array<std::uint32_t, 3> workgroup = {1, 1, 1};
    std::uint32_t subgroup = 0;
    bool adjustable = false;
    std::uint32_t math_set = WYE_PROGRAM_MATH_SET;
    Grid grid;
    std::vector<Param> params;
    std::vector<Buffer> buffers;  // ascending by binding
    std::vector<Table> tables;
    std::vector<Function> functions;
    Code main;
    std::vector<Variant> variants;
    std::vector<Note> notes;

    [[nodiscard]] std::uint32_t workgroup_invocations() const {
        return workgroup[0] * workgroup[1] * workgroup[2];
    }
};

// Byte offsets of the parameters in their block, each naturally aligned, and the block's size: a
// multiple of its largest alignment, 0 without parameters.
struct ParamLayout {
    std::vector<std::uint32_t> offsets;
    std::uint32_t size = 0;
};
[[nodiscard]] ParamLayout param_layout(std::span<const Param> params);

// The lowest minor version of the wire form that can express the program.
[[nodiscard]] std::uint16_t least_minor(const Program& program);

// Whether two programs are equal, apart from names of locals, places and unknown notes. Compares
// literals by their bits.
[[nodiscard]] bool same_program(const Program& a, const Program& b);

}  // namespace wye::ir
