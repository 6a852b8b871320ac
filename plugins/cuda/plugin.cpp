// SPDX-License-Identifier: Apache-2.0
#include "cuda/plugin.hpp"

#include <charconv>

#include "cuda/buffer.hpp"
#include "cuda/program.hpp"
#include "cuda/queue.hpp"
#include "wye/abi_compiler.h"

namespace wye::cuda {
namespace {

// Waking up takes some 50 us, little after a wait of this length.
constexpr std::uint64_t kSpinMicroseconds = 2000;

Result<std::uint64_t> spin_ns(const wye_host_table& host) {
    const std::optional<std::string> text = sdk::config(host, "cuda.spin_us");
    if (!text) return kSpinMicroseconds * 1000;
    std::uint32_t value = 0;
    const auto [end, status] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (status == std::errc{} && end == text->data() + text->size())
        return std::uint64_t{value} * 1000;
    return Error(Code::INVALID_ARGUMENT,
                 "`cuda.spin_us` is `" + *text + "`, which is no number of microseconds",
                 "Fix: give a whole number, such as 2000", "cuda.spin_us");
}

}  // namespace

Result<std::unique_ptr<Plugin>> Plugin::create(const wye_host_table& host) {
    auto plugin = std::make_unique<Plugin>(host);
    WYE_ASSIGN(plugin->spin_ns, cuda::spin_ns(host));
    return plugin;
}

Result<std::vector<DeviceInfo>> Plugin::probe() {
    WYE_ASSIGN(driver, Driver::open(sdk::config(host, "cuda.library").value_or(kLibrary)));
    compiler.prefer_for(driver->version);
    return discover(*driver);
}

std::span<const wye_string> Plugin::formats(const DeviceInfo& info) {
    static constexpr wye_string kFormats[] = {
        sdk::to_abi(WYE_FORMAT_CUDA_C), sdk::to_abi(WYE_FORMAT_CUBIN), sdk::to_abi(WYE_FORMAT_PTX)};
    const std::string why = info.usable() ? compiler.refusal(info.architecture) : "it is unusable";
    if (why.empty()) return kFormats;
    const std::string text = info.name + " takes only `cubin` and `ptx`: " + why;
    if (info.usable()) host.log(host.self, WYE_LOG_WARNING, sdk::to_abi("cuda"), sdk::to_abi(text));
    return std::span(kFormats).subspan(1);
}

wye_status Plugin::fact(std::uint32_t index, std::uint32_t key, wye_fact& out) const {
    return cuda::fact(devices[index], key, out);
}

Result<std::vector<std::byte>> Plugin::translate(const DeviceInfo* info,
                                                 const wye_artifact& artifact,
                                                 std::string_view format) {
    return compiler.translate(info != nullptr ? info->architecture : 0, artifact, format);
}

namespace {

wye_status compiler_identity(wye_plugin_object* object, wye_string* out) {
    std::string_view identity;
    Plugin& plugin = sdk::PluginSlots<Plugin>::of(object);
    const wye_status status = sdk::run_on(plugin, nullptr, [&]() -> Result<void> {
        WYE_ASSIGN(identity, plugin.compiler.identity());
        return {};
    });
    if (status == WYE_OUT_OF_MEMORY) return status;
    if (status != WYE_OK) return WYE_NOT_FOUND;
    *out = sdk::to_abi(identity);
    return WYE_OK;
}

}  // namespace

const void* Plugin::extension(std::string_view name, std::uint32_t version) const {
    static constexpr wye_compiler_table kCompiler = {{sizeof kCompiler, 0, nullptr},
                                                     compiler_identity};
    return name == WYE_EXTENSION_COMPILER && version == 1 ? &kCompiler : nullptr;
}

namespace {

constinit const wye_plugin_table kTable = sdk::PluginSlots<Plugin>::table();
constinit const wye_plugin_desc kDesc =
    sdk::describe("cuda", WYE_PLUGIN_VERSION, "the Wye project", kTable);

}  // namespace
}  // namespace wye::cuda

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    return wye::sdk::answer_query(hello, wye::cuda::kDesc, out);
}
