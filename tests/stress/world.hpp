// SPDX-License-Identifier: Apache-2.0
//
// What the threads of one stress run share: contexts with their devices, programs and buffers that
// any thread may free while others use them, errors that another thread frees, and the first
// failure.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "model.hpp"
#include "wye/wye.h"

namespace wye::stress {

struct Options {
    std::string device = "cpu";
    std::uint64_t seed = 0;
    double seconds = 5;
    unsigned threads = 6;
    unsigned contexts = 2;
    std::uint64_t variety = 12;
};

// A handle in the table of a place. `freed` is set before the call that frees it.
struct SharedProgram {
    wye_program handle = 0;
    Model model;
    std::atomic<bool> freed = false;
};
struct SharedBuffer {
    wye_buffer handle = 0;
    std::size_t device = 0;
    std::atomic<bool> freed = false;
};

// A context and what is known of it.
struct Place {
    wye_context* context = nullptr;
    std::vector<wye_device> devices;  // the one asked for, then "cpu" where that is another
    // A dispatch with a time limit began on the device: from then on it may be busy for a while.
    std::array<std::atomic<bool>, 2> limited = {};
    std::atomic<std::uint64_t> log_lines = 0;
    std::mutex mutex;  // guards the tables below
    std::vector<std::shared_ptr<SharedProgram>> programs;
    std::vector<std::shared_ptr<SharedBuffer>> buffers;
};

class World {
  public:
    explicit World(const Options& options);
    // Destroys the contexts, each on a thread of its own, with whatever still lives in them.
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // Creates the contexts and opens their devices, each on a thread of its own, all at once.
    [[nodiscard]] bool open();
    // One context with a log callback that counts in `place`; null after a failure that was told.
    [[nodiscard]] bool open_place(Place& place, std::string_view device);

    [[nodiscard]] const Options& options() const { return options_; }
    [[nodiscard]] std::vector<std::unique_ptr<Place>>& places() { return places_; }
    [[nodiscard]] bool running() const {
        return !failed_.load() && std::chrono::steady_clock::now() < end_;
    }
    [[nodiscard]] bool failed() const { return failed_.load(); }
    // The first failure is printed, with what repeats it; then all threads stop.
    void fail(std::string_view what);

    // Errors go to whichever thread takes them next.
    void hand_over(wye_error* error);
    [[nodiscard]] wye_error* take_over();

    std::atomic<std::uint64_t> calls = 0, dispatches = 0, checked = 0, timeouts = 0, refused = 0;

  private:
    const Options options_;
    std::chrono::steady_clock::time_point end_;
    std::vector<std::unique_ptr<Place>> places_;
    std::atomic<bool> failed_ = false;
    std::mutex print_;
    std::mutex errors_mutex_;
    std::deque<wye_error*> errors_;
};

[[nodiscard]] inline std::string copy(wye_string text) {
    return text.data == nullptr ? std::string() : std::string(text.data, text.size);
}

}  // namespace wye::stress
