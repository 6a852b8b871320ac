/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of the C API that the Python package calls, as _c.py reads them.
 * tests/python/cdef_check.py compiles them beside the public headers' own declarations.
 */
const char* wye_version(void);

wye_status wye_error_status(const wye_error* error);
wye_string wye_error_message(const wye_error* error);
wye_string wye_error_fix(const wye_error* error);
wye_string wye_error_subject(const wye_error* error);
wye_string wye_error_native_domain(const wye_error* error);
int64_t wye_error_native_code(const wye_error* error);
const wye_error* wye_error_cause(const wye_error* error);
wye_string wye_error_text(const wye_error* error);
void wye_error_free(wye_error* error);
const char* wye_status_text(wye_status status);

wye_bytes wye_blob_bytes(const wye_blob* blob);
void wye_blob_free(wye_blob* blob);

wye_status wye_context_create(const wye_context_desc* desc, wye_context** out, wye_error** error);
wye_status wye_context_shutdown(wye_context* context, uint64_t timeout_ns, wye_error** error);
void wye_context_destroy(wye_context* context);
wye_status wye_context_report(wye_context* context, wye_string selector, wye_blob** out,
                              wye_error** error);
wye_status wye_context_counters(wye_context* context, wye_counters* out, wye_error** error);

wye_status wye_device_choose(wye_context* context, const wye_device_choice* choice, wye_device* out,
                             wye_error** error);
wye_status wye_choice_find(wye_context* context, uint32_t number, wye_choice** out,
                           wye_error** error);
wye_string wye_choice_selector(const wye_choice* choice);
wye_string wye_choice_reason(const wye_choice* choice);
wye_status wye_choice_passed_over(const wye_choice* choice, uint64_t index, wye_passed_over* out,
                                  wye_error** error);
void wye_choice_free(wye_choice* choice);
wye_status wye_device_describe(wye_context* context, wye_device device, wye_device_description* out,
                               wye_error** error);
wye_status wye_device_fact(wye_context* context, wye_device device, wye_string name, wye_fact* out,
                           wye_error** error);
wye_status wye_device_flush(wye_context* context, wye_device device, wye_error** error);
wye_status wye_device_counters(wye_context* context, wye_device device, wye_counters* out,
                               wye_error** error);
wye_status wye_device_memory(wye_context* context, wye_device device, wye_memory_use* out,
                             wye_error** error);
wye_status wye_device_trim(wye_context* context, wye_device device, uint64_t* freed_bytes,
                           wye_error** error);
wye_status wye_memory_limit(wye_context* context, wye_device device, uint64_t bytes,
                            wye_error** error);

wye_status wye_program_create(wye_context* context, const wye_program_source* source,
                              wye_program* out, wye_error** error);
wye_status wye_program_free(wye_context* context, wye_program program, wye_error** error);
wye_status wye_program_describe(wye_context* context, wye_program program,
                                wye_program_description* out, wye_error** error);
wye_status wye_program_analysis(wye_context* context, wye_program program, wye_blob** out,
                                wye_error** error);
wye_status wye_program_lower(wye_context* context, wye_program program, wye_string format,
                             wye_device device, wye_blob** out, wye_error** error);
wye_status wye_program_prepare(wye_context* context, wye_program program, wye_device device,
                               wye_prepare_report* report, wye_error** error);

wye_status wye_buffer_create(wye_context* context, wye_device device,
                             const wye_buffer_create_desc* desc, wye_buffer* out,
                             wye_error** error);
wye_status wye_buffer_free(wye_context* context, wye_buffer buffer, wye_error** error);
wye_status wye_buffer_upload_range(wye_context* context, wye_buffer buffer, uint64_t offset,
                                   wye_bytes bytes, wye_error** error);
wye_status wye_buffer_download_range(wye_context* context, wye_buffer buffer, uint64_t offset,
                                     void* target, uint64_t size, wye_error** error);
wye_status wye_buffer_copy(wye_context* context, wye_buffer source, uint64_t source_offset,
                           wye_buffer target, uint64_t target_offset, uint64_t size,
                           wye_error** error);
wye_status wye_buffer_copy_across(wye_context* context, wye_buffer source, uint64_t source_offset,
                                  wye_buffer target, uint64_t target_offset, uint64_t size,
                                  wye_error** error);
wye_status wye_buffer_fill(wye_context* context, wye_buffer buffer, uint64_t offset, uint64_t size,
                           uint64_t pattern, uint32_t pattern_size, wye_error** error);
wye_status wye_buffer_map(wye_context* context, wye_buffer buffer, wye_buffer_mapping* out,
                          wye_error** error);
wye_status wye_buffer_unmap(wye_context* context, wye_buffer buffer, wye_error** error);
wye_status wye_buffer_sync(wye_context* context, wye_buffer buffer, uint64_t offset, uint64_t size,
                           uint32_t direction, wye_error** error);
wye_status wye_memory_register(wye_context* context, wye_device device, void* memory, uint64_t size,
                               wye_memory* out, wye_error** error);
wye_status wye_memory_unregister(wye_context* context, wye_memory memory, wye_error** error);
wye_status wye_buffer_transfer_submit(wye_context* context, const wye_transfer_desc* desc,
                                      wye_pending* out, wye_error** error);

const char* wye_native_function_name(uint32_t bit);
wye_status wye_dispatch(wye_context* context, const wye_dispatch_desc* desc, wye_report* report,
                        wye_error** error);
wye_status wye_dispatch_sizes(wye_context* context, const wye_dispatch_desc* desc, uint64_t* sizes,
                              uint32_t* groups, wye_error** error);
wye_status wye_dispatch_owned(wye_context* context, const wye_dispatch_desc* desc,
                              wye_report* report, wye_pending* out, wye_error** error);
wye_status wye_dispatch_submit(wye_context* context, const wye_dispatch_desc* desc,
                               wye_pending* out, wye_error** error);
wye_status wye_pending_poll(wye_context* context, wye_pending pending, uint32_t* ended,
                            wye_error** error);
wye_status wye_pending_wait(wye_context* context, wye_pending pending, uint64_t timeout_ns,
                            wye_report* report, wye_error** error);
wye_status wye_pending_wait_any(wye_context* context, const wye_pending* pending, uint64_t count,
                                uint64_t timeout_ns, uint64_t* index, wye_error** error);
wye_status wye_pending_output(wye_context* context, wye_pending pending, uint32_t binding,
                              wye_bytes* out, wye_error** error);
wye_status wye_pending_notify(wye_context* context, wye_pending pending, wye_pending_fn fn,
                              void* user, wye_error** error);
wye_status wye_pending_cancel(wye_context* context, wye_pending pending, wye_error** error);
wye_status wye_pending_free(wye_context* context, wye_pending pending, wye_error** error);

wye_status wye_queue_create(wye_context* context, wye_device device,
                            const wye_queue_create_desc* desc, wye_queue* out, wye_error** error);
wye_status wye_queue_describe(wye_context* context, wye_queue queue, wye_queue_description* out,
                              wye_error** error);
wye_status wye_queue_flush(wye_context* context, wye_queue queue, wye_error** error);
wye_status wye_queue_free(wye_context* context, wye_queue queue, wye_error** error);

wye_status wye_pipeline_create(wye_context* context, const wye_pipeline_desc* desc,
                               wye_pipeline* out, wye_error** error);
wye_status wye_pipeline_create_submit(wye_context* context, const wye_pipeline_desc* desc,
                                      wye_pending* out, wye_error** error);
wye_status wye_pending_pipeline(wye_context* context, wye_pending pending, wye_pipeline* out,
                                wye_error** error);
wye_status wye_program_prepare_submit(wye_context* context, wye_program program, wye_device device,
                                      uint64_t timeout_ns, wye_pending* out, wye_error** error);
wye_status wye_pipeline_describe(wye_context* context, wye_pipeline pipeline,
                                 wye_pipeline_description* out, wye_error** error);
wye_status wye_pipeline_free(wye_context* context, wye_pipeline pipeline, wye_error** error);
wye_status wye_pipeline_batch(wye_context* context, const wye_batch_desc* desc, uint64_t* completed,
                              wye_report* report, wye_error** error);
wye_status wye_pipeline_batch_owned(wye_context* context, const wye_batch_desc* desc,
                                    wye_pending* owners, uint64_t* completed, wye_report* report,
                                    wye_error** error);

wye_status wye_pipeline_rows(wye_context* context, const wye_rows_desc* desc, uint64_t* completed,
                             wye_report* report, wye_error** error);

wye_status wye_graph_create(wye_context* context, const wye_graph_desc* desc, wye_graph* out,
                            wye_error** error);
wye_status wye_graph_run(wye_context* context, wye_graph graph, const wye_graph_run_desc* run,
                         wye_report* report, wye_error** error);
wye_status wye_graph_submit(wye_context* context, wye_graph graph, const wye_graph_run_desc* run,
                            wye_pending* out, wye_error** error);
wye_status wye_graph_rebind(wye_context* context, wye_graph graph,
                            const wye_graph_rebinding* rebindings, uint64_t rebinding_count,
                            wye_error** error);
wye_status wye_graph_describe(wye_context* context, wye_graph graph, wye_graph_info* out,
                              wye_error** error);
wye_status wye_graph_free(wye_context* context, wye_graph graph, wye_error** error);

wye_status wye_device_native(wye_context* context, wye_device device, wye_native_handle* out,
                             wye_error** error);
wye_status wye_queue_native(wye_context* context, wye_queue queue, wye_native_handle* out,
                            wye_error** error);
wye_status wye_buffer_native(wye_context* context, wye_buffer buffer, wye_native_handle* out,
                             wye_error** error);
wye_status wye_buffer_adopt(wye_context* context, wye_device device,
                            const wye_buffer_adopt_desc* desc, wye_buffer* out, wye_error** error);
