// SPDX-License-Identifier: Apache-2.0
#include "kernel_bench/wye_side.hpp"

#include "kernel_bench/pieces.hpp"
#include "kernel_bench/texts.hpp"

namespace wye::bench {

Result<std::unique_ptr<WyeSide>> WyeSide::open_one(const std::string& selector) {
    WYE_ASSIGN(Context context, Context::create());
    WYE_ASSIGN(Device device, context.open(selector));
    std::unique_ptr<WyeSide> out(new WyeSide(std::move(context), std::move(device)));
    WYE_ASSIGN(const wye_device_description description, out->device_.describe());
    out->selector_ = detail::view(description.selector);
    out->name_ = detail::view(description.name);
    return out;
}

bool WyeSide::cpu() const {
    const auto kind = device_.fact("device_kind");
    return kind.ok() && kind->type == WYE_FACT_TEXT && detail::view(kind->text) == "cpu";
}

Result<std::unique_ptr<WyeSide>> WyeSide::open(const std::string& selector, bool tiny) {
    const bool any = selector.find(':') == std::string::npos;
    for (int i = 0; i < 8; ++i) {
        auto out = open_one(any ? selector + ":" + std::to_string(i) : selector);
        if (!out.ok() && i > 0) break;
        if (!out.ok() || tiny || !(*out)->cpu()) return out;
        if (!any) break;
    }
    return Error(Code::UNSUPPORTED, "`" + selector + "` has no GPU",
                 "Fix: name another device, or add --tiny");
}

Result<void> WyeSide::prepare(const Case& c) {
    clear();
    for (const CaseBuffer& b : c.buffers) {
        WYE_ASSIGN(Buffer buffer, device_.buffer(b.bytes, b.name));
        WYE_TRY(fill_pieces(b, [&](std::uint64_t offset, const std::vector<std::byte>& bytes) {
            return buffer.upload_range(bytes, offset);
        }));
        // A fill pattern reveals output elements that the program does not write.
        if (b.output()) WYE_TRY(buffer.fill(0xa5a5a5a5U, 0, b.bytes));
        buffers_.push_back(std::move(buffer));
    }
    return {};
}

Result<void> WyeSide::read(const Case& c) {
    WYE_ASSIGN(Program program, context_.program_from_text(text(c.program + ".wye"), c.program));
    program_.emplace(std::move(program));
    dispatch_ = std::make_unique<Dispatch>(*program_, device_);
    for (std::size_t i = 0; i < c.params.size(); ++i) dispatch_->param_bits(i, c.params[i].bits);
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        dispatch_->bind(c.buffers[i].name, buffers_[i]);
    if (c.own_grid) dispatch_->grid(c.strict.groups[0], c.strict.groups[1], c.strict.groups[2]);
    dispatch_->desc().flags |= WYE_DISPATCH_TIMED;
    return {};
}

Result<std::string> WyeSide::lower(const Case& c, std::string_view format, bool check_free) const {
    WYE_ASSIGN(const Program program,
               context_.program_from_text(text(c.program + ".wye"), c.program));
    return program.lower(format, device_.get(), 0, check_free);
}

Result<WyeRun> WyeSide::run() {
    WYE_ASSIGN(const wye_report report, dispatch_->run());
    if (report.device_ns == WYE_TIME_UNKNOWN)
        return Error(Code::UNSUPPORTED, name_ + " has no device time",
                     "Fix: use a driver with timestamps");
    return WyeRun{static_cast<double>(report.device_ns), report.bytes_filled,
                  static_cast<double>(report.enqueue_ns + report.wait_ns), report.check_free != 0};
}

Result<void> WyeSide::download(std::size_t buffer, std::uint64_t offset,
                               std::span<std::byte> bytes) const {
    return buffers_[buffer].download_range(bytes, offset);
}

void WyeSide::clear() {
    dispatch_.reset();
    buffers_.clear();
    program_.reset();
}

}  // namespace wye::bench
