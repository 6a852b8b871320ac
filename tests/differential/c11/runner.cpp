// SPDX-License-Identifier: Apache-2.0
#include "differential/c11/runner.hpp"

#include <dlfcn.h>
#include <ucontext.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "differential/c11/writer.hpp"
#include "lower/lower.hpp"
#include "lower/passes/strict.hpp"
#include "program/analysis/analysis.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"
#include "support/temp_dir.hpp"

namespace c11 {
namespace {

using namespace wye;
using Entry = void (*)(Call*);
using Bytes = std::vector<std::byte>;

constexpr std::size_t kStackBytes = std::size_t{256} << 10U;
constexpr std::size_t kSpareBytes = 64;  // behind each buffer, so that element 0 can always be read

// ---- One workgroup ------------------------------------------------------------------------------

struct Invocation {
    enum class State : std::uint8_t { Runs, WaitsForSubgroup, WaitsForWorkgroup, Ended };
    Call call{};  // the first member: `wait` is called with its address
    State state = State::Ended;
    ucontext_t own{}, scheduler{};
    std::unique_ptr<std::byte[]> stack;
    Entry entry = nullptr;
};

void wait(Call* call, int workgroup) {
    auto* self = reinterpret_cast<Invocation*>(call);
    self->state =
        workgroup != 0 ? Invocation::State::WaitsForWorkgroup : Invocation::State::WaitsForSubgroup;
    swapcontext(&self->own, &self->scheduler);
}

void body(unsigned high, unsigned low) {
    const auto bits = std::uintptr_t{high} << 32U | low;
    auto* self = reinterpret_cast<Invocation*>(bits);
    self->entry(&self->call);
    self->state = Invocation::State::Ended;
}

void start(Invocation& each) {
    if (!each.stack) each.stack = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
    getcontext(&each.own);
    each.own.uc_stack.ss_sp = each.stack.get();
    each.own.uc_stack.ss_size = kStackBytes;
    each.own.uc_link = &each.scheduler;
    const auto bits = reinterpret_cast<std::uintptr_t>(&each);
    makecontext(&each.own, reinterpret_cast<void (*)()>(body), 2,
                static_cast<unsigned>(bits >> 32U), static_cast<unsigned>(bits));
    each.state = Invocation::State::Runs;
}

// If all invocations of a group of `width` are in the state `waiting` or have ended, lets those
// that wait go on. Returns whether any invocation goes on.
bool release(std::vector<Invocation>& all, std::size_t width, Invocation::State waiting) {
    bool any = false;
    for (std::size_t first = 0; first < all.size(); first += width) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = begin + static_cast<std::ptrdiff_t>(width);
        const bool together = std::all_of(begin, end, [&](const Invocation& each) {
            return each.state == waiting || each.state == Invocation::State::Ended;
        });
        if (!together) continue;
        for (auto each = begin; each != end; ++each)
            if (each->state == waiting) each->state = Invocation::State::Runs, any = true;
    }
    return any;
}

// Runs the invocations of a workgroup, which may wait for one another. False: they are in a
// deadlock.
bool run_together(std::vector<Invocation>& all, std::size_t subgroup) {
    using State = Invocation::State;
    for (Invocation& each : all) start(each);
    for (;;) {
        for (Invocation& each : all)
            if (each.state == State::Runs) swapcontext(&each.scheduler, &each.own);
        if (release(all, subgroup == 0 ? all.size() : subgroup, State::WaitsForSubgroup)) continue;
        if (release(all, all.size(), State::WaitsForWorkgroup)) continue;
        return std::ranges::all_of(
            all, [](const Invocation& each) { return each.state == State::Ended; });
    }
}

// ---- A case -------------------------------------------------------------------------------------

Error trouble(Code code, const std::string& text) {
    return Error(code, text, "Fix: look at the text with `wye lower`, and at `cc`");
}

class Object {
  public:
    Object() = default;
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    ~Object() {
        if (handle_ != nullptr) dlclose(handle_);
    }
    Result<Entry> compile(const std::string& text) {
        const std::string base = (folder_.path() / "program").string();
        std::ofstream(base + ".c") << text;
        // Run in the folder, so that a path with blanks does no harm.
        const std::string command = "cd '" + folder_.path().string() +
                                    "' && cc -std=c11 -O1 -fPIC -shared -ffp-contract=off -w -o "
                                    "program.so program.c -lm 2>program.log";
        if (std::system(command.c_str()) != 0) {
            std::ifstream log(base + ".log");
            std::string first;
            std::getline(log, first);
            return trouble(Code::COMPILE_FAILED, "`cc` does not take the text: " + first);
        }
        handle_ = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ == nullptr) return trouble(Code::COMPILE_FAILED, dlerror());
        return reinterpret_cast<Entry>(dlsym(handle_, "wye_main"));
    }

  private:
    support::TempDir folder_;
    void* handle_ = nullptr;
};

Result<ir::Program> strict_program(const std::string& text, const lower::MathWays& ways) {
    ir::ParseResult parsed = ir::parse(text);
    if (!parsed.ok() || !ir::validate(parsed.program).empty())
        return trouble(Code::INVALID_PROGRAM, "the program has errors");
    if (!lower::uses_math(parsed.program)) return std::move(parsed.program);
    return lower::expand_math(parsed.program, 0, ways);
}

bool is_wide(const ir::Program& program) {
    const auto in = [](const ir::Code& code) {
        return std::ranges::any_of(code.exprs,
                                   [](const ir::Expr& e) { return e.type.bits() == 64; });
    };
    return in(program.main) || std::ranges::any_of(program.functions, in, &ir::Function::code);
}

struct Memory {
    std::vector<Bytes> buffers;  // by buffer number; each has kSpareBytes more
    std::vector<void*> pointers;
    std::vector<std::uint64_t> lengths;
};

Memory bind(const ir::Program& program, const std::vector<support::Binding>& given) {
    Memory out;
    std::size_t next = 0;
    for (const ir::Buffer& b : program.buffers) {
        if (b.shared()) {  // f16 elements are f32 here
            out.lengths.push_back(b.count);
            out.buffers.emplace_back(b.count * b.type.lanes * 8 + kSpareBytes);
            continue;
        }
        const support::Binding& from = given[next++];
        Bytes bytes = from.bytes;
        if (!from.input) std::ranges::fill(bytes, std::byte{0});
        out.lengths.push_back(bytes.size() / b.type.bytes());
        bytes.resize(bytes.size() + kSpareBytes);
        out.buffers.push_back(std::move(bytes));
    }
    for (Bytes& each : out.buffers) out.pointers.push_back(each.data());
    return out;
}

Result<std::array<std::uint32_t, 3>> groups_of(const ir::Program& program,
                                               const support::Launch& launch,
                                               const Memory& memory) {
    if (launch.groups) return *launch.groups;
    std::array<std::uint32_t, 3> out = {1, 1, 1};
    for (std::size_t axis = 0; axis < program.grid.axes.size(); ++axis) {
        WYE_ASSIGN(const std::uint64_t size,
                   ir::evaluate_size(program.grid.axes[axis], program, launch.params,
                                     memory.lengths, "the grid"));
        const std::uint64_t per =
            program.grid.kind == WYE_GRID_ELEMENTS ? program.workgroup[axis] : 1;
        out[axis] = static_cast<std::uint32_t>((size + per - 1) / per);
    }
    return out;
}

Result<support::Ending> run_expanded(const ir::Program& program, const support::Case& what) {
    for (const ir::Stmt& s : program.main.stmts)
        if (s.op == ir::Op::GRID_BARRIER)
            return trouble(Code::UNSUPPORTED, "a grid barrier ends a launch");
    WYE_ASSIGN(const std::uint32_t subgroup, lower::subgroup_width(program, {}, {}));
    Object object;
    WYE_ASSIGN(const Entry entry, object.compile(write(program, subgroup)));
    Memory memory = bind(program, what.launch.buffers);
    WYE_ASSIGN(const auto groups, groups_of(program, what.launch, memory));

    const auto& size = program.workgroup;
    std::vector<Invocation> all(program.workgroup_invocations());
    std::vector<std::uint32_t> slots(all.size());
    support::Ending ending;
    const std::uint64_t total = std::uint64_t{groups[0]} * groups[1] * groups[2];
    for (std::uint64_t group = 0; group < total; ++group) {
        for (std::size_t b = 0; b < program.buffers.size(); ++b)
            if (program.buffers[b].shared()) std::ranges::fill(memory.buffers[b], std::byte{0});
        for (std::uint32_t i = 0; i < all.size(); ++i) {
            Call& call = all[i].call;
            const auto column = static_cast<std::uint32_t>(group % groups[0]);
            const auto row = static_cast<std::uint32_t>(group / groups[0] % groups[1]);
            const auto layer = static_cast<std::uint32_t>(group / groups[0] / groups[1]);
            call = {memory.pointers.data(),
                    memory.lengths.data(),
                    what.launch.params.data(),
                    {column, row, layer},
                    {groups[0], groups[1], groups[2]},
                    {i % size[0], i / size[0] % size[1], i / size[0] / size[1]},
                    i,
                    slots.data(),
                    0,
                    0,
                    wait};
            all[i].entry = entry;
        }
        if (!run_together(all, subgroup))
            return trouble(Code::INTERNAL, "invocations wait for one another");
        for (const Invocation& each : all) {
            ending.trap_code = std::max(ending.trap_code, each.call.trap_code);
            ending.trap_count += each.call.trap_count;
        }
    }
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        if (program.buffers[b].shared()) continue;
        memory.buffers[b].resize(memory.buffers[b].size() - kSpareBytes);
        ending.bytes.push_back(std::move(memory.buffers[b]));
    }
    return ending;
}

}  // namespace

Result<support::Ending> run(const wye::Program&, const support::Case& what) {
    WYE_ASSIGN(const ir::Program program, strict_program(what.text, {}));
    return run_expanded(program, what);
}

Result<support::Ending> run_in(const lower::MathWays& ways, const support::Case& what) {
    WYE_ASSIGN(const ir::Program program, strict_program(what.text, ways));
    if (ways.words && is_wide(program)) return trouble(Code::INTERNAL, "a value has 64 bits");
    return run_expanded(program, what);
}

}  // namespace c11
