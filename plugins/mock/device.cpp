// SPDX-License-Identifier: Apache-2.0
#include "mock/device.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "wye/sdk/launch_shape.hpp"
#include "wye/sdk/queue_submit.hpp"

namespace wye::mock {
namespace {

std::byte* bytes_of(wye_buffer_object* buffer) { return reinterpret_cast<Buffer*>(buffer)->data(); }

void sleep_until(std::uint64_t end_ns) {
    const std::uint64_t now = sdk::monotonic_ns();
    if (end_ns > now) std::this_thread::sleep_for(std::chrono::nanoseconds(end_ns - now));
}

}  // namespace

// ---- Plugin ------------------------------------------------------------------------------------

Result<std::unique_ptr<Plugin>> Plugin::create(const wye_host_table& host) {
    auto plugin = std::make_unique<Plugin>(host);
    std::string path = sdk::config(host, "mock.script").value_or("");
    std::string text = sdk::config(host, "mock.text").value_or("");
    if (path.empty() && text.empty()) path = sdk::config(host, "env.WYE_MOCK_SCRIPT").value_or("");
    if (!path.empty()) {
        std::error_code ignored;
        std::ifstream file;
        // Opening a pipe would wait for its writer.
        if (std::filesystem::is_regular_file(path, ignored)) file.open(path);
        std::ostringstream content;
        if (!file.is_open() || !(content << file.rdbuf()))
            return Error(Code::IO, "the script `" + path + "` cannot be read, or is empty",
                         "Fix: set WYE_MOCK_SCRIPT (or `mock.script`) to a file that can be read",
                         path);
        text = content.str();
    }
    WYE_ASSIGN(plugin->script_, parse_script(text, path.empty() ? "mock.text" : path));
    return plugin;
}

Result<std::vector<DeviceInfo>> Plugin::probe() { return std::move(script_); }

wye_status Plugin::fact(std::uint32_t index, std::uint32_t key, wye_fact& out) const {
    const auto& known = devices[index].facts;
    const auto at = known.find(key);
    if (at == known.end()) return sdk::facts::known(key) ? WYE_UNSUPPORTED : WYE_UNKNOWN_KEY;
    const Fact& fact = at->second;
    out = {};
    out.type = fact.type;
    out.u = fact.u;
    out.f = fact.f;
    for (unsigned k = 0; k < 3; ++k) out.xyz[k] = fact.xyz[k];
    out.text = sdk::to_abi(fact.text);
    out.list = fact.list.data();
    out.list_size = fact.list.size();
    out.source = sdk::to_abi("script");
    return WYE_OK;
}

// ---- Device and its objects --------------------------------------------------------------------

Result<std::unique_ptr<Device>> Device::create(Plugin& plugin, const DeviceInfo& info) {
    return std::unique_ptr<Device>(new Device(plugin, info));
}

Result<sdk::MemoryState> Device::memory() const {
    const std::uint64_t total = info.memory_bytes();
    return sdk::MemoryState{total, total - std::min(total, used_bytes.load())};
}

Result<std::unique_ptr<Buffer>> Buffer::create(Device& device, const wye_buffer_desc& desc) {
    const std::string label(sdk::from_abi(desc.label));
    std::unique_ptr<Buffer> out(new Buffer(device, desc.size));
    const std::uint64_t used = device.used_bytes.fetch_add(desc.size) + desc.size;
    const std::uint64_t total = device.info.memory_bytes();
    const auto refused = [&](const char* why) {
        return sdk::errors::no_memory(Error(Code::DEVICE_MEMORY, {}, {}, label), desc.size,
                                      device.info.name, why);
    };
    if (total != 0 && used > total) return refused("the script gives it no more");
    constexpr std::uint64_t kLeast = 64;  // least alignment, and spare bytes at the end
    const std::uint64_t align = std::max(desc.alignment, kLeast);
    const std::uint64_t all = (desc.size + kLeast + align - 1) / align * align;
    out->memory_.reset(static_cast<std::byte*>(std::aligned_alloc(align, all)));
    if (out->memory_ == nullptr) return refused("the system has no more memory");
    std::memset(out->memory_.get(), 0, all);
    return out;
}

Buffer::~Buffer() { device_.used_bytes.fetch_sub(size_); }

Result<std::unique_ptr<Program>> Program::create(Device& device, const wye_artifact& artifact,
                                                 wye_bytes) {
    const std::string_view format = sdk::from_abi(artifact.format);
    const auto& formats = device.info.formats;
    if (std::find(formats.begin(), formats.end(), format) == formats.end())
        return sdk::errors::unknown_format(Plugin::kPlugin,
                                           formats.empty() ? "none" : '`' + formats.front() + '`',
                                           format, std::string(sdk::from_abi(artifact.label)));
    WYE_TRY(sdk::LaunchShape::of(Plugin::kPlugin, artifact, true));
    auto out = std::make_unique<Program>();
    out->params_size_ = artifact.params_size;
    out->writes_.resize(artifact.binding_count);
    constexpr std::uint32_t kWrite = 2;  // the bit of wye_slot::access
    for (const wye_slot& slot : std::span(artifact.slots, artifact.slot_count))
        if (slot.kind == WYE_SLOT_BUFFER && slot.binding < artifact.binding_count)
            out->writes_[slot.binding] = (slot.access & kWrite) != 0;
    sleep_until(sdk::monotonic_ns() + device.info.compile_ns);
    return out;
}

Result<std::unique_ptr<Command>> Command::create(Device&, const wye_command_desc& desc) {
    WYE_ASSIGN(sdk::CommandList list,
               sdk::CommandList::of(Plugin::kPlugin, desc, [](wye_program_object* program) {
                   return reinterpret_cast<Program*>(program)->sizes();
               }));
    return std::unique_ptr<Command>(new Command(std::move(list)));
}

void Command::describe(wye_command_info& out) const {
    out.late_params = out.late_slots = out.late_grid = WYE_LATE_ARGUMENT;
    out.bytes = list_.bytes();
}

// ---- Queue -------------------------------------------------------------------------------------

Result<std::unique_ptr<Queue>> Queue::create(Device& device, const wye_queue_desc&) {
    return std::unique_ptr<Queue>(new Queue(device));
}

Queue::Queue(Device& device) : device_(device), timeline_(device.loss) {}

Result<void> Queue::begin() {
    now_.begin_ns = std::max(free_ns_, sdk::monotonic_ns());
    now_.end_ns = now_.begin_ns;
    return {};
}

Result<void> Queue::wait_for(Timeline& other, std::uint64_t value) {
    WYE_ASSIGN(const Submit event, other.event_for(value));
    if (event.end_ns <= now_.end_ns) return {};
    now_.begin_ns = now_.end_ns = event.end_ns;
    return {};
}

Result<void> Queue::dispatch(const wye_dispatch_op& op) {
    if (sdk::is_empty(op)) return queued({});
    const auto& writes = reinterpret_cast<const Program*>(op.program)->writes();
    for (std::size_t i = 0; i < writes.size(); ++i) {
        const wye_binding& binding = op.bindings[i];
        if (writes[i] && device_.info.output)
            std::memset(bytes_of(binding.buffer) + binding.offset, *device_.info.output,
                        binding.size);
    }
    now_.end_ns += device_.info.dispatch_ns;
    return queued({});
}

Result<void> Queue::copy(const wye_copy_op& op) {
    std::memcpy(bytes_of(op.target) + op.target_offset, bytes_of(op.source) + op.source_offset,
                op.size);
    now_.end_ns += device_.info.transfer_ns;
    return queued({});
}

Result<void> Queue::fill(const wye_fill_op& op) {
    for (std::uint64_t at = 0; at < op.size; at += op.pattern_size)
        std::memcpy(bytes_of(op.target) + op.offset + at, &op.pattern, op.pattern_size);
    now_.end_ns += device_.info.transfer_ns;
    return queued({});
}

Result<void> Queue::upload(const wye_transfer_op& op) {
    std::memcpy(bytes_of(op.buffer) + op.offset, op.source, op.size);
    now_.end_ns += device_.info.transfer_ns;
    return queued({});
}

Result<void> Queue::download(const wye_transfer_op& op) {
    std::memcpy(op.target, bytes_of(op.buffer) + op.offset, op.size);
    now_.end_ns += device_.info.transfer_ns;
    return queued({});
}

Result<void> Queue::execute(const wye_execute_op& op) {
    return perform_all(sdk::command_of<Command>(op.command).resolve(op));
}

Result<void> Queue::end() {
    free_ns_ = now_.end_ns;
    timeline_.add(value(), decltype(now_)(now_), timed());
    return {};
}

// ---- Timeline ----------------------------------------------------------------------------------

Result<bool> Timeline::has_ended(const Submit& submit) {
    return sdk::monotonic_ns() >= submit.end_ns;
}

sdk::WorkTimes Timeline::times_of(const Submit& submit) {
    return {submit.end_ns - submit.begin_ns, submit.begin_ns, submit.end_ns};
}

Result<bool> Timeline::wait_for(const Submit& event, std::uint64_t timeout_ns) {
    const std::uint64_t now = sdk::monotonic_ns();
    const std::uint64_t limit = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
    sleep_until(std::min(event.end_ns, limit));
    return has_ended(event);
}

Result<void> Timeline::finish() {
    WYE_ASSIGN(const Submit last, event_for(newest()));
    sleep_until(last.end_ns);
    return {};
}

namespace {

constinit const wye_plugin_table kTable = sdk::PluginSlots<Plugin>::table();
constinit const wye_plugin_desc kDesc =
    sdk::describe("mock", WYE_PLUGIN_VERSION, "the Wye project", kTable, WYE_BUILD_UNLOADABLE);

}  // namespace
}  // namespace wye::mock

template class wye::sdk::Timeline<wye::mock::Timeline, wye::mock::Submit, wye::mock::Submit>;
template class wye::sdk::InOrderQueue<wye::mock::Queue>;

extern "C" WYE_PLUGIN_EXPORT wye_status wye_plugin_query_1(const wye_hello* hello,
                                                           const wye_plugin_desc** out);
extern "C" wye_status wye_plugin_query_1(const wye_hello* hello, const wye_plugin_desc** out) {
    return wye::sdk::answer_query(hello, wye::mock::kDesc, out);
}
