// SPDX-License-Identifier: Apache-2.0
//
// Memory for the arguments that a call borrows. The memory becomes unreadable when the call
// returns. A plugin that reads it later fails its case by rule P-13, and the process ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "wye/abi.h"

namespace harness {

// Copies of the arguments of one call, and of all that they point to. The destructor makes the
// copies unreadable.
class Borrowed {
  public:
    // `slot`: the call's name. The text must stay valid until the process ends.
    explicit Borrowed(const char* slot) : slot_(slot) {}
    ~Borrowed();
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

    template <typename T>
    [[nodiscard]] T* one(const T& value) {
        return many(std::span(&value, 1));
    }
    // Null if there are no values.
    template <typename T>
    [[nodiscard]] T* many(std::span<const T> values) {
        if (values.empty()) return nullptr;
        void* const out = room(values.size_bytes());
        std::memcpy(out, values.data(), values.size_bytes());
        return static_cast<T*>(out);
    }
    [[nodiscard]] wye_string text(wye_string text) {
        return {many(std::span(text.data, text.size)), text.size};
    }
    [[nodiscard]] const void* bytes(const void* from, std::uint64_t size) {
        return from == nullptr ? nullptr
                               : many(std::span(static_cast<const std::byte*>(from), size));
    }
    // Copies the operations with their bindings and parameters. The memory of transfers is not
    // copied, since it stays valid until the value of the submit is reached.
    [[nodiscard]] const wye_operation* operations(std::span<const wye_operation> operations);
    [[nodiscard]] const wye_artifact* artifact(const wye_artifact& artifact);

  private:
    void* room(std::size_t bytes);

    struct Pages {
        std::size_t first, count;
    };
    const char* slot_;
    std::vector<Pages> pages_;
    std::byte* next_ = nullptr;
    std::size_t left_ = 0;
};

// Installs the signal handler. From then on, a plugin that reads an argument after its call has
// returned is reported, and the process ends.
void watch_borrowed();

}  // namespace harness
