// SPDX-License-Identifier: Apache-2.0
//
// wye::Program, an addition to wye/wye.hpp, which includes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "wye/handle.hpp"
#include "wye/pending.hpp"
#include "wye/pipeline.h"
#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye {

// A program kept by a context.
class Program {
  public:
    // Owns a handle of the C API.
    Program(std::shared_ptr<wye_context> context, wye_program handle)
        : handle_(std::move(context), handle) {}

    // The handle of the C API.
    [[nodiscard]] wye_program get() const noexcept { return handle_.get(); }
    // The context that it belongs to.
    [[nodiscard]] wye_context* context() const noexcept { return handle_.context(); }
    // The same context, by a pointer that keeps it alive.
    [[nodiscard]] const std::shared_ptr<wye_context>& shared_context() const noexcept {
        return handle_.shared_context();
    }

    // Name, fingerprint, parameters and buffers; valid while the program lives; not
    // callable on a temporary.
    [[nodiscard]] Result<wye_program_description> describe() const& {
        wye_program_description out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_program_describe(context(), get(), &out, e); }));
        return out;
    }
    Result<wye_program_description> describe() const&& = delete;
    // Needs, determinism and sizes, as JSON.
    [[nodiscard]] Result<std::string> analysis() const {
        wye_blob* blob = nullptr;
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_program_analysis(context(), get(), &blob, e); }));
        return detail::take_text(blob);
    }
    // Converts the program to another form: "text", "wire", "opencl-c". `device` 0: assumes a
    // device without optional features. `ulp_budget` above 0: allows native operations up to that
    // error. `check_free`: leaves out the range checks that the "preconditions" make redundant.
    [[nodiscard]] Result<std::string> lower(std::string_view format, wye_device device = 0,
                                            std::uint32_t ulp_budget = 0,
                                            bool check_free = false) const {
        wye_lower_desc desc;
        WYE_INIT(desc);
        desc.format = detail::borrow(format);
        desc.device = device;
        desc.ulp_budget = ulp_budget;
        desc.check_free = check_free ? 1 : 0;
        wye_blob* blob = nullptr;
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_program_lower_with(context(), get(), &desc, &blob, e);
        }));
        return detail::take_text(blob);
    }

    // Compiles for a device ahead of the first dispatch.
    [[nodiscard]] Result<wye_prepare_report> prepare(wye_device device) const {
        wye_prepare_report out;
        WYE_INIT(out);
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_program_prepare(context(), get(), device, &out, e); }));
        return out;
    }

    // Like `prepare`, but does not wait for the compile, which ends with TIMEOUT if it takes longer
    // than the limit (0: none). With device 0 the library chooses one.
    [[nodiscard]] Result<Pending> prepare_submit(wye_device device,
                                                 std::uint64_t timeout_ns = 0) const {
        wye_pending out = 0;
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_program_prepare_submit(context(), get(), device, timeout_ns, &out, e);
        }));
        return Pending(shared_context(), out, {});
    }

  private:
    detail::Handle<&wye_program_free> handle_;
};

}  // namespace wye
