// SPDX-License-Identifier: Apache-2.0
#include "conformance/abi/no_workgroups.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <span>

namespace harness::cases {
namespace {

constexpr std::uint64_t kDeadline = 60'000'000'000;  // ns; nothing takes that long but a hang

}  // namespace

void launches_of_no_workgroups_end(const wye_queue_table& table, wye_queue_object* queue,
                                   wye_queue_object* other, const wye_operation& launch,
                                   const std::function<std::vector<std::byte>()>& content) {
    const auto submit = [&](wye_queue_object* to, std::span<const wye_operation> operations,
                            std::span<const wye_event> waits = {}) {
        std::uint64_t value = 0;
        REQUIRE(table.submit(to, operations.data(), operations.size(), waits.data(), waits.size(),
                             &value, nullptr) == WYE_OK);
        return value;
    };
    wye_operation none = launch;
    for (unsigned axis = 0; axis < 3; ++axis)
        none.u.dispatch.groups[axis] = none.u.dispatch.logical_groups[axis] = 0;
    const auto before = content();

    const std::uint64_t alone = submit(queue, {&none, 1});
    CHECK(table.wait(queue, alone, kDeadline, nullptr) == WYE_OK);
    CHECK(table.poll(queue, alone, nullptr) == WYE_OK);
    const wye_operation twice[] = {none, none};
    const std::uint64_t both = submit(queue, twice);
    CHECK(both == alone + 1);
    const wye_event event{queue, both};
    const std::uint64_t behind = submit(other, {&none, 1}, {&event, 1});
    CHECK(table.wait(other, behind, kDeadline, nullptr) == WYE_OK);
    CHECK(table.poll(queue, both, nullptr) == WYE_OK);
    CHECK(content() == before);

    const wye_operation around[] = {none, launch, none};
    CHECK(table.wait(queue, submit(queue, around), kDeadline, nullptr) == WYE_OK);
    CHECK(content() != before);
}

}  // namespace harness::cases
