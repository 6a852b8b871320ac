// SPDX-License-Identifier: Apache-2.0
//
// The API of a device's driver, as an application would use it beside the library: it allocates,
// writes and reads memory, and makes events. The driver's libraries are opened at run time. A
// failed call fails the test.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/driver.hpp"
#include "wye/wye.hpp"

namespace api_test {

// Memory that the driver allocated. The destructor frees it.
class NativeMemory {
  public:
    virtual ~NativeMemory() = default;
    [[nodiscard]] virtual const char* type() const = 0;     // "cl_mem"
    [[nodiscard]] virtual std::uint64_t value() const = 0;  // the handle
    [[nodiscard]] virtual wye_native_handle handle() const {
        return wye_native_of(type(), value());
    }
    // Whether `value` is an address, to which bytes may be added.
    [[nodiscard]] virtual bool has_address() const { return false; }
};
using MemoryPtr = std::unique_ptr<NativeMemory>;

// An event that has not happened yet. It happens at the latest when this object is destroyed.
class NativeEvent {
  public:
    virtual ~NativeEvent() = default;
    [[nodiscard]] virtual wye_native_handle handle() const = 0;
    virtual void happen() = 0;
};
using EventPtr = std::unique_ptr<NativeEvent>;

class NativeApi {
  public:
    // Sets a fake driver up, before the library opens it.
    static void begin();
    // The API of the driver that the device's plugin uses.
    [[nodiscard]] static std::unique_ptr<NativeApi> open(const wye::Device& device);
    virtual ~NativeApi() = default;

    [[nodiscard]] virtual MemoryPtr allocate(std::uint64_t bytes) = 0;
    virtual void write(const NativeMemory& to, const void* from, std::uint64_t bytes) = 0;
    virtual void read(const NativeMemory& from, void* to, std::uint64_t bytes) = 0;
    // Whether the driver can tell the size of an allocation.
    [[nodiscard]] virtual bool knows_sizes() const { return true; }
    // Whether memory may be used after the library closed the device.
    [[nodiscard]] virtual bool outlives_device() const { return false; }

    // Null: the API has no events.
    [[nodiscard]] virtual EventPtr event() { return nullptr; }
    // Whether other native queues run on while one waits for an event.
    [[nodiscard]] virtual bool has_queues() const { return true; }
    // Events that the library refuses to wait for, and what the error says.
    struct RefusedEvent {
        wye_native_handle handle;
        wye::Code code;
        const char* says;
    };
    [[nodiscard]] virtual std::vector<RefusedEvent> refused_events(const NativeEvent&) {
        return {};
    }

    // Memory that the library refuses to adopt, and what the error says.
    struct Refusal {
        MemoryPtr memory;
        std::uint64_t bytes;
        wye::Code code;
        const char* says;
    };
    [[nodiscard]] virtual std::vector<Refusal> refused(std::uint64_t) { return {}; }
};

// A device in a context of its own, the driver's API beside it, and a program that triples each
// word and adds 1.
struct Beside {
    explicit Beside(const std::string& selector = support::test_driver());
    // Whether the device really runs programs. False on a fake driver.
    [[nodiscard]] bool computes() const;

    wye::Context context;
    wye::Device device;
    std::unique_ptr<NativeApi> api;
    wye::Program program;  // input `x`, output `r`
};

// A buffer in these tests has kCount words. counting() returns the words first, first + 1, ...
constexpr std::uint32_t kCount = 1000;
constexpr std::uint64_t kBytes = std::uint64_t{kCount} * 4;
[[nodiscard]] std::vector<std::uint32_t> counting(std::uint32_t first);

}  // namespace api_test
