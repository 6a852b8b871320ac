// SPDX-License-Identifier: Apache-2.0
#include "exec/api/api.hpp"
#include "wye/sdk/plugin.hpp"

using wye::sdk::to_abi;

namespace {

constexpr std::string_view kNoMemory = "the host has no memory left";
constexpr std::string_view kNoMemoryFix = "Fix: free memory and try again";

}  // namespace

const char* wye_version(void) { return "0.1.0"; }

const char* wye_status_text(wye_status status) {
    // The texts are literals, so they are null-terminated.
    return wye::code_text(static_cast<wye::Code>(status)).data();
}

wye_status wye_error_status(const wye_error* error) {
    return error == nullptr ? WYE_OUT_OF_MEMORY : static_cast<wye_status>(error->error.code);
}

wye_string wye_error_message(const wye_error* error) {
    return error == nullptr ? to_abi(kNoMemory) : to_abi(error->error.message);
}

wye_string wye_error_fix(const wye_error* error) {
    return error == nullptr ? to_abi(kNoMemoryFix) : to_abi(error->error.fix);
}

wye_string wye_error_subject(const wye_error* error) {
    return error == nullptr ? to_abi("") : to_abi(error->error.subject);
}

wye_string wye_error_native_domain(const wye_error* error) {
    return error == nullptr ? to_abi("") : to_abi(error->error.native_domain);
}

int64_t wye_error_native_code(const wye_error* error) {
    return error == nullptr ? 0 : error->error.native_code;
}

const wye_error* wye_error_cause(const wye_error* error) {
    return error == nullptr ? nullptr : error->cause.get();
}

wye_string wye_error_text(const wye_error* error) {
    return error == nullptr ? to_abi(kNoMemory) : to_abi(error->text);
}

void wye_error_free(wye_error* error) { wye::registry::release_error_object(error); }

wye_bytes wye_blob_bytes(const wye_blob* blob) {
    if (blob == nullptr) return {"", 0};
    return {blob->bytes.data(), blob->bytes.size()};
}

void wye_blob_free(wye_blob* blob) { delete blob; }
