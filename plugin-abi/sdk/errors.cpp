// SPDX-License-Identifier: Apache-2.0
#include "wye/sdk/errors.hpp"

#include <span>

#include "wye/sdk/plugin.hpp"

namespace wye::sdk::errors {

// Strings of at most 15 characters are stored inside their objects, so nothing is allocated.
Error brief(Code code) noexcept { return {code, "out of memory", "Fix: add memory"}; }

namespace {

std::string quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

}  // namespace

Error native(const Native& failed, std::string_view call, std::string_view subject,
             std::string_view fix) {
    std::string message(call);
    if (!subject.empty()) message += " on " + std::string(subject);
    message += " failed: " + std::string(failed.name) + " (" + std::to_string(failed.status);
    if (!failed.detail.empty()) message += ", " + std::string(failed.detail);
    message += ")";
    Error error(failed.code == Code::OK ? Code::DRIVER : failed.code, std::move(message),
                std::string(fix), std::string(subject));
    error.native_domain = failed.domain;
    error.native_code = failed.status;
    return error;
}

Error lost_on_request(const std::string& device) {
    return {Code::DEVICE_LOST,
            quoted(device) + " counts as lost, since the extension `wye.loss` was asked to lose it",
            kOpenAgain, device};
}

Error library_absent(std::string_view what, const std::string& library, std::string_view why,
                     std::string_view fix) {
    return {Code::MISSING_DEPENDENCY,
            std::string(what) + " " + quoted(library) + " cannot be opened: " + std::string(why),
            std::string(fix), library};
}

Error function_absent(const std::string& library, std::string_view function,
                      std::string_view part_of, std::string_view fix) {
    return {Code::MISSING_DEPENDENCY,
            quoted(library) + " has no " + quoted(function) + ", which is part of " +
                std::string(part_of),
            std::string(fix), library};
}

Error no_memory(Error error, std::uint64_t size, const std::string& device, std::string_view why) {
    error.code = Code::DEVICE_MEMORY;
    error.message = "a buffer of " + std::to_string(size) + " bytes does not fit into " +
                    quoted(device) + ": " + std::string(why);
    error.fix = "Fix: free buffers, use smaller ones, or choose a device with more memory";
    return error;
}

Error unknown_usage(std::string_view plugin, std::uint32_t usage, const std::string& label) {
    return {
        Code::UNSUPPORTED,
        "the " + std::string(plugin) + " plugin does not know buffer usage " +
            std::to_string(usage),
        "Fix: use the usage DEVICE, UPLOAD, READBACK, SHARED, STAGING or REGISTERED, or a newer "
        "plugin",
        label};
}

Error strict_alignment(std::uint64_t alignment, std::uint64_t most, const std::string& device,
                       const std::string& label) {
    return {Code::UNSUPPORTED,
            "an alignment of " + std::to_string(alignment) + " bytes was asked for, and " +
                quoted(device) + " aligns buffers to " + std::to_string(most),
            "Fix: ask for an alignment of " + std::to_string(most) + " bytes or less", label};
}

Error not_mappable(const std::string& device) {
    return {
        Code::UNSUPPORTED,
        "a buffer of usage DEVICE on " + quoted(device) + " is in memory that the host cannot map",
        "Fix: create the buffer with the usage UPLOAD, READBACK or SHARED", device};
}

Error not_registrable(const std::string& device) {
    return {Code::UNSUPPORTED,
            "the driver of " + quoted(device) +
                " has no way to copy from and to memory of the application at the bus's speed",
            "Fix: leave the memory unregistered; transfers then go through staging memory", device};
}

Error only_staging_mapped(const std::string& device) {
    return {Code::UNSUPPORTED,
            quoted(device) +
                " maps buffers of usage STAGING only: its driver forbids commands on a mapped one",
            "Fix: upload and download", device};
}

Error unknown_format(std::string_view plugin, std::string_view takes, std::string_view format,
                     const std::string& label) {
    return {Code::UNSUPPORTED,
            "the " + std::string(plugin) + " plugin takes " + std::string(takes) + ", not " +
                quoted(format),
            "Fix: hand it an artifact of a format that the device lists", label};
}

Error unknown_slot(std::string_view plugin, std::uint32_t kind, const std::string& label) {
    return {
        Code::UNSUPPORTED,
        "the " + std::string(plugin) + " plugin does not know slot kind " + std::to_string(kind),
        "Fix: use a plugin of the host's version", label};
}

Error unknown_binding(std::uint32_t binding, std::uint32_t count, const std::string& label) {
    return {Code::INVALID_PROGRAM,
            "a slot of program " + quoted(label) + " names binding " + std::to_string(binding) +
                " of " + std::to_string(count),
            "Fix: use binding numbers below the artifact's binding count", label};
}

Error too_many_invocations(const std::string& label, std::uint64_t invocations,
                           const std::string& device, std::uint64_t most, std::string_view fix) {
    return {Code::LIMIT_EXCEEDED,
            "program " + quoted(label) + " asks for workgroups of " + std::to_string(invocations) +
                " invocations; compiled for " + quoted(device) + " it can have " +
                std::to_string(most),
            std::string(fix), label};
}

Error folded_grid(const std::string& label) {
    return {Code::UNSUPPORTED,
            "program " + quoted(label) + " was not compiled for a folded or split grid",
            "Fix: create the program from an artifact with a grid slot", label};
}

Error misaligned(std::uint32_t binding, std::uint64_t offset, std::uint64_t alignment,
                 const std::string& device, const std::string& label) {
    return {Code::INVALID_ARGUMENT,
            "binding " + std::to_string(binding) + " of program " + quoted(label) +
                " starts at byte " + std::to_string(offset) + ", and " + quoted(device) +
                " binds ranges at multiples of " + std::to_string(alignment),
            "Fix: bind ranges at multiples of " + std::to_string(alignment) +
                " bytes (`buffer_alignment` of the device)",
            label};
}

Error unknown_operation(std::string_view plugin, std::uint32_t kind) {
    return {Code::UNSUPPORTED,
            "the " + std::string(plugin) + " plugin does not know operation kind " +
                std::to_string(kind),
            "Fix: hand it dispatches, copies, fills, uploads, downloads and commands"};
}

Error not_in_command(std::string_view plugin, std::uint32_t kind) {
    return {Code::UNSUPPORTED,
            "the " + std::string(plugin) + " plugin takes no operation of kind " +
                std::to_string(kind) + " in a command",
            "Fix: make commands of dispatches, copies and fills"};
}

Error unknown_flags(std::string_view plugin, std::string_view subject, std::uint32_t flags,
                    std::uint32_t reserved) {
    return {Code::UNSUPPORTED,
            "the " + std::string(plugin) + " plugin does not know all flags of " +
                std::string(subject) + " (flags " + std::to_string(flags) +
                (reserved == 0 ? ")"
                               : "; a member that must be 0 is " + std::to_string(reserved) + ")"),
            "Fix: use a newer version of the plugin"};
}

Error unknown_launch(std::string_view plugin, std::uint32_t flags) {
    const std::uint32_t named = flags & (WYE_LAUNCH_COOPERATIVE | WYE_LAUNCH_INDIRECT);
    if (named == 0) return unknown_flags(plugin, "an operation", flags);
    const bool cooperative = (named & WYE_LAUNCH_COOPERATIVE) != 0;
    return {Code::UNSUPPORTED,
            "the " + std::string(plugin) + " plugin has no " +
                (cooperative ? "cooperative" : "indirect") + " launches (flags " +
                std::to_string(flags) + ")",
            std::string("Fix: use a device with the fact `") +
                (cooperative ? "grid_sync`" : "indirect_dispatch`")};
}

Error unknown_part(std::string_view plugin, const wye_operation& op, std::uint32_t launch) {
    if (op.flags != 0) return unknown_flags(plugin, "an operation", op.flags);
    if (const wye_header* entry = critical_entry(op.next))
        return unknown_extension("an operation", *entry);
    const bool dispatch = op.kind == WYE_OPERATION_DISPATCH;
    if (dispatch && (op.u.dispatch.flags & ~launch) != 0)
        return unknown_launch(plugin, op.u.dispatch.flags & ~launch);
    std::uint32_t flags = dispatch ? op.u.dispatch.trap.flags | op.u.dispatch.indirect.flags : 0;
    const auto bindings = dispatch ? std::span(op.u.dispatch.bindings, op.u.dispatch.binding_count)
                                   : std::span(op.u.execute.slots, op.u.execute.slot_count);
    for (const wye_binding& binding : bindings) flags |= binding.flags;
    return unknown_flags(plugin, "a binding", flags);
}

Error too_many_at_once(const std::string& label, std::uint64_t groups, const std::string& device,
                       std::uint64_t most) {
    return {Code::LIMIT_EXCEEDED,
            "a cooperative launch of " + quoted(label) + " has " + std::to_string(groups) +
                " workgroups, and " + quoted(device) + " runs " + std::to_string(most) +
                " of them at once",
            "Fix: launch fewer workgroups, or use less workgroup memory and fewer registers",
            label};
}

Error too_many_found(const std::string& label, const std::uint32_t (&groups)[3],
                     const std::string& device) {
    return {Code::LIMIT_EXCEEDED,
            "an indirect launch of " + quoted(label) + " found " + std::to_string(groups[0]) +
                " by " + std::to_string(groups[1]) + " by " + std::to_string(groups[2]) +
                " workgroups in its buffer, more than " + quoted(device) + " counts",
            "Fix: write the counts of workgroups that the launch needs", label};
}

Error submit_out_of_memory() noexcept {
    return made_or_brief(Code::OUT_OF_MEMORY, [] {
        return Error(Code::OUT_OF_MEMORY, "a submit ran out of host memory",
                     "Fix: free host memory");
    });
}

Error cancelled() {
    return {Code::CANCELLED, "the work was cancelled",
            "Fix: submit the work again, with more time if it was a timeout"};
}

Error timed_out(std::uint64_t value, std::uint64_t timeout_ns) {
    return {Code::TIMEOUT,
            "value " + std::to_string(value) + " was not reached within " +
                std::to_string(timeout_ns) + " ns",
            "Fix: wait longer; the work continues"};
}

Error none_reached(std::uint64_t events, std::uint64_t timeout_ns) {
    return {Code::TIMEOUT,
            "none of " + std::to_string(events) + " events was reached within " +
                std::to_string(timeout_ns) + " ns",
            "Fix: wait longer; the work continues"};
}

Error not_signalled(std::uint64_t value) {
    return {Code::UNSUPPORTED,
            "a submit waits for value " + std::to_string(value) + ", which nothing signals yet",
            "Fix: submit it after the work that signals the value"};
}

Error unknown_extension(std::string_view subject, const wye_header& entry) {
    const std::uint32_t type = entry.type & ~WYE_CHAIN_CRITICAL;
    const bool named = type == WYE_CHAIN_NAMED && entry.size >= WYE_SIZE_TO(wye_named_entry, name);
    return {Code::UNSUPPORTED_EXTENSION,
            std::string(subject) + " demands the unknown extension " +
                (named ? quoted(from_abi(reinterpret_cast<const wye_named_entry&>(entry).name))
                       : std::to_string(type)),
            "Fix: use a newer version of the plugin"};
}

Error times_not_kept(std::uint64_t value, std::uint64_t kept) {
    return {Code::UNSUPPORTED, "times of value " + std::to_string(value) + " are not kept",
            "Fix: submit it with WYE_SUBMISSION_TIMED, and ask within " + std::to_string(kept) +
                " such submits"};
}

}  // namespace wye::sdk::errors
