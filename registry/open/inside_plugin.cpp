// SPDX-License-Identifier: Apache-2.0
#include "registry/open/inside_plugin.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "registry/open/error_object.hpp"
#include "registry/open/plugin_text.hpp"
#include "registry/open/slot_watch.hpp"

namespace wye::registry {

constinit thread_local const PluginMark* PluginMark::innermost = nullptr;

namespace {

// Writes to stderr that `how` happened inside a plugin's slot, and a remedy.
void name_plugin(const PluginSlot& at, const char* how) noexcept {
    char text[512];
    const int size = std::snprintf(
        text, sizeof text,
        "wye: %s inside the slot `%.*s` of the plugin `%.*s`. Fix: report this to the plugin's "
        "author; name another device, such as `cpu`, to do without the plugin\n",
        how, static_cast<int>(std::min<std::size_t>(at.slot.size(), 64)), at.slot.data(),
        static_cast<int>(std::min<std::size_t>(at.plugin.size(), 64)), at.plugin.data());
    if (size > 0)
        (void)!::write(STDERR_FILENO, text,
                       std::min<std::size_t>(static_cast<std::size_t>(size), sizeof text - 1));
}

}  // namespace

void detail::slot_unwound(const PluginSlot& at) noexcept {
    name_plugin(at, "the thread was ended (pthread_exit or pthread_cancel)");
}

Result<void> detail::slot_threw(const PluginSlot& at, wye_error* error) {
    release_error_object(error);
    try {
        throw;
    } catch (const std::exception& e) {
        return Error(Code::PLUGIN_FAULT,
                     fmt::format("the slot `{}` threw: {}", at.slot, one_line(e.what())),
                     kPluginAuthor);
    } catch (...) {
        return Error(Code::PLUGIN_FAULT, fmt::format("the slot `{}` threw", at.slot),
                     kPluginAuthor);
    }
}

Result<void> detail::slot_ended(const PluginSlot& at, wye_status status, wye_error* error) {
    if (status == WYE_OK) {
        release_error_object(error);  // an error object is ignored on success
        return {};
    }
    std::unique_ptr<wye_error, void (*)(wye_error*)> owned(error, release_error_object);
    const std::string what = fmt::format("the slot `{}`", at.slot);  // may throw
    return take_error(status, owned.release(), what);
}

namespace {

std::atomic<SlotWatcher> watcher{nullptr};

void tell(std::string_view slot) noexcept {
    if (const SlotWatcher to = watcher.load(std::memory_order_relaxed)) to(slot);
}

}  // namespace

namespace {
std::atomic<bool> float_change{false};
}  // namespace

void note_float_change() noexcept { float_change.store(true, std::memory_order_relaxed); }
bool took_float_change() noexcept { return float_change.exchange(false); }

void watch_slots(SlotWatcher to) noexcept { watcher.store(to, std::memory_order_relaxed); }

// Runs on the thread that called `exit`, and changes the exit status to a failure. A call of `exit`
// within a handler runs the remaining handlers, and ends the process with the new status.
struct ExitReport {
    static void at_exit() {
        const PluginMark* const at = PluginMark::innermost;
        if (at == nullptr) return;
        name_plugin(at->at_, "the process was ended (exit)");
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
        name_plugin(at->at_, "the process was ended (quick_exit)");
        std::_Exit(EXIT_FAILURE);
    }
};

InsidePlugin::InsidePlugin(std::string_view plugin, std::string_view slot) noexcept
    : at_{plugin, slot}, mark_(at_) {
    static const int handlers =
        std::atexit(&ExitReport::at_exit) + std::at_quick_exit(&ExitReport::at_quick_exit);
    (void)handlers;  // without room for a handler, such an exit is not reported
    tell(slot);
}

InsidePlugin::~InsidePlugin() {
    tell(mark_.outer_ == nullptr ? std::string_view() : mark_.outer_->at_.slot);
}

}  // namespace wye::registry
