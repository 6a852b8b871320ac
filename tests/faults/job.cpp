// SPDX-License-Identifier: Apache-2.0
#include "faults/job.hpp"

#include <dirent.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "faults/busy.hpp"
#include "faults/tool.hpp"

#if defined(WYE_FAKE_CUDA)
#include "cuda/fake_cuda.hpp"
#endif

namespace faults {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKinds[] = {"nothing", "allocation", "system", "slot", "driver"};

std::size_t open_descriptors() {
    std::size_t out = 0;
    DIR* folder = opendir("/proc/self/fd");
    while (folder != nullptr && readdir(folder) != nullptr) ++out;
    if (folder != nullptr) closedir(folder);
    return out;
}

std::set<std::string> files_in(const std::string& folder) {
    std::set<std::string> out;
    std::error_code ignored;
    for (const auto& entry : fs::recursive_directory_iterator(folder, ignored))
        if (entry.is_regular_file(ignored)) out.insert(entry.path().filename().string());
    return out;
}

// Whether the file is a cache entry. A new entry is no defect: its key may differ if a plugin's
// file could not be read, and readers verify its checksum.
bool is_entry(const std::string& name) {
    return name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

#if defined(WYE_FAKE_CUDA)
const fake_cuda::Control& fake_cuda_driver() {
    void* library = dlopen(WYE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return *reinterpret_cast<const fake_cuda::Control* (*)()>(
        dlsym(library, "fake_cuda_control"))();
}

// What the fake driver runs for the program `scale`. Its arguments are x, r, the count of r,
// {factor}.
void scale(const fake_cuda::Launch& launch) {
    std::uint64_t at[3] = {};
    for (std::size_t i = 0; i < 3; ++i) std::memcpy(&at[i], launch.arguments[i], 8);
    std::uint32_t factor = 0;
    std::memcpy(&factor, launch.arguments[3], 4);
    const auto* x = reinterpret_cast<const std::uint32_t*>(at[0]);
    auto* r = reinterpret_cast<std::uint32_t*>(at[1]);
    for (std::uint64_t i = 0; i < at[2]; ++i) r[i] = x[i] * factor;
}
#endif

struct Balance {
    std::uint64_t blocks = 0;
    std::size_t descriptors = 0;
    std::int64_t objects = 0;

    [[nodiscard]] std::string beyond(const Balance& before) const {
        std::string out;
        if (blocks > before.blocks)
            out += std::to_string(blocks - before.blocks) + " blocks of memory ";
        if (descriptors > before.descriptors)
            out += std::to_string(descriptors - before.descriptors) + " descriptors ";
        if (objects > before.objects)
            out += std::to_string(objects - before.objects) + " objects of the driver ";
        return out;
    }
};

class Worker {
  public:
    Worker(const Job& job, std::string cache, Progress& progress)
        : job_(job), subject_(subject(job.subject)), cache_(std::move(cache)), progress_(progress) {
        for (const Target& target : targets())
            if (target.name == job.target) target_ = target;
    }

    int run(const Range& range) {
#if defined(WYE_FAKE_CUDA)
        if (job_.target == "cuda") {
            fake_cuda_driver().reset(1, 90);
            fake_cuda_driver().set_kernel(scale);
        }
#endif
        // Two runs without faults, so that objects that are made once for the process exist.
        for (int i = 0; i < 2; ++i)
            if (!healthy("without a fault")) return 1;
        clean();
        arm({job_.kind, 0, false, job_.flavour, nullptr});
        Pass counted;
        whole(counted);
        disarm();
        usual_files_ = files_in(cache_);
        const std::uint64_t calls = counts().calls;
        progress_.calls = calls;
        const std::uint64_t step =
            range.most == 0 ? range.stride : std::max<std::uint64_t>(1, calls / range.most);
        // The number of calls varies, because of threads, so the job ends only after several runs
        // in which no call failed.
        std::uint64_t idle = 0;
        for (std::uint64_t n = range.first; idle < 3; n += step) {
            progress_.at = n;
            if (range.most != 0 && n > calls) break;
            idle = one(n) ? 0 : idle + 1;
        }
        progress_.finished = true;
        return progress_.defects == 0 ? 0 : 1;
    }

  private:
    Balance balance() const { return {live().blocks, open_descriptors(), driver_objects()}; }

    void clean() const {
        if (job_.warm) return;
        // Keeps a device's self-test results, which take long to make. Only jobs that test files
        // remove them.
        std::error_code ignored;
        for (const auto& entry : fs::recursive_directory_iterator(cache_, ignored))
            if (entry.is_regular_file(ignored) &&
                (job_.kind == kSystem ||
                 entry.path().filename().string().find("self-test") == std::string::npos))
                fs::remove(entry.path(), ignored);
    }

    void defect(const std::string& text) {
        ++progress_.defects;
        std::printf("defect: %s, call %llu (%s): %s\n", job_.text().c_str(),
                    static_cast<unsigned long long>(progress_.at), progress_.what, text.c_str());
        std::fflush(stdout);
    }
    void defects_of(const Pass& pass, const char* when) {
        for (const std::string& text : pass.defects) defect(std::string(when) + ", " + text);
    }

    void whole(Pass& pass) {
        wye_context* context = make_context(target_, cache_, pass);
        if (context != nullptr) run_pass(context, target_, subject_, pass);
        wye_context_destroy(context);
    }

    bool healthy(const char* when) {
        Pass pass;
        whole(pass);
        defects_of(pass, when);
        if (pass.done) return pass.defects.empty();
        defect(std::string(when) + " a fresh context fails: " + pass.refusal);
        return false;
    }

    // Lets call `n` fail, and all later calls if the job says so. False: there were fewer calls.
    bool inject(std::uint64_t n) {
        clean();
        arm({job_.kind, n, job_.persistent, job_.flavour, progress_.what});
        Pass first;
        wye_context* context = make_context(target_, cache_, first);
        if (context != nullptr) run_pass(context, target_, subject_, first);
        note_call();
        bool again = true;
        if (!job_.persistent && counts().fired != 0 && context != nullptr) {
            Pass retry;
            run_pass(context, target_, subject_, retry);
            defects_of(retry, "after the fault");
            again = retry.done;
            if (!again) later_ = retry.refusal;
        }
        wye_context_destroy(context);
        disarm();
        note_call();
        const bool fired = counts().fired != 0;
        defects_of(first, "with the fault");
        if (!fired && !first.done) defect("without a fault: " + first.refusal);
        if (!fired) return false;
        ++(first.done ? progress_.unaffected : progress_.refused);
        if (!again) ++progress_.later;
        if (!again || context == nullptr || job_.kind == kSystem || n % 16 == 0) {
            check_files();
            healthy("after the fault");
        }
        return true;
    }

    void note_call() {
        const Counts now = counts();
        std::string text = now.fired == 0 ? "none" : now.first;
        Dl_info info{};
        if (now.caller != nullptr && dladdr(now.caller, &info) != 0 && info.dli_fname != nullptr) {
            std::ostringstream where;
            where << " from " << fs::path(info.dli_fname).filename().string() << "+0x" << std::hex
                  << reinterpret_cast<std::uintptr_t>(now.caller) -
                         reinterpret_cast<std::uintptr_t>(info.dli_fbase);
            text += where.str();
        }
        std::snprintf(progress_.what, sizeof progress_.what, "%s", text.c_str());
    }

    // A file that remains after a fault, but not without faults, is half-written or stale. If the
    // fault was in the removal of a file, the file is no defect.
    void check_files() {
        if (job_.persistent || std::strncmp(counts().first, "unlink", 6) == 0) return;
        for (const std::string& name : files_in(cache_))
            if (!usual_files_.contains(name) && !is_entry(name)) defect("left the file " + name);
    }

    bool one(std::uint64_t n) {
        const Balance before = balance();
        if (!inject(n)) return false;
        ++progress_.injected;
        // Memory that is kept only once is intended, such as a text for the whole process. Memory
        // that every run keeps is a leak.
        std::string leak = balance().beyond(before);
        for (int i = 0; i < 2 && !leak.empty(); ++i) {
            const Balance middle = balance();
            (void)inject(n);
            leak = balance().beyond(middle);
        }
        if (!leak.empty()) {
            defect("leaks " + leak);
            print_newest_live(6);
        }
        return true;
    }

    const Job& job_;
    Subject subject_;
    Target target_;
    std::string cache_;
    Progress& progress_;
    std::set<std::string> usual_files_;
    std::string later_;
};

}  // namespace

std::string kind_name(Kind kind) { return kKinds[kind]; }

std::string Job::text() const {
    return target + "/" + subject + "/" + kind_name(kind) +
           (persistent ? "/from-then-on/"
            : twice    ? "/twice/"
                       : "/once/") +
           std::to_string(flavour) + (warm ? "/warm" : "/cold");
}

bool parse_job(const std::string& text, Job& out) {
    for (const Job& job : all_jobs())
        if (job.text() == text) {
            out = job;
            return true;
        }
    return false;
}

std::vector<Job> all_jobs() {
    struct Way {
        Kind kind;
        std::uint32_t flavours;
    };
    std::vector<Job> out;
    for (const Target& target : targets()) {
        std::vector<Way> ways = {{kAllocation, 1}, {kSystem, 3}};
        if (target.name == "faulty") ways = {{kSlot, 5}};
        if (target.name == "opencl" || target.name == "cuda") ways.push_back({kDriver, 4});
        if (target.name == "vulkan") ways.push_back({kDriver, 3});
        std::vector<std::string> subjects = subject_names();
        if (target.name == "cuda") subjects = {"scale"};
        for (const Way& way : ways)
            for (const std::string& name : subjects)
                for (std::uint32_t flavour = 0; flavour < way.flavours; ++flavour)
                    for (const bool persistent : {false, true}) {
                        // Wye repeats an interrupted call, so a run in which all calls are
                        // interrupted would never end.
                        if (way.kind == kSystem && flavour == 2 && persistent) continue;
                        out.push_back({target.name, name, way.kind, persistent, flavour, false});
                        if (way.kind == kSystem && target.name != "cpu")
                            out.push_back({target.name, name, way.kind, persistent, flavour, true});
                    }
    }
    // Flavour 0: calls of the calling thread fail; 1: calls of the other threads fail.
    for (const std::string& target : busy_targets())
        for (const std::string& name : busy_calls())
            for (const std::uint32_t flavour : {0U, 1U}) {
                out.push_back({target, name, kAllocation, false, flavour, true});
                out.push_back({target, name, kAllocation, true, flavour, true});
                out.push_back({target, name, kAllocation, false, flavour, true, true});
            }
    for (const std::string& name : tool_names())
        for (const bool persistent : {false, true}) {
            out.push_back({"tool", name, kAllocation, persistent, 0, false});
            for (std::uint32_t flavour = 0; flavour < (persistent ? 2 : 3); ++flavour)
                out.push_back({"tool", name, kSystem, persistent, flavour, false});
        }
    return out;
}

int run_job(const Job& job, const Range& range, const std::string& cache, Progress& progress) {
    if (job.busy()) return run_busy_job(job, range, cache, progress);
    if (job.target == "tool") return run_tool_job(job, range, cache, progress);
    return Worker(job, cache, progress).run(range);
}

}  // namespace faults
