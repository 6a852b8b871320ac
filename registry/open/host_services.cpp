// SPDX-License-Identifier: Apache-2.0
#include "registry/open/host_services.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "registry/open/plugin_text.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/nearest.hpp"
#include "wye/sdk/plugin.hpp"

// The object that plugins know as `self` of the host table.
struct wye_host_object {
    wye::registry::Config config;
    wye::registry::LogSink log;
    wye::registry::ExtensionSource extensions;
    wye::sdk::Mutex mutex;
    // The keys that plugins asked for, and the keys that were warned about.
    std::set<std::string, std::less<>> asked WYE_GUARDED_BY(mutex){};
};

namespace wye::registry {
namespace {

constexpr std::size_t kMostAsked = 1000;  // keys that are remembered

constexpr std::uint64_t kLogTextLimit = std::uint64_t{1} << 20;  // bytes of one text from a plugin

// Reads a text of an error, which may have several lines.
std::string copy(wye_string text) {
    std::string raw(text.data == nullptr ? 0 : std::min<std::uint64_t>(text.size, kLogTextLimit),
                    '\0');
    if (!read_memory(raw.data(), text.data, raw.size())) return "(a text that cannot be read)";
    return several_lines(raw);
}

std::string line(wye_string text) {
    text.size = std::min(text.size, kLogTextLimit);
    auto read = read_text(text, kLogTextLimit, "a log text");
    return read.ok() ? std::move(read).value() : "(" + read.error().message + ")";
}

wye_error* error_make(wye_host_object*, const wye_error_desc* desc) noexcept {
    // A plugin built against an older minor may pass a shorter description.
    wye_error_desc known{};
    if (desc != nullptr)
        std::memcpy(&known, desc, std::min<std::size_t>(desc->header.size, sizeof known));
    std::unique_ptr<wye_error, decltype(&release_error_object)> cause(known.cause,
                                                                      &release_error_object);
    try {
        Error error(static_cast<Code>(known.code), copy(known.message), copy(known.fix),
                    line(known.subject));
        error.native_domain = line(known.native_domain);
        error.native_code = known.native_code;
        return make_error_object(std::move(error), cause.release());
    } catch (...) {
        return make_error_object(Error(Code::OUT_OF_MEMORY, "out of memory", "Fix: add memory"));
    }
}

void error_release(wye_host_object*, wye_error* error) noexcept { release_error_object(error); }

void log_text(wye_host_object* self, std::uint32_t level, wye_string area,
              wye_string text) noexcept {
    try {
        if (self != nullptr && self->log) self->log(level, line(area), line(text));
    } catch (...) {  // the application's callback threw: the log line is dropped
    }
}

wye_status config_get(wye_host_object* self, wye_string key, wye_string* out) noexcept {
    if (self == nullptr || out == nullptr) return WYE_INVALID_ARGUMENT;
    try {
        const sdk::Lock lock(self->mutex);
        if (self->asked.size() < kMostAsked) self->asked.emplace(sdk::from_abi(key));
    } catch (...) {  // no memory: at worst, a needless warning
    }
    const auto at = self->config.find(sdk::from_abi(key));
    if (at == self->config.end()) return WYE_NOT_FOUND;
    *out = sdk::to_abi(at->second);
    return WYE_OK;
}

const void* get_extension(wye_host_object* self, wye_string name, std::uint32_t version) noexcept {
    try {
        if (self == nullptr || !self->extensions) return nullptr;
        return self->extensions(sdk::from_abi(name), version);
    } catch (...) {
        return nullptr;
    }
}

}  // namespace

struct HostServices::Impl {
    wye_host_object object;
    wye_host_table table{};
};

HostServices::HostServices(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HostServices::~HostServices() = default;

std::shared_ptr<HostServices> HostServices::create(Config config, LogSink log,
                                                   ExtensionSource extensions) {
    auto impl = std::make_unique<Impl>();
    impl->object.config = std::move(config);
    impl->object.log = std::move(log);
    impl->object.extensions = std::move(extensions);
    impl->table.header = sdk::header_of(sizeof(wye_host_table));
    impl->table.self = &impl->object;
    impl->table.error_make = &error_make;
    impl->table.error_release = &error_release;
    impl->table.log = &log_text;
    impl->table.config_get = &config_get;
    impl->table.get_extension = &get_extension;
    return std::shared_ptr<HostServices>(new HostServices(std::move(impl)));
}

const wye_host_table& HostServices::table() const noexcept { return impl_->table; }
const Config& HostServices::config() const noexcept { return impl_->object.config; }

void HostServices::warn_of_unread(std::string_view plugin) const {
    const std::string area = std::string(plugin) + '.';
    std::vector<std::pair<std::string, std::string>> unread;  // each with a similar key, or none
    {
        const sdk::Lock lock(impl_->object.mutex);
        auto& asked = impl_->object.asked;
        const std::vector<std::string_view> known(asked.begin(), asked.end());
        for (auto at = config().lower_bound(area);
             at != config().end() && at->first.starts_with(area); ++at)
            if (!asked.contains(at->first) && at->first != area + "library")
                unread.emplace_back(at->first, sdk::nearest(at->first, known));
        for (const auto& [key, meant] : unread) asked.insert(key);
    }
    for (const auto& [key, meant] : unread)
        log(WYE_LOG_WARNING, "config",
            fmt::format("the configuration has a key `{}`, which plugin `{}` has not read. Fix: "
                        "{}",
                        key, plugin,
                        meant.empty() ? "leave it out, or use a key that the plugin's page lists"
                                      : fmt::format("write `{}`", meant)));
}

void HostServices::log(std::uint32_t level, std::string_view area,
                       std::string_view text) const noexcept {
    try {
        if (impl_->object.log) impl_->object.log(level, one_line(area), one_line(text));
    } catch (...) {  // the log line is dropped, as in log_text
    }
}

}  // namespace wye::registry
