// SPDX-License-Identifier: Apache-2.0
//
// Worker: one thread of a stress run. It makes random calls until the time is over.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "flight.hpp"
#include "world.hpp"

namespace wye::stress {

constexpr std::size_t kMostWords = 3000;   // of a buffer
constexpr std::uint32_t kShortLoop = 300;  // iterations

// A buffer that only this thread uses, and its expected contents.
struct OwnBuffer {
    std::size_t place = 0;
    std::size_t device = 0;
    wye_buffer handle = 0;
    Words words;
    bool maps = false;  // of usage SHARED: mapped, if the device can map buffers
};

// An asynchronous dispatch of this thread, and its expected output.
struct OwnPending {
    std::size_t place = 0;
    wye_pending handle = 0;
    std::shared_ptr<SharedProgram> program;
    std::uint32_t binding = 0;
    std::uint32_t traps = 0;
    bool cancelled = false;
    Words want;
};

// The public queue of this thread, if it has one.
struct OwnQueue {
    std::size_t place = 0;
    std::size_t device = 0;
    wye_queue handle = 0;
    bool transfers = false;  // for transfers only
};

class Worker {
  public:
    Worker(World& world, unsigned number);
    void run();

  private:
    // Makes a call. If the call fails, checks the error, and passes it to another thread. A status
    // other than OK and those in `allowed` fails the run.
    using Call = std::function<wye_status(wye_error**)>;
    wye_status call(const char* name, const std::vector<wye_status>& allowed, const Call& function);
    void fail(const std::string& what);
    [[nodiscard]] std::uint64_t pick(std::uint64_t count) { return below(random_, count); }
    [[nodiscard]] Place& place(std::size_t index) { return *world_.places()[index]; }
    [[nodiscard]] Words words(std::size_t count);
    // Compares a device's result with the result that the host has computed.
    void check(const char* what, const Words& got, const Words& want);

    // Each of these functions is one kind of step.
    void create_program();
    void free_program();
    void create_buffer();
    void free_buffer();
    void transfer();
    void copy_buffers();
    void map_buffer();
    void shared_buffers();
    void dispatch_host();
    void dispatch_resident();
    void submit_pending();
    void settle_pending();
    void run_graph();
    void change_queue();
    void described_transfer();
    void describe();
    void report();
    void open_again();
    void flush();
    void flush(Place& here, std::size_t device);
    void foreign_handles();
    void refusals();
    void pass_errors();
    void short_context();
    // Flights (flight.hpp). `fly` uses a device that all threads use. `fly_alone` uses a device of
    // a new context; the device is closed and opened again, or lost and recovered.
    void fly();
    void fly_alone();

    [[nodiscard]] Flight flight(wye_context* context, wye_device device, Random& random,
                                bool may_be_lost);
    void lose(wye_context* context, wye_device device);

    struct Launch;
    struct Graph;
    // One execution of a graph.
    struct Run {
        std::vector<std::uint64_t> params;
        bool same = false;  // params are the previous ones, so the call gives none
        wye_pending pending = 0;
        wye_status status = WYE_OK;
    };
    [[nodiscard]] bool record(Graph& graph);
    void execute(Graph& graph, Run& run);
    // Waits for the execution, and updates the expected contents of the buffers.
    void finish(const Graph& graph, Run& run);
    [[nodiscard]] std::uint32_t draw(const Model& model, const Words& x, std::size_t count);
    // Runs one dispatch and returns the status. A status that the launch does not allow fails the
    // run.
    wye_status launch(Launch& launch);
    [[nodiscard]] std::shared_ptr<SharedProgram> some_program(std::size_t in);
    // A queue for a dispatch on this device; 0: none.
    [[nodiscard]] wye_queue some_queue(std::size_t in, std::size_t device);

    World& world_;
    const unsigned number_;
    Random random_;
    std::uint64_t step_ = 0;
    std::vector<OwnBuffer> own_;
    std::vector<OwnPending> pending_;
    OwnQueue queue_;
};

}  // namespace wye::stress
