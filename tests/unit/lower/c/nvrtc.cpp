// SPDX-License-Identifier: Apache-2.0
#include "nvrtc.hpp"

#include <dlfcn.h>
#include <nvrtc.h>

#include <stdexcept>

namespace nvrtc {

struct Library::Functions {
    decltype(&nvrtcVersion) version;
    decltype(&nvrtcGetNumSupportedArchs) count_architectures;
    decltype(&nvrtcGetSupportedArchs) architectures;
    decltype(&nvrtcCreateProgram) create;
    decltype(&nvrtcDestroyProgram) destroy;
    decltype(&nvrtcCompileProgram) compile;
    decltype(&nvrtcGetProgramLogSize) log_size;
    decltype(&nvrtcGetProgramLog) log;
    decltype(&nvrtcGetPTXSize) ptx_size;
    decltype(&nvrtcGetPTX) ptx;
    decltype(&nvrtcGetCUBINSize) cubin_size;
};

Library::Library() {
    void* handle = nullptr;
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", WYE_CUDA_LIBRARIES "/libnvrtc.so"})
        if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) throw std::runtime_error(dlerror());
    static Functions functions;
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
        if (function == nullptr) throw std::runtime_error(name);
    };
    find(functions.version, "nvrtcVersion");
    find(functions.count_architectures, "nvrtcGetNumSupportedArchs");
    find(functions.architectures, "nvrtcGetSupportedArchs");
    find(functions.create, "nvrtcCreateProgram");
    find(functions.destroy, "nvrtcDestroyProgram");
    find(functions.compile, "nvrtcCompileProgram");
    find(functions.log_size, "nvrtcGetProgramLogSize");
    find(functions.log, "nvrtcGetProgramLog");
    find(functions.ptx_size, "nvrtcGetPTXSize");
    find(functions.ptx, "nvrtcGetPTX");
    find(functions.cubin_size, "nvrtcGetCUBINSize");
    functions_ = &functions;
    functions.version(&version_.first, &version_.second);
    int count = 0;
    functions.count_architectures(&count);
    architectures_.resize(static_cast<std::size_t>(count));
    functions.architectures(architectures_.data());
}

Compiled Library::compile(const std::string& source, std::string_view options,
                          int architecture) const {
    std::vector<std::string> words = {"--gpu-architecture=sm_" + std::to_string(architecture)};
    while (!options.empty()) {
        const std::size_t end = std::min(options.find(' '), options.size());
        // The plugin, too, leaves out this option for versions that do not know it.
        const bool unknown = options.substr(0, end) == "--minimal" && version_ < std::pair(12, 4);
        if (!unknown) words.emplace_back(options.substr(0, end));
        options.remove_prefix(std::min(end + 1, options.size()));
    }
    std::vector<const char*> raw;
    for (const std::string& word : words) raw.push_back(word.c_str());

    Compiled out;
    nvrtcProgram program = nullptr;
    if (functions_->create(&program, source.c_str(), "wye.cu", 0, nullptr, nullptr) !=
        NVRTC_SUCCESS)
        return out;
    out.ok =
        functions_->compile(program, static_cast<int>(raw.size()), raw.data()) == NVRTC_SUCCESS;
    const auto text = [&](auto size_of, auto get) {
        std::size_t size = 0;
        if (size_of(program, &size) != NVRTC_SUCCESS || size == 0) return std::string();
        std::string bytes(size, '\0');
        get(program, bytes.data());
        bytes.resize(size - 1);
        return bytes;
    };
    out.log = text(functions_->log_size, functions_->log);
    if (out.ok) {
        out.ptx = text(functions_->ptx_size, functions_->ptx);
        functions_->cubin_size(program, &out.cubin_bytes);
    }
    functions_->destroy(&program);
    return out;
}

}  // namespace nvrtc
