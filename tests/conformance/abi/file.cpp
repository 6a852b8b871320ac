// SPDX-License-Identifier: Apache-2.0
//
// The plugin's file, without loading it: which symbols it exports, and which libraries it names.
#include <algorithm>
#include <string>
#include <string_view>

#include "conformance/abi/elf.hpp"
#include "conformance/abi/rig.hpp"

using harness::read_shared_object;
using harness::SharedObject;
using harness::subject;

namespace {

// The run-time libraries of C and C++, and of the sanitizers.
constexpr std::string_view kLanguage[] = {"libc.",      "libm.",     "libdl.",     "libpthread.",
                                          "librt.",     "ld-linux",  "libstdc++.", "libgcc_s",
                                          "libatomic.", "libc++",    "libunwind",  "libasan.",
                                          "libtsan.",   "libubsan.", "liblsan.",   "libclang_rt"};
// Libraries of drivers and of their compilers, which a machine may lack.
constexpr std::string_view kDrivers[] = {
    "libcuda",   "libnvrtc",  "libnvidia", "libvulkan", "libOpenCL", "libze_",  "libhsa-",
    "libamdhip", "libamdocl", "libdrm",    "libGL",     "libEGL",    "libmali", "libhip"};

template <std::size_t N>
bool begins_with_any(std::string_view name, const std::string_view (&list)[N]) {
    return std::any_of(std::begin(list), std::end(list),
                       [&](std::string_view start) { return name.starts_with(start); });
}

SharedObject read() {
    SharedObject out = read_shared_object(subject().library);
    if (!out.fault.empty()) FAIL(out.fault);
    return out;
}

}  // namespace

TEST_SUITE_BEGIN("file");

TEST_CASE("the file exports the query, and no other symbol (P-1)") {
    const SharedObject object = read();
    CHECK_MESSAGE(
        std::count(object.exports.begin(), object.exports.end(), WYE_PLUGIN_QUERY_SYMBOL) == 1,
        "the file does not export " WYE_PLUGIN_QUERY_SYMBOL);
    constexpr std::size_t kTold = 5;
    std::string others;
    std::size_t count = 0;
    for (const std::string& name : object.exports) {
        // The plugin may also export the query of another major version of the contract.
        if (name.starts_with("wye_plugin_query_")) continue;
        if (++count <= kTold) others += (count > 1 ? ", " : "") + name;
    }
    if (count > kTold) others += ", and " + std::to_string(count - kTold) + " more";
    CHECK_MESSAGE(count == 0, count << " other symbol(s) are visible: " << others
                                    << ". Link with a version script that names the query only");
}

TEST_CASE("the file names no driver's library, so that it loads where the driver is absent (P-4)") {
    for (const std::string& name : read().needs) {
        if (begins_with_any(name, kLanguage)) continue;
        if (begins_with_any(name, kDrivers))
            FAIL_CHECK("it is linked to " << name << ". Open it in `init` with dlopen");
        else
            harness::note("it is linked to " + name +
                          ": it does not load on a machine without that library");
    }
}

TEST_SUITE_END();
