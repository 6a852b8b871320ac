// SPDX-License-Identifier: Apache-2.0
#include "exec/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "cache/store.hpp"
#include "exec/device/buffer.hpp"
#include "exec/program/artifact.hpp"
#include "exec/program/cache_key.hpp"
#include "lower/lower.hpp"
#include "registry/report.hpp"
#include "route/rank.hpp"
#include "route/route.hpp"
#include "wye/wye.h"

namespace wye::exec {

using registry::Handle;
using registry::HandleKind;
using registry::Pin;

namespace {

void warn(const registry::Registry& registry, const Error& error) {
    registry.host().log(WYE_LOG_WARNING, "trace",
                        fmt::format("{} ({})", error.text(), code_text(error.code)));
}

}  // namespace

Result<std::unique_ptr<Context>> Context::create(registry::Options options,
                                                 std::string default_selector) {
    std::map<std::string, std::string> filters;
    for (const auto& [name, value] : options.environment)
        if (name.starts_with("WYE_")) filters.emplace(name, value);
    const bool logs = options.log != nullptr;
    options.rank = route::rank;
    SessionOptions session;
    for (const auto& [key, set] : {std::pair("quirks.with", &session.quirks.with),
                                   std::pair("quirks.without", &session.quirks.without)}) {
        const auto given = options.config.find(key);
        if (given == options.config.end()) continue;
        WYE_ASSIGN(*set, lower::parse_quirks(given->second));
    }
    for (const auto& [key, limit] : {std::pair("pending.count", &session.pending.count),
                                     std::pair("pending.bytes", &session.pending.bytes),
                                     std::pair("queues.count", &session.queues),
                                     std::pair("transfer.threads", &session.transfer.threads),
                                     std::pair("transfer.bytes", &session.transfer.bytes)}) {
        const auto given = options.config.find(key);
        if (given == options.config.end()) continue;
        const auto size = cache::parse_size(given->second);
        if (!size || *size == 0)
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("`{}` is not a limit for {}", given->second, key),
                         "Fix: give a number above 0, as in 1024 or 64MiB", key);
        *limit = *size;
    }
    if (const auto given = options.config.find("transfer.staging"); given != options.config.end()) {
        using Staging = TransferOptions::Staging;
        static const std::map<std::string, Staging, std::less<>> kModes = {
            {"auto", Staging::Auto}, {"on", Staging::On}, {"off", Staging::Off}};
        const auto mode = kModes.find(given->second);
        if (mode == kModes.end())
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("`{}` is not a way of transfer.staging", given->second),
                         "Fix: give auto, on or off", "transfer.staging");
        session.transfer.staging = mode->second;
    }
    session.copiers = std::make_shared<Copiers>(session.transfer.threads);
    WYE_ASSIGN(auto tag, registry::ContextTag::take());
    auto trace = Trace::open(options.config, tag.value());
    if (!trace.ok() && trace.error().code != Code::IO) return std::move(trace).error();
    if (trace.ok()) session.trace = *trace;
    WYE_ASSIGN(auto registry, registry::Registry::create(std::move(options)));
    if (!trace.ok()) warn(*registry, trace.error());
    return std::unique_ptr<Context>(new Context(std::move(registry), std::move(default_selector),
                                                std::move(filters), logs, std::move(session),
                                                std::move(tag)));
}

Context::Context(std::unique_ptr<registry::Registry> registry, std::string default_selector,
                 std::map<std::string, std::string> filters, bool logs, SessionOptions options,
                 registry::ContextTag tag)
    : tag_(std::move(tag)),
      default_selector_(std::move(default_selector)),
      filters_(std::move(filters)),
      logs_(logs),
      registry_(std::move(registry)),
      options_(std::move(options)),
      callbacks_(std::make_shared<Door>()),
      handles_(tag_.value()) {
    options_.cache = std::make_shared<DiskCache>(registry_->shared_host());
}

Context::~Context() {
    for (const OpenSession& open : open_) open.session->finish();
    for (const SessionRef& session : lost_) session->finish();
    if (options_.trace) save_trace();
}

void Context::save_trace() noexcept {
    try {
        const auto saved = options_.trace->save();
        if (!saved.ok()) warn(*registry_, saved.error());
    } catch (const std::exception&) {  // no memory: there is no trace
    }
}

Context::OpenSession* Context::find_open(const registry::DeviceInfo& device) {
    const auto found = std::ranges::find_if(open_, [&](const OpenSession& open) {
        return open.session->info().plugin == device.plugin &&
               open.session->info().index == device.index;
    });
    return found == open_.end() ? nullptr : &*found;
}

Result<Handle> Context::open_device(std::string_view selector, Handle program) {
    WYE_ASSIGN(const registry::Selector parsed,
               registry::parse_selector(selector.empty() ? default_selector_ : selector));
    std::optional<Pin> pin;
    registry::Fit fit;
    if (program != 0) {
        auto found = handles_.find(program, HandleKind::program);
        if (!found.ok()) return std::move(found).error();
        pin.emplace(std::move(found).value());
        const plan::ProgramPlan& plan = pin->as<LoadedProgram>().plan();
        fit = [&plan](const registry::DeviceInfo& device) {
            return route::reasons_against(device, plan, route::requirements(plan),
                                          lower::formats());
        };
    }
    WYE_ASSIGN(const registry::Selection selection, registry_->select(parsed, fit));

    std::uint64_t generation = 0;
    SessionRef lost;
    {
        const sdk::Lock lock(open_mutex_);
        if (const OpenSession* known = find_open(*selection.device)) {
            if (!known->session->lost()) return known->handle;
            lost = known->session;
        }
        generation = next_generation_++;
    }
    // Holds no lock while a plugin opens its device. If two threads open it, the first to finish is
    // used.
    if (lost) WYE_TRY(lost->recover());
    WYE_ASSIGN(SessionRef session,
               DeviceSession::open(*registry_, selection, generation, options_));
    const sdk::Lock lock(open_mutex_);
    OpenSession* known = find_open(*selection.device);
    if (known != nullptr && !known->session->lost()) return known->handle;
    WYE_ASSIGN(const Handle handle, handles_.add(HandleKind::device, session, session->owner(),
                                                 session->info().selector));
    // The handle of a lost device stays valid, and its calls return DEVICE_LOST.
    if (known != nullptr) {
        lost_.push_back(std::move(known->session));
        *known = {handle, std::move(session)};
    } else {
        open_.push_back({handle, std::move(session)});
    }
    return handle;
}

std::string Context::open_devices() const {
    const sdk::Lock lock(open_mutex_);
    std::string out;
    for (const OpenSession& open : open_)
        out += (out.empty() ? "" : ", ") + open.session->info().selector;
    return out;
}

void Context::count(wye_counters& out) const {
    const sdk::Lock lock(open_mutex_);
    for (const OpenSession& open : open_) open.session->count(out);
    for (const SessionRef& session : lost_) session->count(out);
}

Result<Handle> Context::add_program(ProgramRef program) {
    std::string name = program->name();
    return handles_.add(HandleKind::program, std::move(program), nullptr, std::move(name));
}

Result<Handle> Context::create_buffer(Handle device, std::uint64_t size, std::uint32_t alignment,
                                      std::string_view label) {
    WYE_ASSIGN(const Pin pin, handles_.find(device, HandleKind::device));
    DeviceSession& session = pin.as<DeviceSession>();
    const std::uint64_t limit = std::min(session.limits().max_buffer_bytes, kMaxBufferBytes);
    if (size > limit)
        return Error(Code::LIMIT_EXCEEDED,
                     fmt::format("a buffer of {} bytes is too large: {} takes at most {}", size,
                                 session.info().selector, limit),
                     "Fix: split the data over several buffers", std::string(label));
    const std::uint32_t effective = alignment == 0 ? 16U : alignment;
    WYE_ASSIGN(registry::NativeBuffer native, session.buffer(size, effective, label));
    auto object = std::make_shared<BufferObject>(BufferObject{session, std::move(native), size});
    return handles_.add(HandleKind::buffer, std::move(object), session.owner(), std::string(label));
}

Result<void> Context::free_buffer(Handle buffer) {
    auto removed = handles_.remove(buffer, HandleKind::buffer);
    if (removed.ok() || removed.error().code != Code::BUFFER_IN_USE) return removed;
    // Work that uses it may have ended, unobserved.
    WYE_ASSIGN(std::optional<Pin> pin, handles_.find(buffer, HandleKind::buffer));
    pin->as<BufferObject>().session.collect();
    pin.reset();
    return handles_.remove(buffer, HandleKind::buffer);
}

void Context::log(std::uint32_t level, std::string_view area,
                  std::string_view text) const noexcept {
    registry_->host().log(level, area, text);
}

std::optional<std::string> Context::alternative(const registry::Fit& fit) const {
    const auto device = registry_->alternative(fit);
    return device ? std::optional(device->selector) : std::nullopt;
}

Result<std::vector<std::byte>> Context::translate(std::string_view plugin, std::uint32_t device,
                                                  std::string_view target,
                                                  const wye_artifact& artifact,
                                                  std::string_view format) {
    std::vector<std::byte> name;
    if (options_.cache->store.on()) {
        WYE_ASSIGN(const std::string translator, registry_->translator_identity(plugin));
        name = translation_key(options_.cache->build, translator, target, artifact, format);
        if (const auto hit = options_.cache->store.find(name))
            return std::vector<std::byte>(hit->value.begin(), hit->value.end());
    }
    auto made = registry_->translate(plugin, device, artifact, format);
    if (made.ok() && !name.empty()) options_.cache->store.put(name, *made);
    return made;
}

Result<std::string> Context::report(std::string_view selector) {
    registry::ReportOptions options;
    WYE_ASSIGN(options.selector, registry::parse_selector(selector));
    options.host_version = wye_version();
    options.filters = filters_;
    options.quirks = [this](const registry::DeviceInfo& device) {
        const lower::QuirkSet all = target_facts(device.facts, options_.quirks).quirks;
        const std::string_view format = route::choose_format(device, lower::formats());
        return all.for_format(format).names();
    };
    return registry::report_json(*registry_, options);
}

}  // namespace wye::exec
