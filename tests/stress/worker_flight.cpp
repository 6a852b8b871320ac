// SPDX-License-Identifier: Apache-2.0
//
// Steps with flights (flight.hpp): on devices that all threads use, and on devices of contexts of
// their own, which are closed and opened again, or lost and recovered.
#include <algorithm>
#include <thread>

#include "worker.hpp"
#include "wye/device.h"

namespace wye::stress {

Flight Worker::flight(wye_context* context, wye_device device, Random& random, bool may_be_lost) {
    return {world_,
            context,
            device,
            random,
            may_be_lost,
            [this](const char* name, const std::vector<wye_status>& allowed,
                   const Flight::Call& function) { return call(name, allowed, function); },
            [this](const std::string& what) { fail(what); }};
}

// Shared devices are used only in the part "flight". In other parts, time limits of steps may leave
// the devices busy.
void Worker::fly() {
    if (world_.options().part != "flight") return fly_alone();
    Place& here = place(pick(world_.places().size()));
    Flight one = flight(here.context, here.devices[pick(here.devices.size())], random_, false);
    if (!one.begin()) return;
    one.fly(static_cast<unsigned>(10 + pick(60)));
    if (pick(4) != 0) one.land();
    one.free_all();
}

void Worker::fly_alone() {
    const std::string& selector = world_.options().devices[pick(world_.options().devices.size())];
    const bool loses = pick(2) == 0;
    const std::string rules = "submit:" + std::to_string(1 + pick(24)) + ":DEVICE_LOST";
    Place alone;
    if (!world_.open_place(alone, {selector}, loses ? rules : std::string())) return;
    wye_device& device = alone.devices[0];
    if (loses) {
        lose(alone.context, device);
    } else {
        Flight first = flight(alone.context, device, random_, false);
        if (first.begin()) first.fly(static_cast<unsigned>(5 + pick(40)));
        if (pick(2) == 0) first.free_all();
        // The device's end frees the objects that are left.
        while (call("wye_device_close", {WYE_DEVICE_BUSY},
                    [&](wye_error** error) {
                        return wye_device_close(alone.context, device, error);
                    }) == WYE_DEVICE_BUSY &&
               !world_.failed())
            if (pick(2) == 0)
                flush(alone, 0);
            else
                std::this_thread::yield();
        if (call("wye_device_open", {}, [&](wye_error** error) {
                return wye_device_open(alone.context, {selector.data(), selector.size()}, 0,
                                       &device, error);
            }) == WYE_OK) {
            Flight second = flight(alone.context, device, random_, false);
            if (second.begin()) second.fly(20);
            second.land();
            if (pick(2) == 0) second.free_all();
        }
    }
    wye_context_destroy(alone.context);
}

// Two threads use a device that is lost. Meanwhile one of them recovers the device and uses it
// again.
void Worker::lose(wye_context* context, wye_device device) {
    constexpr unsigned kLong = 200;
    Random others(random_());
    Flight other = flight(context, device, others, true);
    std::jthread thread([&] {
        if (other.begin()) other.fly(kLong);
        other.free_all();
    });
    Flight mine = flight(context, device, random_, true);
    if (mine.begin()) mine.fly(kLong);
    const bool early = pick(2) == 0;
    if (early) mine.free_all();
    if (pick(2) == 0) thread.join();
    wye_device fresh = device;
    const auto recover = [&] {
        return call(
            "wye_device_recover", {WYE_DEVICE_BUSY, WYE_UNSUPPORTED},
            [&](wye_error** error) { return wye_device_recover(context, device, &fresh, error); });
    };
    wye_status status = recover();
    if (status == WYE_DEVICE_BUSY) {
        mine.free_all();
        if (thread.joinable()) thread.join();
        status = recover();
        if (status == WYE_DEVICE_BUSY) fail("a lost device without objects cannot be recovered");
    }
    if (status == WYE_OK && fresh != device) {
        Flight after = flight(context, fresh, random_, false);
        if (after.begin()) after.fly(20);
        after.land();
        after.free_all();
    }
    if (!early) mine.free_all();
}

}  // namespace wye::stress
