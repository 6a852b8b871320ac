// SPDX-License-Identifier: Apache-2.0
//
// Instance: the VkInstance, created by the probe. With validation, the Khronos layer checks every
// call, and its messages are stored until the plugin passes them to the host's log. Free-threaded.
#pragma once

#include <vector>

#include "vulkan/driver.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::vulkan {

class Instance {
  public:
    // NO_DEVICE: no driver is installed. MISSING_DEPENDENCY: the loader is too old, or the layer
    // that `validation` needs is absent.
    [[nodiscard]] static Result<std::unique_ptr<Instance>> create(const Loader& loader,
                                                                  bool validation);
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    [[nodiscard]] const InstanceTable& table() const { return table_; }
    [[nodiscard]] VkInstance get() const { return instance_; }

    [[nodiscard]] bool validates() const { return messenger_ != VK_NULL_HANDLE; }
    // Removes and returns the validation layer's messages since the last call.
    [[nodiscard]] std::vector<std::string> take_messages();
    void add_message(std::string text);

  private:
    Instance() = default;

    InstanceTable table_;
    VkInstance instance_ = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    PFN_vkDestroyDebugUtilsMessengerEXT destroy_messenger_ = nullptr;
    sdk::Mutex mutex_;
    std::vector<std::string> messages_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::vulkan
