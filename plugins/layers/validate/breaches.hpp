// SPDX-License-Identifier: Apache-2.0
//
// Breaches of the contract. Each breach is counted, and is written to the host's log as one line at
// the level `error`, with the number of the rule, the slot and the object. Only the first
// kMostLines breaches of a rule in a slot are written. Free-threaded; nothing throws.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "wye/abi.h"
#include "wye/sdk/mutex.hpp"

namespace wye::layers::validate {

// The side that broke the rule.
enum class Side : std::uint8_t { host, plugin };

// Returns a number as text, for messages.
[[nodiscard]] inline std::string number(std::uint64_t value) { return std::to_string(value); }

class Breaches {
  public:
    static constexpr std::uint64_t kMostLines = 20;

    // `plugin` is the id of the plugin below all layers.
    Breaches(const wye_host_table& host, std::string plugin, bool of_host, bool of_plugin)
        : host_(host), plugin_(std::move(plugin)), of_host_(of_host), of_plugin_(of_plugin) {}

    // Runs checks that may need memory. If memory runs out, the record has a gap, so the layer
    // warns and checks nothing from then on.
    template <typename Body>
    void unless_out_of_memory(Body&& body) noexcept {
        try {
            body();
        } catch (const std::exception&) {
            give_up();
        }
    }

    // Whether breaches of this side are reported.
    [[nodiscard]] bool looks_for(Side side) const noexcept {
        return side == Side::host ? of_host_ : of_plugin_;
    }
    // Adds a breach. `rule` is a name such as "P-16"; `text` is one sentence without a full stop.
    void add(Side side, std::string_view rule, std::string_view slot, const void* object,
             std::string_view text) noexcept;
    // Warns of something that is not a breach.
    void warn(std::string_view slot, std::string_view text) noexcept;
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    // Stops all checks.
    void give_up() noexcept;
    // Writes the numbers of breaches and calls.
    void sum_up() noexcept;

    std::atomic<std::uint64_t> calls{0};

  private:
    const wye_host_table& host_;
    const std::string plugin_;
    std::atomic<bool> of_host_, of_plugin_;
    std::atomic<std::uint64_t> count_{0};
    sdk::Mutex mutex_;
    std::map<std::pair<std::string, std::string>, std::uint64_t> lines_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::layers::validate
