// SPDX-License-Identifier: Apache-2.0
#include "exit_code.hpp"

#include <cstdio>

namespace wye::tool {

ExitCode exit_code_of(const Error& error) {
    switch (error.code) {
        case Code::NO_DEVICE:
        case Code::MISSING_DEPENDENCY:
            return kNoDevice;
        case Code::INVALID_ARGUMENT:
        case Code::INVALID_PROGRAM:
        case Code::INVALID_TEXT:
        case Code::INVALID_WIRE:
        case Code::LIMIT_EXCEEDED:
        case Code::NOT_FOUND:
        case Code::UNSUPPORTED:
        case Code::UNKNOWN_KEY:
        case Code::DUPLICATE:
            return kUsage;
        default:
            return kFailed;
    }
}

ExitCode fail(const Error& error) {
    std::fprintf(stderr, "wye: error: %s\n", error.text().c_str());
    return exit_code_of(error);
}

}  // namespace wye::tool
