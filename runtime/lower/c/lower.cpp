// SPDX-License-Identifier: Apache-2.0
//
// Assembles the kernel. The body is written first: it determines the helpers, ids and lengths to
// declare.
#include "lower/c/lower.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "lower/c/module.hpp"
#include "lower/c/writer.hpp"
#include "program/analysis/analysis.hpp"

namespace wye::lower {
namespace {

using ir::Kind;

constexpr std::string_view kEntry = "wye_main";
constexpr std::uint64_t kPartAlignment = 16;  // in bytes, of the arrays in one shared block

class Kernel {
  public:
    Kernel(const ir::Program& program, std::string_view format, const Spelling& spelling,
           const TargetFacts& facts, const Options& options, std::uint32_t subgroup)
        : program_(program), module_(program, spelling, facts, options, subgroup) {
        artifact_.format = format;
        artifact_.entry = kEntry;
        if (!module_.form.whole_workgroups) artifact_.workgroup = module_.workgroup;
        artifact_.subgroup = subgroup;
    }

    void show_places() { module_.places = true; }
    Result<Artifact> write();

  private:
    void functions();
    void tables();
    void constants(Kind kind, std::string_view element, const std::string& name,
                   const std::vector<std::uint64_t>& bits, const std::string& comment = {});
    void signature(const OuterSet& outer);
    void define(const OuterSet& outer);
    void define_ids(const OuterSet& outer);
    void define_shared(const OuterSet& outer);
    void define_lengths(const OuterSet& outer);
    static std::string zero_own(const middle::ZeroedArray& zeroed, OuterSet& outer,
                                const std::string& zero);
    std::string fill(const middle::ZeroedArray& zeroed, const std::string& zero) const;
    std::string zero_shared(OuterSet& outer);
    void check_grid_barrier();
    void add_slot(std::uint32_t kind, std::uint32_t binding = 0, std::uint32_t access = 0) {
        artifact_.slots.push_back({kind, binding, 0, access, 0, {}});
    }
    // Returns the binding of a buffer: its index among the buffers that are not `shared`.
    std::uint32_t binding_of(std::uint32_t buffer) const {
        std::uint32_t index = 0;
        for (std::uint32_t b = 0; b < buffer; ++b) index += program_.buffers[b].shared() ? 0 : 1;
        return index;
    }
    static bool has(const OuterSet& outer, Outer::Kind kind, std::uint32_t index = 0) {
        return outer.count({kind, index}) != 0;
    }
    std::string u32() const { return std::string(module_.value_type(Kind::U32)); }
    std::string u64() const { return std::string(module_.value_type(Kind::U64)); }
    void line(const std::string& text) { prologue_ += "    " + text + "\n"; }

    const ir::Program& program_;
    CModule module_;
    Artifact artifact_;
    bool has_grid_barrier_ = false;
    std::string globals_;    // tables, structs, functions
    std::string signature_;  // the kernel up to its opening brace
    std::string prologue_;   // ids, lengths, parameters, shared arrays
};

// Returns the text with each `from` replaced by `to`.
std::string replaced(std::string text, std::string_view from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
        text.replace(at, from.size(), to);
        at += to.size();
    }
    return text;
}

// Finds the functions that main reaches. Callees have smaller numbers than their callers.
std::vector<bool> reachable(const ir::Program& program) {
    std::vector<bool> used(program.functions.size());
    const auto mark = [&](const ir::Code& code) {
        for (const ir::Expr& e : code.exprs)
            if (e.op == ir::Op::CALL) used[e.imm] = true;
    };
    mark(program.main);
    for (std::size_t f = program.functions.size(); f-- > 0;)
        if (used[f]) mark(program.functions[f].code);
    return used;
}

void Kernel::functions() {
    const std::vector<bool> used = reachable(program_);
    for (std::uint32_t f = 0; f < program_.functions.size(); ++f) {
        if (!used[f] || globals_.size() > kMaxTextBytes) continue;
        const ir::Function& function = program_.functions[f];
        CWriter writer(module_, f);
        writer.block(function.code.root);
        writer.return_result();
        const std::string result = function.type.lanes > 1
                                       ? module_.vector_struct(function.type)
                                       : std::string(module_.use_type(function.type.kind));
        std::vector<std::string> arguments;
        for (std::uint32_t a = 0; a < function.arguments; ++a) {
            const ir::Type type = function.code.locals[a].type;
            for (unsigned k = 0; k < type.lanes; ++k)
                arguments.push_back("const " + std::string(module_.use_type(type.kind)) + " " +
                                    writer.local_name(a, k));
        }
        for (const Outer& item : writer.outer()) arguments.push_back(module_.declaration(item));
        globals_ += "\n// " + sanitised(function.name) + "\n";
        if (!writer.constants().empty())
            constants(Kind::F64, module_.value_type(Kind::F64), writer.constants_name(),
                      writer.constants());
        globals_ += std::string(module_.spelling.function_prefix()) +
                    call(result + " f" + std::to_string(f), arguments) + " {\n" + writer.text() +
                    "}\n";
        module_.functions[f].outer = writer.outer();
    }
}

void Kernel::tables() {
    for (std::size_t t = 0; t < program_.tables.size(); ++t) {
        const ir::Table& table = program_.tables[t];
        module_.use_type(table.type.kind);
        const middle::Array& array = module_.form.table(static_cast<std::uint32_t>(t));
        std::vector<std::uint64_t> bits = table.bits;
        if (table.type.kind == Kind::F16) std::ranges::transform(bits, bits.begin(), f32_of_f16);
        constants(array.cell, module_.element_type(array), "c" + std::to_string(t), bits,
                  "  // " + sanitised(table.name));
    }
}

void Kernel::constants(Kind kind, std::string_view element, const std::string& name,
                       const std::vector<std::uint64_t>& bits, const std::string& comment) {
    globals_ += module_.spelling.constant_array(element, name, bits.size()) + " = {" + comment;
    for (std::size_t i = 0; i < bits.size(); ++i)
        globals_ += (i % 8 == 0 ? "\n    " : " ") + module_.literal(kind, bits[i]) + ",";
    globals_ += "\n};\n";
}

void Kernel::signature(const OuterSet& outer) {
    bool first = true;
    const auto argument = [&](const std::string& text, const std::string& name = {}) {
        signature_ += first ? "\n    " : ",\n    ";
        signature_ += text + (name.empty() ? "" : " /* " + sanitised(name) + " */");
        first = false;
    };
    signature_ = module_.spelling.kernel_head(kEntry, artifact_.workgroup) + "(";
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
        const ir::Buffer& buffer = program_.buffers[b];
        if (buffer.shared()) continue;
        argument(module_.declaration({Outer::Kind::Buffer, b}), buffer.name);
        const bool writes = ir::role_writable(buffer.role);
        add_slot(WYE_SLOT_BUFFER, binding_of(b), writes ? 3 : 1);
    }
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
        if (!has(outer, Outer::Kind::Length64, b)) continue;
        argument(module_.declaration({Outer::Kind::Length64, b}));
        add_slot(WYE_SLOT_LENGTH, binding_of(b));
    }
    if (!program_.params.empty()) {
        argument("const struct wye_params p");
        add_slot(WYE_SLOT_PARAMS);
        artifact_.params_size = ir::param_layout(program_.params).size;
        globals_ += "struct wye_params {\n";
        for (std::size_t p = 0; p < program_.params.size(); ++p)
            globals_ += "    " + std::string(module_.use_type(program_.params[p].type.kind)) +
                        " p" + std::to_string(p) + ";  // " + sanitised(program_.params[p].name) +
                        "\n";
        globals_ += "};\n";
    }
    if (module_.folded_grid) {
        globals_ += "struct wye_grid {\n    " + u32() + " o0, o1, o2, n0, n1, n2;\n};\n";
        argument("const struct wye_grid grid");
        add_slot(WYE_SLOT_GRID);
    }
    if (has(outer, Outer::Kind::OpaqueZero)) {
        argument(module_.declaration({Outer::Kind::OpaqueZero, 0}));
        add_slot(WYE_SLOT_OPAQUE_ZERO);
    }
    if (has(outer, Outer::Kind::Trap)) {
        argument(module_.declaration({Outer::Kind::Trap, 0}));
        add_slot(WYE_SLOT_TRAP);
        artifact_.uses_trap = true;
    }
    if (has_grid_barrier_) {
        argument(
            module_.spelling.pointer(Space::Global, module_.value_type(Kind::U32), false, true) +
            " " + kGridBarrier);
        add_slot(WYE_SLOT_GRID_BARRIER);
    }
    signature_ += ") {\n";
}

// Writes workgroup and invocation ids. A folded grid numbers its workgroups in one row, starting at
// the logical workgroup given by the offset. Surplus workgroups return as a whole.
void Kernel::define_ids(const OuterSet& outer) {
    const Spelling& spelling = module_.spelling;
    const auto id = [](const char* name, unsigned axis) {
        return std::string(name) + std::to_string(axis);
    };
    const auto let = [&](const std::string& name, const std::string& text) {
        line("const " + u32() + " " + name + " = " + text + ";");
    };
    if (module_.folded_grid) {
        const std::string cast = "(" + u64() + ")";
        line("const " + u64() + " linear = " + spelling.group_id(0) + " + " + cast +
             spelling.num_groups(0) + " * (" + spelling.group_id(1) + " + " + cast +
             spelling.num_groups(1) + " * " + spelling.group_id(2) + ") + grid.o0 + " + cast +
             "grid.n0 * (grid.o1 + " + cast + "grid.n1 * grid.o2);");
        line("if (linear >= " + cast + "grid.n0 * grid.n1 * grid.n2) return;");
    }
    for (unsigned k = 0; k < 3; ++k) {
        const bool group =
            has(outer, Outer::Kind::WorkgroupId, k) || has(outer, Outer::Kind::GlobalId, k);
        static constexpr const char* kFolded[3] = {"linear % grid.n0", "linear / grid.n0 % grid.n1",
                                                   "linear / grid.n0 / grid.n1"};
        if (group)
            let(id("wg", k),
                module_.folded_grid ? "(" + u32() + ")(" + kFolded[k] + ")" : spelling.group_id(k));
        if (has(outer, Outer::Kind::NumWorkgroups, k))
            let(id("ng", k), module_.folded_grid ? id("grid.n", k) : spelling.num_groups(k));
        if (has(outer, Outer::Kind::LocalId, k) || has(outer, Outer::Kind::GlobalId, k) ||
            (has(outer, Outer::Kind::LocalIndex) && module_.workgroup[k] > 1))
            let(id("lid", k), spelling.local_id(k));
        if (has(outer, Outer::Kind::GlobalId, k))
            let(id("gid", k),
                id("wg", k) + " * " + std::to_string(module_.workgroup[k]) + "u + " + id("lid", k));
    }
    if (!has(outer, Outer::Kind::LocalIndex)) return;
    std::string text;
    std::uint32_t stride = 1;
    for (unsigned k = 0; k < 3; ++k) {
        if (module_.workgroup[k] > 1) {
            if (!text.empty()) text += " + ";
            text += id("lid", k) + (stride == 1 ? "" : " * " + std::to_string(stride) + "u");
        }
        stride *= module_.workgroup[k];
    }
    let("li", text);
    const std::string width = std::to_string(module_.subgroup) + "u";
    if (has(outer, Outer::Kind::SubgroupId)) let("sg", "li / " + width);
    if (has(outer, Outer::Kind::SubgroupLane)) let("lane", "li % " + width);
}

void Kernel::define_lengths(const OuterSet& outer) {
    const std::string most = module_.literal(Kind::U32, 0xffffffffU);
    const std::string half = module_.literal(Kind::U32, 0x80000000U);
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
        const std::string n = std::to_string(b);
        if (has(outer, Outer::Kind::Length, b))
            line("const " + u32() + " n" + n + " = l" + n + " < " + most + " ? (" + u32() + ")l" +
                 n + " : " + most + ";");
        if (has(outer, Outer::Kind::SignedLength, b))
            line("const " + u32() + " m" + n + " = l" + n + " < " + half + " ? (" + u32() + ")l" +
                 n + " : " + half + ";");
    }
}

void Kernel::define_shared(const OuterSet& outer) {
    artifact_.shared_bytes = module_.form.shared_bytes();
    const Spelling& spelling = module_.spelling;
    const bool block = artifact_.shared_bytes > spelling.max_static_shared();
    if (block) line(spelling.shared_block() + ";");
    std::uint64_t offset = 0;
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
        if (!has(outer, Outer::Kind::Shared, b)) continue;
        const middle::Array& array = module_.form.buffer(b);
        const std::string element = module_.element_type(array);
        const std::string name = name_of({Outer::Kind::Shared, b});
        const bool vectors = array.lanes() == 2 || array.lanes() == 4;
        const unsigned alignment = vectors ? array.element_bytes() : 0;
        offset = (offset + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
        line((block ? spelling.shared_part(element, name, offset)
                    : spelling.shared_array(element, name, array.components(), alignment)) +
             ";  // " + sanitised(program_.buffers[b].name));
        offset += array.bytes();
    }
    if (block)
        artifact_.shared_bytes =
            std::max(artifact_.shared_bytes, static_cast<std::uint32_t>(offset));
}

void Kernel::define(const OuterSet& outer) {
    define_lengths(outer);
    for (std::uint32_t p = 0; p < program_.params.size(); ++p)
        if (has(outer, Outer::Kind::Param, p))
            line(module_.declaration({Outer::Kind::Param, p}) + " = p.p" + std::to_string(p) + ";");
    define_shared(outer);
    define_ids(outer);
}

// Zeroes the one element that this invocation owns.
std::string Kernel::zero_own(const middle::ZeroedArray& zeroed, OuterSet& outer,
                             const std::string& zero) {
    std::string at = std::to_string(zeroed.start.first) + "u";
    for (unsigned k = 0; k < 3; ++k) {
        if (zeroed.start.factors[k] == 0) continue;
        outer.insert({Outer::Kind::LocalId, k});
        at += " + lid" + std::to_string(k) + " * " + std::to_string(zeroed.start.factors[k]) + "u";
    }
    const unsigned lanes = zeroed.array.lanes();
    std::string text;
    for (unsigned k = 0; k < lanes; ++k)
        text +=
            "    s" + std::to_string(zeroed.array.number) + "[" +
            (lanes == 1 ? at
                        : "(" + at + ") * " + std::to_string(lanes) + "u + " + std::to_string(k)) +
            "] = " + zero + ";\n";
    return text;
}

// All invocations zero all elements: a few stores each, or a loop.
std::string Kernel::fill(const middle::ZeroedArray& zeroed, const std::string& zero) const {
    const middle::Fill& fill = zeroed.fill;
    const std::string stride = std::to_string(fill.stride) + "u";
    const std::string name = "s" + std::to_string(zeroed.array.number);
    const std::string index = fill.stride == 1 ? "0u" : "li";
    if (fill.stores == 0)
        return "    for (" + u32() + " z = " + index + "; z < " + std::to_string(fill.count) +
               "u; z += " + stride + ") " + name + "[z] = " + zero + ";\n";
    std::string text;
    for (std::uint64_t k = 0; k < fill.stores; ++k) {
        text += "    ";
        if (k + 1 == fill.stores && fill.rest != 0)
            text += "if (li < " + std::to_string(fill.rest) + "u) ";
        text += name + "[" + index + (k == 0 ? "" : " + " + std::to_string(k * fill.stride) + "u") +
                "] = " + zero + ";\n";
    }
    return text;
}

// Zeroes the `shared` arrays. A barrier follows if invocations zero elements that others own.
std::string Kernel::zero_shared(OuterSet& outer) {
    std::vector<bool> used(program_.buffers.size());
    for (std::uint32_t b = 0; b < used.size(); ++b) used[b] = has(outer, Outer::Kind::Shared, b);
    const middle::SharedZeros zeros = module_.form.zeros(used);
    std::string own;
    std::string all;
    for (const middle::ZeroedArray& each : zeros.arrays) {
        const ir::Type type = each.array.type;
        const std::string zero = module_.literal(type.floating() ? type.kind : Kind::U32, 0);
        if (each.start.how == SharedStart::How::Own)
            own += zero_own(each, outer, zero);
        else
            all += fill(each, zero);
    }
    if (zeros.barrier) {
        outer.insert({Outer::Kind::LocalIndex, 0});
        all += "    " + module_.barrier() + "\n";
    }
    return own + all;
}

// Refuses grid barriers in a folded grid, in which surplus workgroups return at once and would
// never reach a barrier. (By the rules of the language, other early returns come after the last
// barrier.)
void Kernel::check_grid_barrier() {
    if (!module_.folded_grid) return;
    module_.refuse(Error(Code::UNSUPPORTED,
                         fmt::format("`{}` cannot be one kernel with grid barriers: some "
                                     "workgroups of a folded grid end at once",
                                     sanitised(program_.name)),
                         "Fix: dispatch the program: the runtime splits it at its grid barriers",
                         program_.name));
}

Result<Artifact> Kernel::write() {
    tables();
    functions();
    CWriter body(module_, ir::kNone);
    body.main();

    OuterSet outer = body.outer();
    has_grid_barrier_ = body.has_grid_barrier();
    if (has(outer, Outer::Kind::SubgroupId) || has(outer, Outer::Kind::SubgroupLane))
        outer.insert({Outer::Kind::LocalIndex, 0});
    const std::string zero = zero_shared(outer);
    for (std::uint32_t b = 0; b < program_.buffers.size(); ++b)
        if (has(outer, Outer::Kind::Length, b) || has(outer, Outer::Kind::SignedLength, b))
            outer.insert({Outer::Kind::Length64, b});
    signature(outer);
    define(outer);
    if (has_grid_barrier_) check_grid_barrier();
    if (auto refusal = module_.refusal()) return *std::move(refusal);

    for (const ir::Buffer& buffer : program_.buffers)
        artifact_.binding_count += buffer.shared() ? 0 : 1;
    artifact_.options = module_.spelling.options(module_.used);
    std::string text = "// " + sanitised(program_.name) + "\n";
    text += module_.spelling.prologue(module_.used);
    const std::size_t total = text.size() + module_.helpers().size() + globals_.size() +
                              body.text().size() + prologue_.size();
    if (total > kMaxTextBytes)
        return Error(Code::LIMIT_EXCEEDED,
                     fmt::format("program `{}` becomes {} bytes of C, more than {}",
                                 sanitised(program_.name), total, kMaxTextBytes),
                     "Fix: use the `cpu` device, or split the program", program_.name);
    text += module_.helpers() + globals_ + "\n" + signature_ + prologue_ + zero +
            replaced(body.text(), kZeroShared, zero) + "}\n";
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    artifact_.code.assign(bytes, bytes + text.size());
    return std::move(artifact_);
}

}  // namespace

Result<Artifact> lower_c(const ir::Program& program, std::string_view format,
                         const Spelling& spelling, const TargetFacts& device,
                         const Options& options, bool places) {
    TargetFacts facts = device;
    facts.quirks = device.quirks.for_format(format);
    WYE_ASSIGN(const std::uint32_t subgroup, subgroup_width(program, facts, options));
    if (subgroup != 0 && !spelling.subgroups(subgroup))
        return Error(Code::UNSUPPORTED,
                     fmt::format("`{}` has no subgroups of {} lanes, which program `{}` uses",
                                 format, subgroup, sanitised(program.name)),
                     "Fix: use a device with subgroups (the `cpu` device has them), or leave them "
                     "out",
                     program.name);
    Kernel kernel(program, format, spelling, facts, options, subgroup);
    if (places) kernel.show_places();
    return kernel.write();
}

}  // namespace wye::lower
