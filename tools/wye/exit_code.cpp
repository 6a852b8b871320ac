// SPDX-License-Identifier: Apache-2.0
#include "exit_code.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "wye/sdk/printable.hpp"

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
    // The faults of a program are listed as compilers list them: each line begins with a position
    // in the program.
    const bool lists = (error.code == Code::INVALID_PROGRAM || error.code == Code::INVALID_TEXT) &&
                       error.message.starts_with(sdk::one_line(error.subject) + ':');
    std::fprintf(stderr, "%s%s\n", lists ? "" : "wye: error: ", error.text().c_str());
    return exit_code_of(error);
}

void expect_no_memory() noexcept {
    std::set_terminate([] {
        try {
            if (const auto error = std::current_exception()) std::rethrow_exception(error);
        } catch (const std::bad_alloc&) {
            std::fputs("wye: error: the host has no memory left\nFix: free memory and try again\n",
                       stderr);
            std::_Exit(kFailed);
        } catch (...) {
        }
        std::abort();
    });
}

}  // namespace wye::tool
