// SPDX-License-Identifier: Apache-2.0
//
// Steps with dispatches: on host memory, on resident buffers, timed, with time limits, with traps.
#include <algorithm>

#include "worker.hpp"

namespace wye::stress {
namespace {

constexpr std::uint32_t kUnwritten = 0xdeadbeef;
constexpr std::uint32_t kLongLoop = 60000;

}  // namespace

struct Worker::Launch {
    const char* name = "";
    std::size_t place = 0;
    std::size_t device = 0;
    std::shared_ptr<SharedProgram> program;
    std::uint32_t k = 0;
    std::uint64_t timeout_ns = 0;
    std::uint32_t traps = 0;
    std::array<wye_argument, 2> arguments = {};

    [[nodiscard]] const Model& model() const { return program->model; }
    // Draws the parameter. One launch in six gets a time limit, which some loops exceed.
    void draw(Random& random, const Words& x) {
        const bool limited = below(random, 6) == 0;
        if (limited) timeout_ns = std::uint64_t{1000} << below(random, 14);
        k = static_cast<std::uint32_t>(random());
        if (model().kind == Model::Kind::Loop) k %= limited ? kLongLoop : kShortLoop;
        if (model().kind == Model::Kind::Trap && below(random, 2) == 0)
            k = x[below(random, x.size())];
        traps = model().traps(x, k);
    }
};

wye_status Worker::launch(Launch& launch) {
    Place& here = place(launch.place);
    const std::uint64_t k = launch.k;
    wye_dispatch_desc desc;
    WYE_INIT(desc);
    desc.program = launch.program->handle;
    desc.device = here.devices[launch.device];
    desc.arguments = launch.arguments.data();
    desc.argument_count = launch.model().in_place() ? 1 : 2;
    desc.params = &k;
    desc.param_count = 1;
    desc.timeout_ns = launch.timeout_ns;
    desc.label = wye_str("stress");
    desc.queue = some_queue(launch.place, launch.device);
    if (pick(3) == 0) desc.flags |= WYE_DISPATCH_TIMED;
    // Set before the call, since another thread may find the device busy before this call returns.
    std::atomic<bool>& limited = here.limited[launch.device];
    if (launch.timeout_ns != 0) limited = true;
    wye_report report;
    WYE_INIT(report);
    const wye_status status =
        call(launch.name,
             {WYE_STALE_HANDLE, WYE_TRAPPED, WYE_TIMEOUT, WYE_DEVICE_BUSY, WYE_BUFFER_IN_USE},
             [&](wye_error** error) { return wye_dispatch(here.context, &desc, &report, error); });
    ++world_.dispatches;
    const std::string name = launch.name;
    switch (status) {
        case WYE_OK:
            if (launch.traps != 0) fail(name + ": a trap was not told");
            if (report.device != desc.device) fail(name + ": the report names another device");
            break;
        case WYE_STALE_HANDLE:
            if (!launch.program->freed) fail(name + ": a live program was called stale");
            break;
        case WYE_TRAPPED:
            if (report.trap_count != launch.traps || report.trap_code != 7)
                fail(name + ": " + std::to_string(report.trap_count) + " traps, not " +
                     std::to_string(launch.traps));
            break;
        case WYE_TIMEOUT:
            ++world_.timeouts;
            if (launch.timeout_ns == 0) fail(name + ": a time-out without a limit");
            break;
        case WYE_DEVICE_BUSY:
            if (!limited) fail(name + ": busy without a time limit before");
            flush(here, launch.device);
            break;
        default:
            break;
    }
    return status;
}

void Worker::dispatch_host() {
    Launch one;
    one.name = "dispatch with host bytes";
    one.place = pick(world_.places().size());
    one.device = pick(place(one.place).devices.size());
    one.program = some_program(one.place);
    if (!one.program) return create_program();
    const Words x = words(1 + pick(kMostWords));
    one.draw(random_, x);
    const Words want = one.model().expected(x, one.k);
    Words got(want.size(), kUnwritten);
    wye_argument& first = one.arguments[0];
    first.kind = WYE_ARGUMENT_HOST;
    first.binding = 0;
    first.input = {x.data(), x.size() * 4};
    wye_argument& last = one.arguments[one.model().in_place() ? 0 : 1];
    last.kind = WYE_ARGUMENT_HOST;
    last.binding = one.model().in_place() ? 0 : 1;
    last.output = got.data();
    last.output_size = got.size() * 4;
    const wye_status status = launch(one);
    if (status == WYE_OK)
        check(one.name, got, want);
    else
        check("outputs of a dispatch that failed", got, Words(want.size(), kUnwritten));
}

void Worker::dispatch_resident() {
    if (own_.size() < 2) return create_buffer();
    const std::size_t a = pick(own_.size());
    Launch one;
    one.name = "dispatch with resident buffers";
    one.place = own_[a].place;
    one.device = own_[a].device;
    one.program = some_program(one.place);
    if (!one.program) return create_program();
    std::size_t b = a;
    if (!one.model().in_place()) {
        b = pick(own_.size());
        if (a == b || own_[b].place != one.place || own_[b].device != one.device) return;
    }
    const std::size_t count = std::min(own_[a].words.size(), own_[b].words.size());
    const Words x(own_[a].words.begin(),
                  own_[a].words.begin() + static_cast<std::ptrdiff_t>(count));
    one.draw(random_, x);
    Words want = one.model().expected(x, one.k);
    for (std::size_t i = 0; one.traps != 0 && i < count; ++i)
        if (x[i] == one.k) want[i] = 0;
    one.arguments[0].kind = WYE_ARGUMENT_RESIDENT;
    one.arguments[0].buffer = own_[a].handle;
    one.arguments[0].size = count * 4;
    one.arguments[1].kind = WYE_ARGUMENT_RESIDENT;
    one.arguments[1].binding = 1;
    one.arguments[1].buffer = own_[b].handle;
    one.arguments[1].size = want.size() * 4;
    const wye_status status = launch(one);
    if (status == WYE_OK || status == WYE_TRAPPED) {
        std::ranges::copy(want, own_[b].words.begin());
        if (pick(3) != 0) return;
        Words got(own_[b].words.size());
        if (call("wye_buffer_download", {WYE_DEVICE_BUSY, WYE_BUFFER_IN_USE},
                 [&](wye_error** error) {
                     return wye_buffer_download_range(place(one.place).context, own_[b].handle, 0,
                                                      got.data(), got.size() * 4, error);
                 }) == WYE_OK)
            check(one.name, got, own_[b].words);
    } else if (status == WYE_TIMEOUT) {
        // The contents of the buffer are unspecified after the time-out.
        const wye_buffer lost = own_[b].handle;
        own_.erase(own_.begin() + static_cast<std::ptrdiff_t>(b));
        call("wye_buffer_free after a time-out", {WYE_BUFFER_IN_USE}, [&](wye_error** error) {
            return wye_buffer_free(place(one.place).context, lost, error);
        });
    }
}

}  // namespace wye::stress
