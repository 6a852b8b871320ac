// SPDX-License-Identifier: Apache-2.0
#include "layers/validate/breaches.hpp"

#include <cinttypes>
#include <cstdio>
#include <exception>

#include "wye/sdk/layer.hpp"

namespace wye::layers::validate {
namespace {

constexpr std::string_view kArea = "validate";

}  // namespace

void Breaches::add(Side side, std::string_view rule, std::string_view slot, const void* object,
                   std::string_view text) noexcept {
    if (!looks_for(side)) return;
    ++count_;
    try {
        std::uint64_t lines = 0;
        {
            const sdk::Lock lock(mutex_);
            lines = ++lines_[{std::string(rule), std::string(slot)}];
        }
        if (lines > kMostLines) return;
        char address[32] = "";
        if (object != nullptr)
            std::snprintf(address, sizeof address, " (0x%" PRIxPTR ")",
                          reinterpret_cast<std::uintptr_t>(object));
        std::string line = std::string(rule) + ": `" + std::string(slot) + "` of plugin `" +
                           plugin_ + "`: " + std::string(text) + address + ". Fix: correct the " +
                           (side == Side::host ? "caller" : "plugin") +
                           "; plugin-abi/README.md has the rule";
        if (lines == kMostLines) line += "; more of these are counted, and not written";
        sdk::layer::log(host_, WYE_LOG_ERROR, kArea, line);
    } catch (const std::exception&) {  // no memory for the line; the breach still counts
    }
}

void Breaches::warn(std::string_view slot, std::string_view text) noexcept {
    try {
        sdk::layer::log(
            host_, WYE_LOG_WARNING, kArea,
            "`" + std::string(slot) + "` of plugin `" + plugin_ + "`: " + std::string(text));
    } catch (const std::exception&) {
    }
}

void Breaches::give_up() noexcept {
    of_host_ = of_plugin_ = false;
    constexpr std::string_view kText =
        "the process has no memory left for the record of objects: calls are not checked any more";
    sdk::layer::log(host_, WYE_LOG_WARNING, kArea, kText);
}

void Breaches::sum_up() noexcept {
    try {
        sdk::layer::log(host_, count_ == 0 ? WYE_LOG_INFO : WYE_LOG_ERROR, kArea,
                        "plugin `" + plugin_ + "`: " + std::to_string(count_) + " breaches in " +
                            std::to_string(calls) + " calls");
    } catch (const std::exception&) {
    }
}

}  // namespace wye::layers::validate
