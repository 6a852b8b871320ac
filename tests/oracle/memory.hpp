// SPDX-License-Identifier: Apache-2.0
//
// Array: buffers and workgroup memory, with the rules for indices out of range, storage types and
// NaNs, and an optional race check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "oracle/value.hpp"

namespace oracle {

// The type of a value loaded from an element type.
Type loaded(Type element);

// Kinds of access. Two accesses of the same kind never race, except writes and atomics whose order
// is visible: those with a used result, and those that do not commute with themselves.
enum class Access { Read, Write, Ordered, Add, Min, Max, And, Or, Xor };
inline constexpr int kAccesses = 9;

// The origin of an access: the invocation (by its number in the grid), the workgroup, and the
// interval between barriers of that workgroup.
struct Accessor {
    std::uint64_t workgroup = 0;
    std::uint64_t interval = 0;
    std::uint64_t invocation = 0;
};

class Array {
  public:
    Array(std::string name, Type type, std::vector<std::byte> bytes);

    void watch();  // checks for races from here on
    void clear();  // sets all elements to zero
    // Forgets all accesses, after a grid barrier, which orders everything.
    void forget() { cells_.assign(cells_.size(), {}); }

    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] Type type() const { return type_; }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
    [[nodiscard]] const std::string& race() const { return race_; }

    // Out of range, a load gives zero, a store is dropped, and an atomic gives zero.
    Value load(const Value& index, const Accessor& who);
    void store(const Value& index, const Value& value, const Accessor& who);
    // Performs ATOMIC_* and returns the old value; for ATOMIC_STORE, a value without a type.
    // `value` and `expected` are set as the operation needs. `used`: whether the result is used.
    Value atomic(std::uint32_t op, const Value& index, const Value& value, const Value& expected,
                 bool used, const Accessor& who);

  private:
    // The accesses of one kind to an element. Workgroups run one after another (until a grid
    // barrier, after which all is forgotten), so the latest workgroup and interval are enough.
    struct Seen {
        bool any = false;
        bool other_workgroups = false;  // also workgroups other than that in `last`
        bool several = false;           // several invocations, in the interval in `last`
        Accessor last;
    };
    struct Cell {
        Seen seen[kAccesses];
    };

    [[nodiscard]] bool find(const Value& index, std::uint64_t& element) const;
    [[nodiscard]] Value get(std::uint64_t element) const;
    void put(std::uint64_t element, const Value& value);
    void note(std::uint64_t element, Access access, const Accessor& who);

    std::string name_;
    Type type_;
    std::vector<std::byte> bytes_;
    std::uint64_t count_;
    std::vector<Cell> cells_;  // empty: no race check
    std::string race_;
};

}  // namespace oracle
