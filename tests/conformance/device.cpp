// SPDX-License-Identifier: Apache-2.0
#include "conformance/device.hpp"

namespace conformance {
namespace {

void set(wye::Dispatch& dispatch, const Launch& launch) {
    for (std::size_t i = 0; i < launch.params.size(); ++i) dispatch.param_bits(i, launch.params[i]);
    if (launch.groups) dispatch.grid((*launch.groups)[0], (*launch.groups)[1], (*launch.groups)[2]);
}

}  // namespace

wye::Result<Device> Device::open(const std::string& selector) {
    WYE_ASSIGN(wye::Context context, wye::Context::create());
    WYE_ASSIGN(wye::Device device, context.open(selector));
    WYE_ASSIGN(const wye_device_description description, device.describe());
    return Device(context, device, std::string(wye::detail::view(description.selector)));
}

bool Device::has(const std::string& fact) const {
    wye_fact value{};
    const auto result = wye::detail::call([&](wye_error** e) {
        return wye_device_fact(context_.get(), device_.get(), wye::detail::borrow(fact), &value, e);
    });
    return result.ok() && value.type == WYE_FACT_BOOL && value.u != 0;
}

wye::Result<void> Device::run_host(const wye::Program& program, const Launch& launch,
                                   std::vector<std::vector<std::byte>>& bytes) const {
    wye::Dispatch dispatch(program, device_);
    set(dispatch, launch);
    // Outputs go to storage of their own, so that a device cannot read what it should write.
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
        WYE_ASSIGN(wye::Buffer buffer, device_.buffer(bytes[i].size(), b.name));
        const std::vector<std::byte> rubbish(bytes[i].size(), std::byte{0x5a});
        WYE_TRY(buffer.upload(b.input ? bytes[i] : rubbish));
        buffers.push_back(std::move(buffer));
    }
    for (const Launch& launch : launches) {
        wye::Dispatch dispatch(program, device_);
        set(dispatch, launch);
        for (std::size_t i = 0; i < buffers.size(); ++i)
            dispatch.bind(launch.buffers[i].name, buffers[i]);
        const auto report = dispatch.run();
        if (!report.ok()) return report.error();
        if (report->bytes_uploaded != 0 || report->bytes_downloaded != 0)
            return wye::Error(wye::Code::INTERNAL, "a resident dispatch moved host bytes",
                              "Fix: bind resident buffers without a copy");
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) WYE_TRY(buffers[i].download(bytes[i]));
    return {};
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

}  // namespace conformance
