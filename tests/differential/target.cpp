// SPDX-License-Identifier: Apache-2.0
#include "differential/target.hpp"

namespace differential {

wye::Result<Target> Target::open(const std::string& selector, std::uint64_t timeout_ns) {
    WYE_ASSIGN(conformance::Device device, conformance::Device::open(selector, {}));
    device.give_up_after(timeout_ns);
    return Target(std::make_unique<conformance::Device>(std::move(device)), timeout_ns);
}

Finding Target::judge(const Case& what, const Care& care) {
    Finding finding = differential::judge(device_->context(), on(*device_), what, care);
    const bool lost =
        finding.kind == Finding::Kind::Error && finding.code == wye::Code::DEVICE_LOST;
    const bool stuck = finding.kind == Finding::Kind::Error && finding.code == wye::Code::TIMEOUT;
    if (!lost && !stuck) return finding;
    auto again = conformance::Device::open(device_->selector(), {});
    if (!again.ok()) return finding;  // the next case says so too
    again->give_up_after(timeout_ns_);
    if (stuck) left_.push_back(std::move(device_));
    device_ = std::make_unique<conformance::Device>(std::move(again).value());
    return finding;
}

}  // namespace differential
