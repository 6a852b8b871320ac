// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>

#include "registry/hold/ownership.hpp"

namespace test_ownership {

using namespace wye;
using namespace wye::registry;

namespace {

// Counts its live instances.
struct Thing {
    explicit Thing(std::atomic<int>& counter, int number = 0) : alive(counter), value(number) {
        ++alive;
    }
    ~Thing() { --alive; }
    Thing(const Thing&) = delete;
    Thing& operator=(const Thing&) = delete;
    std::atomic<int>& alive;
    int value;
};

OwnerRef owner(const char* plugin, std::uint32_t device, std::uint64_t generation = 1) {
    return std::make_shared<const Owner>(Owner{plugin, device, generation});
}

}  // namespace

TEST_CASE("a handle finds its object until it is removed") {
    std::atomic<int> alive{0};
    HandleTable table(1);
    const OwnerRef cpu = owner("cpu", 0);
    const auto handle =
        table.add(HandleKind::buffer, std::make_shared<Thing>(alive, 42), cpu, "keys");
    REQUIRE(handle.ok());
    CHECK(*handle != 0);
    {
        const auto pin = table.find(*handle, HandleKind::buffer);
        REQUIRE(pin.ok());
        CHECK(pin->as<Thing>().value == 42);
        CHECK(pin->label() == "keys");
        CHECK(pin->owner() == cpu);
    }
    CHECK(table.live(HandleKind::buffer) == 1);
    CHECK(table.remove(*handle, HandleKind::buffer).ok());
    CHECK(alive == 0);
    CHECK(table.live(HandleKind::buffer) == 0);
    CHECK(table.find(*handle, HandleKind::buffer).error().code == Code::STALE_HANDLE);
    CHECK(table.remove(*handle, HandleKind::buffer).error().code == Code::STALE_HANDLE);
}

TEST_CASE("an object with a release function is released when nothing uses it") {
    HandleTable table(1);
    const OwnerRef cpu = owner("cpu", 0);
    int released = 0;
    const auto release = [](void* object) noexcept { ++*static_cast<int*>(object); };
    CHECK(table.try_add(HandleKind::pending, &released, release, cpu) == 0);  // no slot yet
    const auto first = table.add(HandleKind::pending, &released, release, cpu);
    REQUIRE(first.ok());
    {
        const auto pin = table.find(*first, HandleKind::pending);
        REQUIRE(pin.ok());
        CHECK(&pin->as<int>() == &released);
        CHECK(pin->owner() == cpu);
        CHECK(table.retire(*first, HandleKind::pending).ok());
        CHECK(released == 0);
        CHECK(table.owned(cpu) == 1);
    }
    CHECK(released == 1);
    CHECK(table.owned(cpu) == 0);
    const Handle second = table.try_add(HandleKind::pending, &released, release, cpu);
    CHECK(second != 0);
    CHECK(second != *first);
    CHECK(!table.try_find(*first, HandleKind::pending));
    {
        HandleTable other(2);
        CHECK(other.add(HandleKind::pending, &released, release, cpu).ok());
    }
    CHECK(released == 2);
    CHECK(table.remove(second, HandleKind::pending).ok());
    CHECK(released == 3);
}

TEST_CASE("a reused slot does not revive an old handle") {
    std::atomic<int> alive{0};
    HandleTable table(1);
    const Handle old = *table.add(HandleKind::buffer, std::make_shared<Thing>(alive), nullptr, "");
    REQUIRE(table.remove(old, HandleKind::buffer).ok());
    const Handle now = *table.add(HandleKind::buffer, std::make_shared<Thing>(alive), nullptr, "");
    CHECK((now & 0xffffff) == (old & 0xffffff));  // the same slot
    CHECK(now != old);
    CHECK(table.find(old, HandleKind::buffer).error().code == Code::STALE_HANDLE);
    CHECK(table.find(now, HandleKind::buffer).ok());
}

TEST_CASE("each wrong handle has its own error, naming place, owner and expected owner") {
    std::atomic<int> alive{0};
    HandleTable table(1);
    HandleTable other(2);
    const OwnerRef cpu = owner("cpu", 0);
    const OwnerRef gpu = owner("opencl", 1);
    const OwnerRef gpu_again = owner("opencl", 1, 2);
    const Handle buffer =
        *table.add(HandleKind::buffer, std::make_shared<Thing>(alive), gpu, "keys");
    const Handle program =
        *table.add(HandleKind::program, std::make_shared<Thing>(alive), nullptr, "p");
    const Handle foreign = *other.add(HandleKind::buffer, std::make_shared<Thing>(alive), gpu, "");
    const Place place{"input", 2, "keys"};

    const auto wrong_kind = table.find(program, HandleKind::buffer, place);
    REQUIRE_FALSE(wrong_kind.ok());
    CHECK(wrong_kind.error().code == Code::WRONG_KIND);
    CHECK(wrong_kind.error().message.find("is a program") != std::string::npos);
    CHECK(wrong_kind.error().message.find("input 2") != std::string::npos);

    const auto context = table.find(foreign, HandleKind::buffer, place);
    REQUIRE_FALSE(context.ok());
    CHECK(context.error().code == Code::WRONG_OWNER);
    CHECK(context.error().message.find("context 2") != std::string::npos);

    const auto device = table.find_owned(buffer, HandleKind::buffer, cpu, place);
    REQUIRE_FALSE(device.ok());
    CHECK(device.error().code == Code::WRONG_OWNER);
    CHECK(device.error().message.find("input 2, `keys`)") != std::string::npos);
    CHECK(device.error().message.find("(`keys`)") == std::string::npos);  // the name is told once
    const auto unnamed = table.find_owned(buffer, HandleKind::buffer, cpu, {"input", 2, "values"});
    CHECK(unnamed.error().message.find("`values`) (`keys`)") != std::string::npos);
    CHECK(device.error().message.find("opencl:1 (generation 1)") != std::string::npos);
    CHECK(device.error().message.find("cpu:0 (generation 1)") != std::string::npos);
    CHECK(device.error().fix.rfind("Fix: ", 0) == 0);

    CHECK(table.find_owned(buffer, HandleKind::buffer, gpu_again, place).error().code ==
          Code::WRONG_OWNER);
    CHECK(table.find_owned(buffer, HandleKind::buffer, gpu, place).ok());
    CHECK(table.find(0, HandleKind::buffer).error().code == Code::STALE_HANDLE);
}

TEST_CASE("made-up handles are refused, whatever their bits") {
    std::atomic<int> alive{0};
    HandleTable table(1);
    const Handle real = *table.add(HandleKind::buffer, std::make_shared<Thing>(alive), nullptr, "");
    std::uint64_t state = 88172645463325252ULL;
    for (int i = 0; i < 100000; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if (state == real) continue;
        REQUIRE_FALSE(table.find(state, HandleKind::buffer).ok());
    }
    for (int bit = 0; bit < 64; ++bit)
        CHECK_FALSE(table.find(real ^ std::uint64_t{1} << bit, HandleKind::buffer).ok());
    // The right slot and generation, but another kind in the bits of the handle.
    const Handle disguised = (real & ~(std::uint64_t{15} << 60)) | std::uint64_t{2}
                                                                       << 60;  // program
    CHECK(table.find(disguised, HandleKind::program).error().code == Code::STALE_HANDLE);
    CHECK(table.find(real, HandleKind::buffer).ok());
}

TEST_CASE("a buffer in use is not freed") {
    std::atomic<int> alive{0};
    HandleTable table(1);
    const Handle a = *table.add(HandleKind::buffer, std::make_shared<Thing>(alive), nullptr, "a");
    const Handle b = *table.add(HandleKind::buffer, std::make_shared<Thing>(alive), nullptr, "b");
    auto use = table.begin_use(std::array{a, a});
    REQUIRE(use.ok());
    const auto refused = table.remove(a, HandleKind::buffer);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Code::BUFFER_IN_USE);
    CHECK(refused.error().message.find("`a`") != std::string::npos);
    CHECK(refused.error().message.find("used by pending work") != std::string::npos);
    CHECK(table.remove(b, HandleKind::buffer).ok());
    use->release();
    CHECK(table.remove(a, HandleKind::buffer).ok());
    CHECK(alive == 0);
}

TEST_CASE("uses are counted all or none") {
    std::atomic<int> alive{0};
    HandleTable table(1);
    const Handle a = *table.add(HandleKind::buffer, std::make_shared<Thing>(alive), nullptr, "a");
    const Handle gone = *table.add(HandleKind::buffer, std::make_shared<Thing>(alive), nullptr, "");
    REQUIRE(table.remove(gone, HandleKind::buffer).ok());
    const auto use = table.begin_use(std::array{a, gone});
    REQUIRE_FALSE(use.ok());
    CHECK(use.error().code == Code::STALE_HANDLE);
    CHECK(table.remove(a, HandleKind::buffer).ok());
}

TEST_CASE("retiring makes stale at once and destroys with the last use") {
    std::atomic<int> alive{0};
    HandleTable table(1);
    const Handle program =
        *table.add(HandleKind::program, std::make_shared<Thing>(alive), nullptr, "");
    {
        const auto use = table.begin_use(std::array{program});
        REQUIRE(use.ok());
        CHECK(table.retire(program, HandleKind::program).ok());
        CHECK(table.find(program, HandleKind::program).error().code == Code::STALE_HANDLE);
        CHECK(alive == 1);
    }
    CHECK(alive == 0);
}

TEST_CASE("a pin keeps a removed object alive") {
    std::atomic<int> alive{0};
    HandleTable table(1);
    const Handle h = *table.add(HandleKind::buffer, std::make_shared<Thing>(alive, 5), nullptr, "");
    {
        const auto pin = table.find(h, HandleKind::buffer);
        CHECK(table.remove(h, HandleKind::buffer).ok());
        CHECK(pin->as<Thing>().value == 5);
        CHECK(alive == 1);
    }
    CHECK(alive == 0);
}

TEST_CASE("the table destroys what is left, children first") {
    std::vector<int> order;
    struct Tracker {
        std::vector<int>& order;
        int number;
        ~Tracker() { order.push_back(number); }
    };
    {
        HandleTable table(1);
        const auto put = [&](HandleKind kind, int number) {
            REQUIRE(
                table.add(kind, std::shared_ptr<Tracker>(new Tracker{order, number}), nullptr, "")
                    .ok());
        };
        put(HandleKind::device, 5);
        put(HandleKind::queue, 4);
        put(HandleKind::buffer, 3);
        put(HandleKind::program, 2);
        put(HandleKind::graph, 1);
    }
    CHECK(order == std::vector<int>{1, 2, 3, 4, 5});
}

TEST_CASE("thousands of handles stay apart") {
    std::atomic<int> alive{0};
    HandleTable table(7);
    std::vector<Handle> handles;
    for (int i = 0; i < 5000; ++i)
        handles.push_back(
            *table.add(HandleKind::buffer, std::make_shared<Thing>(alive, i), nullptr, ""));
    for (int i = 0; i < 5000; ++i)
        REQUIRE(table.find(handles[static_cast<std::size_t>(i)], HandleKind::buffer)
                    ->as<Thing>()
                    .value == i);
    for (std::size_t i = 0; i < 5000; i += 2)
        REQUIRE(table.remove(handles[i], HandleKind::buffer).ok());
    for (std::size_t i = 0; i < 5000; ++i)
        REQUIRE(table.find(handles[i], HandleKind::buffer).ok() == (i % 2 == 1));
    CHECK(alive == 2500);
}

TEST_CASE("threads that look up, use and free at once lose nothing") {
    std::atomic<int> alive{0};
    {
        HandleTable table(1);
        std::array<std::atomic<Handle>, 16> shared{};
        for (auto& slot : shared)
            slot = *table.add(HandleKind::buffer, std::make_shared<Thing>(alive, 9), nullptr, "");
        std::atomic<int> bad{0};
        const auto work = [&](std::uint64_t seed) {
            for (int i = 0; i < 20000; ++i) {
                seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
                auto& slot = shared[seed >> 60];
                const Handle handle = slot.load();
                switch (seed >> 57 & 3) {
                    case 0: {
                        const auto pin = table.find(handle, HandleKind::buffer);
                        if (pin.ok() && pin->as<Thing>().value != 9) ++bad;
                        break;
                    }
                    case 1: {
                        const auto use = table.begin_use(std::array{handle});
                        if (use.ok() && table.remove(handle, HandleKind::buffer).ok()) ++bad;
                        break;
                    }
                    default:
                        if (table.remove(handle, HandleKind::buffer).ok())
                            slot = *table.add(HandleKind::buffer, std::make_shared<Thing>(alive, 9),
                                              nullptr, "");
                }
            }
        };
        std::array<std::thread, 4> threads;
        for (std::size_t t = 0; t < threads.size(); ++t) threads[t] = std::thread(work, t + 1);
        for (auto& thread : threads) thread.join();
        CHECK(bad == 0);
        CHECK(table.live(HandleKind::buffer) == 16);
        CHECK(alive == 16);
    }
    CHECK(alive == 0);
}

TEST_CASE("context tags differ, are never zero, and never repeat while they are held") {
    const auto first = ContextTag::take();
    REQUIRE(first.ok());
    CHECK(first->value() != 0);
    CHECK(first->value() <= 4095);
    int repeats = 0;
    for (int i = 0; i < 5000; ++i) {
        const auto other = ContextTag::take();
        REQUIRE(other.ok());
        if (other->value() == first->value()) ++repeats;
    }
    CHECK(repeats == 0);
}

TEST_CASE("a process has 4095 contexts at most") {
    std::vector<ContextTag> held;
    auto next = ContextTag::take();
    for (; next.ok() && held.size() < 5000; next = ContextTag::take())
        held.push_back(std::move(next).value());
    CHECK(held.size() == 4095);
    REQUIRE_FALSE(next.ok());
    CHECK(next.error().code == Code::LIMIT_EXCEEDED);
    held.pop_back();
    CHECK(ContextTag::take().ok());
}

}  // namespace test_ownership
