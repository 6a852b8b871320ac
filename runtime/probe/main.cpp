// SPDX-License-Identifier: Apache-2.0
//
// wye-probe: opens one plugin in a process of its own, lists its devices with their facts, and runs
// a dispatch with a known result on each. Started by libwye. Standard input has the request, and
// descriptor 3 takes the message (registry/probe/verdict.hpp). libwye drops stdout and stderr.
// The probe may crash, hang or be killed at any time: libwye then knows the last slot it entered.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "call_state.hpp"
#include "check_device.hpp"
#include "registry/file_system.hpp"
#include "registry/json.hpp"
#include "registry/open/driver_objects.hpp"
#include "registry/open/slot_watch.hpp"
#include "registry/record.hpp"
#include "surroundings.hpp"
#include "wye/sdk/plugin.hpp"
#include "wye/sdk/standard_files.hpp"
#include "wye/wye.h"

namespace {

using namespace wye;
using registry::Json;

constexpr int kMessage = 3;
constexpr int kChangedFile = 97;
constexpr int kBadRequest = 98;
constexpr int kLostPipe = 99;
constexpr std::size_t kMostRequest = std::size_t{4} << 20U;

// Lines may be written by several threads: a driver's thread may call back into a slot.
std::mutex& message_mutex() {
    static std::mutex mutex;
    return mutex;
}

void send(const std::string& line) {
    const std::lock_guard lock(message_mutex());
    std::string_view rest = line;
    while (!rest.empty()) {
        const ssize_t wrote = ::write(kMessage, rest.data(), rest.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) ::_exit(kLostPipe);
        rest.remove_prefix(static_cast<std::size_t>(wrote));
    }
}
void send(const Json& line) { send(line.dump(-1) + "\n"); }

// The current step of the program, such as "a dispatch". Reported while no plugin slot runs.
std::string_view stage;

// Collects the changes that calls of the plugin make, and that the library then reverts. Never
// destroyed, since threads of drivers may still be in a slot when the process ends.
probe::CallChanges& call_changes() {
    static auto& changes = *new probe::CallChanges;
    return changes;
}

void slot_entered(std::string_view slot) {
    if (slot.empty()) call_changes().slot(slot);
    // The names of slots have no character that JSON escapes.
    send("{\"in\":\"" + std::string(slot.empty() ? stage : slot) + "\"}\n");
    if (!slot.empty()) call_changes().slot(slot);
}

void begin_stage(std::string_view name) {
    stage = name;
    slot_entered({});
}

std::string read_request() {
    std::string out;
    char chunk[65536];
    ssize_t got = 0;
    while (out.size() < kMostRequest && (got = ::read(STDIN_FILENO, chunk, sizeof chunk)) > 0)
        out.append(chunk, static_cast<std::size_t>(got));
    return out;
}

std::string text_at(const Json& object, const char* name) {
    const Json* found = object.find(name);
    return found != nullptr && found->is_string() ? found->text() : std::string();
}

std::string path_at(const Json& object, const char* name) {
    const Json* found = object.find(name);
    return found == nullptr ? std::string() : registry::exact_bytes(*found).value_or("");
}

std::int64_t number_at(const Json& object, const char* name, std::int64_t otherwise) {
    const Json* found = object.find(name);
    return found == nullptr ? otherwise : std::strtoll(found->text().c_str(), nullptr, 10);
}

std::int64_t steady_now_ns() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The private writable memory of this process: VmData of /proc/self/status, in bytes.
rlim_t reserved_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmData:")) return std::strtoull(line.c_str() + 7, nullptr, 10) << 10U;
    return 0;
}

// Limits the resources of this process. The address space is not limited, since drivers reserve
// much more than they use. The parent process watches the memory use of this process; RLIMIT_DATA
// is a second limit.
void limit_resources(std::int64_t seconds, std::int64_t memory) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    const auto time = static_cast<rlim_t>(std::clamp<std::int64_t>(seconds, 1, 3600));
    // Allows 64 times as much CPU time: the limit counts all threads, and drivers compile on many.
    const rlimit cpu{time * 64, time * 64 + 1};
    ::setrlimit(RLIMIT_CPU, &cpu);
    // If the machine runs out of memory nevertheless, the kernel ends this process and no other.
    if (const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); fd >= 0) {
        (void)!::write(fd, "1000", 4);
        ::close(fd);
    }
    // Sanitizers map far more than they use.
    if ((sdk::build_flags() & (WYE_BUILD_ASAN | WYE_BUILD_TSAN)) != 0) return;
    // RLIMIT_DATA counts private writable memory, even if that is only reserved. The limit is far
    // above the limit that the parent process watches, so that the parent acts first. The memory
    // that is mapped already is added.
    const rlim_t least =
        std::max(rlim_t{4} << 30U, 2 * static_cast<rlim_t>(std::max<std::int64_t>(memory, 0)));
    const auto pages = static_cast<rlim_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
    const rlim_t half = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) / 2;
    const rlim_t limit = std::max(half, least) + reserved_bytes();
    const rlimit data{limit, limit};
    ::setrlimit(RLIMIT_DATA, &data);
}

// Paths of the loaded libraries, and whether each has a soname.
std::map<std::string, bool> loaded_libraries() {
    std::map<std::string, bool> out;
    for (registry::DriverObjects::Object& object : registry::DriverObjects::loaded())
        if (object.name.starts_with('/')) out.emplace(std::move(object.name), object.has_soname);
    return out;
}

void send_record(const std::string& plugin, registry::Severity severity, const std::string& what) {
    Json record;
    record["stage"] = registry::stage_name(registry::Stage::probed);
    record["severity"] = registry::severity_name(severity);
    record["code"] = registry::code_name(Code::PLUGIN_FAULT);
    record["message"] = what;
    record["fix"] = "Fix: report this to the plugin's author";
    record["plugin"] = plugin;
    Json line;
    line["record"] = std::move(record);
    send(line);
}

struct Owned {
    wye_context* context = nullptr;
    ~Owned() { wye_context_destroy(context); }
};

// The selectors of the usable devices in a report of the library.
std::vector<std::string> usable_devices(const Json& report) {
    std::vector<std::string> out;
    const Json* devices = report.find("devices");
    for (std::size_t i = 0; devices != nullptr && i < devices->size(); ++i) {
        const Json* usable = devices->at(i).find("usable");
        if (usable != nullptr && usable->text() == "true")
            out.push_back(text_at(devices->at(i), "selector"));
    }
    return out;
}

// Whether the plugin's file is still the one that the request is about.
bool is_asked_file(const Json& request, const std::string& library) {
    const std::string asked = text_at(request, "status");
    if (asked.empty()) return true;
    const auto now = registry::native_file_system().status(library);
    return now.ok() && registry::status_text(*now) == asked;
}

int probe_plugin(const Json& request) {
    const std::string id = text_at(request, "id");
    const std::string manifest = path_at(request, "manifest");
    const std::string library = path_at(request, "library");
    const std::string& file = manifest.empty() ? library : manifest;
    const std::map<std::string, bool> before = loaded_libraries();
    std::optional<std::map<std::string, bool>> listed;  // loaded when the devices were listed
    if (!is_asked_file(request, library)) return kChangedFile;
    const probe::Surroundings surroundings;
    {
        Owned owned;
        const auto made = probe::open_only(request, file);
        if (made.ok()) owned.context = *made;
        if (!is_asked_file(request, library)) return kChangedFile;
        if (!made.ok()) {
            send_record(id, registry::Severity::refused, made.error().text());
        } else {
            wye_blob* blob = nullptr;
            if (wye_context_report(owned.context, wye_str(id.c_str()), &blob, nullptr) != WYE_OK)
                return kBadRequest;
            const wye_bytes bytes = wye_blob_bytes(blob);
            const std::string_view text(static_cast<const char*>(bytes.data), bytes.size);
            const Json report = Json::parse(text);
            wye_blob_free(blob);
            Json line;
            line["report"] = report;
            line["listed_ns"] = steady_now_ns() - number_at(request, "begun_ns", steady_now_ns());
            send(line);
            listed = loaded_libraries();
            const probe::Checker checker(owned.context);
            std::uint64_t dispatch_ns = 0;
            for (const std::string& device : usable_devices(report)) {
                begin_stage("a dispatch");
                const probe::CallState state = probe::CallState::look();
                Json check;
                check["check"] = checker.check(device, dispatch_ns);
                send(check);
                probe::CallState::Changes changes = state.until(probe::CallState::look());
                changes.floats = changes.floats || registry::took_float_change();
                call_changes().add(changes, stage);
            }
            Json time;
            time["dispatch_ns"] = dispatch_ns;
            send(time);
        }
        begin_stage("shutdown");
    }
    Json libraries;
    libraries["libraries"] = Json::array();
    bool foreign = false;
    for (const auto& [path, has_soname] : loaded_libraries()) {
        // A library without a soname that was loaded during a dispatch is not part of the driver.
        // It is a kernel that the driver compiled (PoCL's kernels are libraries in its cache).
        if (before.contains(path) || (listed && !has_soname && !listed->contains(path))) continue;
        libraries["libraries"].push_back(registry::exact(path));
        foreign = foreign || path != library;
    }
    send(libraries);
    // Drivers handle signals, keep threads and set variables: such a change gives only a note. If
    // no driver was loaded, the plugin itself made the change, which gives a warning.
    const auto drivers = foreign ? registry::Severity::note : registry::Severity::warning;
    for (const probe::Surroundings::Change& change : surroundings.changes())
        send_record(id, change.is_drivers ? drivers : registry::Severity::warning,
                    "the plugin " + change.text);
    for (const std::string& what : call_changes().texts())
        send_record(id, drivers, "the plugin " + what);
    if (const std::size_t threads = surroundings.threads_left(); threads > 0)
        send_record(
            id, drivers,
            fmt::format("the plugin leaves {} thread(s) running after its shutdown", threads));
    Json done;
    done["done"] = true;
    send(done);
    return 0;
}

}  // namespace

int main() {
    wye::sdk::open_standard_files();
    std::signal(SIGPIPE, SIG_IGN);
    send(std::string("{\"wye_probe\":1}\n"));
    int status = kBadRequest;
    try {
        const std::string text = read_request();
        const Json request = Json::parse(text);
        limit_resources(number_at(request, "seconds", 60), number_at(request, "memory", 0));
        registry::watch_slots(&slot_entered);
        status = probe_plugin(request);
    } catch (const Json::ParseError&) {
    } catch (const std::exception&) {
    }
    // The exit handlers of drivers are not part of the probe, so they do not run.
    ::_exit(status);
}
