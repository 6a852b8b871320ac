// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvrtc/compiler.hpp"

#include <algorithm>

#include "cuda/nvrtc/nvrtc_memory.hpp"
#include "wye/sdk/numbers.hpp"

namespace wye::cuda {
namespace {

std::string_view text_of(const wye_artifact& artifact) {
    return {static_cast<const char*>(artifact.code.data), artifact.code.size};
}

std::string label_of(const wye_artifact& artifact) {
    const std::string_view label = sdk::from_abi(artifact.label);
    return std::string(label.empty() ? sdk::from_abi(artifact.entry) : label);
}

// Removes "--gpu-architecture=sm_90" from the options and returns 90.
std::optional<int> architecture_in(std::string& options) {
    constexpr std::string_view kFlag = "--gpu-architecture=sm_";
    const std::size_t at = options.find(kFlag);
    if (at == std::string::npos) return std::nullopt;
    const std::size_t end = std::min(options.find(' ', at), options.size());
    const std::string_view whole = std::string_view(options).substr(at, end - at);
    const auto number = sdk::parse_number<int>(whole.substr(kFlag.size()));
    if (number) options.erase(at, end - at);
    return number;
}

}  // namespace

std::string Compiler::cache_folder() const {
    return sdk::config(host_, "cache_folder").value_or("");
}

// Lists plain names first, then paths in the toolkit's folders.
std::vector<std::string> Compiler::libraries() const {
    if (auto given = sdk::config(host_, "cuda.nvrtc")) return {*std::move(given)};
    const bool older = driver_version_ != 0 && driver_version_ < 13000;
    // quirk nvrtc-newer-than-driver.
    const char* const names[] = {older ? "libnvrtc.so.12" : "libnvrtc.so.13",
                                 older ? "libnvrtc.so.13" : "libnvrtc.so.12"};
    std::vector<std::string> out(std::begin(names), std::end(names));
    for (const char* name : names) out.push_back(std::string("/usr/local/cuda/lib64/") + name);
    return out;
}

Result<const Nvrtc*> Compiler::nvrtc() {
    std::call_once(nvrtc_once_, [this] {
        const std::vector<std::string> names = libraries();
        auto opened = Nvrtc::open(names);
        if (opened.ok()) {
            nvrtc_ = std::move(opened).value();
            remember_nvrtc(cache_folder(), names, nvrtc_->facts());
        } else {
            nvrtc_error_ = std::move(opened).error();
        }
    });
    if (nvrtc_error_) return *nvrtc_error_;
    return nvrtc_.get();
}

Result<const NvrtcFacts*> Compiler::facts() {
    std::call_once(facts_once_, [this] {
        facts_ = recall_nvrtc(cache_folder(), libraries());
        if (!facts_) {
            const auto opened = nvrtc();
            if (opened.ok()) facts_ = (*opened)->facts();
        }
        if (facts_) identity_ = facts_->identity();
    });
    if (!facts_) return *nvrtc_error_;
    return &*facts_;
}

Result<std::string_view> Compiler::identity() {
    WYE_TRY(facts());
    return std::string_view(identity_);
}

std::string Compiler::refusal(int architecture) {
    const auto known = facts();
    if (!known.ok()) return known.error().text();
    if ((*known)->newest_up_to(architecture)) return {};
    return "NVRTC " + (*known)->version + " does not compile for sm_" +
           std::to_string(architecture) +
           ". Fix: install an older NVRTC, and name it with `cuda.nvrtc`";
}

Result<std::vector<std::byte>> Compiler::compile(const wye_artifact& artifact, int architecture,
                                                 const std::string& device,
                                                 const std::string& label) {
    WYE_ASSIGN(const Nvrtc* compiler, nvrtc());
    const std::optional<int> newest = compiler->facts().newest_up_to(architecture);
    if (!newest)
        return Error(Code::COMPILE_FAILED,
                     "NVRTC " + compiler->version() + " cannot compile for sm_" +
                         std::to_string(architecture) + ", which is older than all it knows",
                     "Fix: install an older NVRTC, and name it with `cuda.nvrtc`", device);
    const Target target = *newest == architecture ? Target::Cubin : Target::Ptx;
    return compiler->compile(text_of(artifact), sdk::from_abi(artifact.options), *newest, target,
                             label);
}

Result<std::vector<std::byte>> Compiler::translate(int device, const wye_artifact& artifact,
                                                   std::string_view format) {
    const bool cubin = format == WYE_FORMAT_CUBIN;
    if (sdk::from_abi(artifact.format) != WYE_FORMAT_CUDA_C || (!cubin && format != WYE_FORMAT_PTX))
        return Error(Code::UNSUPPORTED,
                     "the CUDA plugin translates `cuda-c` to `cubin` or `ptx`, not `" +
                         std::string(sdk::from_abi(artifact.format)) + "` to `" +
                         std::string(format) + "`",
                     "Fix: ask for one of these", std::string(format));
    WYE_ASSIGN(const Nvrtc* compiler, nvrtc());
    std::string options(sdk::from_abi(artifact.options));
    std::optional<int> architecture = architecture_in(options);
    if (!architecture && device != 0) architecture = device;
    if (!architecture && !cubin && !compiler->architectures().empty())
        architecture = compiler->architectures().front();
    std::string known;
    for (const int one : compiler->architectures())
        known += (known.empty() ? "sm_" : ", sm_") + std::to_string(one);
    if (!architecture)
        return Error(Code::INVALID_ARGUMENT,
                     "machine code is for one architecture, and none is named",
                     "Fix: name one of " + known, label_of(artifact));
    if (!compiler->knows(*architecture))
        return Error(Code::UNSUPPORTED,
                     "NVRTC " + compiler->version() + " does not compile for sm_" +
                         std::to_string(*architecture),
                     "Fix: name one of " + known, label_of(artifact));
    return compiler->compile(text_of(artifact), options, *architecture,
                             cubin ? Target::Cubin : Target::Ptx, label_of(artifact));
}

}  // namespace wye::cuda
