// SPDX-License-Identifier: Apache-2.0
#include "oracle/module.hpp"

#include <algorithm>
#include <cstring>

#include "oracle/arithmetic.hpp"

namespace oracle {
namespace {

// Reads words and strings from one section, in order.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::uint32_t word() {
        const auto b = take(4);
        std::uint32_t value = 0;
        for (int i = 3; i >= 0; --i) value = value << 8 | std::to_integer<std::uint32_t>(b[i]);
        return value;
    }
    std::uint64_t two_words() {
        const std::uint64_t low = word();
        return low | static_cast<std::uint64_t>(word()) << 32;
    }
    // Reads the number of entries that have at least `bytes` bytes each.
    std::uint32_t count(std::size_t bytes) {
        const std::uint32_t n = word();
        if (n > bytes_.size() / bytes) throw Refused("a count is larger than its section");
        return n;
    }
    std::string string() {
        const std::uint32_t n = word();
        const auto b = padded(n);
        return {reinterpret_cast<const char*>(b.data()), b.size()};
    }
    std::span<const std::byte> padded(std::size_t n) {
        const auto out = take(n);
        (void)take((4 - n % 4) % 4);
        return out;
    }
    [[nodiscard]] bool at_end() const { return bytes_.empty(); }

  private:
    std::span<const std::byte> take(std::size_t n) {
        if (n > bytes_.size()) throw Refused("a section is cut short");
        const auto out = bytes_.first(n);
        bytes_ = bytes_.subspan(n);
        return out;
    }
    std::span<const std::byte> bytes_;
};

// The number of operands of an opcode; -1: given by the immediate; -2: not an expression.
int operand_count(std::uint32_t op) {
    switch (op) {
#define WYE_ORACLE_OPERANDS(name, code, text, operands) \
    case code:                                          \
        return operands;
        WYE_LEAVES(WYE_ORACLE_OPERANDS)
        WYE_OPERATORS(WYE_ORACLE_OPERANDS)
        WYE_MATH(WYE_ORACLE_OPERANDS)
        WYE_EFFECTS(WYE_ORACLE_OPERANDS)
#undef WYE_ORACLE_OPERANDS
        default:
            return -2;
    }
}

bool is_access(std::uint32_t op) {
    return op == WYE_OP_LOAD || op == WYE_OP_LOAD_TABLE || op == WYE_OP_LOAD_ARRAY ||
           op == WYE_OP_WORKGROUP_UNIFORM_LOAD ||
           (op >= WYE_OP_ATOMIC_LOAD && op <= WYE_OP_ATOMIC_CAS);
}

class CodeReader {
  public:
    CodeReader(Reader& in, Module& module, std::uint32_t arguments)
        : in_(in), module_(module), locals_(arguments) {}

    Block block(int depth = 0) {
        if (depth > WYE_LIMIT_BLOCK_NESTING) throw Refused("blocks nest too deeply");
        const std::uint32_t n = in_.count(4);
        Block out;
        out.reserve(n);
        for (std::uint32_t i = 0; i < n; ++i) out.push_back(statement(depth));
        return out;
    }

    Node node(int depth = 0) {
        if (depth > WYE_LIMIT_EXPRESSION_DEPTH) throw Refused("an expression nests too deeply");
        const std::uint32_t word = in_.word();
        Node out;
        out.op = word & 0xffff;
        out.imm = word >> 16;
        if (is_access(out.op) || out.op == WYE_OP_SELECT) out.claim = module_.claims++;
        int operands = operand_count(out.op);
        switch (out.op) {
            case WYE_OP_LITERAL:
                out.extra = kind_bits(out.imm & 0xff) == 64 ? in_.two_words() : in_.word();
                break;
            case WYE_OP_LOCAL:
            case WYE_OP_LOAD_ARRAY:
            case WYE_OP_LEN_ARRAY:
            case WYE_OP_LEN64_ARRAY:
                out.extra = declared(in_.word());
                break;
            case WYE_OP_CALL:
                if (out.imm >= module_.functions.size()) throw Refused("call of a later function");
                operands = static_cast<int>(module_.functions[out.imm].arguments.size());
                break;
            case WYE_OP_CONSTRUCT:
                operands = type_of_code(out.imm).lanes;
                break;
            case WYE_OP_PARAM:
                check(out.imm, module_.params.size());
                break;
            case WYE_OP_BUILTIN:
                check(out.imm, WYE_BUILTIN_COUNT);
                break;
            case WYE_OP_LOAD_TABLE:
            case WYE_OP_LEN_TABLE:
            case WYE_OP_LEN64_TABLE:
                check(out.imm, module_.tables.size());
                break;
            case WYE_OP_LOAD:
            case WYE_OP_LEN:
            case WYE_OP_LEN64:
            case WYE_OP_WORKGROUP_UNIFORM_LOAD:
                check(out.imm, module_.buffers.size());
                break;
            default:
                if (out.op >= WYE_OP_ATOMIC_LOAD && out.op <= WYE_OP_ATOMIC_CAS)
                    check(out.imm, module_.buffers.size());
                if (operands < 0) throw Refused("unknown opcode " + std::to_string(out.op));
        }
        const std::uint32_t called =
            out.op == WYE_OP_CALL ? module_.functions[out.imm].code.levels : 0;
        out.levels += called;
        for (int i = 0; i < operands; ++i) {
            out.args.push_back(node(depth + 1));
            out.levels = std::max(out.levels, 1 + out.args.back().levels);
        }
        levels_ = std::max(levels_, out.levels);
        out.known = known(out);
        return out;
    }

    [[nodiscard]] std::uint32_t locals() const { return locals_; }
    [[nodiscard]] std::uint32_t levels() const { return levels_; }

  private:
    // Evaluates operations on literals once, instead of in each invocation. Those that would be
    // refused are left to the invocations, which refuse them.
    static std::optional<Value> known(const Node& node) {
        const bool shapes = node.op >= WYE_OP_CONSTRUCT && node.op <= WYE_OP_SELECT;
        const bool operators = (node.op & 0xf00U) == 0x200;
        try {
            if (node.op == WYE_OP_LITERAL) return Value(type_of_code(node.imm), node.extra);
            if (!shapes && !operators) return std::nullopt;
            std::vector<Value> operands;
            for (const Node& n : node.args) {
                if (!n.known) return std::nullopt;
                operands.push_back(*n.known);
            }
            return apply(node.op, node.imm, operands);
        } catch (const Refused&) {
            return std::nullopt;
        }
    }
    static void check(std::uint32_t index, std::size_t size) {
        if (index >= size) throw Refused("index " + std::to_string(index) + " of nothing");
    }
    std::uint32_t declared(std::uint32_t local) const {
        check(local, locals_);
        return local;
    }

    Statement statement(int depth) {
        const std::uint32_t word = in_.word();
        Statement s;
        s.op = word & 0xffff;
        s.imm = word >> 16;
        if (s.op == WYE_OP_STORE || s.op == WYE_OP_STORE_ARRAY || s.op == WYE_OP_FOR)
            s.claim = module_.claims++;
        const auto operands = [&](int n) {
            for (int i = 0; i < n; ++i) s.args.push_back(node());
        };
        switch (s.op) {
            case WYE_OP_LET:
            case WYE_OP_VAR:
                operands(1);
                s.local = locals_++;
                break;
            case WYE_OP_VAR_ZERO:
                s.local = locals_++;
                break;
            case WYE_OP_VAR_ARRAY:
                s.count = in_.word();
                if (s.count > WYE_LIMIT_LOCAL_ARRAY_BYTES)
                    throw Refused("a local array is too long");
                s.local = locals_++;
                break;
            case WYE_OP_ASSIGN:
            case WYE_OP_ASSIGN_COMPONENT:
                s.local = declared(in_.word());
                operands(1);
                break;
            case WYE_OP_STORE:
                check(s.imm, module_.buffers.size());
                operands(2);
                break;
            case WYE_OP_STORE_ARRAY:
                s.local = declared(in_.word());
                operands(2);
                break;
            case WYE_OP_EFFECT:
                operands(1);
                break;
            case WYE_OP_IF:
                operands(1);
                s.body = block(depth + 1);
                s.otherwise = block(depth + 1);
                break;
            case WYE_OP_FOR:
                operands(3);
                s.local = locals_++;
                s.body = block(depth + 1);
                break;
            case WYE_OP_WHILE:
                operands(1);
                s.body = block(depth + 1);
                break;
            case WYE_OP_GRID_BARRIER:
                module_.grid_barrier = true;
                break;
            case WYE_OP_BREAK:
            case WYE_OP_CONTINUE:
            case WYE_OP_RETURN:
            case WYE_OP_BARRIER:
            case WYE_OP_TRAP:
                break;
            default:
                throw Refused("unknown statement " + std::to_string(s.op));
        }
        return s;
    }

    Reader& in_;
    Module& module_;
    std::uint32_t locals_;
    std::uint32_t levels_ = 0;
};

SizeExpr read_size(Reader& in) {
    const std::uint32_t words = in.count(4);
    SizeExpr out;
    for (std::uint32_t used = 0; used < words;) {
        const std::uint32_t word = in.word();
        SizeNode node{word & 0xffff, word >> 16, 0};
        ++used;
        if (node.op == WYE_SIZE_LITERAL) node.literal = in.two_words(), used += 2;
        if (node.op < WYE_SIZE_LITERAL || node.op >= WYE_SIZE_FIRST_FREE || used > words)
            throw Refused("bad size expression");
        out.push_back(node);
    }
    return out;
}

void read_head(Reader in, Module& m) {
    m.name = in.string();
    for (auto& axis : m.workgroup) axis = in.word();
    m.subgroup = in.word();
    m.adjustable = (in.word() & WYE_HEAD_ADJUSTABLE) != 0;
    // The oracle evaluates no math functions, so the set does not matter.
    if (in.word() - 1 >= WYE_PROGRAM_NEWEST_MATH_SET) throw Refused("unknown math set");
    m.grid_kind = in.word();
    const std::uint32_t axes = in.count(4);
    for (std::uint32_t i = 0; i < axes; ++i) m.axes.push_back(read_size(in));
}

void read_params(Reader in, Module& m) {
    const std::uint32_t n = in.count(8);
    for (std::uint32_t i = 0; i < n; ++i) {
        (void)in.string();
        m.params.push_back(type_of_code(in.word()));
    }
}

void read_buffers(Reader in, Module& m) {
    const std::uint32_t n = in.count(28);
    for (std::uint32_t i = 0; i < n; ++i) {
        Buffer b;
        b.name = in.string();
        (void)in.word();  // the binding: they ascend, so their order suffices
        b.role = in.word();
        b.type = type_of_code(in.word());
        const std::uint32_t flags = in.word();
        (void)in.word();  // the alignment, which matters only for binding
        if ((flags & WYE_BUFFER_BYTES) != 0) (void)in.two_words(), (void)in.two_words();
        if ((flags & WYE_BUFFER_HINTS) != 0)  // no result depends on hints
            (void)in.word(), (void)in.word(), (void)in.word();
        b.count_kind = in.word();
        if (b.count_kind == WYE_COUNT_LITERAL) b.count = in.two_words();
        if (b.count_kind == WYE_COUNT_COMPUTED) b.size = read_size(in);
        m.buffers.push_back(std::move(b));
    }
}

void read_tables(Reader in, Module& m) {
    const std::uint32_t n = in.count(12);
    for (std::uint32_t i = 0; i < n; ++i) {
        (void)in.string();
        Table t;
        t.type = type_of_code(in.word());
        const std::uint32_t count = in.word();
        const unsigned bytes = kind_bytes(t.type.kind);
        if (bytes == 0 || count > WYE_LIMIT_TABLE_BYTES) throw Refused("bad table");
        const auto data = in.padded(std::size_t{count} * bytes);
        for (std::uint32_t k = 0; k < count; ++k) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, data.data() + std::size_t{k} * bytes, bytes);
            t.bits.push_back(bits);
        }
        m.tables.push_back(std::move(t));
    }
}

void read_functions(Reader in, Module& m) {
    const std::uint32_t n = in.count(16);
    if (n > WYE_LIMIT_FUNCTIONS) throw Refused("too many functions");
    for (std::uint32_t i = 0; i < n; ++i) {
        (void)in.string();
        Function f;
        f.type = type_of_code(in.word());
        const std::uint32_t arguments = in.count(4);
        for (std::uint32_t k = 0; k < arguments; ++k)
            f.arguments.push_back(type_of_code(in.word()));
        (void)in.word();  // word count
        CodeReader code(in, m, arguments);
        f.code.block = code.block();
        f.code.result = code.node();
        f.code.locals = code.locals();
        f.code.levels = code.levels();
        m.functions.push_back(std::move(f));
    }
}

void read_body(Reader in, Module& m) {
    (void)in.word();  // word count
    CodeReader code(in, m, 0);
    m.main.block = code.block();
    m.main.locals = code.locals();
    m.main.levels = code.levels();
    if (!in.at_end()) throw Refused("something follows the body");
}

}  // namespace

Module read_module(std::span<const std::byte> wire) {
    if (wire.size() < WYE_PROGRAM_HEADER_BYTES ||
        std::memcmp(wire.data(), WYE_PROGRAM_MAGIC, WYE_PROGRAM_MAGIC_SIZE) != 0)
        throw Refused("not a program: the magic number is missing");
    Reader header(wire.subspan(WYE_PROGRAM_MAGIC_SIZE));
    if ((header.word() & 0xffff) != WYE_PROGRAM_MAJOR) throw Refused("another major version");
    const std::uint32_t sections = header.count(WYE_PROGRAM_SECTION_ENTRY_BYTES);
    if (header.two_words() != wire.size()) throw Refused("the total size is wrong");

    Module m;
    bool body = false;
    for (std::uint32_t i = 0; i < sections; ++i) {  // ascending, so names come before their uses
        const std::uint32_t id = header.word();
        (void)header.word();
        const std::uint64_t offset = header.two_words();
        const std::uint64_t bytes = header.two_words();
        if (offset > wire.size() || bytes > wire.size() - offset) throw Refused("bad section");
        const Reader in(wire.subspan(offset, bytes));
        switch (id) {
            case WYE_SECTION_HEAD:
                read_head(in, m);
                break;
            case WYE_SECTION_PARAMS:
                read_params(in, m);
                break;
            case WYE_SECTION_BUFFERS:
                read_buffers(in, m);
                break;
            case WYE_SECTION_TABLES:
                read_tables(in, m);
                break;
            case WYE_SECTION_FUNCTIONS:
                read_functions(in, m);
                break;
            case WYE_SECTION_BODY:
                read_body(in, m);
                body = true;
                break;
            case WYE_SECTION_VARIANTS:
                break;  // native code, which the oracle ignores
            default:
                if (id < WYE_SECTION_NOTE_BASE) throw Refused("unknown section");
        }
    }
    if (!body || m.workgroup[0] == 0 || m.workgroup[1] == 0 || m.workgroup[2] == 0)
        throw Refused("head or body is missing");
    return m;
}

}  // namespace oracle
