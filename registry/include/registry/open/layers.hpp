// SPDX-License-Identifier: Apache-2.0
//
// Layers: the opened layers of a context (wye/abi_layer.h), which are put over every plugin.
// LayerStack: the tables of one plugin with all layers over it. Without layers there is no stack,
// and the host calls the plugin's own tables. Opening a layer enters no driver. Immutable once
// made; free-threaded.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "registry/find/search.hpp"
#include "registry/open/handshake.hpp"
#include "registry/open/host_services.hpp"
#include "registry/open/library.hpp"
#include "wye/abi_layer.h"

namespace wye::registry {

// The key of the configuration that lists the layers: names separated by commas, the first nearest
// to the host.
inline constexpr std::string_view kLayersKey = "layers";

struct Layer {
    std::string id, version;
    std::string path;  // of its file
    std::uint32_t minor = 0;
    wye_plugin_table table{};
    Library library;  // stays mapped
};

class Layers {
  public:
    // Opens the layers that `names` lists, from those that the search found. NOT_FOUND suggests the
    // nearest name; INVALID_ARGUMENT: a name is listed twice. Other errors say why a file cannot be
    // used as a layer.
    [[nodiscard]] static Result<std::shared_ptr<const Layers>> open(
        std::string_view names, const SearchResult& found,
        const std::shared_ptr<HostServices>& host);

    // The opened layers, in the order of `names`.
    [[nodiscard]] const std::vector<Layer>& list() const noexcept { return list_; }

  private:
    std::vector<Layer> list_;
};

class LayerStack {
  public:
    // Puts the layers, at least one, over `plugin`, whose table is copied.
    LayerStack(std::shared_ptr<const Layers> layers, std::shared_ptr<HostServices> host,
               const Negotiated& plugin);
    LayerStack(const LayerStack&) = delete;
    LayerStack& operator=(const LayerStack&) = delete;

    // `table`: the table of the first layer, which the host calls. `host_table`: the host table
    // that the first layer's init gets.
    [[nodiscard]] const wye_plugin_table& table() const noexcept;
    [[nodiscard]] const wye_host_table& host_table() const noexcept { return hosts_.front(); }
    // The lowest effective minor of the plugin and the layers.
    [[nodiscard]] std::uint32_t minor() const noexcept { return minor_; }

  private:
    std::shared_ptr<const Layers> layers_;
    std::shared_ptr<HostServices> host_;
    std::string id_, version_;
    std::uint32_t minor_;
    wye_plugin_table plugin_;
    std::deque<wye_host_table> hosts_;  // one for each layer, and one for the plugin
    std::deque<wye_layer_next> below_;  // for each layer, the layer or plugin below
};

}  // namespace wye::registry
