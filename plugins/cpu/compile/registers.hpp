// SPDX-License-Identifier: Apache-2.0
//
// The registers of a program during its compilation, and the values in them. A register is freed
// when its last holder is destroyed, so holders define lifetimes: a temporary ends with its
// statement, a local after the last statement of its block that uses it. Used by one compiler.
// Emits no code.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cpu/kernels/set.hpp"

namespace wye::cpu {

// Room: allocates lane memory (in bytes), or views or scalars (by number). Freed room is reused for
// requests of the same size.
class Room {
  public:
    explicit Room(std::uint64_t first = 0) : end_(first) {}
    // Allocates `size`, and leaves `skew` unused behind it. `fresh`: takes room that no instruction
    // has written, for values that the runner sets.
    [[nodiscard]] std::uint64_t take(std::uint64_t size, std::uint64_t skew, bool fresh = false) {
        Freed& freed = freed_[size];
        if (!fresh && !freed.at.empty()) {
            const std::uint64_t at = freed.at.back();
            freed.at.pop_back();
            return at;
        }
        // give() must not fail, so the list always has capacity for every register made.
        if (freed.at.capacity() <= freed.made) freed.at.reserve(2 * freed.made + 4);
        ++freed.made;
        const std::uint64_t at = end_;
        end_ += size + skew;
        return at;
    }
    // Frees the room that take() returned. Call at most once per room.
    void give(std::uint64_t at, std::uint64_t size) noexcept {
        const auto freed = freed_.find(size);
        if (freed != freed_.end()) freed->second.at.push_back(at);
    }
    [[nodiscard]] std::uint64_t end() const { return end_; }

  private:
    struct Freed {
        std::vector<std::uint64_t> at;
        std::size_t made = 0;  // registers of this size, free or not
    };
    std::map<std::uint64_t, Freed> freed_;
    std::uint64_t end_;
};

// A lane register, view, local array or scalar. `room` is null if another register owns the memory.
struct Register {
    Room* room = nullptr;
    std::uint64_t at = 0;  // byte offset, or number of the view or scalar
    std::uint64_t size = 0;
    bool variable = false;  // the content may change, so a value that must last is copied
    // For a view: the register for a copy, used where the array cannot serve as operand.
    std::shared_ptr<const Register> copy;

    Register(Room* from, std::uint64_t place, std::uint64_t bytes, bool changes)
        : room(from), at(place), size(bytes), variable(changes) {}
    Register(const Register&) = delete;
    Register& operator=(const Register&) = delete;
    ~Register() {
        if (room != nullptr) room->give(at, size);
    }
    [[nodiscard]] std::uint32_t number() const { return static_cast<std::uint32_t>(at); }
};
using Held = std::shared_ptr<const Register>;

// One component of a value.
struct Value {
    enum class Form : std::uint8_t {
        None,
        Constant,  // `bits`
        Scalar,    // uniform: scalar `held`
        Lanes,     // lane register `held`
        Affine,    // u32 or i32: scalar `held` + lane number, wrapping
        Ramp,      // bool: the lanes that are in the ramp at scalar `held` and in all of `also`
    };
    Form form = Form::None;
    Num num = Num::U32;
    bool never_nan = false;
    std::uint64_t bits = 0;
    Held held;
    std::vector<Held> also;  // at most 2

    [[nodiscard]] bool uniform() const { return form == Form::Constant || form == Form::Scalar; }
    [[nodiscard]] bool constant() const { return form == Form::Constant; }
    [[nodiscard]] bool lanes() const { return form == Form::Lanes; }
    [[nodiscard]] bool affine() const { return form == Form::Affine; }
    [[nodiscard]] bool ramp() const { return form == Form::Ramp; }
    // Whether the value differs between lanes but is stored in scalars.
    [[nodiscard]] bool symbolic() const { return affine() || ramp(); }
    [[nodiscard]] bool variable() const { return held && held->variable; }
};

struct Values {
    std::array<Value, 4> part;
    std::uint8_t count = 0;

    Values() = default;
    Values(Value one) : count(1) { part[0] = std::move(one); }
    void add(Value value) { part[count++] = std::move(value); }
    [[nodiscard]] const Value& operator[](std::size_t n) const { return part[n]; }
    [[nodiscard]] Value& operator[](std::size_t n) { return part[n]; }
};

[[nodiscard]] constexpr Width width_of(Num num) {
    switch (num) {
        case Num::Bool:
            return B1;
        case Num::I32:
        case Num::U32:
        case Num::F32:
        case Num::F16:
            return B4;
        default:
            return B8;
    }
}
[[nodiscard]] constexpr std::uint32_t bytes_of(Width width) {
    return width == B1 ? 1U : width == B4 ? 4U : 8U;
}
[[nodiscard]] constexpr bool floating(Num num) {
    return num == Num::F32 || num == Num::F64 || num == Num::F16;
}

}  // namespace wye::cpu
