// SPDX-License-Identifier: Apache-2.0
#include "registry/error_object.hpp"

#include <new>

namespace wye::registry {
namespace {

// Stands for "no memory to say more". Its texts are short enough to be kept without allocation.
wye_error* out_of_memory() noexcept {
    static wye_error instance{Error(Code::OUT_OF_MEMORY, "out of memory", "Fix: add memory"),
                              "out of memory", nullptr};
    return &instance;
}

std::unique_ptr<const wye_error> mirror(const Error& error) {
    auto object = std::make_unique<wye_error>();
    object->error = error;
    object->text = error.text();
    if (error.cause) object->cause = mirror(*error.cause);
    return object;
}

}  // namespace

wye_error* make_error_object(Error error) noexcept {
    try {
        auto object = std::make_unique<wye_error>();
        object->text = error.text();
        if (error.cause) object->cause = mirror(*error.cause);
        object->error = std::move(error);
        return object.release();
    } catch (...) {
        return out_of_memory();
    }
}

void release_error_object(wye_error* error) noexcept {
    if (error != out_of_memory()) delete error;
}

Error take_error(wye_status status, wye_error* object, std::string_view what) {
    if (object == nullptr) {
        const Code code = status == WYE_OK ? Code::PLUGIN_FAULT : static_cast<Code>(status);
        return Error(code,
                     std::string(what) + " failed: " + std::string(code_text(code)) + " (status " +
                         std::to_string(status) + ", without details)",
                     "Fix: ask the plugin's author to report details");
    }
    const std::unique_ptr<wye_error, void (*)(wye_error*)> owned(object, release_error_object);
    Error error = object->error;
    // What the call returned decides; an object with another code is the plugin's slip.
    if (status != WYE_OK) error.code = static_cast<Code>(status);
    if (error.message.empty()) error.message = std::string(what) + " failed";
    if (error.fix.empty()) error.fix = "Fix: see the plugin's documentation";
    return error;
}

wye_status put_error(Error error, wye_error** sink) noexcept {
    const auto status = static_cast<wye_status>(error.code);
    if (sink != nullptr) *sink = make_error_object(std::move(error));
    return status;
}

}  // namespace wye::registry
