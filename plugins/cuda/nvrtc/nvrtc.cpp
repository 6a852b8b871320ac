// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvrtc/nvrtc.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>

#include "wye/sdk/compiler_log.hpp"
#include "wye/sdk/library.hpp"

namespace wye::cuda {
namespace {

Error refusal(std::string_view what, nvrtcResult status, std::string_view source,
              const std::string& log, const std::string& label) {
    Error error(Code::COMPILE_FAILED, "NVRTC refused program `" + label + "`: " + std::string(what),
                "Fix: if the source is your own variant, correct it; if Wye wrote it, report it "
                "with `wye lower` and this log",
                label);
    error.native_domain = "nvrtc";
    error.native_code = status;
    return sdk::with_log(std::move(error), "NVRTC", source, log);
}

// An option that only saves time. NVRTC accepts it from CUDA 12.4 on.
constexpr std::string_view kMinimal = "--minimal";

}  // namespace

std::string file_stamp(const std::string& path) {
    struct stat status {};
    if (path.empty() || path.front() != '/' || path.find('\n') != std::string::npos ||
        stat(path.c_str(), &status) != 0)
        return {};
    return path + " " + std::to_string(status.st_size) + " " +
           std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

Result<std::unique_ptr<const Nvrtc>> Nvrtc::open(const std::vector<std::string>& libraries) {
    void* handle = nullptr;
    std::string names, why;
    for (const std::string& library : libraries) {
        std::string reason;
        handle = sdk::load_library(library, reason);
        if (handle != nullptr) break;
        names += (names.empty() ? "`" : ", `") + library + "`";
        if (why.empty()) why = reason;
    }
    constexpr const char* kFix =
        "Fix: install NVRTC (NVIDIA's package `cuda-nvrtc`), or name its library with "
        "`cuda.nvrtc`";
    if (handle == nullptr)
        return Error(Code::MISSING_DEPENDENCY,
                     "CUDA C cannot be compiled: none of " + names + " can be opened: " + why, kFix,
                     libraries.empty() ? "libnvrtc" : libraries.front());
    std::unique_ptr<Nvrtc> out(new Nvrtc);
    const char* missing = nullptr;
#define WYE_NVRTC_FIND(name)                                                 \
    out->name = reinterpret_cast<decltype(out->name)>(dlsym(handle, #name)); \
    if (out->name == nullptr && missing == nullptr) missing = #name;
    WYE_NVRTC_SYMBOLS(WYE_NVRTC_FIND)
#undef WYE_NVRTC_FIND
    if (missing != nullptr)
        return Error(Code::MISSING_DEPENDENCY,
                     "NVRTC is too old: it has no `" + std::string(missing) + "`", kFix,
                     "libnvrtc");
    int major = 0, minor = 0, count = 0;
    (void)out->nvrtcVersion(&major, &minor);
    out->facts_.version = std::to_string(major) + "." + std::to_string(minor);
    // quirk nvrtc-minimal.
    out->knows_minimal_ = major > 12 || (major == 12 && minor >= 4);
    if (out->nvrtcGetNumSupportedArchs(&count) == NVRTC_SUCCESS && count > 0) {
        out->facts_.architectures.resize(static_cast<std::size_t>(count));
        if (out->nvrtcGetSupportedArchs(out->facts_.architectures.data()) != NVRTC_SUCCESS)
            out->facts_.architectures.clear();
    }
    std::ranges::sort(out->facts_.architectures);
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(out->nvrtcVersion), &info) != 0 &&
        info.dli_fname != nullptr)
        out->facts_.file = file_stamp(info.dli_fname);
    return std::unique_ptr<const Nvrtc>(std::move(out));
}

// quirk nvrtc-old-devices: a newer NVRTC may not support old devices.
bool Nvrtc::knows(int architecture) const {
    return std::ranges::binary_search(facts_.architectures, architecture);
}

std::optional<int> NvrtcFacts::newest_up_to(int architecture) const {
    const auto above = std::ranges::upper_bound(architectures, architecture);
    if (above == architectures.begin()) return std::nullopt;
    return *(above - 1);
}

Result<std::vector<std::byte>> Nvrtc::compile(std::string_view source, std::string_view options,
                                              int architecture, Target target,
                                              const std::string& label) const {
    std::vector<std::string> words = {
        (target == Target::Cubin ? "--gpu-architecture=sm_" : "--gpu-architecture=compute_") +
        std::to_string(architecture)};
    while (!options.empty()) {
        const std::size_t end = std::min(options.find(' '), options.size());
        const std::string_view word = options.substr(0, end);
        if (!word.empty() && (word != kMinimal || knows_minimal_)) words.emplace_back(word);
        options.remove_prefix(std::min(end + 1, options.size()));
    }
    std::vector<const char*> raw;
    for (const std::string& word : words) raw.push_back(word.c_str());

    const std::string text(source);  // null-terminated
    nvrtcProgram program = nullptr;
    nvrtcResult status = nvrtcCreateProgram(&program, text.c_str(), "wye.cu", 0, nullptr, nullptr);
    if (status != NVRTC_SUCCESS)
        return refusal(nvrtcGetErrorString(status), status, source, {}, label);
    const auto destroy = [this](_nvrtcProgram* p) { (void)nvrtcDestroyProgram(&p); };
    const std::unique_ptr<_nvrtcProgram, decltype(destroy)> owner(program, destroy);

    status = nvrtcCompileProgram(program, static_cast<int>(raw.size()), raw.data());
    if (status != NVRTC_SUCCESS) {
        std::size_t size = 0;
        std::string log;
        if (nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1) {
            log.resize(size);
            if (nvrtcGetProgramLog(program, log.data()) != NVRTC_SUCCESS) log.clear();
            while (!log.empty() && log.back() == '\0') log.pop_back();
        }
        return refusal(nvrtcGetErrorString(status), status, source, log, label);
    }
    std::size_t size = 0;
    const bool cubin = target == Target::Cubin;
    status = cubin ? nvrtcGetCUBINSize(program, &size) : nvrtcGetPTXSize(program, &size);
    std::vector<std::byte> out(size);
    if (status == NVRTC_SUCCESS && size != 0)
        status = cubin ? nvrtcGetCUBIN(program, reinterpret_cast<char*>(out.data()))
                       : nvrtcGetPTX(program, reinterpret_cast<char*>(out.data()));
    if (status != NVRTC_SUCCESS || size == 0)
        return refusal("it gave no code", status, source, {}, label);
    while (!cubin && !out.empty() && out.back() == std::byte{0}) out.pop_back();
    return out;
}

}  // namespace wye::cuda
