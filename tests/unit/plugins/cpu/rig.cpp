// SPDX-License-Identifier: Apache-2.0
#include "rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "cpu/cpu_plugin.h"
#include "program/analysis/analysis.hpp"
#include "program/check/validate.hpp"
#include "program/text/text.hpp"
#include "program/wire/encode.hpp"
#include "wye/sdk/plugin.hpp"

namespace test {

namespace {

std::string text_of(wye_string s) { return s.data == nullptr ? "" : std::string(s.data, s.size); }
wye_string string_of(std::string_view s) { return {s.data(), s.size()}; }

Failure failure_of(wye_status status, wye_error* error) {
    Failure failure = Host::take(error);
    failure.code = status;
    return failure;
}

}  // namespace

Host::Host(std::map<std::string, std::string> config) : config_(std::move(config)) {
    table_.header.size = sizeof table_;
    table_.self = reinterpret_cast<wye_host_object*>(this);
    table_.error_make = error_make;
    table_.error_release = error_release;
    table_.log = [](wye_host_object*, std::uint32_t, wye_string, wye_string) {};
    table_.config_get = config_get;
    table_.get_extension = [](wye_host_object*, wye_string, std::uint32_t) -> const void* {
        return nullptr;
    };
}

wye_error* Host::error_make(wye_host_object*, const wye_error_desc* desc) {
    if (desc->cause != nullptr) error_release(nullptr, desc->cause);
    return reinterpret_cast<wye_error*>(
        new Failure{desc->code, text_of(desc->message), text_of(desc->fix)});
}

void Host::error_release(wye_host_object*, wye_error* error) {
    delete reinterpret_cast<Failure*>(error);
}

wye_status Host::config_get(wye_host_object* self, wye_string key, wye_string* out) {
    const auto& config = reinterpret_cast<const Host*>(self)->config_;
    const auto found = config.find(text_of(key));
    if (found == config.end()) return WYE_NOT_FOUND;
    *out = string_of(found->second);
    return WYE_OK;
}

Failure Host::take(wye_error* error) {
    if (error == nullptr) return {};
    Failure failure = *reinterpret_cast<Failure*>(error);
    error_release(nullptr, error);
    return failure;
}

const std::vector<std::string>& isas() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> found;
        for (const char* name : {"baseline", "avx2", "avx512"}) {
            const Host host(std::map<std::string, std::string>{{"cpu.isa", name}});
            const wye_hello hello = wye::sdk::hello();
            const wye_plugin_desc* desc = nullptr;
            REQUIRE(wye_cpu_plugin_query(&hello, &desc) == WYE_OK);
            wye_plugin_object* plugin = nullptr;
            if (desc->table->init(host.table(), 0, &plugin, nullptr) != WYE_OK) continue;
            desc->table->shutdown(plugin);
            found.emplace_back(name);
        }
        return found;
    }();
    return names;
}

namespace {
std::map<std::string, std::string> config_of(const std::string& isa, unsigned threads) {
    std::map<std::string, std::string> config{{"cpu.threads", std::to_string(threads)}};
    if (!isa.empty()) config["cpu.isa"] = isa;
    return config;
}
}  // namespace

Rig::Rig(const std::string& isa, unsigned threads) : host_(config_of(isa, threads)) {
    const wye_hello hello = wye::sdk::hello();
    const wye_plugin_desc* desc = nullptr;
    REQUIRE(wye_cpu_plugin_query(&hello, &desc) == WYE_OK);
    plugin_table_ = desc->table;
    REQUIRE(plugin_table_->init(host_.table(), 0, &plugin_, nullptr) == WYE_OK);
    std::uint32_t count = 0;
    REQUIRE(plugin_table_->probe_devices(plugin_, &count, nullptr) == WYE_OK);
    REQUIRE(count == 1);
    const wye_open_desc desc_of_device = {{sizeof desc_of_device, 0, nullptr}, 0, 0, {}};
    REQUIRE(plugin_table_->open_device(plugin_, &desc_of_device, &device_, &device_table_,
                                       nullptr) == WYE_OK);
    queue_ = new_queue();
}

Rig::~Rig() {
    queue_table_->destroy(queue_);
    device_table_->close(device_);
    plugin_table_->shutdown(plugin_);
}

wye_queue_object* Rig::new_queue() {
    wye_queue_object* queue = nullptr;
    wye_queue_desc desc{};
    desc.header.size = sizeof desc;
    wye_timeline_object* timeline = nullptr;
    REQUIRE(device_table_->queue_create(device_, &desc, &queue, &timeline, &queue_table_,
                                        nullptr) == WYE_OK);
    timelines_[queue] = timeline;
    return queue;
}

wye_buffer_object* Rig::new_buffer(std::uint64_t size, const void* content) {
    wye_buffer_desc desc{};
    desc.header.size = sizeof desc;
    desc.size = size;
    desc.alignment = 64;
    wye_buffer_object* buffer = nullptr;
    REQUIRE(device_table_->buffer_create(device_, &desc, &buffer, nullptr) == WYE_OK);
    if (size == 0) return buffer;
    wye_operation op{};
    op.kind = content != nullptr ? WYE_OPERATION_UPLOAD : WYE_OPERATION_FILL;
    if (content != nullptr) {
        op.u.transfer.buffer = buffer;
        op.u.transfer.size = size;
        op.u.transfer.source = content;
    } else {
        op.u.fill = {buffer, 0, size, 0, 1, 0};
    }
    std::uint64_t value = 0;
    REQUIRE(submit(queue_, op, value) == WYE_OK);
    REQUIRE(wait(value).code == WYE_OK);
    return buffer;
}

Bytes Rig::content(wye_buffer_object* buffer, std::uint64_t size) {
    Bytes bytes(size);
    wye_operation op{};
    op.kind = WYE_OPERATION_DOWNLOAD;
    op.u.transfer.buffer = buffer;
    op.u.transfer.size = size;
    op.u.transfer.target = bytes.data();
    std::uint64_t value = 0;
    REQUIRE(submit(queue_, op, value) == WYE_OK);
    REQUIRE(wait(value).code == WYE_OK);
    return bytes;
}

wye_status Rig::submit(wye_queue_object* queue, const wye_operation& operation,
                       std::uint64_t& value, std::span<const wye_event> waits) {
    const wye_submission submission = wye::sdk::submission_of(newest_ + 1, {&operation, 1}, waits);
    const wye_status status = queue_table_->submit(queue, &submission, nullptr);
    if (status == WYE_OK) value = newest_ = submission.value;
    return status;
}

wye_event Rig::event(wye_queue_object* queue, std::uint64_t value) const {
    return {timelines_.at(queue), value, 0, 0};
}

wye_status Rig::query(wye_queue_object* queue, std::uint64_t value, wye_error** error) const {
    const wye_event one = event(queue, value);
    return device_table_->query(device_, &one, error);
}

wye_status Rig::await(wye_queue_object* queue, std::uint64_t value, std::uint64_t timeout_ns,
                      wye_error** error) const {
    const wye_event one = event(queue, value);
    return device_table_->wait(device_, &one, 1, 0, timeout_ns, nullptr, error);
}

Failure Rig::wait(std::uint64_t value, std::uint64_t timeout_ns) {
    return wait(queue_, value, timeout_ns);
}

Failure Rig::wait(wye_queue_object* queue, std::uint64_t value, std::uint64_t timeout_ns) {
    wye_error* error = nullptr;
    const wye_status status = await(queue, value, timeout_ns, &error);
    return failure_of(status, error);
}

struct Loaded::Parsed {
    wye::ir::Program program;
};

Loaded::Loaded(Rig& rig, std::string_view text) : rig_(rig), parsed_(new Parsed) {
    wye::ir::ParseResult result = wye::ir::parse(text);
    for (const auto& d : result.diagnostics) FAIL_CHECK(d.place.line << ": " << d.message);
    REQUIRE(result.ok());
    for (const auto& d : wye::ir::validate(result.program))
        FAIL_CHECK(d.place.line << ": " << d.message);
    auto wire = wye::ir::encode(result.program);
    REQUIRE(wire.ok());
    parsed_->program = std::move(result.program);
    const wye::ir::Program& program = parsed_->program;
    for (const auto& buffer : program.buffers)
        if (!buffer.shared()) element_bytes_.push_back(buffer.type.bytes());

    wye_artifact artifact{};
    artifact.header.size = sizeof artifact;
    artifact.format = string_of(WYE_FORMAT_PROGRAM);
    artifact.code = {wire->data(), wire->size()};
    artifact.entry = string_of(program.name);
    artifact.binding_count = static_cast<std::uint32_t>(element_bytes_.size());
    for (unsigned n = 0; n < 3; ++n) artifact.workgroup_size[n] = program.workgroup[n];
    artifact.params_size = wye::ir::param_layout(program.params).size;
    wye_error* error = nullptr;
    const wye_status status =
        rig.device_table().program_create(rig.device(), &artifact, &object_, &error);
    failure_ = failure_of(status, error);
}

Loaded::~Loaded() {
    if (object_ != nullptr) rig_.device_table().program_destroy(rig_.device(), object_);
}

Bytes Loaded::params_block(const std::vector<std::uint64_t>& params) const {
    const auto& declared = parsed_->program.params;
    REQUIRE(params.size() == declared.size());
    const wye::ir::ParamLayout layout = wye::ir::param_layout(declared);
    Bytes block(layout.size);
    for (std::size_t n = 0; n < params.size(); ++n)
        std::memcpy(block.data() + layout.offsets[n], &params[n], declared[n].type.bytes());
    return block;
}

wye_operation Loaded::operation(const std::vector<wye_binding>& bindings, const Bytes& params,
                                std::array<std::uint32_t, 3> groups) const {
    wye_operation op{};
    op.kind = WYE_OPERATION_DISPATCH;
    op.u.dispatch.program = object_;
    op.u.dispatch.bindings = bindings.data();
    op.u.dispatch.binding_count = static_cast<std::uint32_t>(bindings.size());
    op.u.dispatch.params = params.data();
    op.u.dispatch.params_size = static_cast<std::uint32_t>(params.size());
    for (unsigned n = 0; n < 3; ++n) {
        op.u.dispatch.groups[n] = groups[n];
        op.u.dispatch.logical_groups[n] = groups[n];
    }
    return op;
}

Loaded::Result Loaded::run(const std::vector<std::uint64_t>& params,
                           const std::vector<Bytes>& buffers,
                           std::optional<std::array<std::uint32_t, 3>> grid) {
    REQUIRE(failure_.message == "");
    REQUIRE(buffers.size() == element_bytes_.size());
    const wye::ir::Program& program = parsed_->program;
    std::array<std::uint32_t, 3> groups = grid.value_or(std::array<std::uint32_t, 3>{1, 1, 1});
    if (!grid) {
        std::vector<std::uint64_t> lengths(program.buffers.size());
        std::size_t bound = 0;
        for (std::size_t n = 0; n < program.buffers.size(); ++n)
            if (!program.buffers[n].shared()) {
                lengths[n] = buffers[bound].size() / element_bytes_[bound];
                ++bound;
            }
        for (std::size_t axis = 0; axis < program.grid.axes.size(); ++axis) {
            const auto size = wye::ir::evaluate_size(program.grid.axes[axis], program, params,
                                                     lengths, "the grid");
            REQUIRE(size.ok());
            const std::uint64_t w = program.workgroup[axis];
            groups[axis] = static_cast<std::uint32_t>(
                program.grid.kind == WYE_GRID_ELEMENTS ? (*size + w - 1) / w : *size);
        }
    }
    Result result;
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) {  // a host submits nothing then
        result.buffers = buffers;
        return result;
    }
    std::vector<wye_binding> bindings;
    for (std::size_t n = 0; n < buffers.size(); ++n)
        bindings.push_back(
            wye::sdk::binding_of(rig_.new_buffer(buffers[n].size(), buffers[n].data()), 0,
                                 buffers[n].size(), buffers[n].size() / element_bytes_[n]));
    const Bytes block = params_block(params);
    wye_operation op = operation(bindings, block, groups);
    op.u.dispatch.trap = wye::sdk::binding_of(rig_.new_buffer(8), 0, 8, 2);
    std::uint64_t value = 0;
    REQUIRE(rig_.submit(rig_.queue(), op, value) == WYE_OK);
    result.failure = rig_.wait(value);
    if (result.failure.code == WYE_OK) {
        for (std::size_t n = 0; n < buffers.size(); ++n)
            result.buffers.push_back(rig_.content(bindings[n].buffer, buffers[n].size()));
        const auto trap = values_of<std::uint32_t>(rig_.content(op.u.dispatch.trap.buffer, 8));
        result.trap_code = trap[0];
        result.trap_count = trap[1];
    }
    bindings.push_back(op.u.dispatch.trap);
    for (const wye_binding& binding : bindings)
        rig_.device_table().buffer_destroy(rig_.device(), binding.buffer);
    return result;
}

}  // namespace test
