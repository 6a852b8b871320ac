// SPDX-License-Identifier: Apache-2.0
//
// Writes the kept events as one JSON document in the Chrome trace event format. The application's
// process has a track for each thread. Each device is shown as a process of its own, with a track
// for each native queue. The format requires that the events of a track nest, so work that overlaps
// on one queue is spread over several tracks.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "exec/trace/trace.hpp"
#include "registry/json.hpp"
#include "wye/wye.h"

namespace wye::exec {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20U;

// Returns the text as a JSON string with quotes.
std::string json_string(std::string_view text) { return registry::Json(text).dump(-1); }

// The times of the format are in microseconds.
std::string microseconds(std::uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

}  // namespace

// Collects text and writes it in chunks. Remembers the first error.
class Trace::Output {
  public:
    explicit Output(const sdk::NewFile& file) : file_(file) {}

    template <typename... Args>
    void add(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
        if (text_.size() >= kChunk) flush();
    }
    // Returns the errno of the first error; 0: none.
    [[nodiscard]] int finish() {
        flush();
        return problem_;
    }

  private:
    // Checks the limit on file sizes first: a write beyond that limit would end the process.
    void flush() {
        rlimit limit{};
        if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
            written_ + text_.size() > limit.rlim_cur && problem_ == 0)
            problem_ = EFBIG;
        if (problem_ == 0) problem_ = file_.write(std::as_bytes(std::span(text_)));
        written_ += text_.size();
        text_.clear();
    }

    const sdk::NewFile& file_;
    std::string text_;
    std::uint64_t written_ = 0;
    int problem_ = 0;
};

// Writes the file from its own copies of the events, so that it need not hold the trace's lock.
class Trace::Writer {
  public:
    Writer(Trace& trace, Output& out) WYE_REQUIRES(trace.mutex_)
        : out_(out),
          events_(trace.events_.begin(), trace.events_.end()),
          threads_(trace.threads_),
          devices_(trace.devices_),
          queues_(trace.queues_),
          dropped_(trace.dropped_),
          unended_(trace.in_flight_.size()) {
        trace.events_.clear();
        for (const std::string& name : trace.names_) names_.push_back(json_string(name));
        labels_ = trace.names_;
    }

    void write() {
        // If two events begin at the same time, the enclosing event comes first.
        std::ranges::stable_sort(events_, [](const Event& a, const Event& b) {
            return std::tuple(a.kind, track_of(a), a.times.begin_ns, b.times.end_ns) <
                   std::tuple(b.kind, track_of(b), b.times.begin_ns, a.times.end_ns);
        });
        out_.add(
            "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"version\":{},\"clock\":"
            "\"CLOCK_MONOTONIC\",\"dropped_events\":{},\"unended_submits\":{}}},\n"
            "\"traceEvents\":[\n",
            json_string(wye_version()), dropped_, unended_);
        name_process(pid_, fmt::format("host (process {})", pid_));
        for (const auto& [id, name] : threads_)
            name_thread(
                pid_, id,
                name.empty() ? fmt::format("thread {}", id) : fmt::format("{} {}", name, id), id);
        for (std::size_t i = 0; i < devices_.size(); ++i) name_process(process_of(i), devices_[i]);
        for (std::size_t first = 0; first < events_.size();) {
            std::size_t end = first;
            while (end < events_.size() && events_[end].kind == events_[first].kind &&
                   track_of(events_[end]) == track_of(events_[first]))
                ++end;
            const std::span<const Event> track = std::span(events_).subspan(first, end - first);
            if (track.front().kind == Kind::Host)
                for (const Event& event : track) write_host(event);
            else
                write_queue(track);
            first = end;
        }
        out_.add("\n]}}\n");
    }

  private:
    // The number of the process that stands for a device. No real process has such a number.
    [[nodiscard]] static std::uint64_t process_of(std::size_t device) {
        constexpr std::uint64_t kFirst = 1'000'000'000;
        return kFirst + device;
    }
    [[nodiscard]] static std::uint32_t track_of(const Event& event) {
        return event.kind == Kind::Host ? event.thread : event.queue;
    }
    template <typename... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        out_.add("{}", first_ ? "" : ",\n");
        first_ = false;
        out_.add(format, std::forward<Args>(args)...);
    }
    void name_process(std::uint64_t process, const std::string& name) {
        line(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})", process,
             json_string(name));
    }
    void name_thread(std::uint64_t process, std::uint64_t thread, const std::string& name,
                     std::uint64_t place) {
        line(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", process,
             thread, json_string(name));
        line(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},)"
             R"("args":{{"sort_index":{}}}}})",
             process, thread, place);
    }

    void write_host(const Event& event) {
        line(R"({{"ph":"X","cat":"host","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{)",
             names_[event.name], pid_, event.thread, microseconds(event.times.begin_ns),
             microseconds(event.times.end_ns - event.times.begin_ns));
        const char* between = "";
        const auto argument = [&](const char* name, const auto& value) {
            out_.add(R"({}"{}":{})", std::exchange(between, ","), name, value);
        };
        if (event.label != 0) argument("label", names_[event.label]);
        if (event.bytes.moved != 0) argument("bytes", event.bytes.moved);
        if (event.value != 0) {
            argument("queue", queues_[event.queue].index);
            argument("submit", event.value);
        }
        out_.add("}}}}");
        if (event.submits) write_arrow("s", event, pid_, event.thread);
    }

    // Writes the begin or the end of the arrow from a submit to the device's work.
    void write_arrow(const char* phase, const Event& event, std::uint64_t process,
                     std::uint64_t thread) {
        line(R"({{"ph":"{}","bp":"e","cat":"submit","name":"submit","id":"{}.{}","pid":{},)"
             R"("tid":{},"ts":{}}})",
             phase, event.queue, event.value, process, thread, microseconds(event.times.begin_ns));
    }

    // Writes the events of one queue and kind, sorted by their begin times.
    void write_queue(std::span<const Event> events) {
        const Queue& queue = queues_[events.front().queue];
        const bool seen = events.front().kind == Kind::Seen;
        const std::string label =
            queue.label == 0 ? std::string() : fmt::format(" `{}`", labels_[queue.label]);
        std::vector<std::uint64_t> lanes;    // the end of the last event in each lane
        std::vector<std::uint64_t> threads;  // the thread number of each lane
        for (const Event& event : events) {
            const auto free = std::ranges::find_if(
                lanes, [&](std::uint64_t end) { return end <= event.times.begin_ns; });
            const auto lane = static_cast<std::size_t>(free - lanes.begin());
            if (free == lanes.end()) {
                lanes.push_back(0);
                threads.push_back(next_thread_++);
                name_thread(
                    process_of(queue.device), threads.back(),
                    fmt::format("queue {}{}{}{}", queue.index, label,
                                seen ? " (host's view: submit to seen end, no driver times)" : "",
                                lane == 0 ? "" : fmt::format(", overlap {}", lane)),
                    threads.back());
            }
            lanes[lane] = event.times.end_ns;
            line(
                R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},)"
                R"("args":{{"queue":{},"submit":{},"ok":{},"bytes_uploaded":{},"bytes_downloaded":{},)"
                R"("bytes_copied_or_filled":{}}}}})",
                seen ? "seen" : "device", names_[event.name], process_of(queue.device),
                threads[lane], microseconds(event.times.begin_ns),
                microseconds(event.times.end_ns - event.times.begin_ns), queue.index, event.value,
                event.ok, event.bytes.up, event.bytes.down, event.bytes.moved);
            write_arrow("f", event, process_of(queue.device), threads[lane]);
        }
    }

    Output& out_;
    std::vector<Event> events_;
    std::vector<std::string> names_;   // names as JSON strings
    std::vector<std::string> labels_;  // the same names as plain text
    const std::unordered_map<std::uint32_t, std::string> threads_;
    const std::vector<std::string> devices_;
    const std::vector<Queue> queues_;
    const std::uint64_t dropped_, unended_;
    const std::uint64_t pid_ = static_cast<std::uint64_t>(::getpid());
    std::uint64_t next_thread_ = 1;
    bool first_ = true;
};

Result<void> Trace::save() {
    std::optional<sdk::NewFile> file;
    std::optional<Writer> writer;
    std::optional<Output> out;
    {
        const sdk::Lock lock(mutex_);
        if (std::exchange(saved_, true)) return {};
        out.emplace(file.emplace(std::move(file_)));
        writer.emplace(*this, *out);
    }
    writer->write();
    int problem = out->finish();
    if (problem == 0) problem = file->publish();
    if (problem == 0) return {};
    return Error(
        Code::IO, fmt::format("the trace `{}` cannot be written: {}", path_, ::strerror(problem)),
        "Fix: free space, or set WYE_TRACE (or `trace.file`) to a file on another disk", path_);
}

}  // namespace wye::exec
