/* SPDX-License-Identifier: Apache-2.0
 *
 * Layers: plugins that stand between the host and another plugin, see each of its calls, and pass
 * them on, changed or not.
 *
 *     application -> host -> layer "validate" -> layer "trace" -> plugin "opencl" -> driver
 *
 * A layer is a plugin of the contract in wye/abi.h, with the same export, the same rules and one
 * more argument: the chain of the `wye_host_table` that its `init` gets has an entry
 * `wye_layer_next`. Its manifest says `"kind": "layer"`. The host initialises one copy of it for
 * each plugin that it opens, when the variable WYE_LAYERS or the configuration's `layers` names it.
 *
 * A layer
 *  1. calls `init` of `next.table` with `next.host` in its own `init`, and `shutdown` of that table
 *     in its own `shutdown`; it passes other calls on to the tables below, or answers them itself;
 *  2. keeps the contract on both sides: it is a plugin to the host or layer above it, and a host to
 *     the layer or plugin below it;
 *  3. wraps plugin, device and queue objects, which are the first arguments of slots, in objects of
 *     its own, and passes the wrapped objects down. It passes buffers, programs, commands and
 *     timelines unchanged;
 *  4. leaves a slot null that is null in the table below, unless it answers the slot itself;
 *  5. returns no table of an extension that it does not know, since the slots of that table would
 *     get the layer's objects;
 *  6. reads its settings from the configuration, under `layer.NAME.`.
 *
 * `wye/sdk/layer.hpp` does 1, 3, 4 and 5 for layers in C++.
 */
#ifndef WYE_ABI_LAYER_H
#define WYE_ABI_LAYER_H

#include "wye/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Types of chain entries for layers. */
enum wye_layer_chain_type {
    /* In wye_host_table. Critical, so that a plugin that is no layer refuses it. */
    WYE_CHAIN_LAYER_NEXT = 3
};

/* The layer or plugin below a layer. Valid until the layer's `shutdown` returns. */
typedef struct wye_layer_next {
    wye_header header; /* its type is WYE_CHAIN_LAYER_NEXT | WYE_CHAIN_CRITICAL */

    /* The table of the next layer or, below the last layer, of the plugin. No slot is null: the
     * host replaces a missing slot by a stub that returns WYE_UNIMPLEMENTED and names the slot.
     * Tables of devices and queues are as the plugin gives them: optional slots may be null. */
    const wye_plugin_table* table;
    /* The host table for `table->init`. A layer may pass another host table with the same chain. */
    const wye_host_table* host;

    wye_string id;      /* of the plugin below all layers: "opencl" */
    wye_string version; /* of that plugin */
} wye_layer_next;

#ifdef __cplusplus
}
#endif

#endif /* WYE_ABI_LAYER_H */
