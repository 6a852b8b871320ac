// SPDX-License-Identifier: Apache-2.0
//
// The export and the plugin table.
#include <charconv>

#include "cuda/device.hpp"
#include "cuda/nvrtc/nvrtc_memory.hpp"
#include "cuda/program.hpp"
#include "cuda/status.hpp"
#include "wye/abi_compiler.h"

namespace wye::cuda {
namespace {

// Being woken takes some 50 us: little beside a wait of this length.
constexpr std::uint64_t kSpinMicroseconds = 2000;

Plugin& plugin_of(wye_plugin_object* object) { return *reinterpret_cast<Plugin*>(object); }

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

std::string cache_folder(const wye_host_table& host) {
    return sdk::config(host, "cache_folder").value_or("");
}

// By name first, then where the toolkit puts it. A driver of CUDA 12 takes the code of NVRTC 12.
std::vector<std::string> nvrtc_libraries(const Plugin& plugin) {
    if (auto given = sdk::config(*plugin.host, "cuda.nvrtc")) return {*std::move(given)};
    const bool older = plugin.driver && plugin.driver->version < 13000;
    const char* const names[] = {older ? "libnvrtc.so.12" : "libnvrtc.so.13",
                                 older ? "libnvrtc.so.13" : "libnvrtc.so.12"};
    std::vector<std::string> out(std::begin(names), std::end(names));
    for (const char* name : names) out.push_back(std::string("/usr/local/cuda/lib64/") + name);
    return out;
}

wye_status init(const wye_host_table* host, std::uint32_t, wye_plugin_object** out,
                wye_error** error) {
    return sdk::guard(*host, error, [&]() -> Result<void> {
        auto plugin = std::make_unique<Plugin>();
        plugin->host = host;
        WYE_ASSIGN(plugin->spin_ns, spin_ns(*host));
        *out = reinterpret_cast<wye_plugin_object*>(plugin.release());
        return {};
    });
}

wye_status probe_devices(wye_plugin_object* object, std::uint32_t* out_count, wye_error** error) {
    Plugin& plugin = plugin_of(object);
    return sdk::guard(*plugin.host, error, [&]() -> Result<void> {
        if (!plugin.probed) {
            WYE_ASSIGN(plugin.driver,
                       Driver::open(sdk::config(*plugin.host, "cuda.library").value_or(kLibrary)));
            WYE_ASSIGN(plugin.devices, discover(*plugin.driver));
            plugin.probed = true;
        }
        *out_count = static_cast<std::uint32_t>(plugin.devices.size());
        return {};
    });
}

wye_status device_info(wye_plugin_object* object, std::uint32_t index, wye_device_info* out,
                       wye_error**) {
    static constexpr wye_string kFormats[] = {
        sdk::to_abi(WYE_FORMAT_CUDA_C), sdk::to_abi(WYE_FORMAT_CUBIN), sdk::to_abi(WYE_FORMAT_PTX)};
    Plugin& plugin = plugin_of(object);
    const Device& device = plugin.devices[index];
    const std::size_t skipped = device.usable() && plugin.compiles_for(device) ? 0 : 1;
    sdk::list_device(device, std::span(kFormats).subspan(skipped), *out);
    out->native_code = device.native_code;
    return WYE_OK;
}

wye_status device_fact(wye_plugin_object* object, std::uint32_t index, std::uint32_t key,
                       wye_fact* out) {
    return fact(plugin_of(object).devices[index], key, *out);
}

wye_status open_device(wye_plugin_object* object, std::uint32_t index, wye_device_object** out,
                       const wye_device_table** table, wye_error** error) {
    Plugin& plugin = plugin_of(object);
    return sdk::guard(*plugin.host, error, [&]() -> Result<void> {
        WYE_ASSIGN(auto device, OpenDevice::open(plugin, index));
        *out = reinterpret_cast<wye_device_object*>(device.release());
        *table = &kDeviceTable;
        return {};
    });
}

wye_status translate_slot(wye_plugin_object* object, std::uint32_t index,
                          const wye_artifact* artifact, wye_string format, wye_bytes* out,
                          wye_error** error) {
    Plugin& plugin = plugin_of(object);
    return sdk::guard(*plugin.host, error, [&]() -> Result<void> {
        const Device* device = index < plugin.devices.size() ? &plugin.devices[index] : nullptr;
        WYE_ASSIGN(std::vector<std::byte> code,
                   translate(plugin, device, *artifact, sdk::from_abi(format)));
        auto* copy = new std::byte[code.size()];
        std::copy(code.begin(), code.end(), copy);
        *out = {copy, code.size()};
        return {};
    });
}

void translate_release(wye_plugin_object*, wye_bytes bytes) {
    delete[] static_cast<const std::byte*>(bytes.data);
}

const void* get_extension(wye_plugin_object*, wye_string name, std::uint32_t version) {
    static constexpr wye_compiler_table kCompiler = {{sizeof kCompiler, 0, nullptr},
                                                     compiler_identity};
    return sdk::from_abi(name) == WYE_EXTENSION_COMPILER && version == 1 ? &kCompiler : nullptr;
}

void shutdown(wye_plugin_object* object) { delete &plugin_of(object); }

constexpr wye_plugin_table make_table() {
    wye_plugin_table table{};
    table.header = sdk::header_of(sizeof table);
    table.init = init;
    table.probe_devices = probe_devices;
    table.device_info = device_info;
    table.device_fact = device_fact;
    table.open_device = open_device;
    table.translate = translate_slot;
    table.translate_release = translate_release;
    table.get_extension = get_extension;
    table.shutdown = shutdown;
    return table;
}

constinit const wye_plugin_table kTable = make_table();

constinit const wye_plugin_desc kDesc =
    sdk::describe("cuda", WYE_PLUGIN_VERSION, "the Wye project", kTable);

}  // namespace

Result<const Nvrtc*> Plugin::nvrtc() {
    std::call_once(nvrtc_once_, [this] {
        const std::vector<std::string> libraries = nvrtc_libraries(*this);
        auto opened = Nvrtc::open(libraries);
        if (opened.ok()) {
            nvrtc_ = std::move(opened).value();
            remember_nvrtc(cache_folder(*host), libraries, nvrtc_->facts());
        } else {
            nvrtc_error_ = std::move(opened).error();
        }
    });
    if (nvrtc_error_) return *nvrtc_error_;
    return nvrtc_.get();
}

Result<const NvrtcFacts*> Plugin::nvrtc_facts() {
    std::call_once(facts_once_, [this] {
        facts_ = recall_nvrtc(cache_folder(*host), nvrtc_libraries(*this));
        if (!facts_) {
            const auto opened = nvrtc();
            if (opened.ok()) facts_ = (*opened)->facts();
        }
        if (facts_) identity_ = facts_->identity();
    });
    if (!facts_) return *nvrtc_error_;
    return &*facts_;
}

wye_status compiler_identity(wye_plugin_object* object, wye_string* out) {
    Plugin& plugin = plugin_of(object);
    try {
        if (!plugin.nvrtc_facts().ok()) return WYE_NOT_FOUND;
    } catch (...) {
        return WYE_OUT_OF_MEMORY;
    }
    *out = sdk::to_abi(plugin.identity_);
    return WYE_OK;
}

bool Plugin::compiles_for(const Device& device) {
    const auto compiler = nvrtc_facts();
    std::string why;
    if (!compiler.ok())
        why = compiler.error().text();
    else if (!(*compiler)->newest_up_to(device.architecture))
        why = "NVRTC " + (*compiler)->version + " does not compile for " + device.isa +
              ". Fix: install an older NVRTC, and name it with `cuda.nvrtc`";
    if (why.empty()) return true;
    why = device.name + " takes only `cubin` and `ptx`: " + why;
    host->log(host->self, WYE_LOG_WARNING, sdk::to_abi("cuda"), sdk::to_abi(why));
    return false;
}

}  // namespace wye::cuda

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out) {
    return wye::sdk::answer_query(hello, wye::cuda::kDesc, out);
}
