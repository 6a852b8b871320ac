// SPDX-License-Identifier: Apache-2.0
//
// A libFuzzer mutator for the wire form. It either changes the contents of sections and corrects
// lengths and offsets; or it decodes the program, changes nodes, types, literals, blocks and
// declarations, and encodes the program. So most results are valid, or are refused late. A third of
// the changes are libFuzzer's own changes of bytes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "program/wire/encode.hpp"
#include "wye/sdk/wire.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using namespace wye::ir;
using Bytes = std::vector<std::uint8_t>;

constexpr std::array<std::uint64_t, 18> kLimits = {0,
                                                   1,
                                                   2,
                                                   31,
                                                   32,
                                                   63,
                                                   64,
                                                   255,
                                                   4095,
                                                   4096,
                                                   65535,
                                                   65536,
                                                   0x7fffffff,
                                                   0x80000000,
                                                   0xffffffff,
                                                   0x7fffffffffffffff,
                                                   0x8000000000000000,
                                                   0xffffffffffffffff};

class Mutator {
  public:
    explicit Mutator(unsigned seed) : random_(seed) {}

    // All sections, one of them changed. Empty: `wire` has no valid section table.
    Bytes sections(std::span<const std::uint8_t> wire) {
        constexpr std::size_t kHead = WYE_PROGRAM_HEADER_BYTES;
        constexpr std::size_t kEntry = WYE_PROGRAM_SECTION_ENTRY_BYTES;
        if (wire.size() < kHead) return {};
        const std::size_t count = read<std::uint32_t>(wire, 12);
        if (count == 0 || count > 64 || wire.size() < kHead + count * kEntry) return {};
        std::vector<std::pair<std::uint32_t, Bytes>> parts;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t at = kHead + i * kEntry;
            const auto offset = read<std::uint64_t>(wire, at + 8);
            const auto size = read<std::uint64_t>(wire, at + 16);
            if (offset > wire.size() || size > wire.size() - offset) return {};
            const auto bytes = wire.subspan(offset, size);
            parts.emplace_back(read<std::uint32_t>(wire, at), Bytes(bytes.begin(), bytes.end()));
        }
        auto& [id, bytes] = parts[pick(parts.size())];
        change_words(bytes);
        if (id == WYE_SECTION_BODY && bytes.size() >= 4)
            write<std::uint32_t>(bytes, 0, static_cast<std::uint32_t>(bytes.size() / 4 - 1));
        if (pick(12) == 0) parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(pick(count)));
        Bytes out(wire.begin(), wire.begin() + kHead);
        out.resize(kHead + parts.size() * kEntry);
        write<std::uint32_t>(out, 12, static_cast<std::uint32_t>(parts.size()));
        for (std::size_t i = 0; i < parts.size(); ++i) {
            out.resize((out.size() + 7) / 8 * 8);
            const std::size_t at = kHead + i * kEntry;
            write<std::uint32_t>(out, at, parts[i].first);
            write<std::uint64_t>(out, at + 8, out.size());
            write<std::uint64_t>(out, at + 16, parts[i].second.size());
            out.insert(out.end(), parts[i].second.begin(), parts[i].second.end());
        }
        write<std::uint64_t>(out, 16, out.size());
        return out;
    }

    // Changes the program in a way that can be encoded: operands come before the nodes that use
    // them.
    void change(Program& program) {
        Code* code = &program.main;
        if (!program.functions.empty() && pick(3) == 0)
            code = &program.functions[pick(program.functions.size())].code;
        switch (pick(12)) {
            case 0:
                return change_expression(*code);
            case 1:
                return change_literal(*code);
            case 2:
                return repeat_statement(*code);
            case 3:
                return nest(*code);
            case 4:
                return deepen(*code);
            case 5:
                if (!program.buffers.empty()) change_buffer(one_of(program.buffers));
                return;
            case 6:
                if (!program.params.empty()) one_of(program.params).type = type();
                return;
            case 7:
                program.workgroup[pick(3)] = static_cast<std::uint32_t>(kLimits[pick(11)]);
                return;
            case 8:
                if (!program.functions.empty()) repeat_function(program);
                return;
            case 9:
                program.subgroup = static_cast<std::uint32_t>(kLimits[pick(8)]);
                return;
            case 10:
                if (!code->locals.empty()) one_of(code->locals).type = type();
                return;
            default:
                program.grid.kind = static_cast<std::uint8_t>(pick(3));
        }
    }

  private:
    std::size_t pick(std::size_t count) { return random_() % count; }
    std::uint64_t limit() { return kLimits[pick(kLimits.size())]; }
    template <typename T>
    T& one_of(std::vector<T>& from) {
        return from[pick(from.size())];
    }
    template <typename T>
    static T read(std::span<const std::uint8_t> from, std::size_t at) {
        T value{};
        std::memcpy(&value, from.data() + at, sizeof(T));
        return value;
    }
    template <typename T>
    static void write(Bytes& to, std::size_t at, std::uint64_t value) {
        const auto narrow = static_cast<T>(value);
        std::memcpy(to.data() + at, &narrow, sizeof(T));
    }
    Type type() {
        return {static_cast<Kind>(1 + pick(WYE_KIND_FIRST_FREE - 1)),
                static_cast<std::uint8_t>(pick(3) == 0 ? 1 + pick(4) : 1)};
    }

    void change_words(Bytes& bytes) {
        const std::size_t words = bytes.size() / 4;
        if (words == 0) return;
        const std::size_t at = pick(words);
        const std::size_t run = 1 + pick(std::min<std::size_t>(words - at, 12));
        const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at * 4);
        const auto last = first + static_cast<std::ptrdiff_t>(run * 4);
        switch (pick(5)) {
            case 0:
                write<std::uint32_t>(bytes, at * 4, limit());
                break;
            case 1:
                bytes.erase(first, last);
                break;
            case 2: {
                const Bytes copy(first, last);
                for (std::size_t times = 1 + pick(40); times > 0; --times)
                    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at * 4), copy.begin(),
                                 copy.end());
                break;
            }
            case 3:
                bytes[at * 4 + pick(2)] = static_cast<std::uint8_t>(random_());
                break;
            default:
                write<std::uint32_t>(bytes, at * 4,
                                     read<std::uint32_t>(bytes, at * 4) + (pick(2) == 0 ? 1 : -1));
        }
    }
    // Replaces the operation of an expression by another one with the same number of operands.
    void change_expression(Code& code) {
        if (code.exprs.empty()) return;
        Expr& expr = one_of(code.exprs);
        if (expr.count == 0) {
            expr.imm = static_cast<std::uint16_t>(limit());
            return;
        }
        for (int tries = 0; tries < 200; ++tries) {
            const std::size_t number = pick(0x500);
            if (!op_known(static_cast<std::uint32_t>(number))) continue;
            const Op op = static_cast<Op>(number);
            if (op_operands(op) != static_cast<int>(expr.count)) continue;
            expr.op = op;
            if (pick(2) == 0) expr.imm = type().code();
            return;
        }
    }
    void change_literal(Code& code) {
        for (int tries = 0; tries < 50 && !code.exprs.empty(); ++tries) {
            Expr& expr = one_of(code.exprs);
            if (expr.op != Op::LITERAL) continue;
            expr.extra = limit();
            if (pick(3) == 0) {
                expr.type = type().component();
                expr.imm = expr.type.code();
            }
            return;
        }
    }
    // Whether a statement may be repeated. A declaration may not: locals are numbered in their
    // order.
    static bool repeatable(const Stmt& stmt) { return stmt.body == kNone && stmt.local == kNone; }
    void repeat_statement(Code& code) {
        for (int tries = 0; tries < 20 && !code.blocks.empty(); ++tries) {
            auto& block = one_of(code.blocks);
            if (block.empty()) continue;
            const StmtId id = one_of(block);
            if (!repeatable(code.stmts[id])) continue;
            block.insert(block.begin() + static_cast<std::ptrdiff_t>(pick(block.size() + 1)),
                         std::size_t{1} << pick(9), id);
            return;
        }
    }
    // Puts the whole body into nested `if` blocks.
    void nest(Code& code) {
        ExprId condition = kNone;
        for (ExprId i = 0; i < code.exprs.size(); ++i)
            if (code.exprs[i].type == kBool && code.exprs[i].op == Op::LITERAL) condition = i;
        if (condition == kNone) {
            Expr literal;
            literal.op = Op::LITERAL;
            literal.type = kBool;
            literal.imm = kBool.code();
            literal.extra = 1;
            condition = static_cast<ExprId>(code.exprs.size());
            code.exprs.push_back(literal);
        }
        for (std::size_t depth = 1 + pick(pick(4) == 0 ? 70 : 4); depth > 0; --depth) {
            Stmt stmt;
            stmt.op = Op::IF;
            stmt.args[0] = condition;
            stmt.body = code.root;
            stmt.otherwise = static_cast<BlockId>(code.blocks.size());
            code.blocks.emplace_back();
            code.root = static_cast<BlockId>(code.blocks.size());
            code.blocks.push_back({static_cast<StmtId>(code.stmts.size())});
            code.stmts.push_back(stmt);
        }
    }
    // Puts more nodes above a result, or above an operand of a statement.
    void deepen(Code& code) {
        if (code.exprs.empty()) return;
        ExprId* slot = code.result != kNone ? &code.result : nullptr;
        for (int tries = 0; tries < 20 && slot == nullptr && !code.stmts.empty(); ++tries) {
            ExprId& argument = one_of(code.stmts).args[pick(3)];
            if (argument != kNone && code.exprs[argument].type.integer()) slot = &argument;
        }
        if (slot == nullptr) return;
        for (std::size_t depth = 1 + pick(pick(3) == 0 ? 130 : 6); depth > 0; --depth) {
            Expr expr = code.exprs[*slot];
            expr.op = Op::NOT;
            expr.imm = 0;
            expr.extra = 0;
            expr.first = static_cast<std::uint32_t>(code.operands.size());
            expr.count = 1;
            code.operands.push_back(*slot);
            *slot = static_cast<ExprId>(code.exprs.size());
            code.exprs.push_back(expr);
        }
    }
    void change_buffer(Buffer& buffer) {
        switch (pick(6)) {
            case 0:
                buffer.type = type();
                break;
            case 1:
                buffer.role = static_cast<Role>(1 + pick(6));
                break;
            case 2:
                buffer.count_kind = Buffer::Count::Literal;
                buffer.count = limit();
                break;
            case 3:
                buffer.align = static_cast<std::uint32_t>(limit());
                break;
            case 4:
                buffer.hints = {static_cast<std::uint8_t>(pick(4)),
                                static_cast<std::uint32_t>(limit()),
                                static_cast<Locality>(pick(3))};
                break;
            default:
                buffer.bytes = {limit(), limit()};
        }
    }
    void repeat_function(Program& program) {
        for (std::size_t times = std::size_t{1} << pick(8); times > 0; --times) {
            Function copy = program.functions[pick(program.functions.size())];
            copy.name = "copy_" + std::to_string(program.functions.size());
            program.functions.push_back(std::move(copy));
        }
    }

    std::minstd_rand random_;
};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
    Mutator mutator(seed);
    Bytes out;
    const unsigned way = seed / 7 % 3;
    if (way == 0) out = mutator.sections({data, size});
    if (way == 1) {
        auto program = decode({reinterpret_cast<const std::byte*>(data), size});
        if (program.ok()) {
            for (unsigned times = 1 + seed % 3; times > 0; --times) mutator.change(*program);
            if (const auto wire = encode(*program); wire.ok() && wire->size() <= most) {
                std::memcpy(data, wire->data(), wire->size());
                return wire->size();
            }
        }
    }
    if (out.empty() || out.size() > most) return LLVMFuzzerMutate(data, size, most);
    std::copy(out.begin(), out.end(), data);
    return out.size();
}
