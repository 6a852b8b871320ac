// SPDX-License-Identifier: Apache-2.0
//
// Opens the drivers of this machine without Wye and counts their devices, as any program must do
// that lists devices. The baseline of `wye info`.
//
//   raw_open [parallel]       one driver after another; with `parallel`, each in its own thread
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#endif
#if __has_include(<vulkan/vulkan.h>)
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>
#endif

namespace {

template <typename Function>
bool find(void* library, const char* name, Function& out) {
    out = reinterpret_cast<Function>(library == nullptr ? nullptr : ::dlsym(library, name));
    return out != nullptr;
}

unsigned open_opencl() {
    unsigned devices = 0;
#ifdef CL_VERSION_1_2
    void* const library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    decltype(&clGetPlatformIDs) platforms_of = nullptr;
    decltype(&clGetDeviceIDs) devices_of = nullptr;
    if (!find(library, "clGetPlatformIDs", platforms_of) ||
        !find(library, "clGetDeviceIDs", devices_of))
        return 0;
    cl_platform_id platforms[16];
    cl_uint count = 0;
    if (platforms_of(16, platforms, &count) != CL_SUCCESS) return 0;
    for (cl_uint i = 0; i < count && i < 16; ++i) {
        cl_uint found = 0;
        if (devices_of(platforms[i], CL_DEVICE_TYPE_ALL, 0, nullptr, &found) == CL_SUCCESS)
            devices += found;
    }
#endif
    return devices;
}

unsigned open_vulkan() {
    unsigned devices = 0;
#ifdef VK_VERSION_1_1
    void* const library = ::dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    PFN_vkGetInstanceProcAddr get = nullptr;
    if (!find(library, "vkGetInstanceProcAddr", get)) return 0;
    const auto create =
        reinterpret_cast<PFN_vkCreateInstance>(get(VK_NULL_HANDLE, "vkCreateInstance"));
    VkApplicationInfo about{};
    about.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    about.apiVersion = VK_API_VERSION_1_1;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &about;
    VkInstance instance = VK_NULL_HANDLE;
    if (create == nullptr || create(&info, nullptr, &instance) != VK_SUCCESS) return 0;
    const auto list = reinterpret_cast<PFN_vkEnumeratePhysicalDevices>(
        get(instance, "vkEnumeratePhysicalDevices"));
    if (list == nullptr || list(instance, &devices, nullptr) != VK_SUCCESS) return 0;
#endif
    return devices;
}

unsigned open_cuda() {
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*init)(unsigned) = nullptr;
    int (*count)(int*) = nullptr;
    int devices = 0;
    if (!find(library, "cuInit", init) || !find(library, "cuDeviceGetCount", count) ||
        init(0) != 0 || count(&devices) != 0)
        return 0;
    return static_cast<unsigned>(devices);
}

}  // namespace

int main(int argc, char** argv) {
    unsigned (*const drivers[])() = {open_cuda, open_opencl, open_vulkan};
    unsigned found[3] = {};
    if (argc > 1 && std::strcmp(argv[1], "parallel") == 0) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) threads.emplace_back([&, i] { found[i] = drivers[i](); });
        for (std::thread& thread : threads) thread.join();
    } else {
        for (int i = 0; i < 3; ++i) found[i] = drivers[i]();
    }
    std::printf("cuda %u, opencl %u, vulkan %u\n", found[0], found[1], found[2]);
    std::fflush(stdout);
    ::_exit(0);
}
