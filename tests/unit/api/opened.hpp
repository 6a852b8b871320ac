// SPDX-License-Identifier: Apache-2.0
//
// A device of the driver under test, and words in its buffers.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "support/driver.hpp"
#include "take.hpp"
#include "wye/wye.hpp"

namespace wye::test {

using Words = std::vector<std::uint32_t>;

[[nodiscard]] inline Words counting(std::uint32_t count, std::uint32_t first = 0) {
    Words out(count);
    std::iota(out.begin(), out.end(), first);
    return out;
}

// A device, in a context of its own that finds no other driver.
struct Opened {
    explicit Opened(const std::string& selector = support::test_driver())
        : context(
              api_test::take(Context::create({.plugin_paths = {support::test_driver_folder()}}))),
          device(api_test::take(context.open(selector))) {}

    [[nodiscard]] Buffer buffer(const Words& words) const {
        Buffer out = api_test::take(device.buffer(words.size() * sizeof words[0]));
        api_test::need(out.upload(words));
        return out;
    }
    [[nodiscard]] static Words words(const Buffer& buffer, std::size_t count) {
        Words out(count);
        api_test::need(buffer.download(std::as_writable_bytes(std::span(out))));
        return out;
    }

    Context context;
    Device device;
};

}  // namespace wye::test
