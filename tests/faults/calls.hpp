// SPDX-License-Identifier: Apache-2.0
//
// Calls: checks the result of each call of the API. To be used by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "faults/scenario.hpp"

namespace faults {

inline std::string_view view(wye_string text) {
    return {text.data == nullptr ? "" : text.data, static_cast<std::size_t>(text.size)};
}
inline wye_string abi(std::string_view text) { return {text.data(), text.size()}; }

// Makes calls of the API and checks each: a failure must have a code, a sentence and a remedy, and
// only WYE_OUT_OF_MEMORY may have no error object.
class Calls {
  public:
    explicit Calls(Pass& pass) : pass_(pass) {}

    [[nodiscard]] wye_error** sink() {
        error_ = unset();
        return &error_;
    }

    // Checks the result of a call. Returns whether it is the expected status.
    bool ok(const char* what, wye_status status, wye_status expected = WYE_OK) {
        wye_error* error = error_;
        error_ = unset();
        if (status == WYE_OK) {
            if (error != unset()) defect(what, "wrote an error object though it succeeded");
            if (expected != WYE_OK) defect(what, "succeeded, and should not have");
            return true;
        }
        if (error == unset()) {
            defect(what,
                   "failed with status " + std::to_string(status) + " and left the sink alone");
            error = nullptr;
        }
        if (error == nullptr && status != WYE_OUT_OF_MEMORY)
            defect(what, "failed with status " + std::to_string(status) + " without an object");
        const std::string_view fix = view(wye_error_fix(error));
        if (view(wye_error_message(error)).empty() || !fix.starts_with("Fix: ") || fix.size() < 6)
            defect(what, "has no sentence or no remedy: '" +
                             std::string(view(wye_error_text(error))) + "'");
        if (error != nullptr && wye_error_status(error) != status &&
            wye_error_status(error) != WYE_OUT_OF_MEMORY)
            defect(what, "returned another status than its object has");
        const bool expects = status == expected;
        if (!expects && pass_.refusal.empty())
            pass_.refusal = std::string(what) + ": " + std::string(view(wye_error_text(error)));
        wye_error_free(error);
        return expects;
    }

    void defect(const char* what, const std::string& text) {
        pass_.defects.push_back(std::string(what) + " " + text);
    }

  private:
    static wye_error* unset() { return reinterpret_cast<wye_error*>(std::uintptr_t{1}); }
    Pass& pass_;
    wye_error* error_ = nullptr;
};

}  // namespace faults
