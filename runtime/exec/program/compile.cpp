// SPDX-License-Identifier: Apache-2.0
#include "exec/program/compile.hpp"

#include <exception>
#include <optional>

#include "exec/device/clock.hpp"
#include "exec/program/artifact.hpp"
#include "exec/program/cache_key.hpp"
#include "exec/program/complaint.hpp"
#include "exec/program/saved_program.hpp"
#include "exec/trace/span.hpp"

namespace wye::exec {
namespace {

// Adds its lifetime to a nanosecond counter, and records it in the trace as a step.
class Timer {
  public:
    Timer(std::uint64_t& counter, Trace* trace, const char* step)
        : counter_(counter), span_(trace, step) {}
    ~Timer() { counter_ += nanoseconds(now() - start_); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

  private:
    std::uint64_t& counter_;
    const Span span_;
    Clock::time_point start_ = now();
};

CompiledRef wrap(registry::NativeProgram native, const LoadedProgram& program, const Form& form,
                 const lower::Artifact& artifact) {
    auto out = std::make_shared<CompiledProgram>(std::move(native));
    out->form = form;
    out->encoding = program.encoding();
    out->uses_trap = artifact.uses_trap;
    out->layout =
        plan::backend_layout(program.plan().bindings, artifact.slots, artifact.params_size,
                             lower::uses_push_constants(artifact.format));
    return out;
}

// Loads a compiled form from the disk cache; null if the entry is missing or unusable.
CompiledRef from_disk(const registry::DeviceRef& device, const LoadedProgram& program,
                      const Form& form, const std::vector<std::byte>& key, cache::Store& store,
                      CompileStats& stats) {
    const auto hit = store.find(key);
    if (!hit) return nullptr;
    const auto saved = read_saved(hit->value);
    if (!saved.ok()) {
        store.reject(key, saved.error().message);
        return nullptr;
    }
    const Timer timer(stats.driver_ns, stats.trace, "load saved program");
    auto native = registry::NativeProgram::load(
        device, abi_artifact(saved->artifact, program.name()), saved->native);
    if (!native.ok()) {
        const Code code = native.error().code;
        if (code != Code::DEVICE_LOST && code != Code::OUT_OF_MEMORY &&
            code != Code::DEVICE_MEMORY && code != Code::NOT_READY)
            store.reject(key, native.error().message);
        return nullptr;
    }
    ++stats.loaded;
    stats.saved_bytes += hit->file.size();
    return wrap(std::move(native).value(), program, form, saved->artifact);
}

}  // namespace

Result<CompiledRef> compile(const registry::DeviceRef& device, const lower::TargetFacts& facts,
                            const std::string& lines, const LoadedProgram& program,
                            const Form& form, std::string_view format, DiskCache& cache,
                            CompileStats& stats) {
    const registry::DeviceInfo& info = device->info();
    const bool saves = cache.store.on() && device->saves_programs();
    std::vector<std::byte> key;
    if (saves) {
        key = program_key(cache.build, *device, lines, format, program.name(), form,
                          program.encoding());
        if (auto found = from_disk(device, program, form, key, cache.store, stats)) return found;
        ++stats.missed;
    }
    lower::Artifact artifact;
    {
        const Timer timer(stats.lower_ns, stats.trace, "lower");
        WYE_ASSIGN(artifact, make_artifact(program, form, format, facts));
    }
    std::optional<registry::NativeProgram> native;
    {
        const Timer timer(stats.driver_ns, stats.trace, "compile in driver");
        auto compiled =
            registry::NativeProgram::create(device, abi_artifact(artifact, program.name()));
        if (!compiled.ok())
            return explain_refusal(std::move(compiled).error(), info, facts, program, form,
                                   artifact);
        native = std::move(compiled).value();
    }
    ++stats.compiled;
    const CompiledRef out = wrap(std::move(*native), program, form, artifact);
    if (saves) {
        out->unsaved = Unsaved{std::move(key), std::move(artifact)};
        if (auto entry = entry_of(*out)) stats.unwritten.push_back(*std::move(entry));
    }
    return out;
}

std::optional<CacheEntry> entry_of(CompiledProgram& compiled) {
    if (!compiled.unsaved) return std::nullopt;
    const auto native = compiled.native.save();
    if (!native.ok() && native.error().code == Code::NOT_READY) return std::nullopt;
    // Any other outcome is final: the program can be saved now, or never.
    Unsaved unsaved = std::move(*compiled.unsaved);
    compiled.unsaved.reset();
    if (!native.ok()) return std::nullopt;
    return CacheEntry{std::move(unsaved.key), write_saved(unsaved.artifact, *native)};
}

void save_entries(CompileStats& stats, DiskCache& cache) noexcept {
    for (const CacheEntry& entry : stats.unwritten) {
        try {
            stats.saved_bytes += cache.store.put(entry.key, entry.value);
        } catch (const std::exception&) {  // the next process compiles again
            break;
        }
    }
    stats.unwritten.clear();
}

}  // namespace wye::exec
