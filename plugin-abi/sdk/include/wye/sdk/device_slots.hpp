// SPDX-License-Identifier: Apache-2.0
//
// DeviceSlots: implements the slots of an opened device for a C++ class `Device`. The class has, in
// this order:
//
//     using Buffer, Program, Queue, Command = ...;
//     static Result<std::unique_ptr<Device>> create(plugin, info);
//     Plugin& plugin;                    // has a member `host`
//     const DeviceInfo& info;            // see below
//     LossState loss;
//     Result<MemoryState> memory();      // changing figures, read at each call
//
// `info` has `std::uint64_t most_alignment() const`, the alignment that every buffer keeps, and, if
// the device takes buffers of usage REGISTERED, `host_memory_alignment() const`.
//
// If the driver can fail, the class has `Error failed(status, call, subject)`, which makes the
// error of a failed call and may mark the device as lost; tests can then ask for a loss, by the
// extension wye.loss (loss_slots.hpp). Optional are `Result<void> recover()`,
// called by one thread at a time, and `Error judged(Error)`, which sees each error before the host
// does and may mark the device as lost.
//
// The classes of the device's objects have
//
//     static Result<std::unique_ptr<Buffer>> create(Device&, const wye_buffer_desc&);
//     static Result<std::unique_ptr<Program>> create(Device&, const wye_artifact&, saved);
//     static Result<std::unique_ptr<Queue>> create(Device&, const wye_queue_desc&);
//     static Result<std::unique_ptr<Command>> create(Device&, const wye_command_desc&);
//     void Command::describe(wye_command_info&) const;     // sets the known members
//     Result<void> Command::update(index, const wye_operation&);
//
// `saved` is wye_bytes: the result of `Result<wye_bytes> Program::save()`, or empty. Optional are
// `Result<void> native(NativeValues&) const` of the device, its buffers and its queues (see
// native_slots.hpp, which also has `Buffer::adopt`), `Result<Mapping> Buffer::map() const`, whose
// mappings are coherent, and `void Program::describe(wye_program_info&) const`, which sets the
// known members.
//
// A lost device refuses to create objects. After each call, with no lock held,
// `plugin.deliver_messages()` is called if it exists.
#pragma once

#include "wye/sdk/command.hpp"
#include "wye/sdk/device_info.hpp"
#include "wye/sdk/errors.hpp"
#include "wye/sdk/layout_slots.hpp"
#include "wye/sdk/loss_slots.hpp"
#include "wye/sdk/loss_state.hpp"
#include "wye/sdk/native_slots.hpp"
#include "wye/sdk/queue_slots.hpp"
#include "wye/sdk/timeline_slots.hpp"

namespace wye::sdk {

// Sizes of a device's memory, in bytes.
struct MemoryState {
    std::uint64_t total = 0;
    std::uint64_t free = UINT64_MAX;  // UINT64_MAX: unknown
};

// The host's view of a buffer.
struct Mapping {
    void* address = nullptr;
    bool cached = false;  // the host reads the mapping as fast as its own memory
};

template <typename Device>
struct DeviceSlots {
    using Buffer = typename Device::Buffer;
    using Program = typename Device::Program;
    using Queue = typename Device::Queue;
    using Command = typename Device::Command;
    static constexpr std::string_view kPlugin = Queue::kPlugin;

    [[nodiscard]] static Device& of(wye_device_object* object) {
        return *reinterpret_cast<Device*>(object);
    }

    static wye_status buffer_create(wye_device_object* object, const wye_buffer_desc* desc,
                                    wye_buffer_object** out, wye_error** error) {
        Device& device = of(object);
        return run_unless_lost(device, error, [&]() -> Result<void> {
            constexpr bool kAdopts = requires { &Buffer::adopt; };
            WYE_TRY(known_parts(desc->header, desc->flags, kPlugin, "a buffer's description",
                                kAdopts ? WYE_CHAIN_NATIVE_MEMORY : 0));
            if (desc->usage > WYE_BUFFER_USAGE_REGISTERED)
                return errors::unknown_usage(kPlugin, desc->usage,
                                             std::string(from_abi(desc->label)));
            if (desc->usage == WYE_BUFFER_USAGE_REGISTERED &&
                device.info.host_memory_alignment() == 0)
                return errors::not_registrable(device.info.name);
            if (desc->usage != WYE_BUFFER_USAGE_REGISTERED &&
                desc->alignment > device.info.most_alignment())
                return errors::strict_alignment(desc->alignment, device.info.most_alignment(),
                                                device.info.name,
                                                std::string(from_abi(desc->label)));
            if constexpr (kAdopts)
                if (native_memory(desc->header) != nullptr) {
                    WYE_ASSIGN(auto adopted, Buffer::adopt(device, *desc));
                    *out = reinterpret_cast<wye_buffer_object*>(adopted.release());
                    return {};
                }
            WYE_ASSIGN(auto buffer, Buffer::create(device, *desc));
            *out = reinterpret_cast<wye_buffer_object*>(buffer.release());
            return {};
        });
    }

    static void buffer_destroy(wye_device_object*, wye_buffer_object* buffer) {
        delete reinterpret_cast<Buffer*>(buffer);
    }

    static wye_status buffer_map(wye_device_object* object, wye_buffer_object* buffer,
                                 wye_mapping* out, wye_error** error) {
        return run_unless_lost(of(object), error, [&]() -> Result<void> {
            WYE_ASSIGN(const Mapping mapping, reinterpret_cast<const Buffer*>(buffer)->map());
            out->address = mapping.address;
            out->flags = mapping.cached ? WYE_MAPPING_CACHED : 0;
            return {};
        });
    }

    static wye_status program_create(wye_device_object* object, const wye_artifact* artifact,
                                     wye_program_object** out, wye_error** error) {
        return program_load(object, artifact, {}, out, error);
    }

    static void program_destroy(wye_device_object*, wye_program_object* program) {
        delete reinterpret_cast<Program*>(program);
    }

    static wye_status program_info(wye_device_object* object, wye_program_object* program,
                                   wye_program_info* out, wye_error** error) {
        return run_unless_lost(of(object), error, [&]() -> Result<void> {
            reinterpret_cast<const Program*>(program)->describe(*out);
            return {};
        });
    }

    static wye_status queue_create(wye_device_object* object, const wye_queue_desc* desc,
                                   wye_queue_object** out, wye_timeline_object** timeline,
                                   const wye_queue_table** table, wye_error** error) {
        Device& device = of(object);
        return run_unless_lost(device, error, [&]() -> Result<void> {
            WYE_TRY(known_parts(desc->header, desc->flags, kPlugin, "a queue's description"));
            WYE_ASSIGN(auto queue, Queue::create(device, *desc));
            device.loss.add_queue(queue.get());
            *timeline = queue->timeline().object();
            *out = reinterpret_cast<wye_queue_object*>(queue.release());
            *table = &QueueSlots<Queue>::kTable;
            return {};
        });
    }

    static wye_status memory_info(wye_device_object* object, wye_memory_info* out,
                                  wye_error** error) {
        Device& device = of(object);
        return run_unless_lost(device, error, [&]() -> Result<void> {
            WYE_ASSIGN(const MemoryState state, device.memory());
            out->total_bytes = state.total;
            out->free_bytes = state.free;
            return {};
        });
    }

    static std::uint32_t device_lost(wye_device_object* object) {
        return of(object).loss.lost() ? 1 : 0;
    }

    static wye_status try_recover(wye_device_object* object, wye_error** error) {
        Device& device = of(object);
        return run_on(device, error, [&]() -> Result<void> {
            if (!device.loss.lost()) return {};
            WYE_TRY(device.recover());
            device.loss.clear();
            return {};
        });
    }

    static wye_status program_save(wye_device_object* object, wye_program_object* program,
                                   wye_bytes* out, wye_error** error) {
        return run_unless_lost(of(object), error, [&]() -> Result<void> {
            WYE_ASSIGN(*out, reinterpret_cast<Program*>(program)->save());
            return {};
        });
    }

    static wye_status program_load(wye_device_object* object, const wye_artifact* artifact,
                                   wye_bytes saved, wye_program_object** out, wye_error** error) {
        Device& device = of(object);
        return run_unless_lost(device, error, [&]() -> Result<void> {
            WYE_TRY(known_parts(artifact->header, artifact->flags, kPlugin, "an artifact"));
            WYE_ASSIGN(auto program, Program::create(device, *artifact, saved));
            *out = reinterpret_cast<wye_program_object*>(program.release());
            return {};
        });
    }

    static wye_status command_create(wye_device_object* object, const wye_command_desc* desc,
                                     wye_command_object** out, wye_error** error) {
        Device& device = of(object);
        return run_unless_lost(device, error, [&]() -> Result<void> {
            WYE_TRY(known_parts(desc->header, desc->flags & ~std::uint32_t{WYE_COMMAND_EDGES},
                                kPlugin, "a command's description"));
            WYE_ASSIGN(auto command, Command::create(device, *desc));
            *out = reinterpret_cast<wye_command_object*>(command.release());
            return {};
        });
    }

    static void command_destroy(wye_device_object*, wye_command_object* command) {
        delete &sdk::command_of<Command>(command);
    }

    static wye_status command_info(wye_device_object* object, wye_command_object* command,
                                   wye_command_info* out, wye_error** error) {
        return run_unless_lost(of(object), error, [&]() -> Result<void> {
            sdk::command_of<Command>(command).describe(*out);
            return {};
        });
    }

    static wye_status command_update(wye_device_object* object, wye_command_object* command,
                                     std::uint64_t index, const wye_operation* operation,
                                     wye_error** error) {
        return run_unless_lost(of(object), error, [&]() -> Result<void> {
            return sdk::command_of<Command>(command).update(index, *operation);
        });
    }

    static void close(wye_device_object* object) {
        auto& plugin = of(object).plugin;
        delete &of(object);
        after_call(plugin);
    }

    [[nodiscard]] static constexpr wye_device_table make_table() {
        wye_device_table table{};
        table.header = header_of(sizeof table);
        table.buffer_create = buffer_create;
        table.buffer_destroy = buffer_destroy;
        if constexpr (requires { &Buffer::map; }) table.buffer_map = buffer_map;
        table.program_create = program_create;
        table.program_destroy = program_destroy;
        if constexpr (requires { &Program::describe; }) table.program_info = program_info;
        table.queue_create = queue_create;
        TimelineSlots<Device>::fill(table);
        table.memory_info = memory_info;
        if constexpr (requires { &Device::failed; }) table.device_lost = device_lost;
        if constexpr (requires { &Device::recover; }) table.try_recover = try_recover;
        if constexpr (requires { &Program::save; }) {
            table.program_save = program_save;
            table.program_load = program_load;
        }
        table.command_create = command_create;
        table.command_destroy = command_destroy;
        table.command_info = command_info;
        table.command_update = command_update;
        if constexpr (requires { &Device::native; } || LayoutSlots<Device>::kHas ||
                      LossSlots<Device>::kHas)
            table.get_extension = get_extension;
        table.close = close;
        return table;
    }

    static const void* get_extension(wye_device_object*, wye_string name, std::uint32_t version) {
        const void* table = nullptr;
        if constexpr (requires { &Device::native; })
            table = NativeSlots<Device>::find(from_abi(name), version);
        if constexpr (LayoutSlots<Device>::kHas)
            if (table == nullptr) table = LayoutSlots<Device>::find(from_abi(name), version);
        if constexpr (LossSlots<Device>::kHas)
            if (table == nullptr) table = LossSlots<Device>::find(from_abi(name), version);
        return table;
    }

    static constexpr wye_device_table kTable = make_table();
};

}  // namespace wye::sdk
