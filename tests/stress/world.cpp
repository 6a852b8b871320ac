// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <thread>

namespace wye::stress {
namespace {

void count_line(void* user, std::uint32_t, wye_string, wye_string text) {
    if (text.size != 0) static_cast<Place*>(user)->log_lines.fetch_add(1);
}

}  // namespace

std::string listed(const std::vector<std::string>& devices) {
    std::string out;
    for (const std::string& device : devices) out += (out.empty() ? "" : ",") + device;
    return out;
}

World::World(const Options& options) : options_(options) {
    for (unsigned i = 0; i < options_.contexts; ++i) places_.push_back(std::make_unique<Place>());
}

World::~World() {
    std::vector<std::jthread> threads;
    for (const auto& place : places_)
        threads.emplace_back([&place] { wye_context_destroy(place->context); });
    threads.clear();
    for (wye_error* error : errors_) wye_error_free(error);
}

bool World::open_place(Place& place, const std::vector<std::string>& devices,
                       const std::string& rules) {
    const wye_string folder = wye_str(WYE_LAYERS_FOLDER);
    const wye_key_value config[] = {{wye_str("layers"), wye_str("faults")},
                                    {wye_str("layer.faults.rules"), {rules.data(), rules.size()}}};
    wye_context_desc desc;
    WYE_INIT(desc);
    if (!rules.empty()) {
        desc.plugin_paths = &folder;
        desc.plugin_path_count = 1;
        desc.config = config;
        desc.config_count = std::size(config);
    }
    desc.log = count_line;
    desc.log_user = &place;
    wye_error* error = nullptr;
    wye_status status = wye_context_create(&desc, &place.context, &error);
    const auto add = [&](std::string_view selector) {
        wye_device opened = 0;
        const wye_string name = {selector.data(), selector.size()};
        status = wye_device_open(place.context, name, 0, &opened, &error);
        if (status == WYE_OK) place.devices.push_back(opened);
    };
    for (const std::string& device : devices)
        if (status == WYE_OK) add(device);
    if (status == WYE_OK && std::ranges::find(devices, "cpu") == devices.end()) add("cpu");
    calls += 1 + place.devices.size();
    if (status == WYE_OK) return true;
    fail("opening " + listed(devices) + ": " + copy(wye_error_text(error)));
    wye_error_free(error);
    return false;
}

bool World::open() {
    std::barrier together(static_cast<std::ptrdiff_t>(places_.size()));
    std::vector<std::jthread> threads;
    for (const auto& place : places_)
        threads.emplace_back([this, &together, &place] {
            together.arrive_and_wait();
            (void)open_place(*place, options_.devices);
        });
    threads.clear();
    end_ = std::chrono::steady_clock::now() +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(
               std::chrono::duration<double>(options_.seconds));
    return !failed();
}

void World::fail(std::string_view what) {
    const std::lock_guard lock(print_);
    if (failed_.exchange(true)) return;
    std::fprintf(stderr,
                 "FAILED: %.*s\nagain with: wye-stress --device %s --seed %llu --threads %u "
                 "--contexts %u --seconds %g\n",
                 static_cast<int>(what.size()), what.data(), listed(options_.devices).c_str(),
                 static_cast<unsigned long long>(options_.seed), options_.threads,
                 options_.contexts, options_.seconds);
}

void World::hand_over(wye_error* error) {
    const std::lock_guard lock(errors_mutex_);
    errors_.push_back(error);
}

wye_error* World::take_over() {
    const std::lock_guard lock(errors_mutex_);
    if (errors_.empty()) return nullptr;
    wye_error* const error = errors_.front();
    errors_.pop_front();
    return error;
}

}  // namespace wye::stress
