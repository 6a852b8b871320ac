// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"

#include <array>

namespace wye::exec::test::test_wrong_calls {

std::vector<Call> resource_calls() {
    return {
        {"wye_buffer_upload",
         [](const World& w, wye_error** e) {
             const std::array<std::uint32_t, 4> words{};
             return wye_buffer_upload(w.context, w.buffer, {w.pointer(words), 16}, e);
         },
         {&World::buffer},
         {},
         true,
         false,
         true},
        {"wye_buffer_download",
         [](const World& w, wye_error** e) {
             std::array<std::uint32_t, 4> words{};
             return wye_buffer_download(w.context, w.buffer, w.pointer(words), 16, e);
         },
         {&World::buffer},
         {},
         true,
         false,
         true},
        {"wye_buffer_describe",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_buffer_info>();
             return wye_buffer_describe(w.context, w.buffer, w.pointer(out), e);
         },
         {&World::buffer},
         {},
         true,
         true},
        {"wye_buffer_set_label",
         [](const World& w, wye_error** e) {
             return wye_buffer_set_label(w.context, w.buffer, wye_str("anew"), e);
         },
         {&World::buffer}},
        {"wye_buffer_map",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_buffer_mapping>();
             const wye_status status = wye_buffer_map(w.context, w.shared, w.pointer(out), e);
             if (status == WYE_OK) return wye_buffer_unmap(w.context, w.shared, e);
             return status;
         },
         {&World::shared},
         {},
         true,
         true,
         true},
        {"wye_buffer_sync",
         [](const World& w, wye_error** e) {
             return wye_buffer_sync(w.context, w.shared, 0, 16, WYE_SYNC_TO_HOST, e);
         },
         {&World::shared},
         {},
         false,
         false,
         true},
        {"wye_buffer_unmap",
         [](const World& w, wye_error** e) { return wye_buffer_unmap(w.context, w.shared, e); },
         {&World::shared}},
        {"wye_buffer_copy_across",
         [](const World& w, wye_error** e) {
             return wye_buffer_copy_across(w.context, w.buffer, 0, w.other, 0, 4, e);
         },
         {&World::buffer, &World::other},
         {},
         false,
         false,
         true},
        {"wye_device_prepare",
         [](const World& w, wye_error** e) { return wye_device_prepare(w.context, w.device, e); },
         {&World::device},
         {},
         false,
         false,
         true},
        {"wye_device_is_lost",
         [](const World& w, wye_error** e) {
             std::uint32_t out = 0;
             return wye_device_is_lost(w.context, w.device, w.pointer(out), e);
         },
         {&World::device},
         {},
         true},
        {"wye_device_choose",
         [](const World& w, wye_error** e) {
             wye_device_choice choice;
             WYE_INIT(choice);
             choice.selector = wye_str("fake:0");
             choice.program = w.program;
             wye_device out = 0;
             return wye_device_choose(w.context, &choice, w.pointer(out), e);
         },
         {&World::program},
         {&World::program},
         true},
        {"wye_device_passed_over",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_passed_over>();
             const wye_status status =
                 wye_device_passed_over(w.context, w.device, UINT64_MAX, w.pointer(out), e);
             if (status != WYE_NOT_FOUND) return status;  // NOT_FOUND stands for success here
             if (e != nullptr) {
                 wye_error_free(*e);
                 *e = nullptr;
             }
             return wye_status{WYE_OK};
         },
         {&World::device},
         {},
         true,
         true},
        {"wye_choice_find",
         [](const World& w, wye_error** e) {
             wye_choice* out = nullptr;
             const wye_status status = wye_choice_find(w.context, 1, w.pointer(out), e);
             if (status != WYE_NOT_FOUND) return status;  // NOT_FOUND stands for success here
             if (e != nullptr) {
                 wye_error_free(*e);
                 *e = nullptr;
             }
             return wye_status{WYE_OK};
         },
         {},
         {},
         true},
        {"wye_load_report_create",
         [](const World& w, wye_error** e) {
             wye_load_report* out = nullptr;
             const wye_status status =
                 wye_load_report_create(w.context, wye_str("fake:0"), w.pointer(out), e);
             wye_load_report_free(out);
             return status;
         },
         {},
         {},
         true},
        {"wye_device_recover",
         [](const World& w, wye_error** e) {
             wye_device out = 0;
             return wye_device_recover(w.context, w.device, w.pointer(out), e);
         },
         {&World::device},
         {},
         true},
        {"wye_device_operations",
         [](const World& w, wye_error** e) {
             wye_blob* out = nullptr;
             const wye_status status =
                 wye_device_operations(w.context, w.device, w.pointer(out), e);
             wye_blob_free(out);
             return status;
         },
         {&World::device},
         {},
         true},
        {"wye_device_profile",
         [](const World& w, wye_error** e) {
             wye_blob* out = nullptr;
             const wye_status status = wye_device_profile(w.context, w.device, w.pointer(out), e);
             wye_blob_free(out);
             return status;
         },
         {&World::device},
         {},
         true},
        {"wye_capture_plan_make",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_capture_plan>();
             return wye_capture_plan_make(w.context, &w.program, 1, w.pointer(out), e);
         },
         {&World::program},
         {},
         true,
         true},
        {"wye_device_native",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_native_handle>();
             return wye_device_native(w.context, w.device, w.pointer(out), e);
         },
         {&World::device},
         {},
         true,
         true,
         true},
        {"wye_queue_native",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_native_handle>();
             return wye_queue_native(w.context, w.queue, w.pointer(out), e);
         },
         {&World::queue},
         {},
         true,
         true,
         true},
        {"wye_queue_wait_native",
         [](const World& w, wye_error** e) {
             wye_native_handle event = wye_native_of("fake_event", 77);
             event.header.size += w.wrong_size;
             return wye_queue_wait_native(w.context, w.queue, w.pointer(event), e);
         },
         {&World::queue},
         {},
         true,
         true,
         true},
        {"wye_buffer_native",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_native_handle>();
             return wye_buffer_native(w.context, w.buffer, w.pointer(out), e);
         },
         {&World::buffer},
         {},
         true,
         true,
         true},
        {"wye_buffer_adopt",
         [](const World& w, wye_error** e) {
             static std::uint32_t memory[4];
             const wye_native_handle handle =
                 wye_native_of("void*", reinterpret_cast<std::uintptr_t>(memory));
             auto desc = w.description<wye_buffer_adopt_desc>();
             desc.memory = &handle;
             desc.size = sizeof memory;
             wye_buffer out = 0;
             const wye_status status =
                 wye_buffer_adopt(w.context, w.device, &desc, w.pointer(out), e);
             if (out != 0) wye_buffer_free(w.context, out, nullptr);
             return status;
         },
         {&World::device},
         {},
         true,
         true,
         true},
        {"wye_device_memory",
         [](const World& w, wye_error** e) {
             auto out = w.description<wye_memory_use>();
             return wye_device_memory(w.context, w.device, w.pointer(out), e);
         },
         {&World::device},
         {},
         true,
         true},
        {"wye_device_trim",
         [](const World& w, wye_error** e) {
             return wye_device_trim(w.context, w.device, nullptr, e);
         },
         {&World::device}},
        {"wye_memory_limit",
         [](const World& w, wye_error** e) {
             return wye_memory_limit(w.context, w.device, UINT64_MAX, e);
         },
         {&World::device},
         {&World::device}},
        {"wye_device_close",
         [](const World& w, wye_error** e) { return wye_device_close(w.context, w.device, e); },
         {&World::device}},
    };
}

}  // namespace wye::exec::test::test_wrong_calls
