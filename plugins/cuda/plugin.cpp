// SPDX-License-Identifier: Apache-2.0
#include "cuda/plugin.hpp"

#include "cuda/buffer.hpp"
#include "cuda/command.hpp"
#include "cuda/nvml/free_memory.hpp"
#include "cuda/program.hpp"
#include "cuda/queue.hpp"
#include "wye/abi_compiler.h"
#include "wye/sdk/spin.hpp"

namespace wye::cuda {
Result<std::unique_ptr<Plugin>> Plugin::create(const wye_host_table& host) {
    auto plugin = std::make_unique<Plugin>(host);
    WYE_ASSIGN(plugin->spin_ns, sdk::spin_ns(host, "cuda.spin_us"));
    return plugin;
}

Result<std::vector<DeviceInfo>> Plugin::probe() {
    WYE_ASSIGN(driver, Driver::open(sdk::config(host, "cuda.library").value_or(kLibrary)));
    compiler.prefer_for(driver->version);
    WYE_ASSIGN(std::vector<DeviceInfo> found, discover(*driver));
    add_free_memory(sdk::config(host, "cuda.nvml").value_or(kNvmlLibrary), found);
    return found;
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
