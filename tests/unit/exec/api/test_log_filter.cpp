// SPDX-License-Identifier: Apache-2.0
//
// Which messages WYE_LOG asks for.
#include <doctest/doctest.h>

#include "exec/api/log_filter.hpp"
#include "wye/wye.h"

namespace test_log_filter {

using wye::exec::LogFilter;

TEST_CASE("a level is for all areas, and includes those above it") {
    const auto filter = LogFilter::parse("info");
    REQUIRE(filter.ok());
    CHECK(filter->passes(WYE_LOG_ERROR, "vulkan"));
    CHECK(filter->passes(WYE_LOG_INFO, "dispatch"));
    CHECK_FALSE(filter->passes(WYE_LOG_DEBUG, "dispatch"));
}

TEST_CASE("the entry with the longest area counts, whatever the order") {
    for (const char* text : {"warning,vulkan:off,vulkan.validation:debug",
                             "vulkan.validation:debug,,vulkan:off,warning,"}) {
        const auto filter = LogFilter::parse(text);
        REQUIRE(filter.ok());
        CHECK(filter->passes(WYE_LOG_WARNING, "cache"));
        CHECK_FALSE(filter->passes(WYE_LOG_INFO, "cache"));
        CHECK_FALSE(filter->passes(WYE_LOG_ERROR, "vulkan"));
        CHECK(filter->passes(WYE_LOG_DEBUG, "vulkan.validation"));
        CHECK(filter->passes(WYE_LOG_WARNING, "vulkanic"));  // not inside
    }
    const auto one = LogFilter::parse("dispatch:debug");
    REQUIRE(one.ok());
    CHECK(one->passes(WYE_LOG_DEBUG, "dispatch"));
    CHECK_FALSE(one->passes(WYE_LOG_ERROR, "registry"));  // others are off
}

TEST_CASE("an entry that cannot be read is named") {
    for (const char* text : {"loud", "dispatch:", ":debug", "info,dispatch:9", "Debug"}) {
        CAPTURE(text);
        const auto filter = LogFilter::parse(text);
        REQUIRE_FALSE(filter.ok());
        CHECK(filter.error().code == wye::Code::INVALID_ARGUMENT);
        CHECK(filter.error().fix.find("Fix: ") == 0);
    }
    CHECK(LogFilter::parse("info,a\nb").error().message.find("`a\\nb`") != std::string::npos);
}

}  // namespace test_log_filter
