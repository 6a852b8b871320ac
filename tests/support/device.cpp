// SPDX-License-Identifier: Apache-2.0
#include "support/device.hpp"

#include <algorithm>
#include <string_view>

namespace support {
namespace {

void set(wye::Dispatch& dispatch, const Launch& launch) {
    for (std::size_t i = 0; i < launch.params.size(); ++i) dispatch.param_bits(i, launch.params[i]);
    if (launch.groups) dispatch.grid((*launch.groups)[0], (*launch.groups)[1], (*launch.groups)[2]);
}

// Bytes before and behind the range of a resident buffer, which no program may write.
constexpr std::size_t kGuard = 256;
constexpr std::byte kGuardByte{0xc3};

}  // namespace

wye::Result<Device> Device::open(const std::string& selector,
                                 const std::vector<std::pair<std::string, std::string>>& config,
                                 const std::string& plugin) {
    wye::ContextOptions options;
    if (!plugin.empty()) options.plugin_paths = {plugin};
    options.config = config;
    // The cache is off: programs that an earlier build has cached must not be used.
    options.config.emplace_back("cache_size", "0");
    WYE_ASSIGN(wye::Context context, wye::Context::create(options));
    WYE_ASSIGN(wye::Device device, context.open(selector));
    WYE_ASSIGN(const wye_device_description description, device.describe());
    return Device(context, device, std::string(wye::detail::view(description.selector)));
}

wye_fact Device::fact(const std::string& name) const {
    wye_fact value;
    WYE_INIT(value);
    const auto result = wye::detail::call([&](wye_error** e) {
        return wye_device_fact(context_.get(), device_.get(), wye::detail::borrow(name), &value, e);
    });
    return result.ok() ? value : wye_fact{};
}

bool Device::has(const std::string& name) const {
    const wye_fact value = fact(name);
    return value.type == WYE_FACT_BOOL && value.u != 0;
}

std::uint64_t Device::limit(const std::string& name, std::uint64_t unknown) const {
    const wye_fact value = fact(name);
    return value.type == WYE_FACT_U64 ? value.u : unknown;
}

std::array<std::uint32_t, 3> Device::axes(const std::string& name) const {
    const wye_fact value = fact(name);
    if (value.type != WYE_FACT_U32X3) return {1, 1, 1};
    return {value.xyz[0], value.xyz[1], value.xyz[2]};
}

std::vector<std::uint32_t> Device::subgroup_sizes() const {
    if (!has("subgroup")) return {};
    const wye_fact value = fact("subgroup_sizes");
    if (value.type != WYE_FACT_U64_LIST) return {};
    return {value.list, value.list + value.list_size};
}

std::string Device::lacks(const wye::Program& program) const {
    wye_blob* analysis = nullptr;
    const auto analysed = wye::detail::call([&](wye_error** e) {
        return wye_program_analysis(context_.get(), program.get(), &analysis, e);
    });
    if (!analysed.ok()) return {};
    const wye_bytes bytes = wye_blob_bytes(analysis);
    const std::string text(static_cast<const char*>(bytes.data), bytes.size);
    wye_blob_free(analysis);
    // {"needs": [{"because": "...", "capability": "f64", ...
    constexpr std::string_view kKey = "\"capability\"";
    for (std::size_t at = text.find(kKey); at != text.npos; at = text.find(kKey, at + 1)) {
        const std::size_t begin = text.find('"', at + kKey.size()) + 1;
        const std::string name = text.substr(begin, text.find('"', begin) - begin);
        if (!has(name)) return name;
    }
    return {};
}

wye::Result<void> Device::run_host(const wye::Program& program, const Launch& launch,
                                   std::vector<std::vector<std::byte>>& bytes) const {
    wye::Dispatch dispatch(program, device_);
    dispatch.timeout_ns(timeout_ns_);
    set(dispatch, launch);
    // Outputs have memory of their own, so that a device that reads an output does not find the
    // input there.
    std::vector<std::vector<std::byte>> out(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const Binding& b = launch.buffers[i];
        if (b.input) dispatch.input(b.name, bytes[i]);
        if (!b.output) continue;
        out[i].assign(bytes[i].size(), std::byte{0xa5});
        dispatch.output(b.name, out[i]);
    }
    const auto report = dispatch.run();
    if (!report.ok()) return report.error();
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (launch.buffers[i].output) bytes[i] = std::move(out[i]);
    return {};
}

wye::Result<void> Device::run_resident(const wye::Program& program,
                                       const std::vector<Launch>& launches,
                                       std::vector<std::vector<std::byte>>& bytes) const {
    std::vector<wye::Buffer> buffers;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const Binding& b = launches.front().buffers[i];
        WYE_ASSIGN(wye::Buffer buffer, device_.buffer(bytes[i].size() + 2 * kGuard, b.name));
        std::vector<std::byte> all(bytes[i].size() + 2 * kGuard, kGuardByte);
        const auto range = all.begin() + kGuard;
        if (b.input)
            std::copy(bytes[i].begin(), bytes[i].end(), range);
        else
            std::fill_n(range, bytes[i].size(), std::byte{0x5a});
        WYE_TRY(buffer.upload(all));
        buffers.push_back(std::move(buffer));
    }
    for (const Launch& launch : launches) {
        wye::Dispatch dispatch(program, device_);
        dispatch.timeout_ns(timeout_ns_);
        set(dispatch, launch);
        for (std::size_t i = 0; i < buffers.size(); ++i)
            // An empty range begins at the end of the buffer, since a size of 0 means "up to the
            // end".
            dispatch.bind(launch.buffers[i].name, buffers[i],
                          bytes[i].empty() ? 2 * kGuard : kGuard, bytes[i].size());
        const auto report = dispatch.run();
        if (!report.ok()) return report.error();
        if (report->bytes_uploaded != 0 || report->bytes_downloaded != 0)
            return wye::Error(wye::Code::INTERNAL, "a resident dispatch moved host bytes",
                              "Fix: bind resident buffers without a copy");
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        std::vector<std::byte> all(bytes[i].size() + 2 * kGuard);
        WYE_TRY(buffers[i].download(all));
        const auto range = all.begin() + kGuard, end = all.end() - kGuard;
        const auto intact = [](std::byte b) { return b == kGuardByte; };
        if (!std::all_of(all.begin(), range, intact) || !std::all_of(end, all.end(), intact))
            return wye::Error(
                wye::Code::INTERNAL,
                "a dispatch wrote beside the range of `" + launches.front().buffers[i].name + "`",
                "Fix: report this with the program");
        bytes[i].assign(range, end);
    }
    return {};
}

// Uses the C API, since the C++ wrapper gives no report of a dispatch that failed.
wye::Result<Ending> Device::run_to_trap(const wye::Program& program, const Launch& launch) const {
    WYE_ASSIGN(const wye_program_description described, program.describe());
    Ending ending;
    for (const Binding& b : launch.buffers)
        ending.bytes.emplace_back(b.bytes.size(), std::byte{0xa5});
    std::vector<wye_argument> arguments;
    for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
        const Binding& b = launch.buffers[i];
        wye_argument argument{};
        argument.kind = WYE_ARGUMENT_HOST;
        for (std::uint64_t k = 0; k < described.buffer_count; ++k)
            if (wye::detail::view(described.buffers[k].name) == b.name)
                argument.binding = described.buffers[k].binding;
        if (b.input) argument.input = {b.bytes.data(), b.bytes.size()};
        if (b.output) {
            argument.output = ending.bytes[i].data();
            argument.output_size = ending.bytes[i].size();
        }
        arguments.push_back(argument);
    }
    wye_dispatch_desc desc;
    WYE_INIT(desc);
    desc.program = program.get();
    desc.device = device_.get();
    desc.timeout_ns = timeout_ns_;
    if (launch.groups) {
        desc.flags = WYE_DISPATCH_GRID;
        for (int i = 0; i < 3; ++i) desc.grid[i] = (*launch.groups)[static_cast<std::size_t>(i)];
    }
    desc.arguments = arguments.data();
    desc.argument_count = arguments.size();
    desc.params = launch.params.data();
    desc.param_count = launch.params.size();
    wye_report report;
    WYE_INIT(report);
    auto done = wye::detail::call(
        [&](wye_error** e) { return wye_dispatch(context_.get(), &desc, &report, e); });
    if (!done.ok() && done.error().code != wye::Code::TRAPPED) return done.error();
    if (!done.ok()) {
        ending.trap_code = report.trap_code;
        ending.trap_count = report.trap_count;
    }
    for (const auto& bytes : ending.bytes)
        for (const std::byte b : bytes) ending.delivered = ending.delivered || b != std::byte{0xa5};
    for (std::size_t i = 0; i < ending.bytes.size(); ++i)
        if (!launch.buffers[i].output) ending.bytes[i] = launch.buffers[i].bytes;
    return ending;
}

wye::Result<std::vector<std::vector<std::byte>>> Device::run(const wye::Program& program,
                                                             const std::vector<Launch>& launches,
                                                             bool resident) const {
    std::vector<std::vector<std::byte>> bytes;
    for (const Binding& b : launches.front().buffers) bytes.push_back(b.bytes);
    if (resident) {
        WYE_TRY(run_resident(program, launches, bytes));
        return bytes;
    }
    for (const Launch& launch : launches) WYE_TRY(run_host(program, launch, bytes));
    return bytes;
}

}  // namespace support
