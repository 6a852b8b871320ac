/* SPDX-License-Identifier: Apache-2.0
 *
 * The wire form of a Wye program.
 *
 * A program is one kernel. This header fixes its encoding: section ids, type and role codes, and
 * opcodes. Numbers are append-only: never reused, retyped or reordered. The language ("wye 1")
 * defines the operations; `plugin-abi/README.md` says where to read it.
 *
 * A plugin needs this header if it declares the artifact format "wye-program" and executes or
 * compiles programs itself. `wye/sdk/wire.hpp` is the reader that the host and the plugins share.
 *
 * Encoding (little endian throughout):
 *   header   magic (8 bytes), u16 major, u16 minor, u32 section count, u64 total bytes;
 *   table    per section: u32 id, u32 zero, u64 offset from the start, u64 bytes (unpadded);
 *   sections ascending by id, each at a multiple of 8, packed with zero padding between them; the
 *            last one ends the file, unpadded.
 * Empty sections other than HEAD and BODY are absent. Ids from WYE_SECTION_NOTE_BASE are notes:
 * skipped when unknown, and outside the fingerprint. Any other unknown id is refused.
 *
 * string   u32 length, the bytes (UTF-8, no terminator), zero padding to a multiple of 4.
 * u64      two words, low word first (section contents are only 4-aligned inside).
 *
 * HEAD       string name; u32 workgroup x, y, z; u32 subgroup (0: none); u32 flags
 *            (WYE_HEAD_*); u32 math set; u32 grid kind (WYE_GRID_*); u32 axes (0..3);
 *            per axis: u32 word count, size expression.
 * PARAMS     u32 count; each: string name, u32 type.
 * BUFFERS    u32 count; in ascending binding order, each: string name, u32 binding, u32 role,
 *            u32 type, u32 flags (WYE_BUFFER_*), u32 align (0: none), if WYE_BUFFER_BYTES u64 first
 *            and u64 end, if WYE_BUFFER_HINTS u32 coalesce (0: none; else 1 + the axis), u32
 *            preferred alignment (0: none) and u32 locality (WYE_LOCALITY_*), not all of them 0,
 *            u32 count kind (WYE_COUNT_*), then by kind: nothing, u64 count, or
 *            u32 word count and a size expression. `shared` arrays are listed here too.
 * TABLES     u32 count; each: string name, u32 type (scalar, not bool), u32 count, the elements
 *            packed in their own size, zero padding to 4.
 * FUNCTIONS  u32 count; each: string name, u32 return type, u32 argument count, u32 type per
 *            argument, u32 word count of what follows: block, then the returned expression.
 * BODY       u32 word count; block.
 * VARIANTS   u32 count; each: string format, string entry, string device filter (may be empty),
 *            u32 byte count, the bytes, zero padding to 4.
 * NAMES      (note) for each function in order, then for main: u32 count, then one string per
 *            local in local-number order. Empty strings stand for unnamed locals.
 *
 * Code is a sequence of u32 words. A node is one word, opcode in the low 16 bits and an immediate
 * in the high 16, then its extra words, then its operands in order. The immediate and the extra
 * words of each opcode are given below. A block is its statement count and its statements. Locals
 * (arguments, let, var, for) are numbered densely in text order per function or main, so a
 * declaration carries no number. Types are derived, never stored twice.
 *
 * A size expression is a prefix sequence of nodes of its own small opcode set (WYE_SIZE_*).
 * Operands are exact integers; the result must lie in [0, 2^63).
 *
 * A program states the lowest minor version that has all the features that it uses. A reader takes
 * every minor up to its own. Minor 1 added WYE_BUFFER_HINTS, and nothing else. Math sets are
 * independent of the minor: the head names the set, and a reader refuses a set that it does not
 * know. A plugin is given programs of set 1 only, since lowering replaces functions of later sets.
 *
 * Evaluation order inside a statement: operands of a store are its index, then its value; an effect
 * on the right-hand side runs after the index was evaluated and before the store.
 */
#ifndef WYE_PROGRAM_FORMAT_H
#define WYE_PROGRAM_FORMAT_H

#include <stdint.h>

#define WYE_PROGRAM_MAGIC "\x57\x59\x45\x50\x0D\x0A\x1A\x0A" /* the first bytes */
#define WYE_PROGRAM_MAGIC_SIZE 8                             /* bytes */
#define WYE_PROGRAM_MAJOR 1                                  /* a reader takes this major only */
#define WYE_PROGRAM_MINOR 1                /* the highest that this header describes */
#define WYE_PROGRAM_HEADER_BYTES 24        /* the size of the header */
#define WYE_PROGRAM_SECTION_ENTRY_BYTES 24 /* the size of an entry of the section table */
#define WYE_PROGRAM_MATH_SET 1             /* the math set of a program that names none */
#define WYE_PROGRAM_NEWEST_MATH_SET 2      /* the highest that this header describes */

/* The sections. */
enum wye_section {
    WYE_SECTION_HEAD = 1,
    WYE_SECTION_PARAMS = 2,
    WYE_SECTION_BUFFERS = 3,
    WYE_SECTION_TABLES = 4,
    WYE_SECTION_FUNCTIONS = 5,
    WYE_SECTION_BODY = 6,
    WYE_SECTION_VARIANTS = 7
};
#define WYE_SECTION_NOTE_BASE 0x80000000U /* the first id of a note */
#define WYE_SECTION_NAMES 0x80000001U     /* a note: names of locals */

/* HEAD flags. */
#define WYE_HEAD_ADJUSTABLE 1U /* the workgroup size may be overridden by a request */

/* How a program's grid clause counts. */
enum wye_grid_kind {
    WYE_GRID_NONE = 0,     /* no clause: the request must give the grid */
    WYE_GRID_ELEMENTS = 1, /* per axis: ceil(size / workgroup size) workgroups */
    WYE_GRID_GROUPS = 2    /* per axis: size workgroups */
};

/* Scalar kinds: X(NAME, code, text, bytes in memory, bits of the value). Codes up to 0xff are free
 * for opaque kinds. */
#define WYE_KINDS(X)         \
    X(BOOL, 1, "bool", 0, 1) \
    X(I32, 2, "i32", 4, 32)  \
    X(U32, 3, "u32", 4, 32)  \
    X(I64, 4, "i64", 8, 64)  \
    X(U64, 5, "u64", 8, 64)  \
    X(F16, 6, "f16", 2, 16)  \
    X(F32, 7, "f32", 4, 32)  \
    X(F64, 8, "f64", 8, 64)  \
    X(I8, 9, "i8", 1, 8)     \
    X(U8, 10, "u8", 1, 8)    \
    X(I16, 11, "i16", 2, 16) \
    X(U16, 12, "u16", 2, 16) \
    X(BF16, 13, "bf16", 2, 16)

/* A type code is kind | lanes << 8, lanes 1 to 4: f32 is 0x0107, u8x3 is 0x030a. It fits in an
 * immediate. I8..BF16 are storage types: buffer elements only. */
#define WYE_TYPE(kind, lanes) ((uint32_t)(kind) | ((uint32_t)(lanes) << 8))

/* The codes of WYE_KINDS. */
enum wye_kind {
#define WYE_KIND_ENUM(name, code, text, bytes, bits) WYE_KIND_##name = code,
    WYE_KINDS(WYE_KIND_ENUM)
#undef WYE_KIND_ENUM
        WYE_KIND_FIRST_FREE = 14 /* not part of the contract: grows with the list */
};

/* Buffer roles: X(NAME, code, text). */
#define WYE_ROLES(X)                   \
    X(INPUT, 1, "input")               \
    X(UNIFORM, 2, "uniform")           \
    X(INPUT_OUTPUT, 3, "input_output") \
    X(OUTPUT, 4, "output")             \
    X(PERSISTENT, 5, "persistent")     \
    X(SHARED, 6, "shared")

/* The codes of the buffer roles. */
enum wye_role {
#define WYE_ROLE_ENUM(name, code, text) WYE_ROLE_##name = code,
    WYE_ROLES(WYE_ROLE_ENUM)
#undef WYE_ROLE_ENUM
        WYE_ROLE_FIRST_FREE = 7 /* not part of the contract: grows with the list */
};

#define WYE_BUFFER_LIVE 1U  /* listed among the outputs (of role input, uniform, persistent) */
#define WYE_BUFFER_UNSET 2U /* not zeroed before use (of role output, shared) */
#define WYE_BUFFER_BYTES 4U /* a byte range limits what is read back */
#define WYE_BUFFER_HINTS 8U /* minor 1: hints, which change no result */

/* How often the same elements of a buffer are used: X(NAME, code, text). */
#define WYE_LOCALITIES(X)                                      \
    X(UNSPECIFIED, 0, "unspecified")                           \
    X(STREAMING, 1, "streaming") /* once, or not again soon */ \
    X(TEMPORAL, 2, "temporal")   /* again soon */

/* How soon a kernel uses an element of a buffer again. */
enum wye_locality {
#define WYE_LOCALITY_ENUM(name, code, text) WYE_LOCALITY_##name = code,
    WYE_LOCALITIES(WYE_LOCALITY_ENUM)
#undef WYE_LOCALITY_ENUM
        WYE_LOCALITY_FIRST_FREE = 3 /* not part of the contract: grows with the list */
};

/* How a buffer's element count is given. */
enum wye_count_kind { WYE_COUNT_RUNTIME = 0, WYE_COUNT_LITERAL = 1, WYE_COUNT_COMPUTED = 2 };

/* Built-in values: X(NAME, index, text, lanes); every component is u32. */
#define WYE_BUILTINS(X)                       \
    X(WORKGROUP_ID, 0, "workgroup_id", 3)     \
    X(LOCAL_ID, 1, "local_id", 3)             \
    X(GLOBAL_ID, 2, "global_id", 3)           \
    X(NUM_WORKGROUPS, 3, "num_workgroups", 3) \
    X(WORKGROUP_SIZE, 4, "workgroup_size", 3) \
    X(LOCAL_INDEX, 5, "local_index", 1)       \
    X(SUBGROUP_SIZE, 6, "subgroup_size", 1)   \
    X(NUM_SUBGROUPS, 7, "num_subgroups", 1)   \
    X(SUBGROUP_ID, 8, "subgroup_id", 1)       \
    X(SUBGROUP_LANE, 9, "subgroup_lane", 1)

/* The built-in values. */
enum wye_builtin {
#define WYE_BUILTIN_ENUM(name, index, text, lanes) WYE_BUILTIN_##name = index,
    WYE_BUILTINS(WYE_BUILTIN_ENUM)
#undef WYE_BUILTIN_ENUM
        WYE_BUILTIN_COUNT = 10 /* not part of the contract: grows with the list */
};

/* Size expressions: X(NAME, opcode, operands). LITERAL: two extra words, u64. PARAM: immediate =
 * index of an integer parameter. LEN: immediate = index of a buffer (its exact element count). */
#define WYE_SIZE_OPS(X) \
    X(LITERAL, 1, 0)    \
    X(PARAM, 2, 0)      \
    X(LEN, 3, 0)        \
    X(ADD, 4, 2)        \
    X(SUB, 5, 2)        \
    X(MUL, 6, 2)        \
    X(DIV, 7, 2)

/* The operations of a size expression. */
enum wye_size_op {
#define WYE_SIZE_ENUM(name, code, operands) WYE_SIZE_##name = code,
    WYE_SIZE_OPS(WYE_SIZE_ENUM)
#undef WYE_SIZE_ENUM
        WYE_SIZE_FIRST_FREE = 8 /* not part of the contract: grows with the list */
};

/* Statements: X(NAME, opcode, text).
 *   LET          value (an expression or effect); declares the next local
 *   VAR          value; declares the next local
 *   VAR_ZERO     imm = type; declares the next local, zero
 *   VAR_ARRAY    imm = scalar or vector type, extra = count (1..); declares the next local, zero
 *   ASSIGN       extra = local; value
 *   ASSIGN_COMPONENT  imm = component 0..3, extra = local; value
 *   STORE        imm = buffer index; index, value
 *   STORE_ARRAY  extra = local array; index, value
 *   EFFECT       an effect node whose result is unused
 *   IF           condition; block; block (an absent else is an empty block)
 *   FOR          first, end, step; block; declares the next local (before those of the block)
 *   WHILE        condition; block
 *   BREAK CONTINUE RETURN BARRIER GRID_BARRIER
 *   TRAP         imm = code 1..65535 */
#define WYE_STATEMENTS(X)                 \
    X(LET, 0x01, "let")                   \
    X(VAR, 0x02, "var")                   \
    X(VAR_ZERO, 0x03, "var")              \
    X(VAR_ARRAY, 0x04, "var")             \
    X(ASSIGN, 0x05, "=")                  \
    X(ASSIGN_COMPONENT, 0x06, "=")        \
    X(STORE, 0x07, "=")                   \
    X(STORE_ARRAY, 0x08, "=")             \
    X(EFFECT, 0x09, "effect")             \
    X(IF, 0x0a, "if")                     \
    X(FOR, 0x0b, "for")                   \
    X(WHILE, 0x0c, "while")               \
    X(BREAK, 0x0d, "break")               \
    X(CONTINUE, 0x0e, "continue")         \
    X(RETURN, 0x0f, "return")             \
    X(BARRIER, 0x10, "barrier")           \
    X(GRID_BARRIER, 0x11, "grid_barrier") \
    X(TRAP, 0x12, "trap")

/* Leaves, memory reads and shapes: X(NAME, opcode, text, operands); -1: the operand count follows
 * from the immediate.
 *   LITERAL      imm = scalar type; extra = the bits: one word, two for 64-bit kinds
 *   PARAM        imm = parameter index           LOCAL  extra = local (argument, let, var, for)
 *   BUILTIN      imm = built-in index
 *   LEN LEN64    imm = buffer index              LEN_TABLE LEN64_TABLE  imm = table index
 *   LEN_ARRAY LEN64_ARRAY  extra = local array
 *   LOAD         imm = buffer index; index       LOAD_TABLE  imm = table index; index
 *   LOAD_ARRAY   extra = local array; index
 *   CALL         imm = function index; its arguments
 *   CONSTRUCT    imm = vector type; one operand per lane
 *   SPLAT        imm = vector type; one scalar   COMPONENT  imm = 0..3; a vector
 *   CONVERT      imm = type of the same width; a value
 *   BITCAST      imm = type; a value
 *   SELECT       condition, value if true, value if false */
#define WYE_LEAVES(X)                    \
    X(LITERAL, 0x100, "literal", 0)      \
    X(PARAM, 0x101, "param", 0)          \
    X(LOCAL, 0x102, "local", 0)          \
    X(BUILTIN, 0x103, "builtin", 0)      \
    X(LEN, 0x104, "len", 0)              \
    X(LEN64, 0x105, "len64", 0)          \
    X(LEN_TABLE, 0x106, "len", 0)        \
    X(LEN64_TABLE, 0x107, "len64", 0)    \
    X(LEN_ARRAY, 0x108, "len", 0)        \
    X(LEN64_ARRAY, 0x109, "len64", 0)    \
    X(LOAD, 0x10a, "load", 1)            \
    X(LOAD_TABLE, 0x10b, "load", 1)      \
    X(LOAD_ARRAY, 0x10c, "load", 1)      \
    X(CALL, 0x10d, "call", -1)           \
    X(CONSTRUCT, 0x10e, "construct", -1) \
    X(SPLAT, 0x10f, "splat", 1)          \
    X(COMPONENT, 0x110, "component", 1)  \
    X(CONVERT, 0x111, "convert", 1)      \
    X(BITCAST, 0x112, "bitcast", 1)      \
    X(SELECT, 0x113, "select", 3)

/* Operators and exact functions: X(NAME, opcode, text, operands). No immediate, no extra words. */
#define WYE_OPERATORS(X)                      \
    X(NEG, 0x200, "-", 1)                     \
    X(NOT, 0x201, "~", 1)                     \
    X(LOGICAL_NOT, 0x202, "!", 1)             \
    X(ADD, 0x203, "+", 2)                     \
    X(SUB, 0x204, "-", 2)                     \
    X(MUL, 0x205, "*", 2)                     \
    X(DIV, 0x206, "/", 2)                     \
    X(REM, 0x207, "%", 2)                     \
    X(AND, 0x208, "&", 2)                     \
    X(OR, 0x209, "|", 2)                      \
    X(XOR, 0x20a, "^", 2)                     \
    X(SHL, 0x20b, "<<", 2)                    \
    X(SHR, 0x20c, ">>", 2)                    \
    X(LOGICAL_AND, 0x20d, "&&", 2)            \
    X(LOGICAL_OR, 0x20e, "||", 2)             \
    X(EQ, 0x20f, "==", 2)                     \
    X(NE, 0x210, "!=", 2)                     \
    X(LT, 0x211, "<", 2)                      \
    X(LE, 0x212, "<=", 2)                     \
    X(GT, 0x213, ">", 2)                      \
    X(GE, 0x214, ">=", 2)                     \
    X(ROTL, 0x220, "rotl", 2)                 \
    X(ROTR, 0x221, "rotr", 2)                 \
    X(POPCOUNT, 0x222, "popcount", 1)         \
    X(CLZ, 0x223, "clz", 1)                   \
    X(CTZ, 0x224, "ctz", 1)                   \
    X(REVERSE_BITS, 0x225, "reverse_bits", 1) \
    X(MUL_HI, 0x226, "mul_hi", 2)             \
    X(ADD_SAT, 0x227, "add_sat", 2)           \
    X(SUB_SAT, 0x228, "sub_sat", 2)           \
    X(ABS, 0x229, "abs", 1)                   \
    X(MIN, 0x22a, "min", 2)                   \
    X(MAX, 0x22b, "max", 2)                   \
    X(CLAMP, 0x22c, "clamp", 3)               \
    X(SQRT, 0x22d, "sqrt", 1)                 \
    X(FMA, 0x22e, "fma", 3)                   \
    X(COPYSIGN, 0x22f, "copysign", 2)         \
    X(FLOOR, 0x230, "floor", 1)               \
    X(CEIL, 0x231, "ceil", 1)                 \
    X(TRUNC, 0x232, "trunc", 1)               \
    X(ROUND, 0x233, "round", 1)               \
    X(ISNAN, 0x234, "isnan", 1)               \
    X(ISINF, 0x235, "isinf", 1)               \
    X(ANY, 0x236, "any", 1)                   \
    X(ALL, 0x237, "all", 1)

/* Math functions: X(NAME, opcode, text, operands). Lowering replaces them. The rows from EXPM1 on
 * are of math set 2, and only programs of that set have them. */
#define WYE_MATH(X)             \
    X(EXP, 0x300, "exp", 1)     \
    X(EXP2, 0x301, "exp2", 1)   \
    X(EXP10, 0x302, "exp10", 1) \
    X(LOG, 0x303, "log", 1)     \
    X(LOG2, 0x304, "log2", 1)   \
    X(LOG10, 0x305, "log10", 1) \
    X(SIN, 0x306, "sin", 1)     \
    X(COS, 0x307, "cos", 1)     \
    X(TAN, 0x308, "tan", 1)     \
    X(ASIN, 0x309, "asin", 1)   \
    X(ACOS, 0x30a, "acos", 1)   \
    X(ATAN, 0x30b, "atan", 1)   \
    X(ATAN2, 0x30c, "atan2", 2) \
    X(SINH, 0x30d, "sinh", 1)   \
    X(COSH, 0x30e, "cosh", 1)   \
    X(TANH, 0x30f, "tanh", 1)   \
    X(POW, 0x310, "pow", 2)     \
    X(RSQRT, 0x311, "rsqrt", 1) \
    X(CBRT, 0x312, "cbrt", 1)   \
    X(HYPOT, 0x313, "hypot", 2) \
    X(ERF, 0x314, "erf", 1)     \
    X(EXPM1, 0x315, "expm1", 1) \
    X(LOG1P, 0x316, "log1p", 1) \
    X(SINPI, 0x317, "sinpi", 1) \
    X(COSPI, 0x318, "cospi", 1)

/* Effects: X(NAME, opcode, text, operands). They stand alone as a statement or as the whole right
 * side of LET, VAR, ASSIGN, ASSIGN_COMPONENT, STORE or STORE_ARRAY. Atomics and
 * WORKGROUP_UNIFORM_LOAD: imm = buffer index, first operand = element index. */
#define WYE_EFFECTS(X)                                            \
    X(ATOMIC_LOAD, 0x400, "atomic_load", 1)                       \
    X(ATOMIC_STORE, 0x401, "atomic_store", 2)                     \
    X(ATOMIC_EXCHANGE, 0x402, "atomic_exchange", 2)               \
    X(ATOMIC_ADD, 0x403, "atomic_add", 2)                         \
    X(ATOMIC_MIN, 0x404, "atomic_min", 2)                         \
    X(ATOMIC_MAX, 0x405, "atomic_max", 2)                         \
    X(ATOMIC_AND, 0x406, "atomic_and", 2)                         \
    X(ATOMIC_OR, 0x407, "atomic_or", 2)                           \
    X(ATOMIC_XOR, 0x408, "atomic_xor", 2)                         \
    X(ATOMIC_CAS, 0x409, "atomic_cas", 3)                         \
    X(SUBGROUP_BROADCAST, 0x420, "subgroup_broadcast", 2)         \
    X(SUBGROUP_SHUFFLE, 0x421, "subgroup_shuffle", 2)             \
    X(SUBGROUP_SHUFFLE_XOR, 0x422, "subgroup_shuffle_xor", 2)     \
    X(SUBGROUP_ANY, 0x423, "subgroup_any", 1)                     \
    X(SUBGROUP_ALL, 0x424, "subgroup_all", 1)                     \
    X(SUBGROUP_BALLOT, 0x425, "subgroup_ballot", 1)               \
    X(SUBGROUP_ADD, 0x426, "subgroup_add", 1)                     \
    X(SUBGROUP_MIN, 0x427, "subgroup_min", 1)                     \
    X(SUBGROUP_MAX, 0x428, "subgroup_max", 1)                     \
    X(SUBGROUP_INCLUSIVE_ADD, 0x429, "subgroup_inclusive_add", 1) \
    X(SUBGROUP_EXCLUSIVE_ADD, 0x42a, "subgroup_exclusive_add", 1) \
    X(SUBGROUP_AND, 0x42b, "subgroup_and", 1)                     \
    X(SUBGROUP_OR, 0x42c, "subgroup_or", 1)                       \
    X(SUBGROUP_XOR, 0x42d, "subgroup_xor", 1)                     \
    X(WORKGROUP_UNIFORM_LOAD, 0x440, "workgroup_uniform_load", 1)

/* The operations of the language. */
enum wye_opcode {
#define WYE_OP_ENUM3(name, code, text) WYE_OP_##name = code,
#define WYE_OP_ENUM4(name, code, text, operands) WYE_OP_##name = code,
    WYE_STATEMENTS(WYE_OP_ENUM3) WYE_LEAVES(WYE_OP_ENUM4) WYE_OPERATORS(WYE_OP_ENUM4)
        WYE_MATH(WYE_OP_ENUM4) WYE_EFFECTS(WYE_OP_ENUM4)
#undef WYE_OP_ENUM3
#undef WYE_OP_ENUM4
            WYE_OP_FIRST_FREE = 0x500 /* not part of the contract: grows with the list */
};

/* Limits, for decoder, parser and builder alike. */
#define WYE_LIMIT_WIRE_BYTES (64UL << 20)    /* the whole wire form */
#define WYE_LIMIT_TEXT_BYTES (16UL << 20)    /* the whole text */
#define WYE_LIMIT_VARIANTS 16                /* of one program */
#define WYE_LIMIT_VARIANT_BYTES (16UL << 20) /* each */
#define WYE_LIMIT_BUFFERS 64                 /* of one program, `shared` arrays too */
#define WYE_LIMIT_PARAMS 64                  /* of one program */
#define WYE_LIMIT_TABLES 64                  /* of one program */
#define WYE_LIMIT_TABLE_BYTES 65536          /* all tables together */
#define WYE_LIMIT_FUNCTIONS 1024             /* of one program */
#define WYE_LIMIT_ARGUMENTS 16               /* of one function */
#define WYE_LIMIT_NAME_BYTES 64              /* each name */
#define WYE_LIMIT_STRING_BYTES 4096          /* formats, entries and filters */
#define WYE_LIMIT_WORKGROUP 4096             /* x * y * z */
#define WYE_LIMIT_SHARED_BYTES (1UL << 20)   /* all `shared` arrays together */
#define WYE_LIMIT_LOCAL_ARRAY_BYTES 16384    /* all local arrays of one function or main together */
#define WYE_LIMIT_UNIFORM_BYTES 65536        /* each uniform buffer */
#define WYE_LIMIT_LITERAL_COUNT 0x10000000000U   /* elements of a buffer */
#define WYE_LIMIT_LOCALS 65535                   /* per function or main */
#define WYE_LIMIT_STATEMENTS (1U << 20)          /* of the whole program */
#define WYE_LIMIT_NODES (1U << 22)               /* statements, expressions, sizes; also inlined */
#define WYE_LIMIT_INLINED_NODES (1U << 18)       /* nodes that inlined calls add */
#define WYE_LIMIT_PREFERRED_ALIGNMENT (1U << 20) /* bytes */
#define WYE_LIMIT_BLOCK_NESTING 64     /* blocks open at once; the body itself is the first */
#define WYE_LIMIT_EXPRESSION_DEPTH 128 /* nodes from the root to a leaf, both counted */
#define WYE_LIMIT_NESTING 3000         /* blocks and nodes inside each other, with calls inlined */

#endif /* WYE_PROGRAM_FORMAT_H */
