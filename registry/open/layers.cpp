// SPDX-License-Identifier: Apache-2.0
#include "registry/open/layers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "registry/open/open_plugin.hpp"
#include "wye/sdk/nearest.hpp"
#include "wye/sdk/plugin.hpp"
#include "wye/sdk/words.hpp"

namespace wye::registry {
namespace {

std::vector<std::string> names_of(std::string_view names) {
    std::vector<std::string> out;
    for (const std::string_view part : sdk::split(names, ","))
        if (const std::string_view name = sdk::trimmed(part); !name.empty()) out.emplace_back(name);
    return out;
}

Error no_such_layer(const std::string& name, const SearchResult& found) {
    std::vector<std::string_view> known;
    std::string list;
    for (const Candidate& layer : found.layers) {
        known.push_back(layer.id);
        list += fmt::format("{}`{}`", list.empty() ? "" : ", ", layer.id);
    }
    std::string fix = "Fix: install it beside the plugins, or correct the name";
    if (const std::string_view near = sdk::nearest(name, known); !near.empty())
        fix = fmt::format("Fix: write `{}` in WYE_LAYERS (or `layers`)", near);
    Error error(Code::NOT_FOUND,
                fmt::format("there is no layer `{}`; there {}", name,
                            list.empty() ? "are none" : "are " + list),
                std::move(fix), name);
    if (std::ranges::find(found.candidates, name, &Candidate::id) != found.candidates.end())
        error = Error(Code::NOT_FOUND, fmt::format("`{}` is a plugin, and no layer", name),
                      "Fix: remove it from WYE_LAYERS (or `layers`), or choose its devices by a "
                      "selector",
                      name);
    const auto refused = std::ranges::find_if(found.records, [&](const Record& record) {
        return record.plugin == name && record.severity == Severity::refused;
    });
    if (refused != found.records.end())
        error.cause = std::make_shared<const Error>(to_error(*refused));
    return error;
}

}  // namespace

Result<std::shared_ptr<const Layers>> Layers::open(std::string_view names,
                                                   const SearchResult& found,
                                                   const std::shared_ptr<HostServices>& host) {
    auto out = std::make_shared<Layers>();
    for (const std::string& name : names_of(names)) {
        if (std::ranges::find(out->list_, name, &Layer::id) != out->list_.end())
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("the layer `{}` is listed twice", name),
                         "Fix: name each layer once in WYE_LAYERS (or `layers`)", name);
        const auto at = std::ranges::find(found.layers, name, &Candidate::id);
        if (at == found.layers.end()) return no_such_layer(name, found);
        Stage stage = Stage::found;
        std::vector<Record> records;
        auto file = open_file(*at, *host, stage, records);
        if (!file.ok())
            return std::move(file).error().wrapped(
                Code::BAD_PLUGIN,
                fmt::format("the layer `{}` cannot be used ({})", name, stage_name(stage)),
                "Fix: remedy the cause, or remove it from WYE_LAYERS (or `layers`)",
                at->library.string());
        out->list_.push_back({name, file->about.version, at->library.string(), file->about.minor,
                              file->about.table, std::move(file->library)});
    }
    return std::shared_ptr<const Layers>(std::move(out));
}

LayerStack::LayerStack(std::shared_ptr<const Layers> layers, std::shared_ptr<HostServices> host,
                       const Negotiated& plugin)
    : layers_(std::move(layers)),
      host_(std::move(host)),
      id_(plugin.id),
      version_(plugin.version),
      minor_(plugin.minor),
      plugin_(plugin.table) {
    const std::vector<Layer>& list = layers_->list();
    for (std::size_t i = 0; i <= list.size(); ++i) hosts_.push_back(host_->table());
    for (std::size_t i = 0; i < list.size(); ++i) {
        minor_ = std::min(minor_, list[i].minor);
        wye_layer_next next{};
        next.header = sdk::header_of(sizeof next);
        next.header.type = WYE_CHAIN_LAYER_NEXT | WYE_CHAIN_CRITICAL;
        next.table = i + 1 < list.size() ? &list[i + 1].table : &plugin_;
        next.host = &hosts_[i + 1];
        next.id = sdk::to_abi(id_);
        next.version = sdk::to_abi(version_);
        below_.push_back(next);
        hosts_[i].header.next = &below_.back();
    }
}

const wye_plugin_table& LayerStack::table() const noexcept { return layers_->list().front().table; }

}  // namespace wye::registry
