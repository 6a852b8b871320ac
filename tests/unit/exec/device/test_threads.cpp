// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "rig.hpp"

namespace wye::exec::test::test_threads {
namespace {

TEST_CASE("threads share a context: one call at a time in a queue, right bytes for everyone") {
    Rig rig;
    rig.driver.kernel = add_kernel;
    const wye_device device = rig.device();
    const wye_program program = rig.program(kAdd);
    constexpr int kThreads = 4;
    constexpr int kRounds = 50;
    std::vector<int> wrong(kThreads, 0);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            const auto seed = static_cast<std::uint32_t>(t) * 1000;
            for (int i = 0; i < kRounds; ++i) {
                const std::vector<std::uint32_t> x(10, seed + static_cast<std::uint32_t>(i));
                std::vector<std::uint32_t> r(10);
                wye_argument arguments[2] = {};
                arguments[0].kind = arguments[1].kind = WYE_ARGUMENT_HOST;
                arguments[0].input = {x.data(), 40};
                arguments[1].binding = 1;
                arguments[1].output = r.data();
                arguments[1].output_size = 40;
                const std::uint64_t k = seed;
                wye_dispatch_desc desc;
                WYE_INIT(desc);
                desc.program = program;
                desc.device = device;
                desc.arguments = arguments;
                desc.argument_count = 2;
                desc.params = &k;
                desc.param_count = 1;
                const wye_status status = wye_dispatch(rig.context, &desc, nullptr, nullptr);
                if (status != WYE_OK || r[9] != x[9] + seed) ++wrong[static_cast<std::size_t>(t)];
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(kThreads, 0));
    CHECK(rig.driver.submits == kThreads * kRounds);
    CHECK(rig.driver.most_in_submit == 1);
    CHECK(rig.driver.programs == 1);
}

TEST_CASE("buffers come and go on several threads") {
    Rig rig;
    const wye_device device = rig.device();
    std::vector<std::thread> threads;
    std::vector<int> wrong(4, 0);
    for (std::size_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 100; ++i) {
                wye_buffer_create_desc desc;
                WYE_INIT(desc);
                desc.size = 64;
                wye_buffer buffer = 0;
                const std::uint64_t value = t * 1000 + static_cast<std::uint64_t>(i);
                std::uint64_t read = 0;
                if (wye_buffer_create(rig.context, device, &desc, &buffer, nullptr) != WYE_OK ||
                    wye_buffer_fill(rig.context, buffer, 0, 64, value, 8, nullptr) != WYE_OK ||
                    wye_buffer_download_range(rig.context, buffer, 56, &read, 8, nullptr) !=
                        WYE_OK ||
                    read != value || wye_buffer_free(rig.context, buffer, nullptr) != WYE_OK)
                    ++wrong[t];
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(4, 0));
    CHECK(rig.driver.live_buffers == 0);
}

}  // namespace
}  // namespace wye::exec::test::test_threads
