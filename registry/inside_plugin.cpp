// SPDX-License-Identifier: Apache-2.0
#include "inside_plugin.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "registry/slot_watch.hpp"

namespace wye::registry {

constinit thread_local const PluginMark* PluginMark::innermost = nullptr;

void name_plugin(std::string_view plugin, std::string_view slot, const char* how) noexcept {
    char text[512];
    const int size = std::snprintf(
        text, sizeof text,
        "wye: %s inside the slot `%.*s` of the plugin `%.*s`. Fix: report this to the plugin's "
        "author; name another device, such as `cpu`, to do without the plugin\n",
        how, static_cast<int>(std::min<std::size_t>(slot.size(), 64)), slot.data(),
        static_cast<int>(std::min<std::size_t>(plugin.size(), 64)), plugin.data());
    if (size > 0)
        (void)!::write(STDERR_FILENO, text,
                       std::min<std::size_t>(static_cast<std::size_t>(size), sizeof text - 1));
}

namespace {

std::atomic<SlotWatcher> watcher{nullptr};

void tell(std::string_view slot) noexcept {
    if (const SlotWatcher to = watcher.load(std::memory_order_relaxed)) to(slot);
}

}  // namespace

void watch_slots(SlotWatcher to) noexcept { watcher.store(to, std::memory_order_relaxed); }

// Runs on the thread that called `exit`, and changes the status to a failure: `exit` called within
// a handler continues with the handlers that are left.
struct ExitReport {
    ~ExitReport() {
        const PluginMark* const at = PluginMark::innermost;
        if (at == nullptr) return;
        name_plugin(at->plugin_, at->slot_, "the process was ended (exit)");
        PluginMark::innermost = nullptr;
#ifdef __GLIBC__
        std::exit(EXIT_FAILURE);
#else
        std::_Exit(EXIT_FAILURE);
#endif
    }
    static void at_quick_exit() {
        const PluginMark* const at = PluginMark::innermost;
        if (at == nullptr) return;
        name_plugin(at->plugin_, at->slot_, "the process was ended (quick_exit)");
        std::_Exit(EXIT_FAILURE);
    }
};

InsidePlugin::InsidePlugin(std::string_view plugin, std::string_view slot) noexcept
    : mark_(plugin, slot) {
    static const ExitReport report;
    static const int quick = std::at_quick_exit(&ExitReport::at_quick_exit);
    (void)quick;  // if there is no room for the handler, quick_exit is not reported
    tell(slot);
}

InsidePlugin::~InsidePlugin() {
    tell(mark_.outer_ == nullptr ? std::string_view() : mark_.outer_->slot_);
}

}  // namespace wye::registry
