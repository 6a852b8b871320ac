// SPDX-License-Identifier: Apache-2.0
//
// Flight: work in flight on one device. Programs, pipelines and graphs are dispatched on several
// queues, which wait for each other because they share buffers. Meanwhile all objects are freed in
// any order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "world.hpp"

namespace wye::stress {

class Flight {
  public:
    // Makes a call of the API, like Worker::call.
    using Call = std::function<wye_status(wye_error**)>;
    using Allowed = std::vector<wye_status>;
    using Make = std::function<wye_status(const char*, const Allowed&, const Call&)>;
    using Fail = std::function<void(const std::string&)>;

    // `may_be_lost`: the device may be lost, so any call may fail. A Flight is used by one thread.
    Flight(World& world, wye_context* context, wye_device device, Random& random, bool may_be_lost,
           Make make, Fail fail);

    // Makes the first objects. False: the device was lost, or the run failed.
    [[nodiscard]] bool begin();
    // Takes `steps` random steps: submits work, and makes and frees objects.
    void fly(unsigned steps);
    // Waits for the work, and checks the contents of the buffers that are left.
    void land();
    // Frees the objects that are left, in any order.
    void free_all();
    [[nodiscard]] bool lost() const { return lost_; }

  private:
    enum class Kind { Queue, Program, Pipeline, Graph, Pending, Buffer };
    struct Object {
        Kind kind = Kind::Queue;
        std::uint64_t handle = 0;
        Model model;                   // of a program, a pipeline or a graph
        Words words;                   // of a buffer
        std::size_t from = 0, to = 0;  // of a graph: the numbers of two buffers
        std::uint64_t k = 0;           // of a graph: the parameter
        std::uint64_t number = 0;      // of a buffer: identifies the buffer for its life
    };

    wye_status call(const char* name, Allowed allowed, const Call& function);
    [[nodiscard]] std::uint64_t pick(std::uint64_t count) { return below(random_, count); }
    [[nodiscard]] Object* some(Kind kind);
    [[nodiscard]] Object* buffer(std::uint64_t number);
    void add_queue();
    void add_buffer();
    void add_program();
    void add_pipeline();
    void add_graph();
    void dispatch();
    void execute();
    void download(Object& buffer);
    void apply(const Model& model, std::uint64_t k, Object& from, Object& to);
    // Frees one object. A buffer that is in use is kept.
    void free(std::size_t index);

    World& world_;
    wye_context* const context_;
    const wye_device device_;
    Random& random_;
    const bool may_be_lost_;
    const Make make_;
    const Fail fail_;
    bool lost_ = false;
    std::uint64_t numbers_ = 0;
    std::vector<Object> objects_;
};

}  // namespace wye::stress
