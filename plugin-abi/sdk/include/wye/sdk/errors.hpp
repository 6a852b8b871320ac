// SPDX-License-Identifier: Apache-2.0
//
// Errors that all plugins share, so that they have the same wording. Thread-safe.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "wye/sdk/result.hpp"

namespace wye::sdk::errors {

// Makes an error without allocating, for cases in which there is no memory for a longer error.
[[nodiscard]] Error brief(Code code) noexcept;
// Returns what `make` returns, or a brief error of `code` if `make` runs out of memory.
template <typename Make>
[[nodiscard]] Error made_or_brief(Code code, Make&& make) noexcept {
    try {
        return make();
    } catch (const std::exception&) {
        return brief(code);
    }
}

// The error of a failed driver call: "CALL on SUBJECT failed: NAME (-5)". `status` is the call's
// result, `name` the name of that result, and `code` the code reported to the host.
struct Native {
    std::string_view domain;  // "opencl"
    Code code = Code::DRIVER;
    std::int64_t status = 0;
    std::string_view name;    // "CL_OUT_OF_RESOURCES"
    std::string_view detail;  // more about the status, or empty
};
[[nodiscard]] Error native(const Native& failed, std::string_view call, std::string_view subject,
                           std::string_view fix);

// Remedies for a lost device that can be opened again, and for a lost device that needs a new
// process.
inline constexpr const char* kOpenAgain =
    "Fix: open the device again; if that fails, restart the process; look for the device in the "
    "system log, and report the loss if a program of Wye caused it";
inline constexpr const char* kRestart =
    "Fix: restart the process: after such a loss the driver gives this process no new context";

// Makes the error DEVICE_LOST for a device that is lost on request, by the extension wye.loss.
[[nodiscard]] Error lost_on_request(const std::string& device);

// ---- Opening a driver ----

[[nodiscard]] Error library_absent(std::string_view what, const std::string& library,
                                   std::string_view why, std::string_view fix);
// Makes the error for a function that the driver's library lacks. `part_of` is the version that has
// the function, such as "OpenCL 1.2".
[[nodiscard]] Error function_absent(const std::string& library, std::string_view function,
                                    std::string_view part_of, std::string_view fix);

// ---- Buffers ----

// Makes DEVICE_MEMORY from the driver's `error`. `why` has the driver's reason and the memory that
// is left.
[[nodiscard]] Error no_memory(Error error, std::uint64_t size, const std::string& device,
                              std::string_view why);

[[nodiscard]] Error unknown_usage(std::string_view plugin, std::uint32_t usage,
                                  const std::string& label);
// Makes the error for an alignment that is too strict. `most` is the strictest alignment that the
// device's buffers keep.
[[nodiscard]] Error strict_alignment(std::uint64_t alignment, std::uint64_t most,
                                     const std::string& device, const std::string& label);
[[nodiscard]] Error not_mappable(const std::string& device);
// Makes the error for the usage REGISTERED on a device that does not take application memory.
[[nodiscard]] Error not_registrable(const std::string& device);
[[nodiscard]] Error only_staging_mapped(const std::string& device);

// ---- Programs ----

// Makes the error for an artifact of an unknown format. `plugin` is the name in messages, such as
// "OpenCL"; `takes` lists the known formats: "`opencl-c`".
[[nodiscard]] Error unknown_format(std::string_view plugin, std::string_view takes,
                                   std::string_view format, const std::string& label);
[[nodiscard]] Error unknown_slot(std::string_view plugin, std::uint32_t kind,
                                 const std::string& label);
[[nodiscard]] Error unknown_binding(std::uint32_t binding, std::uint32_t count,
                                    const std::string& label);
[[nodiscard]] Error too_many_invocations(const std::string& label, std::uint64_t invocations,
                                         const std::string& device, std::uint64_t most,
                                         std::string_view fix);
// Makes the error for a launch of part of a grid by a program without a WYE_SLOT_GRID.
[[nodiscard]] Error folded_grid(const std::string& label);
// Makes the error for a bound range whose offset breaks the device's alignment.
[[nodiscard]] Error misaligned(std::uint32_t binding, std::uint64_t offset, std::uint64_t alignment,
                               const std::string& device, const std::string& label);

// ---- Queues and timelines ----

[[nodiscard]] Error unknown_operation(std::string_view plugin, std::uint32_t kind);
[[nodiscard]] Error not_in_command(std::string_view plugin, std::uint32_t kind);
// Makes the error for unknown flags of `subject`, such as "a submission", or for another member
// that is not zero.
[[nodiscard]] Error unknown_flags(std::string_view plugin, std::string_view subject,
                                  std::uint32_t flags, std::uint32_t reserved = 0);
// Makes the error for unknown flags of an operation. If the flags ask for a cooperative or an
// indirect launch, the message says that the plugin has none.
[[nodiscard]] Error unknown_launch(std::string_view plugin, std::uint32_t flags);
// Makes the error for an operation that has unknown flags, a binding with unknown flags, or a
// critical extension. `launch`: the flags that dispatches may have.
[[nodiscard]] Error unknown_part(std::string_view plugin, const wye_operation& op,
                                 std::uint32_t launch);
// Makes the error for a cooperative launch of more workgroups than can run at once. `most`: the
// number that can run at once, which may be 0.
[[nodiscard]] Error too_many_at_once(const std::string& label, std::uint64_t groups,
                                     const std::string& device, std::uint64_t most);
// Makes the error for an indirect launch whose buffer has more workgroups than the device allows.
[[nodiscard]] Error too_many_found(const std::string& label, const std::uint32_t (&groups)[3],
                                   const std::string& device);
[[nodiscard]] Error submit_out_of_memory() noexcept;
[[nodiscard]] Error cancelled();
[[nodiscard]] Error timed_out(std::uint64_t value, std::uint64_t timeout_ns);
[[nodiscard]] Error none_reached(std::uint64_t events, std::uint64_t timeout_ns);
[[nodiscard]] Error not_signalled(std::uint64_t value);
// Makes the error for a critical extension that the plugin does not know. `subject` is, for
// example, "a timeline's description".
[[nodiscard]] Error unknown_extension(std::string_view subject, const wye_header& entry);
[[nodiscard]] Error times_not_kept(std::uint64_t value, std::uint64_t kept);

}  // namespace wye::sdk::errors
