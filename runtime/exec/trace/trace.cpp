// SPDX-License-Identifier: Apache-2.0
#include "exec/trace/trace.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <filesystem>

#include "wye/sdk/numbers.hpp"

namespace wye::exec {
namespace {

constexpr std::size_t kDefaultLimit = 1'000'000;
// Limits on data that is kept even if the events that use it are dropped: names, threads, and
// submits whose end the host has not seen.
constexpr std::size_t kMostNames = 65536, kMostNameBytes = 256;
constexpr std::size_t kMostThreads = 65536;
constexpr std::size_t kMostInFlight = 65536;

constexpr std::string_view kOtherName = "(name not kept)";

// The file name for a context.
std::string path_of(std::string_view pattern, std::uint32_t number) {
    std::string out(pattern);
    const std::string pid = std::to_string(::getpid());
    for (std::size_t at = 0; (at = out.find("%p", at)) != out.npos; at += pid.size())
        out.replace(at, 2, pid);
    std::filesystem::path path = std::filesystem::absolute(out);
    if (number > 1) {
        const std::string extension = path.extension().string();
        path.replace_extension();
        path += fmt::format(".{}{}", number, extension);
    }
    return path.string();
}

Error cannot_write(const std::string& path, const std::string& why) {
    return {Code::IO, fmt::format("no trace can be written to `{}`: {}", path, why),
            "Fix: set WYE_TRACE (or `trace.file`) to a file in a folder where files can be made",
            path};
}

// Why a file may not be replaced: it is no regular file. Null: the file may be replaced.
const char* refusal_of(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return nullptr;
    return "the path names something that is not a regular file";
}

std::string thread_name() {
    std::array<char, 16> name{};
    if (::pthread_getname_np(::pthread_self(), name.data(), name.size()) != 0) return {};
    return name.data();
}

}  // namespace

Result<std::shared_ptr<Trace>> Trace::open(const registry::Config& config, std::uint32_t number) {
    const auto file = config.find("trace.file");
    if (file == config.end() || file->second.empty()) return std::shared_ptr<Trace>();
    std::size_t limit = kDefaultLimit;
    if (const auto given = config.find("trace.events"); given != config.end()) {
        const auto size = sdk::parse_size(given->second);
        if (!size || *size == 0)
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("`{}` is not a limit for trace.events", given->second),
                         "Fix: give a number above 0, as in 1000000", "trace.events");
        limit = *size;
    }
    std::string path;
    try {
        path = path_of(file->second, number);
    } catch (const std::filesystem::filesystem_error& e) {  // the working folder is gone
        return cannot_write(file->second, e.code().message());
    }
    if (const char* why = refusal_of(path)) return cannot_write(path, why);
    sdk::NewFile made;
    if (const int problem = made.open(path, 0644); problem != 0)
        return cannot_write(path, ::strerror(problem));
    return std::shared_ptr<Trace>(new Trace(std::move(made), std::move(path), limit));
}

Trace::Trace(sdk::NewFile file, std::string path, std::size_t limit)
    : path_(std::move(path)),
      limit_(limit),
      file_(std::move(file)),
      names_{"", std::string(kOtherName)} {}

std::uint64_t Trace::now_ns() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_nsec);
}

Trace::Name Trace::name(std::string_view text) {
    if (text.empty()) return 0;
    std::string kept(text.substr(0, kMostNameBytes));
    if (const auto found = known_names_.find(kept); found != known_names_.end())
        return found->second;
    if (names_.size() >= kMostNames) return 1;
    const auto index = static_cast<Name>(names_.size());
    names_.push_back(kept);
    known_names_.emplace(std::move(kept), index);
    return index;
}

std::uint32_t Trace::queue(std::uint32_t device, std::uint32_t index) {
    const auto found = std::ranges::find_if(queues_, [&](const Queue& queue) {
        return queue.device == device && queue.index == index;
    });
    const auto out = static_cast<std::uint32_t>(found - queues_.begin());
    if (found == queues_.end()) queues_.push_back({device, index});
    return out;
}

void Trace::keep(const Event& event) {
    if (saved_) return;
    if (events_.size() >= limit_) {
        events_.pop_front();
        ++dropped_;
    }
    try {
        events_.push_back(event);
    } catch (const std::bad_alloc&) {
        ++dropped_;
    }
}

void Trace::keep_step(std::string_view what, const TraceStep& step, TraceTimes times,
                      bool submits) {
    Event event;
    event.submits = submits;
    event.times = times;
    event.thread = static_cast<std::uint32_t>(::gettid());
    if (!threads_.contains(event.thread) && threads_.size() < kMostThreads)
        threads_.emplace(event.thread, thread_name());
    event.name = step.subject.empty() ? name(what) : name(fmt::format("{} {}", what, step.subject));
    event.label = name(step.label);
    event.bytes.moved = step.bytes;
    event.value = step.submit;
    if (step.submit != 0) event.queue = queue(step.device, step.queue);
    keep(event);
}

void Trace::span(const char* what, const TraceStep& step, TraceTimes times) noexcept {
    const sdk::Lock lock(mutex_);
    try {
        keep_step(what, step, times);
    } catch (const std::exception&) {  // no memory
        ++dropped_;
    }
}

std::uint32_t Trace::add_device(std::string_view name) {
    const sdk::Lock lock(mutex_);
    devices_.emplace_back(name);
    return static_cast<std::uint32_t>(devices_.size() - 1);
}

void Trace::name_queue(std::uint32_t device, std::uint32_t index, std::string_view label) noexcept {
    const sdk::Lock lock(mutex_);
    try {
        queues_[queue(device, index)].label = name(label);
    } catch (const std::exception&) {  // no memory: the track shows only the queue's number
    }
}

void Trace::name_object(const void* object, std::string_view text) noexcept {
    const sdk::Lock lock(mutex_);
    try {
        objects_[object] = name(text);
    } catch (const std::exception&) {  // no memory: the work of the object has no name
    }
}

void Trace::set_staging(const wye_buffer_object* buffer, bool staging) noexcept {
    const sdk::Lock lock(mutex_);
    try {
        if (staging)
            staging_.insert(buffer);
        else
            staging_.erase(buffer);
    } catch (const std::exception&) {  // no memory: copies of the buffer are shown as copies
    }
}

void Trace::add(const wye_operation& operation, Bytes& bytes) const {
    if (operation.kind == WYE_OPERATION_UPLOAD) bytes.up += operation.u.transfer.size;
    if (operation.kind == WYE_OPERATION_DOWNLOAD) bytes.down += operation.u.transfer.size;
    if (operation.kind == WYE_OPERATION_FILL) bytes.moved += operation.u.fill.size;
    if (operation.kind != WYE_OPERATION_COPY) return;
    const wye_copy_op& copy = operation.u.copy;
    std::uint64_t& counter = staging_.contains(copy.source)   ? bytes.up
                             : staging_.contains(copy.target) ? bytes.down
                                                              : bytes.moved;
    counter += copy.size;
}

void Trace::submitted(std::uint32_t device, std::uint32_t index, std::uint64_t value,
                      std::span<const wye_operation> operations, std::uint64_t begin_ns) noexcept {
    const std::uint64_t end_ns = now_ns();
    Submit submit;
    submit.begin_ns = begin_ns;
    const void* object = nullptr;  // the first program or command
    const sdk::Lock lock(mutex_);
    try {
        keep_step("submit", {.submit = value, .device = device, .queue = index}, {begin_ns, end_ns},
                  true);
        for (const wye_operation& operation : operations) {
            add(operation, submit.bytes);
            if (object != nullptr) continue;
            if (operation.kind == WYE_OPERATION_DISPATCH) object = operation.u.dispatch.program;
            if (operation.kind == WYE_OPERATION_EXECUTE) object = operation.u.execute.command;
        }
        if (object != nullptr) {
            const auto found = objects_.find(object);
            submit.name = found == objects_.end() ? 1 : found->second;
        } else {
            submit.name = name(submit.bytes.up != 0     ? "upload"
                               : submit.bytes.down != 0 ? "download"
                                                        : "copy or fill");
        }
        if (in_flight_.size() < kMostInFlight)
            in_flight_.insert_or_assign({queue(device, index), value}, submit);
        else
            ++dropped_;
    } catch (const std::exception&) {  // no memory
        ++dropped_;
    }
}

void Trace::ended(std::uint32_t device, std::uint32_t index, std::uint64_t value, bool ok,
                  TraceTimes timing) noexcept {
    const std::uint64_t seen_ns = now_ns();
    const sdk::Lock lock(mutex_);
    try {
        Event event;
        event.queue = queue(device, index);
        const auto found = in_flight_.find({event.queue, value});
        if (found == in_flight_.end()) return;
        const Submit submit = found->second;
        in_flight_.erase(found);
        const bool timed = timing.begin_ns != 0 && timing.end_ns >= timing.begin_ns;
        event.kind = timed ? Kind::Device : Kind::Seen;
        event.times = timed ? timing : TraceTimes{submit.begin_ns, seen_ns};
        event.ok = ok;
        event.name = submit.name;
        event.value = value;
        event.bytes = submit.bytes;
        keep(event);
    } catch (const std::exception&) {  // no memory
        ++dropped_;
    }
}

}  // namespace wye::exec
