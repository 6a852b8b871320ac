// SPDX-License-Identifier: Apache-2.0
#include "registry/choose/catalogue.hpp"

#include <fmt/format.h>

#include "device_selection.hpp"
#include "known_plugins.hpp"
#include "registry/open/contain.hpp"
#include "registry/open/handshake.hpp"
#include "registry/open/process_state.hpp"
#include "registry/probe/opening_mark.hpp"
#include "wye/sdk/plugin.hpp"
#include "wye/sdk/words.hpp"

namespace wye::registry {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20U;  // of a translation

}  // namespace

std::string_view why_name(PassedOver::Why why) noexcept {
    constexpr std::string_view kNames[] = {"unmatched", "excluded",  "failed",   "unusable",
                                           "unfit",     "outranked", "not_tried"};
    return sdk::name_in(kNames, why);
}

std::string_view state_name(PluginState state) noexcept {
    constexpr std::string_view kNames[] = {"found", "ready", "failed"};
    return sdk::name_in(kNames, state);
}

struct Registry::Impl {
    Impl(std::unique_ptr<KnownPlugins> known, Rank rank)
        : plugins(std::move(known)), selection(*plugins, std::move(rank)) {}

    const std::unique_ptr<KnownPlugins> plugins;
    DeviceSelection selection;

    // Opens a plugin that can translate.
    [[nodiscard]] Result<const OpenPlugin*> translator(std::string_view id) const {
        WYE_ASSIGN(KnownPlugin* const plugin, plugins->find(id));
        const PluginOpening& opened = plugins->open(*plugin);
        if (!opened.translator) return not_opened(opened);
        return opened.translator.get();
    }
};

Registry::Registry(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Registry::~Registry() = default;

Result<std::unique_ptr<Registry>> Registry::create(Options options) {
    Rank rank = std::move(options.rank);
    WYE_ASSIGN(auto plugins, KnownPlugins::create(std::move(options)));
    return std::unique_ptr<Registry>(
        new Registry(std::make_unique<Impl>(std::move(plugins), std::move(rank))));
}

std::vector<PluginInfo> Registry::plugins() const {
    std::vector<PluginInfo> out;
    for (KnownPlugin* const plugin : impl_->plugins->all()) out.push_back(plugin->info());
    return out;
}

std::vector<Record> Registry::records() const {
    (void)impl_->plugins->all();
    return impl_->plugins->records();
}

const std::vector<Layer>& Registry::layers() const noexcept {
    return impl_->plugins->layers().list();
}

const HostServices& Registry::host() const noexcept { return *impl_->plugins->host(); }
std::shared_ptr<const HostServices> Registry::shared_host() const noexcept {
    return impl_->plugins->host();
}

Result<PluginInfo> Registry::open_plugin(std::string_view id) {
    WYE_ASSIGN(KnownPlugin* const plugin, impl_->plugins->find(id));
    const PluginOpening& opened = impl_->plugins->open(*plugin);
    if (!opened.ready()) return to_error(opened.records.back());
    return plugin->info();
}

Result<std::vector<std::byte>> Registry::translate(std::string_view id, std::uint32_t device,
                                                   const wye_artifact& artifact,
                                                   std::string_view format) {
    WYE_ASSIGN(const OpenPlugin* const from, impl_->translator(id));
    const ProcessStateGuard guard(!from->built_in());
    wye_bytes bytes{};
    WYE_TRY(contain(id, "translate", [&](wye_error** error) {
        return from->table().translate(from->object(), device, &artifact, sdk::to_abi(format),
                                       &bytes, error);
    }));
    if (bytes.data == nullptr) return null_object_fault("translate");
    auto out = read_bytes(bytes, kMostBytes, "the result of the slot `translate`");
    contain_end(host(), id, "translate_release",
                [&] { from->table().translate_release(from->object(), bytes); });
    return out;
}

std::vector<Registry::Translator> Registry::translators() const {
    std::vector<Translator> out;
    for (KnownPlugin* const plugin : impl_->plugins->all())
        if (const auto& manifest = plugin->current().manifest)
            for (const Translation& translation : manifest->translates)
                out.push_back({plugin->candidate.id, translation});
    return out;
}

Result<std::string> Registry::translator_identity(std::string_view id) {
    WYE_ASSIGN(const OpenPlugin* const from, impl_->translator(id));
    return from->identity();
}

std::string Registry::compiler(std::string_view id) {
    const auto plugin = impl_->plugins->find(id);
    if (!plugin.ok()) return {};
    const auto& manifest = (*plugin)->current().manifest;
    const PluginOpening* const opened = (*plugin)->if_opened();
    if (!manifest || manifest->translates.empty() || opened == nullptr) return {};
    if (!opened->translator) {
        const std::optional<Probed>& probed = (*plugin)->probed;
        return probed && probed->verdict ? probed->verdict->message.compiler : std::string();
    }
    const ProcessStateGuard guard(!opened->translator->built_in());
    return opened->translator->compiler().value_or(std::string());
}

Result<Selection> Registry::select(const Selector& selector, const Fit& fit, Policy policy) {
    return impl_->selection.select(selector, fit, policy);
}

DevicePtr Registry::alternative(const Fit& fit) { return impl_->selection.alternative(fit); }

std::vector<DevicePtr> Registry::devices(const Selector& selector) {
    return list(selector).devices;
}

Registry::Listing Registry::list(const Selector& selector) {
    return impl_->selection.list(selector);
}

Registry::PhysicalListing Registry::physical() { return impl_->selection.physical(); }

Result<DeviceRef> Registry::open_device(const DeviceInfo& device) {
    const auto plugin = impl_->plugins->find(device.plugin);
    if (!plugin.ok())
        return Error(Code::NOT_FOUND, fmt::format("there is no plugin `{}`", device.plugin),
                     "Fix: take the device from this registry", device.selector);
    const PluginOpening& opened = impl_->plugins->open(**plugin);
    if (!opened.plugin) return not_opened(opened);
    if (device.index >= opened.devices.size())
        return Error(Code::NOT_FOUND, fmt::format("there is no device `{}`", device.selector),
                     "Fix: take the device from this registry", device.selector);
    const std::optional<Probed>& probed = (*plugin)->probed;
    const OpeningMark mark = probed ? impl_->plugins->prober().mark(*probed) : OpeningMark();
    return registry::open_device(opened.plugin, opened.devices[device.index]);
}

std::vector<Registry::Remembered> Registry::remembered() const {
    std::vector<Remembered> out;
    for (KnownPlugin* const plugin : impl_->plugins->all()) {
        if (plugin->query != nullptr) continue;
        for (std::size_t i = 0; i < plugin->copies(); ++i) {
            const Candidate& copy = plugin->copy(i);
            auto verdict = impl_->plugins->prober().recall(copy);
            if (i == 0 || verdict)
                out.push_back({copy.id, one_line(copy.library.string()), std::move(verdict)});
        }
    }
    return out;
}

Result<void> Registry::trust(std::string_view id) {
    WYE_ASSIGN(const KnownPlugin* const plugin, impl_->plugins->find(id));
    for (std::size_t i = 0; i < plugin->copies() && plugin->query == nullptr; ++i)
        WYE_TRY(impl_->plugins->prober().trust(plugin->copy(i)));
    return {};
}

Result<void> Registry::forget(std::string_view id) {
    WYE_ASSIGN(const KnownPlugin* const plugin, impl_->plugins->find(id));
    for (std::size_t i = 0; i < plugin->copies() && plugin->query == nullptr; ++i)
        impl_->plugins->prober().forget(plugin->copy(i));
    return {};
}

}  // namespace wye::registry
