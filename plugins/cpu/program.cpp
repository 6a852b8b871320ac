// SPDX-License-Identifier: Apache-2.0
#include "cpu/program.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "cpu/device.hpp"
#include "wye/sdk/launch_shape.hpp"
#include "wye/sdk/typing.hpp"
#include "wye/sdk/wide_stack.hpp"
#include "wye/sdk/wire.hpp"

namespace wye::cpu {
namespace {

// Grids narrower than this run with Geometry::Flat, so that a block has enough lanes.
constexpr std::uint64_t kNarrow = 64;

// The subgroup width if neither the program nor the artifact gives a width.
constexpr std::uint32_t kSubgroup = 32;

// The subgroup width; 0 for programs without subgroups.
Result<std::uint32_t> subgroup_width(const ir::Program& program, const wye_artifact& artifact) {
    if (!uses_subgroups(program)) return std::uint32_t{0};
    std::uint32_t width = artifact.subgroup_size != 0 ? artifact.subgroup_size : program.subgroup;
    if (width == 0) width = kSubgroup;
    const std::uint64_t invocations = std::uint64_t{artifact.workgroup_size[0]} *
                                      artifact.workgroup_size[1] * artifact.workgroup_size[2];
    const bool known = width >= 4 && width <= 128 && (width & (width - 1)) == 0;
    if (known && invocations % width == 0 && (program.subgroup == 0 || program.subgroup == width))
        return width;
    return Error(wye::Code::UNSUPPORTED,
                 "subgroups of " + std::to_string(width) + " do not fit the program, which has " +
                     std::to_string(invocations) + " invocations in a workgroup" +
                     (program.subgroup == 0
                          ? std::string()
                          : " and demands subgroups of " + std::to_string(program.subgroup)),
                 "Fix: use a power of two from 4 to 128 that divides the workgroup size",
                 program.name);
}

// Compiles on a stack that is large enough. The calling thread's stack may be too small: a first
// launch may compile on the application's thread. Functions are inlined, so in a program with
// functions the recursion may be as deep as the compiler allows; in other programs, it is only as
// deep as blocks and expressions nest.
Result<Routine> compiled(const ir::Program& program, const CompileOptions& options) {
    const std::size_t room = std::size_t{program.functions.empty() ? 4U : 13U} << 20U;
    return sdk::with_room([&] { return compile(program, options); }, room * sdk::kFrameFactor);
}

}  // namespace

Result<std::unique_ptr<Program>> Program::create(Device& device, const wye_artifact& artifact,
                                                 wye_bytes) {
    if (sdk::from_abi(artifact.format) != WYE_FORMAT_PROGRAM)
        return sdk::errors::unknown_format(Plugin::kPlugin, "`" WYE_FORMAT_PROGRAM "`",
                                           sdk::from_abi(artifact.format),
                                           std::string(sdk::from_abi(artifact.label)));
    WYE_ASSIGN(const sdk::LaunchShape shape, sdk::LaunchShape::of(Plugin::kPlugin, artifact));
    const std::span<const std::byte> wire(static_cast<const std::byte*>(artifact.code.data),
                                          static_cast<std::size_t>(artifact.code.size));
    WYE_ASSIGN(ir::Program decoded, ir::decode(wire));
    std::string problem;
    const bool typed = ir::assign_types(decoded, [&](const ir::TypeProblem& p) {
        if (problem.empty()) problem = p.problem;
    });
    if (!typed)
        return Error(wye::Code::INVALID_PROGRAM, "the program is ill-typed: " + problem,
                     "Fix: validate the program before it is handed to a plugin", decoded.name);
    WYE_TRY(supported(decoded));
    WYE_ASSIGN(const std::uint32_t subgroup, subgroup_width(decoded, artifact));

    std::unique_ptr<Program> made(new Program);
    for (unsigned axis = 0; axis < 3; ++axis)
        made->options_.workgroup[axis] = std::max(artifact.workgroup_size[axis], 1U);
    made->has_grid_ = shape.has_grid;
    made->options_.subgroup = subgroup;
    made->options_.kernels = &device.kernels();
    made->options_.geometry = needs_group(decoded) ? Geometry::Group : Geometry::Row;
    made->program_ = std::make_unique<const ir::Program>(std::move(decoded));
    made->lay_out();
    WYE_ASSIGN(made->main_, compiled(*made->program_, made->options_));
    // The next number is for the flat routine.
    made->main_.number = device.plugin.routines.fetch_add(2) + 1;
    return made;
}

void Program::lay_out() {
    params_size_ = ir::param_layout(program_->params).size;
    const auto& buffers = program_->buffers;
    arrays_.resize(buffers.size() + program_->tables.size());
    for (std::uint32_t n = 0; n < buffers.size(); ++n) {
        const ir::Buffer& buffer = buffers[n];
        if (!buffer.shared()) {
            bound_arrays_.push_back(n);
            continue;
        }
        shared_.push_back({n, shared_bytes_, buffer.count, !buffer.unset});
        // Each array starts on a cache line, with one readable element past its end.
        shared_bytes_ += (buffer.count * buffer.type.bytes() + 63) / 64 * 64 + 64;
    }
    // The elements of a table are packed. Each table is padded to whole words and is never empty.
    std::size_t words = 0;
    for (const ir::Table& table : program_->tables) words += table.bits.size() + 1;
    table_words_.resize(words);
    std::size_t word = 0;
    for (std::size_t n = 0; n < program_->tables.size(); ++n) {
        const ir::Table& table = program_->tables[n];
        auto* data = reinterpret_cast<std::byte*>(table_words_.data() + word);
        const std::size_t bytes = table.type.bytes();
        for (std::size_t k = 0; k < table.bits.size(); ++k)
            std::memcpy(data + k * bytes, &table.bits[k], bytes);
        arrays_[buffers.size() + n] = {data, table.bits.size(), table.bits.size()};
        word += table.bits.size() + 1;
    }
}

Result<const Routine*> Program::routine(std::uint64_t width, std::uint64_t rows) {
    if (main_.geometry == Geometry::Group || width >= kNarrow || rows <= 1) return &main_;
    std::call_once(flat_once_, [&] {
        CompileOptions options = options_;
        options.geometry = Geometry::Flat;
        flat_.emplace(compiled(*program_, options));
        if (flat_->ok()) flat_->value().number = main_.number + 1;
    });
    if (!flat_->ok()) return flat_->error();
    return &flat_->value();
}

void Program::describe(wye_program_info& out) const {
    out.max_invocations = WYE_LIMIT_WORKGROUP;
    out.shared_bytes = shared_bytes_;
}

}  // namespace wye::cpu
