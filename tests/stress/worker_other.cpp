// SPDX-License-Identifier: Apache-2.0
//
// Steps that are neither transfers nor dispatches: descriptions, reports, invalid calls,
// short-lived contexts.
#include "worker.hpp"
#include "wye/device.h"

namespace wye::stress {

void Worker::describe() {
    const std::size_t in = pick(world_.places().size());
    const std::shared_ptr<SharedProgram> program = some_program(in);
    if (!program) return create_program();
    wye_context* const context = place(in).context;
    wye_blob* blob = nullptr;
    wye_status status = WYE_OK;
    switch (pick(4)) {
        case 0: {
            // Another thread may have freed the program already.
            wye_program_description description;
            WYE_INIT(description);
            status = call("wye_program_describe", {WYE_STALE_HANDLE}, [&](wye_error** error) {
                return wye_program_describe(context, program->handle, &description, error);
            });
            break;
        }
        case 1:
            status = call("wye_program_analysis", {WYE_STALE_HANDLE}, [&](wye_error** error) {
                return wye_program_analysis(context, program->handle, &blob, error);
            });
            break;
        default: {
            static constexpr std::array<const char*, 4> kFormats = {"text", "wire", "opencl-c",
                                                                    "spirv-vulkan"};
            const wye_string format = wye_str(kFormats[pick(kFormats.size())]);
            status = call("wye_program_lower", {WYE_STALE_HANDLE}, [&](wye_error** error) {
                return wye_program_lower(context, program->handle, format, 0, &blob, error);
            });
        }
    }
    if (status == WYE_STALE_HANDLE && !program->freed) fail("a live program was called stale");
    if (blob != nullptr && wye_blob_bytes(blob).size == 0) fail("a program came out empty");
    wye_blob_free(blob);
}

void Worker::report() {
    Place& here = place(pick(world_.places().size()));
    wye_blob* blob = nullptr;
    const std::uint64_t which = pick(3);
    if (which == 0) {
        call("wye_quirks_report", {},
             [&](wye_error** error) { return wye_quirks_report(&blob, error); });
    } else if (which == 1) {
        const std::string& selector = world_.options().devices.front();
        const wye_string device = {selector.data(), selector.size()};
        call("wye_context_report", {}, [&](wye_error** error) {
            return wye_context_report(here.context, pick(2) == 0 ? wye_str("cpu") : device, &blob,
                                      error);
        });
    } else {
        call("wye_cache_report", {},
             [&](wye_error** error) { return wye_cache_report(here.context, &blob, error); });
    }
    if (blob != nullptr && wye_blob_bytes(blob).size == 0) fail("a report is empty");
    wye_blob_free(blob);
}

void Worker::open_again() {
    Place& here = place(pick(world_.places().size()));
    wye_device device = 0;
    const std::size_t which = pick(world_.options().devices.size());
    const std::string& name = world_.options().devices[which];
    const wye_string selector = {name.data(), name.size()};
    if (call("wye_device_open", {},
             [&](wye_error** error) {
                 return wye_device_open(here.context, selector, 0, &device, error);
             }) == WYE_OK &&
        device != here.devices[which])
        fail("a device that was open was given another handle");
    wye_fact fact;
    WYE_INIT(fact);
    call("wye_device_fact", {WYE_UNSUPPORTED}, [&](wye_error** error) {
        return wye_device_fact(here.context, here.devices[which], wye_str("max_workgroup_size"),
                               &fact, error);
    });
    wye_device_description description;
    WYE_INIT(description);
    if (call("wye_device_describe", {},
             [&](wye_error** error) {
                 return wye_device_describe(here.context, here.devices[which], &description, error);
             }) == WYE_OK &&
        copy(description.selector).find(copy(selector)) != 0)
        fail("a device describes itself as " + copy(description.selector));
}

void Worker::flush() {
    Place& here = place(pick(world_.places().size()));
    const std::size_t device = pick(here.devices.size());
    if (pick(2) == 0) return flush(here, device);
    call("wye_device_trim", {}, [&](wye_error** error) {
        return wye_device_trim(here.context, here.devices[device], nullptr, error);
    });
}

void Worker::flush(Place& here, std::size_t device) {
    call("wye_device_flush", {WYE_TIMEOUT, WYE_CANCELLED}, [&](wye_error** error) {
        return wye_device_flush(here.context, here.devices[device], error);
    });
}

void Worker::foreign_handles() {
    if (own_.empty()) return create_buffer();
    const OwnBuffer& mine = own_[pick(own_.size())];
    Place& home = place(mine.place);
    std::uint64_t size = 0;
    if (call("wye_buffer_size", {},
             [&](wye_error** error) {
                 return wye_buffer_size(home.context, mine.handle, &size, error);
             }) == WYE_OK &&
        size != mine.words.size() * 4)
        fail("a buffer has another size than it was made with");
    const auto refused = [&](const char* name, auto function) {
        const wye_status status =
            call(name, {WYE_WRONG_OWNER, WYE_STALE_HANDLE, WYE_WRONG_KIND}, function);
        if (status == WYE_OK) fail(std::string(name) + " was accepted");
    };
    refused("a buffer for a program",
            [&](wye_error** error) { return wye_program_free(home.context, mine.handle, error); });
    refused("a device for a buffer", [&](wye_error** error) {
        return wye_buffer_free(home.context, home.devices[0], error);
    });
    if (world_.places().size() < 2) return;
    Place& other = place((mine.place + 1) % world_.places().size());
    refused("a buffer of another context", [&](wye_error** error) {
        return wye_buffer_fill(other.context, mine.handle, 0, 4, 0, 4, error);
    });
    refused("a device of another context", [&](wye_error** error) {
        return wye_device_flush(other.context, home.devices[0], error);
    });
}

void Worker::refusals() {
    Place& here = place(pick(world_.places().size()));
    if (pick(2) == 0) {
        wye_program_source source;
        WYE_INIT(source);
        source.text =
            wye_str("wye 1; program wrong; workgroup 64; output r: u32[4]; main { r = 1u; }");
        wye_program program = 0;
        if (call("wrong text", {WYE_INVALID_TEXT, WYE_INVALID_PROGRAM}, [&](wye_error** error) {
                return wye_program_create(here.context, &source, &program, error);
            }) == WYE_OK)
            fail("wrong text was accepted");
    } else {
        wye_device device = 0;
        if (call("a device that is not there", {WYE_INVALID_ARGUMENT, WYE_NO_DEVICE, WYE_NOT_FOUND},
                 [&](wye_error** error) {
                     return wye_device_open(here.context, wye_str("cpu:77"), 0, &device, error);
                 }) == WYE_OK)
            fail("a device that is not there was opened");
    }
}

void Worker::pass_errors() {
    while (wye_error* const error = world_.take_over()) {
        if (copy(wye_error_text(error)).empty() || wye_error_status(error) == WYE_OK)
            fail("an error came empty from another thread");
        wye_error_free(error);
    }
}

void Worker::short_context() {
    Place brief;
    const bool driver = pick(4) == 0;
    const std::vector<std::string> cpu = {"cpu"};
    if (world_.open_place(brief, driver ? world_.options().devices : cpu)) {
        Model model;
        model.xor_word = static_cast<std::uint32_t>(step_);
        if (driver) model = random_model(random_, world_.options().variety);
        const std::string text = model.text();
        wye_program_source source;
        WYE_INIT(source);
        source.text = {text.data(), text.size()};
        wye_program program = 0;
        call("wye_program_create", {}, [&](wye_error** error) {
            return wye_program_create(brief.context, &source, &program, error);
        });
        wye_buffer_create_desc desc;
        WYE_INIT(desc);
        desc.size = 64;
        wye_buffer buffer = 0;
        call("wye_buffer_create", {}, [&](wye_error** error) {
            return wye_buffer_create(brief.context, brief.devices[0], &desc, &buffer, error);
        });
    }
    wye_context_destroy(brief.context);
}

}  // namespace wye::stress
