// SPDX-License-Identifier: Apache-2.0
//
// A vendor's library, opened at run time by name and never closed, since drivers keep threads.
// Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "wye/sdk/errors.hpp"

namespace wye::sdk {

// `what`: "the OpenCL loader". MISSING_DEPENDENCY, with `fix`, when it cannot be opened.
[[nodiscard]] Result<void*> open_library(const std::string& library, std::string_view what,
                                         std::string_view fix);
// Null: there is none.
[[nodiscard]] void* symbol_in(void* library, const char* name);

// Looks functions up by `find(name)`, and keeps the name of the first missing one.
template <typename Find>
class Functions {
  public:
    explicit Functions(Find find) : find_(std::move(find)) {}
    template <typename Function>
    void get(Function& out, const char* name) {
        out = reinterpret_cast<Function>(find_(name));
        if (out == nullptr && missing_ == nullptr) missing_ = name;
    }
    // Null: none.
    [[nodiscard]] const char* missing() const { return missing_; }

  private:
    Find find_;
    const char* missing_ = nullptr;
};

}  // namespace wye::sdk
