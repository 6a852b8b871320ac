// SPDX-License-Identifier: Apache-2.0
#include "vulkan/setup/instance.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "vulkan/status.hpp"

namespace wye::vulkan {
namespace {

constexpr const char* kLayer = "VK_LAYER_KHRONOS_validation";

// quirk nvidia-vk-denorm-unadvertised: modules declare DenormPreserve on purpose even if it is not
// advertised, and the self-test checks the result. The layer's messages about this capability and
// execution mode are ignored.
bool is_denorm_preserve(std::string_view id, std::string_view message) {
    return id == "VUID-RuntimeSpirv-shaderDenormPreserveFloat32-06297" ||
           message.find("Capability (DenormPreserve)") != std::string_view::npos ||
           message.find("Capability DenormPreserve ") != std::string_view::npos;
}

// quirk layer-missed-end: this message is about the layer itself.
constexpr std::string_view kMissedEnd = "UNASSIGNED-VkSemaphore-state-timeout";

VKAPI_ATTR VkBool32 VKAPI_CALL receive(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                       VkDebugUtilsMessageTypeFlagsEXT,
                                       const VkDebugUtilsMessengerCallbackDataEXT* data,
                                       void* user) {
    const std::string_view id = data->pMessageIdName != nullptr ? data->pMessageIdName : "";
    const std::string_view message = data->pMessage != nullptr ? data->pMessage : "";
    if (id != kMissedEnd && !is_denorm_preserve(id, message))
        static_cast<Instance*>(user)->add_message(std::string(message));
    return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(Instance& instance) {
    auto info = make<VkDebugUtilsMessengerCreateInfoEXT>(
        VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
    info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
    info.pfnUserCallback = receive;
    info.pUserData = &instance;
    return info;
}

bool has_layer(const Loader& loader, std::string_view name) {
    std::uint32_t count = 0;
    // With a count of 0, the second call would only count again.
    if (loader.vkEnumerateInstanceLayerProperties(&count, nullptr) != VK_SUCCESS || count == 0)
        return false;
    std::vector<VkLayerProperties> layers(count);
    const VkResult result = loader.vkEnumerateInstanceLayerProperties(&count, layers.data());
    if (result != VK_SUCCESS && result != VK_INCOMPLETE) return false;
    layers.resize(std::min<std::size_t>(count, layers.size()));
    return std::any_of(layers.begin(), layers.end(),
                       [&](const VkLayerProperties& layer) { return layer.layerName == name; });
}

}  // namespace

Result<std::unique_ptr<Instance>> Instance::create(const Loader& loader, bool validation) {
    std::uint32_t version = VK_API_VERSION_1_0;
    loader.vkEnumerateInstanceVersion(&version);
    if (version < VK_API_VERSION_1_1)
        return Error(Code::MISSING_DEPENDENCY,
                     "the Vulkan loader has version 1.0, and 1.1 is needed",
                     "Fix: install a newer Vulkan loader (Debian: `libvulkan1`)", kLibrary);
    if (validation && !has_layer(loader, kLayer))
        return Error(
            Code::MISSING_DEPENDENCY,
            std::string("validation is asked for, and the layer `") + kLayer + "` is not installed",
            "Fix: install it (Debian: `vulkan-validationlayers`), or unset "
            "`vulkan.validation`",
            kLayer);

    std::unique_ptr<Instance> out(new Instance);
    auto application = make<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.pEngineName = "Wye";
    application.apiVersion = VK_API_VERSION_1_3;  // the highest version used
    auto info = make<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    info.pApplicationInfo = &application;

    const VkValidationFeatureEnableEXT enabled[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    auto features = make<VkValidationFeaturesEXT>(VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT);
    features.enabledValidationFeatureCount = 1;
    features.pEnabledValidationFeatures = enabled;
    VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(*out);
    const char* extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    if (validation) {
        features.pNext = &messenger;  // also for messages of vkCreateInstance
        info.pNext = &features;
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &kLayer;
        info.enabledExtensionCount = 1;
        info.ppEnabledExtensionNames = extensions;
    }
    const VkResult result = loader.vkCreateInstance(&info, nullptr, &out->instance_);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
        Error error = native_error(result, "vkCreateInstance", "the Vulkan loader");
        error.message = "no Vulkan driver is installed, or none starts: " + error.message;
        error.fix +=
            "; if one is installed, `VK_LOADER_DEBUG=error vulkaninfo` says why it does not start";
        return error;
    }
    if (result != VK_SUCCESS) return native_error(result, "vkCreateInstance", "the Vulkan loader");
    auto table = InstanceTable::load(loader, out->instance_);
    if (!table.ok()) {
        out->table_.vkDestroyInstance = reinterpret_cast<PFN_vkDestroyInstance>(
            loader.vkGetInstanceProcAddr(out->instance_, "vkDestroyInstance"));
        return std::move(table).error();
    }
    out->table_ = *table;
    if (!validation) return out;

    const auto find = [&](const char* name) {
        return loader.vkGetInstanceProcAddr(out->instance_, name);
    };
    const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        find("vkCreateDebugUtilsMessengerEXT"));
    out->destroy_messenger_ = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        find("vkDestroyDebugUtilsMessengerEXT"));
    if (create == nullptr || out->destroy_messenger_ == nullptr ||
        create(out->instance_, &messenger, nullptr, &out->messenger_) != VK_SUCCESS)
        return Error(Code::DRIVER, "the validation layer takes no receiver for its messages",
                     "Fix: update the layer (Debian: `vulkan-validationlayers`)", kLayer);
    return out;
}

Instance::~Instance() {
    if (messenger_ != VK_NULL_HANDLE) destroy_messenger_(instance_, messenger_, nullptr);
    // The function is null if the table could not be filled.
    if (instance_ != VK_NULL_HANDLE && table_.vkDestroyInstance != nullptr)
        table_.vkDestroyInstance(instance_, nullptr);
}

std::vector<std::string> Instance::take_messages() {
    const sdk::Lock lock(mutex_);
    return std::exchange(messages_, {});
}

void Instance::add_message(std::string text) {
    const sdk::Lock lock(mutex_);
    messages_.push_back(std::move(text));
}

}  // namespace wye::vulkan
