// SPDX-License-Identifier: Apache-2.0
#include "exec/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "exec/device/buffer.hpp"
#include "exec/device/profile.hpp"
#include "exec/program/artifact.hpp"
#include "exec/program/cache_key.hpp"
#include "exec/settings.hpp"
#include "lower/lower.hpp"
#include "lower/passes/native_functions.hpp"
#include "registry/report/report.hpp"
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

// Adds a warning about a setting that cannot be used. `what` begins the message.
void add_warning(registry::Options& options, std::string_view area, std::string_view what,
                 const Error& error) {
    registry::Record record;
    record.severity = registry::Severity::warning;
    record.code = error.code;
    record.message = fmt::format("{}{}", what, error.message);
    record.fix = error.fix;
    if (error.subject.starts_with('/')) record.path = error.subject;
    options.records.emplace_back(area, std::move(record));
}

// Checks the cache folder. If the folder cannot be used: removes it from the configuration, which
// turns off the caches of programs and of plugin texts, adds a record, and returns the error.
std::optional<Error> refuse_cache(registry::Options& options) {
    if (const auto wrong = wrong_cache_size(options.config))
        add_warning(options, "cache", "compiled programs are not kept: ", *wrong);
    const auto folder = options.config.find("cache_folder");
    if (folder == options.config.end() || folder->second.empty()) return {};
    auto checked = cache::prepare_folder(folder->second, options.named_cache);
    if (checked.ok()) return {};
    folder->second.clear();
    add_warning(options, "cache", "the cache is off: ", checked.error());
    return std::move(checked).error();
}

Error mapped(const Pin& pin) {
    return {Code::BUFFER_IN_USE, fmt::format("buffer `{}` is mapped", pin.label()),
            "Fix: call wye_buffer_unmap for each wye_buffer_map, then free it", pin.label()};
}

// Whether an error concerns only its device, so that another device may succeed.
bool concerns_device(Code code) {
    return code != Code::INVALID_ARGUMENT && code != Code::SHUTTING_DOWN && code != Code::CANCELLED;
}

void warn_of_keys(const registry::Registry& registry, const registry::Config& config) {
    if (keys_of_nobody(config, {}).empty()) return;  // then no search for plugins is needed
    std::vector<std::string> plugins;
    for (const registry::PluginInfo& plugin : registry.plugins()) plugins.push_back(plugin.id);
    for (const std::string_view key : keys_of_nobody(config, plugins))
        registry.host().log(
            WYE_LOG_WARNING, "config",
            fmt::format("the configuration has a key `{}`, and no plugin of that id "
                        "is there. Fix: write the plugin's id before the dot",
                        key));
}

}  // namespace

Result<std::unique_ptr<Context>> Context::create(registry::Options options,
                                                 std::string default_selector) {
    std::map<std::string, std::string> filters;
    for (const auto& [name, value] : options.environment)
        if (name.starts_with("WYE_") && !options.elevated) filters.emplace(name, value);
    const bool logs = options.log != nullptr && options.log_level >= WYE_LOG_DEBUG;
    options.rank = [formats = lower::formats()](const registry::DeviceInfo& device) {
        return route::rank(device, formats);
    };
    WYE_ASSIGN(SessionOptions session, read_settings(options.config));
    WYE_TRY(read_probe(options.config, options.probe));
    session.copiers = std::make_shared<Copiers>(session.transfer.threads);
    session.memory = std::make_shared<ContextMemory>(session.context_memory_limit);
    WYE_ASSIGN(auto tag, registry::ContextTag::take());
    auto trace = Trace::open(options.config, tag.value());
    if (!trace.ok() && trace.error().code != Code::IO) return std::move(trace).error();
    if (trace.ok())
        session.trace = *trace;
    else
        add_warning(options, {}, {}, trace.error());  // logged below, by the registry
    std::optional<Error> no_cache = refuse_cache(options);
    const registry::Config config = options.config;
    WYE_ASSIGN(auto registry, registry::Registry::create(std::move(options)));
    if (!trace.ok()) warn(*registry, trace.error());
    session.cache = std::make_shared<DiskCache>(registry->shared_host(), std::move(no_cache));
    warn_of_keys(*registry, config);
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
    options_.memory->set_handles(handles_);
}

Context::~Context() {
    for (const OpenSession& open : open_) open.session->finish();
    for (const SessionRef& session : lost_) session->finish();
    for (const SessionRef& session : closed_) session->finish();
    if (options_.trace) save_trace();
}

void Context::save_trace() noexcept {
    try {
        const auto saved = options_.trace->save();
        if (!saved.ok()) warn(*registry_, saved.error());
    } catch (const std::exception&) {  // no memory: the trace is lost
    }
}

Context::OpenSession* Context::find_open(const registry::DeviceInfo& device) {
    const auto found = std::ranges::find_if(open_, [&](const OpenSession& open) {
        return open.session->info().plugin == device.plugin &&
               open.session->info().index == device.index;
    });
    return found == open_.end() ? nullptr : &*found;
}

Result<registry::Selector> Context::selector_of(std::string_view text) const {
    if (!text.empty()) return registry::parse_selector(text);
    auto parsed = registry::parse_selector(default_selector_);
    if (parsed.ok()) return parsed;
    return std::move(parsed).error().wrapped(Code::INVALID_ARGUMENT,
                                             fmt::format("WYE_DEVICE is `{}`", default_selector_),
                                             "Fix: correct or unset WYE_DEVICE", "WYE_DEVICE");
}

std::vector<std::string> Context::reasons_against(const registry::DeviceInfo& device,
                                                  const LoadedProgram& program) const {
    const plan::ProgramPlan& plan = program.plan();
    auto out = route::reasons_against(device, plan, route::requirements(plan), lower::formats());
    const std::string_view format = route::choose_format(device, lower::formats());
    // A program with grid barriers is lowered in parts, which depend on the launch.
    if (!out.empty() || format.empty() || format == WYE_FORMAT_PROGRAM ||
        plan.analysis.uses_grid_barrier)
        return out;
    Form form;
    form.workgroup = program.ir().workgroup;
    form.natives = lower::choose_natives(program.ir(), format, 0);
    const auto made = make_artifact(program, form, format, target_facts(device.facts, quirks()));
    if (!made.ok()) out.push_back(made.error().message);
    return out;
}

Result<Handle> Context::open_device(std::string_view selector, Handle program,
                                    registry::Policy policy) {
    WYE_ASSIGN(const registry::Selector parsed, selector_of(selector));
    std::optional<Pin> pin;
    registry::Fit fit;
    if (program != 0) {
        auto found = handles_.find(program, HandleKind::program);
        if (!found.ok()) return std::move(found).error();
        pin.emplace(std::move(found).value());
        fit = [this, &loaded = pin->as<LoadedProgram>()](const registry::DeviceInfo& device) {
            return reasons_against(device, loaded);
        };
    }
    auto opened = open_first(parsed, fit, policy);
    if (!opened.ok())
        return selector.empty() ? of_default(std::move(opened).error()) : std::move(opened).error();
    return opened->handle;
}

Result<Context::Opened> Context::open_device(const registry::Fit& fit) {
    WYE_ASSIGN(const registry::Selector selector, selector_of({}));
    auto opened = open_first(selector, fit, registry::Policy::require);
    if (!opened.ok()) return of_default(std::move(opened).error());
    return opened;
}

Error Context::of_default(Error error) const {
    if (error.code == Code::NO_DEVICE && default_selector_ != "auto")
        error.message = fmt::format("WYE_DEVICE is `{}`, and {}", default_selector_, error.message);
    return error;
}

Result<Context::Opened> Context::open_first(const registry::Selector& parsed,
                                            const registry::Fit& fit, registry::Policy policy) {
    sweep();
    // Devices that could not be opened are passed over.
    std::map<std::string, std::string> unopened;
    std::optional<Error> first;
    const registry::Fit fit_to_open = [&](const registry::DeviceInfo& device) {
        const auto failed = unopened.find(device.selector);
        if (failed != unopened.end()) return std::vector{failed->second};
        return fit ? fit(device) : std::vector<std::string>{};
    };
    for (;;) {
        auto selection = registry_->select(parsed, unopened.empty() ? fit : fit_to_open, policy);
        if (!selection.ok()) {
            const bool only = parsed.entries.size() <= 1 && policy == registry::Policy::require;
            if (first && unopened.size() == 1 && only) return std::move(*first);
            return std::move(selection).error();
        }
        Opened out{0, false, std::move(selection).value()};
        auto opened = open_selected(out);
        if (opened.ok()) {
            if (out.fresh) registry_->host().warn_of_unread(out.selection.device->plugin);
            return out;
        }
        if (!concerns_device(opened.error().code)) return std::move(opened).error();
        if (!first) first = opened.error();
        unopened.emplace(out.selection.device->selector,
                         fmt::format("cannot be opened: {}", opened.error().message));
    }
}

Result<void> Context::open_selected(Opened& out) {
    const registry::Selection& selection = out.selection;
    std::uint64_t generation = 0;
    SessionRef lost;
    {
        const sdk::Lock lock(open_mutex_);
        if (const OpenSession* known = find_open(*selection.device)) {
            out.handle = known->handle;
            if (!known->session->lost()) return {};
            lost = known->session;
        }
        generation = next_generation_++;
    }
    // No lock is held while a plugin opens its device. If two threads open the same device, both
    // use the session that is ready first.
    if (lost) WYE_TRY(lost->recover());
    auto opened = DeviceSession::open(*registry_, selection, generation, options_);
    const sdk::Lock lock(open_mutex_);
    OpenSession* known = find_open(*selection.device);
    if (known != nullptr && !known->session->lost()) {
        out.handle = known->handle;
        return {};
    }
    WYE_ASSIGN(SessionRef session, std::move(opened));
    WYE_ASSIGN(out.handle, handles_.add(HandleKind::device, session, session->owner(),
                                        session->info().selector));
    out.fresh = true;
    device_changes_.fetch_add(1, std::memory_order_release);
    // The handle of the lost device stays valid; calls with it return DEVICE_LOST.
    if (known != nullptr) {
        lost_.push_back(std::move(known->session));
        *known = {out.handle, std::move(session)};
    } else {
        open_.push_back({out.handle, std::move(session)});
    }
    return {};
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
    for (const SessionRef& session : closed_) session->count(out);
    add_counts(closed_counts_, out);
}

Result<Handle> Context::add_program(ProgramRef program) {
    std::string name = program->name();
    return handles_.add(HandleKind::program, std::move(program), nullptr, std::move(name));
}

namespace {

constexpr std::uint32_t kBufferAlignment = 16;

// LIMIT_EXCEEDED: the programs of the device cannot use a buffer of this size.
Result<void> check_size(const DeviceSession& session, std::uint64_t size, std::string_view label) {
    const std::uint64_t limit = std::min(session.limits().max_buffer_bytes, kMaxBufferBytes);
    if (size <= limit) return {};
    return Error(Code::LIMIT_EXCEEDED,
                 fmt::format("a buffer of {} bytes is too large: {} takes at most {}", size,
                             session.info().selector, limit),
                 "Fix: split the data over several buffers", std::string(label));
}

}  // namespace

Result<Handle> Context::create_buffer(Handle device, std::uint64_t size, std::uint32_t alignment,
                                      std::uint32_t usage, std::string_view label) {
    WYE_ASSIGN(const Pin pin, handles_.find(device, HandleKind::device));
    DeviceSession& session = pin.as<DeviceSession>();
    WYE_TRY(check_size(session, size, label));
    const std::uint32_t effective = alignment == 0 ? kBufferAlignment : alignment;
    WYE_ASSIGN(HeldBuffer made, session.buffer(size, effective, label, usage));
    auto object = std::make_shared<BufferObject>(session, std::move(made), size, device);
    object->alignment = effective;
    object->usage = usage;
    return handles_.add(HandleKind::buffer, std::move(object), session.owner(), std::string(label));
}

Result<Handle> Context::adopt_buffer(Handle device, const wye_native_handle& memory,
                                     std::uint64_t size, std::string_view label) {
    WYE_ASSIGN(const Pin pin, handles_.find(device, HandleKind::device));
    DeviceSession& session = pin.as<DeviceSession>();
    WYE_TRY(check_size(session, size, label));
    WYE_ASSIGN(HeldBuffer adopted, session.adopt(memory, size, kBufferAlignment, label));
    auto object = std::make_shared<BufferObject>(session, std::move(adopted), size, device);
    object->alignment = kBufferAlignment;
    return handles_.add(HandleKind::buffer, std::move(object), session.owner(), std::string(label));
}

Result<void> Context::free_buffer(Handle buffer) {
    WYE_ASSIGN(std::optional<Pin> pin, handles_.find(buffer, HandleKind::buffer));
    DeviceSession& session = pin->as<BufferObject>().session;
    const auto remove = [&] {
        QueuePool& queues = session.queues();
        const sdk::Lock lock(queues.mutex);
        if (pin->as<BufferObject>().maps != 0) return Result<void>(mapped(*pin));
        if (queues.is_used(pin->as<BufferObject>().history))
            return Result<void>(registry::HandleTable::in_use(*pin, HandleKind::buffer));
        auto removed = handles_.remove(buffer, HandleKind::buffer);
        if (removed.ok()) queues.buffer_freed();
        return removed;
    };
    auto removed = remove();
    if (removed.ok() || removed.error().code != Code::BUFFER_IN_USE) return removed;
    // Work that has ended still counts as a user of the buffer until it is polled.
    session.collect();
    return remove();
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

Result<registry::LoadReport> Context::load_report(std::string_view selector) {
    WYE_ASSIGN(registry::Selector parsed, registry::parse_selector(selector));
    if (parsed.entries.empty()) parsed.entries.emplace_back();
    return registry::load_report(*registry_, parsed);
}

Result<std::string> Context::report(std::string_view selector) {
    registry::ReportOptions options;
    WYE_ASSIGN(options.selector, selector_of(selector));
    options.host_version = wye_version();
    options.filters = filters_;
    options.quirks = [this](const registry::DeviceInfo& device) {
        const lower::QuirkSet all = target_facts(device.facts, options_.quirks).quirks;
        const std::string_view format = route::choose_format(device, lower::formats());
        return all.for_format(format).names();
    };
    if (options_.report_details == ReportDetails::All) options.operations = operations_json;
    options.explains = options_.report_details != ReportDetails::Brief;
    return registry::report_json(*registry_, options);
}

}  // namespace wye::exec
