// SPDX-License-Identifier: Apache-2.0
#include "exec/device/profile.hpp"

#include <fmt/format.h>

#include <variant>

#include "program/analysis/operations.hpp"
#include "registry/choose/capability.hpp"
#include "registry/open/facts.hpp"

namespace wye::exec {
namespace {

using registry::Json;

// A field of the profile whose value is a fact.
struct Field {
    const char* name;
    std::uint32_t key;
};
constexpr Field kFields[] = {
    {"indirect_dispatch", WYE_FACT_KEY_INDIRECT_DISPATCH},
    {"native_f16", WYE_FACT_KEY_NATIVE_F16},
    {"native_bf16", WYE_FACT_KEY_NATIVE_BF16},
    {"tensor_cores", WYE_FACT_KEY_TENSOR_CORES},
    {"async_compute", WYE_FACT_KEY_ASYNC_COMPUTE},
    {"native_wait", WYE_FACT_KEY_NATIVE_WAIT},
    {"grid_sync", WYE_FACT_KEY_GRID_SYNC},
    {"speculation", WYE_FACT_KEY_SPECULATION},
    {"persistent_threads", WYE_FACT_KEY_PERSISTENT_THREADS},
    {"distributed", WYE_FACT_KEY_DISTRIBUTED},
    {"subgroup_operations", WYE_FACT_KEY_SUBGROUP},
    {"subgroup_shuffle", WYE_FACT_KEY_SUBGROUP},
    {"subgroup_sizes", WYE_FACT_KEY_SUBGROUP_SIZES},
    {"max_workgroup_size", WYE_FACT_KEY_MAX_WORKGROUP_SIZE},
    {"max_workgroup_invocations", WYE_FACT_KEY_MAX_WORKGROUP_INVOCATIONS},
    {"max_workgroups", WYE_FACT_KEY_MAX_WORKGROUPS},
    {"max_shared_bytes", WYE_FACT_KEY_MAX_SHARED_BYTES},
    {"max_buffer_bytes", WYE_FACT_KEY_MAX_BUFFER_BYTES},
    {"native_int_bits", WYE_FACT_KEY_NATIVE_INT_BITS},
    {"compute_units", WYE_FACT_KEY_COMPUTE_UNITS},
    {"registers_per_thread", WYE_FACT_KEY_REGISTERS_PER_THREAD},
    {"l1_cache_bytes", WYE_FACT_KEY_L1_CACHE_BYTES},
    {"l2_cache_bytes", WYE_FACT_KEY_L2_CACHE_BYTES},
    {"memory_bytes_per_second", WYE_FACT_KEY_MEMORY_BANDWIDTH},
    {"ideal_unroll", WYE_FACT_KEY_IDEAL_UNROLL},
    {"ideal_vector_bits", WYE_FACT_KEY_IDEAL_VECTOR_BITS},
    {"ideal_workgroup", WYE_FACT_KEY_IDEAL_WORKGROUP},
    {"shared_banks", WYE_FACT_KEY_SHARED_BANKS},
    {"shared_bank_bytes", WYE_FACT_KEY_SHARED_BANK_BYTES},
};

// Keys below this are capabilities. If the plugin does not report a capability, the profile shows
// `false`, since nothing may rely on it.
constexpr std::uint32_t kFirstLimit = WYE_FACT_KEY_MAX_WORKGROUP_SIZE;

Json field(Json value, std::string_view source) {
    Json out = Json::object();
    out["value"] = std::move(value);
    out["source"] = source;
    return out;
}

Json field_of(const registry::DeviceInfo& device, const Field& asked) {
    const registry::Fact* const fact = device.facts.find(asked.key);
    if (fact == nullptr && asked.key < kFirstLimit)
        return field(false, "plugin: not offered, which counts as absent");
    if (fact == nullptr) return field(nullptr, "plugin: not reported");
    return field(std::visit([](const auto& value) { return Json(value); }, fact->value),
                 fact->source.empty() ? std::string_view("plugin") : fact->source);
}

}  // namespace

Json operations_json(const registry::DeviceInfo& device) {
    Json out = Json::array();
    for (const ir::Operation& operation : ir::operations()) {
        Json types = Json::array();
        Json missing = Json::array();
        for (const ir::OperationForm& form : operation.forms) {
            registry::Requirements needs;
            needs.capabilities = form.needs;
            const registry::CapabilityCheck result = registry::check(needs, device.facts);
            if (result.unmet.empty()) {
                types.push_back(form.type);
                continue;
            }
            Json lacks = Json::array();
            for (const registry::Unmet& one : result.unmet) lacks.push_back(one.name);
            missing.push_back({{"type", form.type}, {"needs", std::move(lacks)}});
        }
        Json one = Json::object();
        one["name"] = operation.name;
        one["memory"] = operation.memory.empty() ? Json(nullptr) : Json(operation.memory);
        one["types"] = std::move(types);
        one["missing"] = std::move(missing);
        out.push_back(std::move(one));
    }
    return out;
}

Json profile_json(const registry::DeviceInfo& device) {
    Json out = Json::object();
    out["backend"] = field(device.plugin, "plugin");
    for (const Field& one : kFields) out[one.name] = field_of(device, one);
    const auto shared = device.facts.number(WYE_FACT_KEY_MAX_SHARED_BYTES);
    out["shared_memory"] = field(shared && *shared != 0, "max_shared_bytes");
    out["trap_propagation"] = field(true, "library: every artifact counts its traps");
    out["specialization_constants"] = field(false, "library: programs have parameters instead");
    // These fields have no value: no driver reports them, and values are not copied from vendors'
    // tables.
    for (const char* const name : {"mul_high_instruction", "dual_issue_fp32_int32"})
        out[name] = field(nullptr, "no driver reports it");
    return out;
}

}  // namespace wye::exec
