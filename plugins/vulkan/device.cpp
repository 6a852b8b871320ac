// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device.hpp"

#include <algorithm>

#include "vulkan/buffer.hpp"
#include "vulkan/program.hpp"
#include "vulkan/queue.hpp"
#include "vulkan/status.hpp"

namespace wye::vulkan {
namespace {

constexpr std::uint32_t kMostQueues = 8;

// Extensions behind what is used, where the device's version does not contain them.
std::vector<const char*> extensions_to_enable(const Device& d) {
    std::vector<const char*> out;
    const auto add = [&](const char* extension, std::uint32_t version_with_it) {
        if (d.properties.core.apiVersion < version_with_it && d.has_extension(extension))
            out.push_back(extension);
    };
#define WYE_VULKAN_FEATURE(type, member, structure, extension, version) add(extension, version);
    WYE_VULKAN_FEATURES(WYE_VULKAN_FEATURE)
#undef WYE_VULKAN_FEATURE
    add(VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME, VK_API_VERSION_1_2);
    return out;
}

}  // namespace

OpenDevice::OpenDevice(const Plugin& p, const Device& d) : plugin(p), info(d) {}
OpenDevice::~OpenDevice() = default;

Result<std::unique_ptr<OpenDevice>> OpenDevice::open(const Plugin& plugin, const Device& info) {
    if (!info.usable()) return Error(Code::NO_DEVICE, info.reason, info.fix, info.name);
    auto out = std::make_unique<OpenDevice>(plugin, info);
    const InstanceTable& instance = plugin.instance->table();

    // Everything of the list that the device has; robust access stays off, programs check ranges.
    Features features = info.features;
    auto enabled = make<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    enabled.features.shaderInt64 = info.features.core.shaderInt64;
    enabled.features.shaderInt16 = info.features.core.shaderInt16;
    enabled.features.shaderFloat64 = info.features.core.shaderFloat64;
    enabled.pNext = features.chain(
        [&](const char* extension, std::uint32_t version) { return info.has(extension, version); });
    const std::vector<const char*> extensions = extensions_to_enable(info);
    const std::uint32_t queue_count = std::min(info.family.count, kMostQueues);
    const std::vector<float> priorities(queue_count, 1.0F);
    auto queues = make<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queues.queueFamilyIndex = info.family.index;
    queues.queueCount = queue_count;
    queues.pQueuePriorities = priorities.data();
    auto create = make<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    create.pNext = &enabled;
    create.queueCreateInfoCount = 1;
    create.pQueueCreateInfos = &queues;
    create.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    create.ppEnabledExtensionNames = extensions.data();
    VkDevice handle = VK_NULL_HANDLE;
    const VkResult result = instance.vkCreateDevice(info.handle, &create, nullptr, &handle);
    if (result != VK_SUCCESS) return vk_error(result, "vkCreateDevice", info.name);
    auto table = DeviceTable::load(instance, handle);
    if (!table.ok()) {
        const auto destroy = reinterpret_cast<PFN_vkDestroyDevice>(
            instance.vkGetDeviceProcAddr(handle, "vkDestroyDevice"));
        if (destroy != nullptr) destroy(handle, nullptr);
        return std::move(table).error();
    }
    out->logical.vk = *table;
    out->logical.handle = handle;
    for (std::uint32_t q = 0; q < queue_count; ++q) {
        out->queues.push_back(std::make_unique<NativeQueue>());
        out->vk().vkGetDeviceQueue(handle, info.family.index, q, &out->queues.back()->handle);
    }
    WYE_ASSIGN(out->nothing, create_buffer(*out, kLeastBytes, Placement::Device, "empty ranges"));
    return out;
}

Error OpenDevice::failed(VkResult result, std::string_view call, std::string_view subject) {
    Error error = vk_error(result, call, subject);
    if (result != VK_ERROR_DEVICE_LOST) return error;
    const std::lock_guard lock(loss_mutex_);
    if (!loss_) loss_ = error;
    lost_.store(true, std::memory_order_release);
    return error;
}

std::optional<Error> OpenDevice::loss() const {
    if (!lost()) return std::nullopt;
    const std::lock_guard lock(loss_mutex_);
    return loss_;
}

Error OpenDevice::failed(VkResult result, std::string_view call) {
    return failed(result, call, info.name);
}

MemoryState memory_state(const OpenDevice& device) {
    MemoryState out{device.info.memory_bytes()};
    if (!device.info.has_extension(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) return out;
    auto budget = make<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
    auto memory = make<VkPhysicalDeviceMemoryProperties2>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
    memory.pNext = &budget;
    device.plugin.instance->table().vkGetPhysicalDeviceMemoryProperties2(device.info.handle,
                                                                         &memory);
    out.free = 0;
    for (std::uint32_t h = 0; h < memory.memoryProperties.memoryHeapCount; ++h)
        if ((memory.memoryProperties.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
            out.free += budget.heapBudget[h] - std::min(budget.heapBudget[h], budget.heapUsage[h]);
    return out;
}

void Plugin::deliver_messages() const {
    if (!instance || !instance->validates()) return;
    for (const std::string& message : instance->take_messages())
        host->log(host->self, WYE_LOG_ERROR, sdk::to_abi("vulkan.validation"),
                  sdk::to_abi(message));
}

namespace {

// Runs a slot's body unless the device is lost.
template <typename Body>
wye_status on_device(wye_device_object* object, wye_error** error, Body&& body) {
    OpenDevice& device = device_of(object);
    return device.guard(error, [&]() -> Result<void> {
        if (auto loss = device.loss()) return *std::move(loss);
        return body(device);
    });
}

wye_status buffer_create(wye_device_object* object, const wye_buffer_desc* desc,
                         wye_buffer_object** out, wye_error** error) {
    return on_device(object, error, [&](OpenDevice& device) -> Result<void> {
        WYE_ASSIGN(auto buffer, create_buffer(device, desc->size, Placement::Device,
                                              sdk::from_abi(desc->label)));
        *out = reinterpret_cast<wye_buffer_object*>(buffer.release());
        return {};
    });
}

void buffer_destroy(wye_device_object*, wye_buffer_object* buffer) { delete &buffer_of(buffer); }

wye_status program_create(wye_device_object* object, const wye_artifact* artifact,
                          wye_program_object** out, wye_error** error) {
    return on_device(object, error, [&](OpenDevice& device) -> Result<void> {
        WYE_ASSIGN(auto program, BuiltProgram::build(device, *artifact, {}));
        *out = reinterpret_cast<wye_program_object*>(program.release());
        return {};
    });
}

wye_status program_load(wye_device_object* object, const wye_artifact* artifact, wye_bytes saved,
                        wye_program_object** out, wye_error** error) {
    return on_device(object, error, [&](OpenDevice& device) -> Result<void> {
        WYE_ASSIGN(auto program, BuiltProgram::build(device, *artifact, saved));
        *out = reinterpret_cast<wye_program_object*>(program.release());
        return {};
    });
}

wye_status program_save(wye_device_object* object, wye_program_object* program, wye_bytes* out,
                        wye_error** error) {
    return on_device(object, error, [&](OpenDevice&) -> Result<void> {
        WYE_ASSIGN(*out, program_of(program).save());
        return {};
    });
}

void program_destroy(wye_device_object*, wye_program_object* program) {
    delete &program_of(program);
}

wye_status queue_create(wye_device_object* object, const wye_queue_desc* desc,
                        wye_queue_object** out, const wye_queue_table** table, wye_error** error) {
    return on_device(object, error, [&](OpenDevice& device) -> Result<void> {
        WYE_ASSIGN(auto queue, Queue::create(device, desc->timing != 0));
        *out = reinterpret_cast<wye_queue_object*>(queue.release());
        *table = &kQueueTable;
        return {};
    });
}

wye_status memory_info(wye_device_object* object, wye_memory_info* out, wye_error**) {
    const MemoryState state = memory_state(device_of(object));
    out->total_bytes = state.total;
    out->free_bytes = state.free;
    return WYE_OK;
}

std::uint32_t device_lost(wye_device_object* object) { return device_of(object).lost() ? 1 : 0; }

void close_device(wye_device_object* object) {
    const Plugin& plugin = device_of(object).plugin;
    delete &device_of(object);
    plugin.deliver_messages();
}

constexpr wye_device_table make_table() {
    wye_device_table table{};
    table.header = sdk::header_of(sizeof table);
    table.buffer_create = buffer_create;
    table.buffer_destroy = buffer_destroy;
    table.program_create = program_create;
    table.program_destroy = program_destroy;
    table.program_save = program_save;
    table.program_load = program_load;
    table.queue_create = queue_create;
    table.memory_info = memory_info;
    table.device_lost = device_lost;
    table.close = close_device;
    return table;
}

}  // namespace

constinit const wye_device_table kDeviceTable = make_table();

}  // namespace wye::vulkan
