// SPDX-License-Identifier: Apache-2.0
//
// A C++20 application: runs saxpy on the device that its argument names.
#include <array>
#include <cstdio>

#include "saxpy.h"
#include "wye/wye.hpp"

namespace {

wye::Result<int> run(const char* selector) {
    std::array<float, kCount> x{}, y{}, r{};
    fill_inputs(x.data(), y.data());
    WYE_ASSIGN(const auto context, wye::Context::create());
    WYE_ASSIGN(const auto program, context.program_from_text(kSaxpy));
    WYE_ASSIGN(const auto device, context.open(selector, &program));
    WYE_TRY(wye::Dispatch(program, device)
                .param("a", 2.0F)
                .input("x", x)
                .input("y", y)
                .output("r", r)
                .run());
    return count_wrong(x.data(), y.data(), r.data());
}

}  // namespace

int main(int argc, char** argv) {
    const auto wrong = run(argc > 1 ? argv[1] : "cpu");
    if (!wrong.ok()) {
        std::fprintf(stderr, "consumer: %s\n", wrong.error().text().c_str());
        return 1;
    }
    std::printf("C++: %d of %d wrong\n", *wrong, int{kCount});
    return *wrong == 0 ? 0 : 1;
}
