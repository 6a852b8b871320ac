// SPDX-License-Identifier: Apache-2.0
//
// Which messages WYE_LOG lets through, and when dispatches write log messages.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "exec/api/api.hpp"
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
        CHECK(filter->passes(WYE_LOG_WARNING, "vulkanic"));  // not inside the area `vulkan`
    }
    const auto one = LogFilter::parse("dispatch:debug");
    REQUIRE(one.ok());
    CHECK(one->passes(WYE_LOG_DEBUG, "dispatch"));
    CHECK_FALSE(one->passes(WYE_LOG_ERROR, "registry"));  // other areas are off
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

// Whether dispatches of a context write log messages while this environment variable is set.
bool logs(const char* variable, const char* value, bool callback = false) {
    wye_context_desc desc;
    WYE_INIT(desc);
    desc.flags = WYE_CONTEXT_NO_PLUGINS;
    if (callback) desc.log = [](void*, std::uint32_t, wye_string, wye_string) {};
    REQUIRE(::setenv(variable, value, 1) == 0);
    wye_context* context = nullptr;
    const wye_status status = wye_context_create(&desc, &context, nullptr);
    ::unsetenv(variable);
    REQUIRE(status == WYE_OK);
    const bool out = context->context->logs();
    wye_context_destroy(context);
    return out;
}

TEST_CASE("dispatches write no text that nobody asked for") {
    const std::string folder = std::filesystem::temp_directory_path().string();
    CHECK_FALSE(logs("WYE_CACHE_DIR", folder.c_str()));  // only warnings about the cache follow
    CHECK_FALSE(logs("WYE_LAYERS", "validate"));
    CHECK_FALSE(logs("WYE_LOG", "info"));
    CHECK(logs("WYE_LOG", "warning,dispatch:debug"));
    CHECK(logs("WYE_LOG", "error", true));
}

}  // namespace test_log_filter
