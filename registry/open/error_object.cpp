// SPDX-License-Identifier: Apache-2.0
#include "registry/open/error_object.hpp"
#include "wye/sdk/lasting.hpp"

#include <fmt/format.h>

#include <new>
#include <vector>

namespace wye::registry {
namespace {

// The static OUT_OF_MEMORY error. Its strings are short enough not to be allocated.
wye_error* out_of_memory() noexcept {
    static const sdk::Lasting<wye_error> instance([] {
        return wye_error{Error(Code::OUT_OF_MEMORY, "out of memory", "Fix: add memory"), 0,
                         "out of memory", nullptr};
    });
    return &*instance;
}

// The chain of causes, outermost first.
std::vector<const Error*> causes_of(const Error& error) {
    std::vector<const Error*> out;
    for (const Error* e = error.cause.get(); e != nullptr; e = e->cause.get()) out.push_back(e);
    return out;
}

// Removes the middle of a chain of causes that is too long.
void shorten(Error& error) {
    std::vector<const Error*> chain = causes_of(error);
    if (chain.size() <= kMostCauses) return;
    constexpr std::ptrdiff_t kHalf = kMostCauses / 2;
    chain.erase(chain.begin() + kHalf, chain.end() - kHalf);
    std::shared_ptr<const Error> made;
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
        Error copy((*at)->code, (*at)->message, (*at)->fix, (*at)->subject);
        copy.native_domain = (*at)->native_domain;
        copy.native_code = (*at)->native_code;
        copy.cause = std::move(made);
        made = std::make_shared<const Error>(std::move(copy));
    }
    error.cause = std::move(made);
}

}  // namespace

wye_error* make_error_object(Error error) noexcept {
    try {
        shorten(error);
        const std::vector<const Error*> causes = causes_of(error);
        std::unique_ptr<wye_error> object;
        for (std::size_t at = causes.size() + 1; at-- > 0;) {  // from the innermost cause outwards
            auto next = std::make_unique<wye_error>();
            next->error = at == 0 ? error : *causes[at - 1];
            next->causes = static_cast<std::uint32_t>(causes.size() - at);
            next->text = next->error.text();
            next->cause = std::move(object);
            object = std::move(next);
        }
        return object.release();
    } catch (...) {
        return out_of_memory();
    }
}

wye_error* make_error_object(Error error, wye_error* cause) noexcept {
    const std::unique_ptr<wye_error, decltype(&release_error_object)> taken(cause,
                                                                            &release_error_object);
    try {
        auto object = std::make_unique<wye_error>();
        object->error = std::move(error);
        if (taken && taken->causes < kMostCauses) {
            object->error.cause = std::make_shared<const Error>(taken->error);
            object->causes = taken->causes + 1;
        } else if (taken) {  // leaves out the cause itself, but keeps its own causes
            object->error.cause = taken->error.cause;
            object->causes = taken->causes;
        }
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
                     fmt::format("{} failed: {} (status {}, without details)", what,
                                 code_text(code), status),
                     "Fix: ask the plugin's author to report details");
    }
    const std::unique_ptr<wye_error, void (*)(wye_error*)> owned(object, release_error_object);
    Error error = object->error;
    // The returned status takes precedence over the object's code.
    if (status != WYE_OK) error.code = static_cast<Code>(status);
    if (error.message.empty()) error.message = fmt::format("{} failed", what);
    if (error.fix.empty()) error.fix = "Fix: see the plugin's documentation";
    return error;
}

wye_status put_error(Error error, wye_error** sink) noexcept {
    const auto status = static_cast<wye_status>(error.code);
    if (sink != nullptr) *sink = make_error_object(std::move(error));
    return status;
}

}  // namespace wye::registry
