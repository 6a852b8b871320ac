// SPDX-License-Identifier: Apache-2.0
//
// A layer in C++ (wye/abi_layer.h): every slot of every table goes through one function of a class
// `Layer`, which has
//
//     using State = ...;    // three types, for the state that the layer keeps
//         Plugin            // of a plugin, from init to shutdown; has
//             static Result<std::unique_ptr<Plugin>> create(host, const wye_layer_next&);
//             const wye_host_table& below();   // optional: the host table for the plugin below
//         Device            // of an opened device; has Device(PluginNode<State>&, index)
//         Queue             // of a queue; has Queue(DeviceNode<State>&, const wye_queue_desc&)
//
//     template <typename Slot, typename Node, typename Next, typename... Args>
//     static auto call(Slot, Node& node, Next&& next, Args... args);
//
// `Slot` is a type of layer_slots.hpp; a layer may overload `call` for single slots. `node` stands
// for the plugin, device or queue of the call, and holds the layer's state of it (`node.state()`).
// `next(args...)` calls the slot of the plugin below; `args` are the slot's arguments without the
// first. A layer that answers a call itself does not call `next`. If a layer answers the calls of a
// slot that may be null in the plugin below, the layer declares
//
//     static void provides(slot::device::device_lost);
//
// A layer with `static constexpr bool kKeepsEnded = true` keeps the states of closed devices and
// destroyed queues until shutdown, so that the layer can detect a use after their end.
//
//     constinit const wye_plugin_table kTable = sdk::layer::LayerSlots<Faults>::table();
//
// Exceptions of the plugin below pass through the layer, so that the host sees them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "wye/abi_layer.h"
#include "wye/sdk/known.hpp"
#include "wye/sdk/layer_slots.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/plugin.hpp"
#include "wye/sdk/sizes.hpp"

namespace wye::sdk::layer {

// ---- Nodes: stand for the objects of the plugin below --------------------------------------

template <typename State>
class PluginNode;
template <typename State>
class DeviceNode;
template <typename State>
class QueueNode;

// Returns the part of a table that its writer knew. The rest is null.
template <typename Table>
[[nodiscard]] Table known_part(const Table& from) {
    Table out{};
    std::memcpy(&out, &from, std::min<std::size_t>(from.header.size, sizeof out));
    out.header = header_of(sizeof out);
    return out;
}

template <typename State>
class PluginNode {
  public:
    PluginNode(const wye_host_table& above, const wye_layer_next& below,
               std::unique_ptr<typename State::Plugin> made)
        : host(above),
          id(from_abi(below.id)),
          next(known_part(*below.table)),
          state_(std::move(made)),
          host_below_(below.host) {}

    const wye_host_table& host;
    const std::string id;  // of the plugin below all layers
    const wye_plugin_table next;
    wye_plugin_object* object = nullptr;  // of the layer or plugin below
    std::atomic<const wye_compiler_table*> compiler{nullptr};

    [[nodiscard]] typename State::Plugin& state() { return *state_; }
    [[nodiscard]] PluginNode& plugin() { return *this; }
    [[nodiscard]] const wye_host_table* host_below() {
        if constexpr (requires { state_->below(); })
            return &state_->below();
        else
            return host_below_;
    }
    // Returns a table with the same slots, which lives until shutdown.
    template <typename Table>
    [[nodiscard]] const Table* keep(const Table& table) {
        const Lock lock(mutex_);
        auto& kept = std::get<std::deque<Table>>(tables_);
        for (const Table& one : kept)
            if (std::memcmp(&one, &table, sizeof table) == 0) return &one;
        return &kept.emplace_back(table);
    }

    // Keeps the node of an ended device or queue until shutdown. Without memory for that, the node
    // leaks.
    template <typename Node>
    void keep_ended(std::unique_ptr<Node> node) noexcept {
        const Lock lock(mutex_);
        try {
            auto& kept = std::get<std::deque<std::unique_ptr<Node>>>(ended_);
            for (const std::unique_ptr<Node>& one : kept)  // ended twice, against the ABI
                if (one.get() == node.get()) return (void)node.release();
            kept.emplace_back();
            kept.back() = std::move(node);
        } catch (const std::bad_alloc&) {
            (void)node.release();
        }
    }

  private:
    std::unique_ptr<typename State::Plugin> state_;
    const wye_host_table* const host_below_;
    Mutex mutex_;
    std::tuple<std::deque<wye_device_table>, std::deque<wye_queue_table>> tables_
        WYE_GUARDED_BY(mutex_);
    // The nodes of queues are destroyed before those of devices.
    std::tuple<std::deque<std::unique_ptr<QueueNode<State>>>,
               std::deque<std::unique_ptr<DeviceNode<State>>>>
        ended_ WYE_GUARDED_BY(mutex_);
};

template <typename State>
class DeviceNode {
  public:
    DeviceNode(PluginNode<State>& parent, std::uint32_t number, wye_device_object* below,
               const wye_device_table& table)
        : index(number), object(below), next(known_part(table)), parent_(parent) {}

    const std::uint32_t index;  // in the plugin's list of devices
    wye_device_object* const object;
    const wye_device_table next;
    std::atomic<const wye_native_table*> native{nullptr};
    std::atomic<const wye_layouts_table*> layouts{nullptr};
    std::atomic<const wye_loss_table*> loss{nullptr};

    [[nodiscard]] typename State::Device& state() { return state_; }
    [[nodiscard]] PluginNode<State>& plugin() { return parent_; }

  private:
    PluginNode<State>& parent_;
    typename State::Device state_{parent_, index};
};

template <typename State>
class QueueNode {
  public:
    QueueNode(DeviceNode<State>& parent, const wye_queue_desc& desc, wye_queue_object* below,
              wye_timeline_object* own, const wye_queue_table& table)
        : object(below),
          timeline(own),
          next(known_part(table)),
          parent_(parent),
          state_(parent, desc) {}

    wye_queue_object* const object;
    wye_timeline_object* const timeline;
    const wye_queue_table next;

    [[nodiscard]] typename State::Queue& state() { return state_; }
    [[nodiscard]] DeviceNode<State>& device() { return parent_; }
    [[nodiscard]] PluginNode<State>& plugin() { return parent_.plugin(); }

  private:
    DeviceNode<State>& parent_;
    typename State::Queue state_;
};

template <typename State>
[[nodiscard]] PluginNode<State>& node_of(wye_plugin_object* object) {
    return *reinterpret_cast<PluginNode<State>*>(object);
}
template <typename State>
[[nodiscard]] DeviceNode<State>& node_of(wye_device_object* object) {
    return *reinterpret_cast<DeviceNode<State>*>(object);
}
template <typename State>
[[nodiscard]] QueueNode<State>& node_of(wye_queue_object* object) {
    return *reinterpret_cast<QueueNode<State>*>(object);
}

// ---- Calls of the plugin below -------------------------------------------------------------

template <typename Layer, typename Slot>
inline constexpr bool kProvides = requires {
    Layer::provides(Slot{});
};

template <typename Slot, typename Node>
[[nodiscard]] const typename Slot::Table& table_below(Node& node) {
    using Table = typename Slot::Table;
    if constexpr (std::is_same_v<Table, wye_native_table>)
        return *node.native.load();
    else if constexpr (std::is_same_v<Table, wye_layouts_table>)
        return *node.layouts.load();
    else if constexpr (std::is_same_v<Table, wye_loss_table>)
        return *node.loss.load();
    else if constexpr (std::is_same_v<Table, wye_compiler_table>)
        return *node.compiler.load();
    else
        return node.next;
}

template <typename Layer>
class LayerSlots {
  public:
    [[nodiscard]] static constexpr wye_plugin_table table() {
        wye_plugin_table out{};
        out.header = header_of(sizeof out);
#define WYE_LAYER_FILL(name, mandatory) fill<slot::plugin::name>(out, &wye_plugin_table::name);
        WYE_PLUGIN_SLOTS(WYE_LAYER_FILL)
#undef WYE_LAYER_FILL
        return out;
    }

  private:
    using State = typename Layer::State;
    using Plugin = PluginNode<State>;
    using Device = DeviceNode<State>;
    using Queue = QueueNode<State>;

    // ---- The slots ----

    static constexpr bool kKeepsEnded = [] {
        if constexpr (requires { Layer::kKeepsEnded; })
            return Layer::kKeepsEnded;
        else
            return false;
    }();

    // Frees a node after the call that ends its object, or keeps the node.
    template <typename Node>
    class Ended {
      public:
        explicit Ended(Node* node) : node_(node) {}
        ~Ended() {
            std::unique_ptr<Node> owned(node_);
            if constexpr (kKeepsEnded && !std::is_same_v<Node, Plugin>)
                if (node_ != nullptr) node_->plugin().keep_ended(std::move(owned));
        }
        Ended(const Ended&) = delete;
        Ended& operator=(const Ended&) = delete;

      private:
        Node* const node_;
    };

    template <typename Slot, typename Function>
    struct Thunk;
    template <typename Slot, typename Return, typename Object, typename... Args>
    struct Thunk<Slot, Return (*)(Object*, Args...)> {
        static Return call(Object* object, Args... args) {
            auto& node = node_of<State>(object);
            using Node = std::remove_reference_t<decltype(node)>;
            constexpr bool kEnds = std::is_same_v<Slot, slot::plugin::shutdown> ||
                                   std::is_same_v<Slot, slot::device::close> ||
                                   std::is_same_v<Slot, slot::queue::destroy>;
            [[maybe_unused]] const Ended<Node> ended(kEnds ? &node : nullptr);
            const auto next = [&node](Args... passed) -> Return {
                return forward(Slot{}, node, passed...);
            };
            return Layer::call(Slot{}, node, next, args...);
        }
    };

    template <typename Slot, typename Table, typename Function>
    static constexpr void fill(Table& table, Function Table::*member) {
        if constexpr (std::is_same_v<Slot, slot::plugin::init>)
            table.*member = init;
        else
            table.*member = Thunk<Slot, Function>::call;
    }
    // As `fill`, for a slot that may be null in the table below. A slot that is null there stays
    // null, unless the layer provides it.
    template <typename Slot, typename Table, typename Function>
    static void fill_as(const Table& below, Table& table, Function Table::*member) {
        if (below.*member != nullptr || kProvides<Layer, Slot>) fill<Slot>(table, member);
    }

    [[nodiscard]] static wye_device_table table_over(const wye_device_table& below) {
        wye_device_table out{};
        out.header = header_of(sizeof out);
#define WYE_LAYER_FILL(name, mandatory) \
    fill_as<slot::device::name>(below, out, &wye_device_table::name);
        WYE_DEVICE_SLOTS(WYE_LAYER_FILL)
#undef WYE_LAYER_FILL
        return out;
    }
    [[nodiscard]] static wye_queue_table table_over(const wye_queue_table& below) {
        wye_queue_table out{};
        out.header = header_of(sizeof out);
#define WYE_LAYER_FILL(name, mandatory) \
    fill_as<slot::queue::name>(below, out, &wye_queue_table::name);
        WYE_QUEUE_SLOTS(WYE_LAYER_FILL)
#undef WYE_LAYER_FILL
        return out;
    }

    template <typename Slot>
    static constexpr typename Slot::Function kCall = Thunk<Slot, typename Slot::Function>::call;
    static constexpr wye_native_table kNative = {
        header_of(sizeof(wye_native_table)), kCall<slot::native::device>,
        kCall<slot::native::queue>, kCall<slot::native::buffer>};
    static constexpr wye_layouts_table kLayouts = {header_of(sizeof(wye_layouts_table)),
                                                   kCall<slot::layouts::counts>};
    static constexpr wye_loss_table kLoss = {header_of(sizeof(wye_loss_table)),
                                             kCall<slot::loss::lose>};
    static constexpr wye_compiler_table kCompiler = {header_of(sizeof(wye_compiler_table)),
                                                     kCall<slot::compiler::identity>};

    // ---- init ----

    [[nodiscard]] static const wye_layer_next* find_next(const wye_host_table& host) {
        constexpr unsigned kMost = 64;
        const void* at = host.header.next;
        for (unsigned i = 0; at != nullptr && i < kMost; ++i) {
            const auto* entry = static_cast<const wye_header*>(at);
            if (entry->type == (WYE_CHAIN_LAYER_NEXT | WYE_CHAIN_CRITICAL) &&
                entry->size >= WYE_SIZE_TO(wye_layer_next, version))
                return static_cast<const wye_layer_next*>(at);
            at = entry->next;
        }
        return nullptr;
    }

    static wye_status init(const wye_host_table* host, std::uint32_t minor, wye_plugin_object** out,
                           wye_error** error) {
        std::unique_ptr<Plugin> node;
        const wye_status made = guard(*host, error, [&]() -> Result<void> {
            const wye_layer_next* below = find_next(*host);
            if (below == nullptr)
                return Error(Code::UNSUPPORTED, "this plugin is a layer, and has no devices",
                             "Fix: name it in WYE_LAYERS, and give its manifest the kind `layer`");
            WYE_TRY(
                known_parts(host->header, 0, "layer", "the host's table", WYE_CHAIN_LAYER_NEXT));
            WYE_ASSIGN(auto state, State::Plugin::create(*host, *below));
            node = std::make_unique<Plugin>(*host, *below, std::move(state));
            return {};
        });
        if (made != WYE_OK) return made;
        wye_plugin_object* object = nullptr;
        const auto next = [&](const wye_host_table*, std::uint32_t effective,
                              wye_plugin_object** to, wye_error** sink) {
            const wye_status status = node->next.init(node->host_below(), effective, to, sink);
            if (status == WYE_OK) node->object = *to;
            return status;
        };
        const wye_status status =
            Layer::call(slot::plugin::init{}, *node, next, host, minor, &object, error);
        if (status != WYE_OK || object == nullptr) {
            if (object != nullptr) *out = object;  // against the ABI, but passed on
            return status;
        }
        *out = reinterpret_cast<wye_plugin_object*>(node.release());
        return WYE_OK;
    }

    // ---- The calls that `next` makes ----

    template <typename Slot, typename Node, typename... Args>
    static auto forward(Slot, Node& node, Args... args) {
        const auto function = table_below<Slot>(node).*Slot::kMember;
        using Return = decltype(function(node.object, args...));
        if constexpr (!std::is_void_v<Return>) {
            if (function == nullptr) {
                if constexpr (std::is_same_v<Return, wye_status>)
                    return static_cast<Return>(WYE_UNIMPLEMENTED);
                else
                    return Return{};
            }
        }
        return function(node.object, args...);
    }

    static wye_status forward(slot::plugin::open_device, Plugin& node, const wye_open_desc* desc,
                              wye_device_object** out, const wye_device_table** table,
                              wye_error** error) {
        wye_device_object* object = nullptr;
        const wye_device_table* below = nullptr;
        const wye_status status = node.next.open_device(node.object, desc, &object, &below, error);
        if (status != WYE_OK || object == nullptr || below == nullptr) {
            if (object != nullptr) *out = object;  // against the ABI, but passed on
            return status;
        }
        try {
            const wye_device_table* own = node.keep(table_over(known_part(*below)));
            auto made = std::make_unique<Device>(node, desc->index, object, *below);
            *out = reinterpret_cast<wye_device_object*>(made.release());
            *table = own;
            return WYE_OK;
        } catch (const std::bad_alloc&) {
            known_part(*below).close(object);
            return WYE_OUT_OF_MEMORY;
        }
    }

    static wye_status forward(slot::device::queue_create, Device& node, const wye_queue_desc* desc,
                              wye_queue_object** out, wye_timeline_object** timeline,
                              const wye_queue_table** table, wye_error** error) {
        wye_queue_object* object = nullptr;
        wye_timeline_object* own = nullptr;
        const wye_queue_table* below = nullptr;
        const wye_status status =
            node.next.queue_create(node.object, desc, &object, &own, &below, error);
        if (status != WYE_OK || object == nullptr || own == nullptr || below == nullptr) {
            if (object != nullptr) *out = object;
            if (own != nullptr) *timeline = own;
            return status;
        }
        try {
            const wye_queue_table* made_table = node.plugin().keep(table_over(known_part(*below)));
            auto made = std::make_unique<Queue>(node, *desc, object, own, *below);
            *out = reinterpret_cast<wye_queue_object*>(made.release());
            *timeline = own;
            *table = made_table;
            return WYE_OK;
        } catch (const std::bad_alloc&) {
            known_part(*below).destroy(object);
            return WYE_OUT_OF_MEMORY;
        }
    }

    static wye_status forward(slot::native::queue, Device& node, wye_queue_object* queue,
                              wye_native_handle* out, wye_error** error) {
        return table_below<slot::native::queue>(node).queue(
            node.object, node_of<State>(queue).object, out, error);
    }

    // Stores the extension table `below` of the plugin below in `place`, and returns the layer's
    // own table `ours`. Returns null if `below` is too short.
    template <typename Table>
    static const void* over(const void* below, const Table& ours,
                            std::atomic<const Table*>& place) {
        const auto* table = static_cast<const Table*>(below);
        if (table->header.size < kSizeOfMinor0<Table>) return nullptr;
        place.store(table);
        return &ours;
    }
    static const void* forward(slot::plugin::get_extension, Plugin& node, wye_string name,
                               std::uint32_t version) {
        if (node.next.get_extension == nullptr) return nullptr;
        const void* below = node.next.get_extension(node.object, name, version);
        if (below == nullptr || version != 1) return nullptr;
        if (from_abi(name) == WYE_EXTENSION_COMPILER) return over(below, kCompiler, node.compiler);
        return nullptr;
    }
    static const void* forward(slot::device::get_extension, Device& node, wye_string name,
                               std::uint32_t version) {
        if (node.next.get_extension == nullptr) return nullptr;
        const void* below = node.next.get_extension(node.object, name, version);
        if (below == nullptr || version != 1) return nullptr;
        if (from_abi(name) == WYE_EXTENSION_NATIVE_HANDLE) return over(below, kNative, node.native);
        if (from_abi(name) == WYE_EXTENSION_LAYOUTS) return over(below, kLayouts, node.layouts);
        if (from_abi(name) == WYE_EXTENSION_LOSS) return over(below, kLoss, node.loss);
        return nullptr;
    }
};

// Returns the argument through which a slot returns an error. Null: the slot has no such argument,
// or the caller passed null.
template <typename... Args>
[[nodiscard]] wye_error** sink_of(Args... args) {
    wye_error** sink = nullptr;
    [[maybe_unused]] const auto look = [&](auto arg) {
        if constexpr (std::is_same_v<decltype(arg), wye_error**>) sink = arg;
    };
    (look(args), ...);
    return sink;
}

// Writes a line to the host's log.
inline void log(const wye_host_table& host, std::uint32_t level, std::string_view area,
                std::string_view text) {
    host.log(host.self, level, to_abi(area), to_abi(text));
}

}  // namespace wye::sdk::layer
