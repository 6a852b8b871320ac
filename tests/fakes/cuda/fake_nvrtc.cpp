// SPDX-License-Identifier: Apache-2.0
//
// A fake NVRTC of CUDA 12.FAKE_NVRTC_MINOR. It refuses options that the real NVRTC of that version
// does not know. The compiled code that it returns is the list of the options.
#include <nvrtc.h>

#include <algorithm>
#include <cstring>
#include <string>

struct _nvrtcProgram {
    std::string code;
};

namespace {

bool known(const std::string& option) {
    static constexpr const char* kBeginnings[] = {
        "--gpu-architecture=", "--std=", "--fmad=", "--ftz=", "--prec-div=", "--prec-sqrt=", "-w"};
    if (option == "--minimal") return FAKE_NVRTC_MINOR >= 4;
    return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                       [&](const char* beginning) { return option.starts_with(beginning); });
}

}  // namespace

nvrtcResult nvrtcVersion(int* major, int* minor) {
    *major = 12;
    *minor = FAKE_NVRTC_MINOR;
    return NVRTC_SUCCESS;
}
const char* nvrtcGetErrorString(nvrtcResult status) {
    return status == NVRTC_ERROR_INVALID_OPTION ? "NVRTC_ERROR_INVALID_OPTION" : "another error";
}
nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
    *count = 1;
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetSupportedArchs(int* architectures) {
    *architectures = 90;
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* out, const char*, const char*, int, const char* const*,
                               const char* const*) {
    *out = new _nvrtcProgram;
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
    delete *program;
    *program = nullptr;
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
    for (int i = 0; i < count; ++i) {
        if (!known(options[i])) return NVRTC_ERROR_INVALID_OPTION;
        program->code += std::string(options[i]) + "\n";
    }
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram, size_t* size) {
    *size = 1;
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram, char* log) {
    *log = '\0';
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* size) {
    *size = program->code.size() + 1;
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* code) {
    std::memcpy(code, program->code.c_str(), program->code.size() + 1);
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* size) {
    *size = program->code.size();
    return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* code) {
    std::memcpy(code, program->code.data(), program->code.size());
    return NVRTC_SUCCESS;
}
