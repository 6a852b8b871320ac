// SPDX-License-Identifier: Apache-2.0
//
// Opens a vendor's library at run time, by name. The library is never closed, since drivers keep
// threads. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "wye/sdk/errors.hpp"

namespace wye::sdk {

// Opens a library. Null: the library cannot be opened; `why` has the reason.
[[nodiscard]] void* load_library(const std::string& library, std::string& why);
// Opens a library. Error: MISSING_DEPENDENCY, with `fix`, if the library cannot be opened. `what`
// names the library in the message, as in "the OpenCL loader".
[[nodiscard]] Result<void*> open_library(const std::string& library, std::string_view what,
                                         std::string_view fix);
// Returns the address of a symbol, or null if there is none.
[[nodiscard]] void* symbol_in(void* library, const char* name);

// Looks up functions by `find(name)`, and remembers the name of the first missing function.
template <typename Find>
class Functions {
  public:
    explicit Functions(Find find) : find_(std::move(find)) {}
    template <typename Function>
    void get(Function& out, const char* name) {
        out = reinterpret_cast<Function>(find_(name));
        if (out == nullptr && missing_ == nullptr) missing_ = name;
    }
    // Returns the first missing function, or null if none is missing.
    [[nodiscard]] const char* missing() const { return missing_; }

  private:
    Find find_;
    const char* missing_ = nullptr;
};

}  // namespace wye::sdk
