// SPDX-License-Identifier: Apache-2.0
#include "exec/program/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>

#include "exec/program/cache_key.hpp"
#include "exec/program/complaint.hpp"
#include "exec/program/saved_program.hpp"
#include "plan/variant_artifact.hpp"
#include "route/route.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {

lower::TargetFacts target_facts(const registry::Facts& facts) {
    lower::TargetFacts out;
    out.native_f32_div = facts.has(WYE_FACT_KEY_NATIVE_F32_DIV);
    out.native_f32_sqrt = facts.has(WYE_FACT_KEY_NATIVE_F32_SQRT);
    out.native_f32_fma = facts.has(WYE_FACT_KEY_NATIVE_F32_FMA);
    out.native_f64_div = facts.has(WYE_FACT_KEY_NATIVE_F64_DIV);
    out.native_f64_sqrt = facts.has(WYE_FACT_KEY_NATIVE_F64_SQRT);
    out.native_f64_fma = facts.has(WYE_FACT_KEY_NATIVE_F64_FMA);
    out.native_f32_round = facts.has(WYE_FACT_KEY_NATIVE_F32_ROUND);
    out.native_f64_round = facts.has(WYE_FACT_KEY_NATIVE_F64_ROUND);
    out.folds_literal_zero = facts.has(WYE_FACT_KEY_FOLDS_LITERAL_ZERO);
    out.workgroup_loops = facts.text(WYE_FACT_KEY_DEVICE_KIND) == "cpu";
    out.plain_integers = out.workgroup_loops;  // the faults of spirv/usage.cpp are those of GPUs
    out.f64 = facts.has(WYE_FACT_KEY_F64);
    out.keeps_f32_denormals = facts.has(WYE_FACT_KEY_KEEPS_F32_DENORMALS);
    out.f32_denorm_mode = facts.has(WYE_FACT_KEY_F32_DENORM_MODE);
    out.f32_sign_nan_mode = facts.has(WYE_FACT_KEY_F32_SIGN_NAN_MODE);
    out.f64_sign_nan_mode = facts.has(WYE_FACT_KEY_F64_SIGN_NAN_MODE);
    out.f32_rte_mode = facts.has(WYE_FACT_KEY_F32_RTE_MODE);
    out.f64_rte_mode = facts.has(WYE_FACT_KEY_F64_RTE_MODE);
    out.native_f16_convert = facts.has(WYE_FACT_KEY_NATIVE_F16_CONVERT);
    out.native_f32_atomic_add = facts.has(WYE_FACT_KEY_NATIVE_F32_ATOMIC_ADD);
    out.native_f64_atomic_add = facts.has(WYE_FACT_KEY_NATIVE_F64_ATOMIC_ADD);
    if (const auto bytes = facts.number(WYE_FACT_KEY_MAX_PUSH_BYTES)) out.max_push_bytes = *bytes;
    if (const auto rounds = facts.number(WYE_FACT_KEY_LOOP_ROUNDS)) out.loop_rounds = *rounds;
    for (const std::uint64_t size : facts.list(WYE_FACT_KEY_SUBGROUP_SIZES))
        out.subgroup_sizes.push_back(static_cast<std::uint32_t>(size));
    return out;
}

namespace {

using Clock = std::chrono::steady_clock;

// Adds the time until it goes to a figure.
class Timer {
  public:
    explicit Timer(std::uint64_t& figure) : figure_(figure) {}
    ~Timer() {
        figure_ += static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count());
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

  private:
    std::uint64_t& figure_;
    Clock::time_point start_ = Clock::now();
};

Result<std::string_view> format_of(const registry::DeviceInfo& info, const ProgramObject& program,
                                   const PreparedKey& key) {
    if (key.variant != ir::kNone)
        return std::string_view(program.program().variants[key.variant].format);
    const std::vector<std::string_view> formats = lower::formats();
    const std::string_view format = route::choose_format(info, formats);
    if (!format.empty()) return format;
    return Error(
        Code::UNSUPPORTED,
        fmt::format("{} takes no artifact format that this version lowers to", info.selector),
        "Fix: use another device", info.selector);
}

Result<lower::Artifact> make_artifact(const registry::DeviceInfo& info,
                                      const ProgramObject& program, const PreparedKey& key,
                                      std::string_view format) {
    if (key.variant != ir::kNone)
        return plan::variant_artifact(program.plan(), key.variant, key.workgroup);
    lower::Options options;
    if (key.workgroup != program.program().workgroup) options.workgroup = key.workgroup;
    options.folded_grid = key.folded;
    options.ulp_budget = key.ulp_budget;
    options.check_free = key.check_free;
    return lower::lower(program.program(), format, target_facts(info.facts), options);
}

}  // namespace

wye_artifact abi_artifact(const lower::Artifact& artifact, std::string_view label) {
    wye_artifact raw{};
    raw.header.size = sizeof raw;
    raw.format = sdk::to_abi(artifact.format);
    raw.code = {artifact.code.data(), artifact.code.size()};
    raw.entry = sdk::to_abi(artifact.entry);
    raw.slots = artifact.slots.data();
    raw.slot_count = static_cast<std::uint32_t>(artifact.slots.size());
    raw.binding_count = artifact.binding_count;
    std::ranges::copy(artifact.workgroup, raw.workgroup_size);
    raw.subgroup_size = artifact.subgroup;
    raw.shared_bytes = artifact.shared_bytes;
    raw.params_size = artifact.params_size;
    raw.label = sdk::to_abi(label);
    raw.options = sdk::to_abi(artifact.options);
    return raw;
}

namespace {

PreparedRef made(registry::NativeProgram native, const lower::Artifact& artifact,
                 const ProgramObject& program, const PreparedKey& key) {
    auto out = std::make_shared<Prepared>(std::move(native));
    out->key = key;
    out->encoding = program.encoding();
    out->format = artifact.format;
    out->uses_trap = artifact.uses_trap;
    out->natives = artifact.natives;
    return out;
}

// Null: it is not there, or of no use any more.
PreparedRef from_disk(const registry::DeviceRef& device, const ProgramObject& program,
                      const PreparedKey& key, const std::vector<std::byte>& name,
                      cache::Store& store, PrepareStats& stats) {
    const auto hit = store.find(name);
    if (!hit) return nullptr;
    const auto kept = kept_program(hit->value);
    if (!kept.ok()) {
        store.reject(name, kept.error().message);
        return nullptr;
    }
    const Timer timer(stats.driver_ns);
    auto native = registry::NativeProgram::load(
        device, abi_artifact(kept->artifact, program.program().name), kept->saved);
    if (!native.ok()) {
        const Code code = native.error().code;
        if (code != Code::DEVICE_LOST && code != Code::OUT_OF_MEMORY)
            store.reject(name, native.error().message);
        return nullptr;
    }
    ++stats.loaded;
    stats.kept_bytes += hit->file.size();
    return made(std::move(native).value(), kept->artifact, program, key);
}

}  // namespace

Result<PreparedRef> prepare(const registry::DeviceRef& device, const std::string& lines,
                            const ProgramObject& program, const PreparedKey& key,
                            ArtifactCache& cache, PrepareStats& stats) {
    WYE_ASSIGN(const std::string_view format, format_of(device->info(), program, key));
    const std::string& label = program.program().name;
    const bool keeps = cache.store.on() && device->saves_programs();
    std::vector<std::byte> name;
    if (keeps) {
        name = program_key(cache.build, *device, lines, format, label, key, program.encoding());
        if (auto found = from_disk(device, program, key, name, cache.store, stats)) return found;
        ++stats.missed;
    }
    lower::Artifact artifact;
    {
        const Timer timer(stats.lower_ns);
        WYE_ASSIGN(artifact, make_artifact(device->info(), program, key, format));
    }
    std::optional<registry::NativeProgram> native;
    {
        const Timer timer(stats.driver_ns);
        auto compiled = registry::NativeProgram::create(device, abi_artifact(artifact, label));
        if (!compiled.ok())
            return refused_code(std::move(compiled).error(), device->info(), program, key,
                                artifact);
        native = std::move(compiled).value();
    }
    ++stats.compiled;
    const PreparedRef out = made(std::move(*native), artifact, program, key);
    if (keeps) {
        out->unkept = Unkept{std::move(name), std::move(artifact)};
        if (auto entry = entry_of(*out)) stats.unwritten.push_back(*std::move(entry));
    }
    return out;
}

std::optional<CacheEntry> entry_of(Prepared& prepared) {
    if (!prepared.unkept) return std::nullopt;
    const auto saved = prepared.native.save();
    if (!saved.ok() && saved.error().code == Code::NOT_READY) return std::nullopt;
    // Another error: the driver has nothing that is worth keeping.
    Unkept unkept = std::move(*prepared.unkept);
    prepared.unkept.reset();
    if (!saved.ok()) return std::nullopt;
    return CacheEntry{std::move(unkept.key), keep_program(unkept.artifact, *saved)};
}

void write_entries(PrepareStats& stats, ArtifactCache& cache) noexcept {
    for (const CacheEntry& entry : stats.unwritten) {
        try {
            stats.kept_bytes += cache.store.put(entry.key, entry.value);
        } catch (const std::exception&) {  // the next process compiles again
            break;
        }
    }
    stats.unwritten.clear();
}

}  // namespace wye::exec
