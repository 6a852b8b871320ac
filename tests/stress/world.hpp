// SPDX-License-Identifier: Apache-2.0
//
// World: the state that the threads of one run share. It has contexts with their devices, programs
// and buffers that any thread may free while other threads use them, errors that one thread passes
// to another, and the first failure.
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

constexpr std::size_t kMostDevices = 4;  // of a context

struct Options {
    std::vector<std::string> devices = {"cpu"};
    std::uint64_t seed = 0;
    double seconds = 5;
    unsigned threads = 6;
    unsigned contexts = 2;
    std::uint64_t variety = 12;
    std::string part = "all";  // "all" or "flight"
};

// A handle that several threads use. `freed` is set before the call that frees the handle.
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

// A context and its state.
struct Place {
    wye_context* context = nullptr;
    std::vector<wye_device> devices;  // the requested ones, then "cpu" if it is not among them
    // Whether a dispatch with a time limit has begun on the device, which may then be busy at any
    // time.
    std::array<std::atomic<bool>, kMostDevices> limited = {};
    std::atomic<std::uint64_t> log_lines = 0;
    std::mutex mutex;  // guards the tables below
    std::vector<std::shared_ptr<SharedProgram>> programs;
    std::vector<std::shared_ptr<SharedBuffer>> buffers;
};

class World {
  public:
    explicit World(const Options& options);
    // Destroys the contexts with their remaining objects, each context on its own thread.
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // Creates the contexts and opens their devices in parallel, each context on its own thread.
    [[nodiscard]] bool open();
    // Opens a context with these devices and "cpu". Its log callback counts the lines in `place`.
    // False: the context failed, and the failure is reported. `rules`: those of the layer `faults`;
    // empty: without that layer.
    [[nodiscard]] bool open_place(Place& place, const std::vector<std::string>& devices,
                                  const std::string& rules = {});

    [[nodiscard]] const Options& options() const { return options_; }
    [[nodiscard]] std::vector<std::unique_ptr<Place>>& places() { return places_; }
    [[nodiscard]] bool running() const {
        return !failed_.load() && std::chrono::steady_clock::now() < end_;
    }
    [[nodiscard]] bool failed() const { return failed_.load(); }
    // Prints the first failure and how to reproduce it, then stops all threads.
    void fail(std::string_view what);

    // Passes an error to the thread that calls `take_over` next.
    void hand_over(wye_error* error);
    [[nodiscard]] wye_error* take_over();

    std::atomic<std::uint64_t> calls = 0, dispatches = 0, checked = 0, timeouts = 0, refused = 0;
    std::atomic<std::uint64_t> notified = 0;

  private:
    const Options options_;
    std::chrono::steady_clock::time_point end_;
    std::vector<std::unique_ptr<Place>> places_;
    std::atomic<bool> failed_ = false;
    std::mutex print_;
    std::mutex errors_mutex_;
    std::deque<wye_error*> errors_;
};

// Joins the names: "a,b".
[[nodiscard]] std::string listed(const std::vector<std::string>& devices);

[[nodiscard]] inline std::string copy(wye_string text) {
    return text.data == nullptr ? std::string() : std::string(text.data, text.size);
}

}  // namespace wye::stress
