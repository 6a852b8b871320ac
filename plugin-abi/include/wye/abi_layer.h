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
 *  1. calls `next.table->init` with `next.host` in its own `init`, and `shutdown` of what is below
 *     in its own `shutdown`; all other slots it calls, or answers itself, as it likes;
 *  2. keeps the contract on both sides: it is a plugin to what is above, and a host to what is
 *     below;
 *  3. gives objects of its own in place of plugins, devices and queues, which are the first
 *     arguments of slots, and takes them apart where a call passes them down. Buffers, programs,
 *     commands and timelines it passes through as they are;
 *  4. leaves a slot null that is null below, unless it can do without what is below;
 *  5. gives no table of an extension that it does not know: its slots would get the layer's
 * objects;
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
    /* In wye_host_table, critical: a plugin that is no layer refuses to be one. */
    WYE_CHAIN_LAYER_NEXT = 3
};

/* What is below a layer. Valid until the layer's `shutdown` returns. */
typedef struct wye_layer_next {
    wye_header header; /* its type is WYE_CHAIN_LAYER_NEXT | WYE_CHAIN_CRITICAL */

    /* Of the next layer or, below the last, of the plugin. The host has completed it: each slot
     * that is missing returns WYE_UNIMPLEMENTED and names itself. Tables of devices and queues are
     * as the plugin gives them: optional slots may be null. */
    const wye_plugin_table* table;
    /* For `table->init`. A layer may pass another table, whose chain is that of this one. */
    const wye_host_table* host;

    wye_string id;      /* of the plugin below all layers: "opencl" */
    wye_string version; /* of that plugin */
} wye_layer_next;

#ifdef __cplusplus
}
#endif

#endif /* WYE_ABI_LAYER_H */
