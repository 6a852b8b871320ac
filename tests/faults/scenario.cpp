// SPDX-License-Identifier: Apache-2.0
#include "faults/scenario.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "faults/calls.hpp"

namespace faults {
namespace {

using Buffers = std::vector<std::vector<std::byte>>;

class Runner {
  public:
    Runner(wye_context* context, const Target& target, const Subject& subject, Pass& pass)
        : context_(context), target_(target), subject_(subject), calls_(pass) {}

    bool run() {
        const bool made = create();
        const bool good = made && (target_.selector.empty() ? look() : use());
        if (program_ != 0) {
            const bool freed =
                calls_.ok("wye_program_free", wye_program_free(context_, program_, calls_.sink()));
            return good && freed;
        }
        return good;
    }

  private:
    bool create() {
        wye_program_source source;
        WYE_INIT(source);
        source.name = abi(subject_.name);
        source.text = abi(subject_.text);
        if (!calls_.ok("wye_program_create",
                       wye_program_create(context_, &source, &program_, calls_.sink())))
            return false;
        wye_program_description described;
        WYE_INIT(described);
        if (!calls_.ok("wye_program_describe",
                       wye_program_describe(context_, program_, &described, calls_.sink())))
            return false;
        bindings_.clear();
        for (std::uint64_t i = 0; i < described.buffer_count; ++i)
            if (view(described.buffers[i].role) != "shared")
                bindings_.push_back(described.buffers[i].binding);
        return true;
    }

    bool blob(const char* what, wye_status status, wye_blob*& made) {
        if (!calls_.ok(what, status)) return false;
        if (wye_blob_bytes(made).size == 0) calls_.defect(what, "gave an empty text");
        wye_blob_free(made);
        return true;
    }

    // Makes all calls that need no device.
    bool look() {
        wye_blob* text = nullptr;
        if (!blob("wye_context_report",
                  wye_context_report(context_, abi("cpu"), &text, calls_.sink()), text) ||
            !blob("wye_program_analysis",
                  wye_program_analysis(context_, program_, &text, calls_.sink()), text))
            return false;
        for (const char* form : {"text", "wire", "opencl-c", "cuda-c", "spirv-vulkan"}) {
            if (subject_.grid_barrier && std::string_view(form) != "text") continue;
            if (!blob(form,
                      wye_program_lower(context_, program_, wye_str(form), 0, &text, calls_.sink()),
                      text))
                return false;
        }
        std::uint64_t freed = 0;
        return blob("wye_cache_report", wye_cache_report(context_, &text, calls_.sink()), text) &&
               calls_.ok("wye_cache_clear", wye_cache_clear(context_, &freed, calls_.sink())) &&
               blob("wye_quirks_report", wye_quirks_report(&text, calls_.sink()), text);
    }

    bool use() {
        if (!calls_.ok("wye_device_open", wye_device_open(context_, abi(target_.selector), 0,
                                                          &device_, calls_.sink())))
            return false;
        wye_device_description described;
        WYE_INIT(described);
        if (!calls_.ok("wye_device_describe",
                       wye_device_describe(context_, device_, &described, calls_.sink())))
            return false;
        if (subject_.grid_barrier) {
            if (!deferred()) return false;
        } else {
            wye_prepare_report prepared;
            WYE_INIT(prepared);
            if (!calls_.ok("wye_program_prepare", wye_program_prepare(context_, program_, device_,
                                                                      &prepared, calls_.sink())))
                return false;
        }
        if (!from_host() || !resident()) return false;
        return calls_.ok("wye_device_flush", wye_device_flush(context_, device_, calls_.sink()));
    }

    // Makes the first submit, which returns before its program is compiled.
    bool deferred() {
        std::vector<wye_argument> arguments;
        for (std::size_t i = 0; i < subject_.example.buffers.size(); ++i) {
            const support::ExampleBuffer& buffer = subject_.example.buffers[i];
            wye_argument& a = arguments.emplace_back();
            a.kind = WYE_ARGUMENT_HOST;
            a.binding = bindings_[i];
            if (buffer.input) a.input = {buffer.before.data(), buffer.before.size()};
        }
        const std::vector<std::uint64_t>& params = subject_.example.dispatches.front();
        wye_dispatch_desc desc;
        WYE_INIT(desc);
        desc.program = program_;
        desc.device = device_;
        desc.arguments = arguments.data();
        desc.argument_count = arguments.size();
        desc.params = params.data();
        desc.param_count = params.size();
        wye_pending pending = 0;
        if (!calls_.ok("wye_dispatch_submit",
                       wye_dispatch_submit(context_, &desc, &pending, calls_.sink())))
            return false;
        const bool good =
            calls_.ok("wye_pending_wait",
                      wye_pending_wait(context_, pending, UINT64_MAX, nullptr, calls_.sink()));
        for (std::size_t i = 0; good && i < arguments.size(); ++i) {
            const support::ExampleBuffer& buffer = subject_.example.buffers[i];
            wye_bytes bytes{};
            if (!buffer.output ||
                !calls_.ok("wye_pending_output",
                           wye_pending_output(context_, pending, arguments[i].binding, &bytes,
                                              calls_.sink())))
                continue;
            const auto* const from = static_cast<const std::byte*>(bytes.data);
            compare("a deferred dispatch", i, {from, from + bytes.size});
        }
        return calls_.ok("wye_pending_free", wye_pending_free(context_, pending, calls_.sink())) &&
               good;
    }

    bool dispatch(const std::vector<wye_argument>& arguments,
                  const std::vector<std::uint64_t>& params) {
        wye_dispatch_desc desc;
        WYE_INIT(desc);
        desc.program = program_;
        desc.device = device_;
        desc.flags = WYE_DISPATCH_TIMED;
        desc.arguments = arguments.data();
        desc.argument_count = arguments.size();
        desc.params = params.data();
        desc.param_count = params.size();
        desc.timeout_ns = 60'000'000'000;
        wye_report report;
        WYE_INIT(report);
        return calls_.ok("wye_dispatch", wye_dispatch(context_, &desc, &report, calls_.sink()),
                         subject_.traps ? WYE_TRAPPED : WYE_OK);
    }

    void compare(const char* how, std::size_t index, const std::vector<std::byte>& got) {
        const support::ExampleBuffer& buffer = subject_.example.buffers[index];
        if (got != buffer.expected) calls_.defect(how, "gave wrong bytes in " + buffer.name);
    }

    bool from_host() {
        Buffers data;
        for (const auto& buffer : subject_.example.buffers) data.push_back(buffer.before);
        for (const auto& params : subject_.example.dispatches) {
            Buffers results = data;
            std::vector<wye_argument> arguments;
            for (std::size_t i = 0; i < data.size(); ++i) {
                const support::ExampleBuffer& buffer = subject_.example.buffers[i];
                wye_argument& a = arguments.emplace_back();
                a.kind = WYE_ARGUMENT_HOST;
                a.binding = bindings_[i];
                if (buffer.input) a.input = {data[i].data(), data[i].size()};
                if (!buffer.output) continue;
                a.output = results[i].data();
                a.output_size = results[i].size();
            }
            const Buffers before = results;
            if (!dispatch(arguments, params)) {
                // Outputs are not compared here: a driver that fails during a download may have
                // changed some.
                return false;
            }
            if (subject_.traps && results != before)
                calls_.defect("wye_dispatch", "delivered outputs though the program trapped");
            data = std::move(results);
        }
        if (subject_.traps) return true;
        for (std::size_t i = 0; i < data.size(); ++i)
            if (subject_.example.buffers[i].output) compare("a dispatch from the host", i, data[i]);
        return true;
    }

    bool resident() {
        std::vector<wye_buffer> made;
        const bool good = with_buffers(made);
        bool freed = true;
        for (const wye_buffer buffer : made)
            freed &= calls_.ok("wye_buffer_free", wye_buffer_free(context_, buffer, calls_.sink()));
        return good && freed;
    }

    bool with_buffers(std::vector<wye_buffer>& made) {
        const auto make = [&](std::uint64_t size) -> wye_buffer {
            wye_buffer_create_desc desc;
            WYE_INIT(desc);
            desc.size = size;
            desc.label = wye_str("of the test");
            wye_buffer out = 0;
            if (!calls_.ok("wye_buffer_create",
                           wye_buffer_create(context_, device_, &desc, &out, calls_.sink())))
                return 0;
            made.push_back(out);
            return out;
        };
        std::vector<wye_argument> arguments;
        for (std::size_t i = 0; i < subject_.example.buffers.size(); ++i) {
            const support::ExampleBuffer& buffer = subject_.example.buffers[i];
            const wye_buffer handle = make(buffer.before.size());
            if (handle == 0) return false;
            const std::uint64_t size = buffer.before.size();
            if (!calls_.ok("wye_buffer_fill",
                           wye_buffer_fill(context_, handle, 0, size, 0, 1, calls_.sink())))
                return false;
            if (buffer.input &&
                !calls_.ok("wye_buffer_upload",
                           wye_buffer_upload_range(context_, handle, 0,
                                                   {buffer.before.data(), size}, calls_.sink())))
                return false;
            wye_argument& a = arguments.emplace_back();
            a.kind = WYE_ARGUMENT_RESIDENT;
            a.binding = bindings_[i];
            a.buffer = handle;
        }
        for (const auto& params : subject_.example.dispatches)
            if (!dispatch(arguments, params)) return false;
        if (subject_.traps) return true;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const support::ExampleBuffer& buffer = subject_.example.buffers[i];
            if (!buffer.output) continue;
            std::vector<std::byte> bytes(buffer.before.size());
            const wye_buffer other = make(bytes.size());
            if (other == 0 ||
                !calls_.ok("wye_buffer_copy",
                           wye_buffer_copy(context_, arguments[i].buffer, 0, other, 0, bytes.size(),
                                           calls_.sink())) ||
                !calls_.ok("wye_buffer_download",
                           wye_buffer_download_range(context_, other, 0, bytes.data(), bytes.size(),
                                                     calls_.sink())))
                return false;
            compare("a dispatch on resident buffers", i, bytes);
        }
        return true;
    }

    wye_context* context_;
    const Target& target_;
    const Subject& subject_;
    Calls calls_;
    wye_program program_ = 0;
    wye_device device_ = 0;
    std::vector<std::uint32_t> bindings_;
};

// Programs besides the examples.
constexpr std::string_view kPhases = R"(wye 1; program phases; workgroup 64;
param rounds: u32; input_output a: u32[]; output s: u32[len(a)]; grid elements len(a);
main {
    for k in 0u..rounds {
        if global_id.x < len(a) { s[global_id.x] = a[global_id.x] + k; }
        grid_barrier;
        if global_id.x < len(a) { a[global_id.x] = s[len(a) - 1u - global_id.x]; }
        grid_barrier;
    }
})";
constexpr std::string_view kTraps = R"(wye 1; program traps; workgroup 64;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { if x[i] == 7u { trap 9; } r[i] = x[i]; } })";
constexpr std::string_view kScale = R"(wye 1; program scale; workgroup 64; param factor: u32;
input x: u32[]; output r: u32[len(x)]; grid elements len(x);
main { let i = global_id.x; if i < len(r) { r[i] = x[i] * factor; } })";

std::vector<std::byte> words(std::size_t n, const std::function<std::uint32_t(std::uint32_t)>& of) {
    std::vector<std::byte> out(n * 4);
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t value = of(i);
        std::memcpy(&out[i * std::size_t{4}], &value, 4);
    }
    return out;
}

}  // namespace

std::vector<std::string> subject_names() {
    std::vector<std::string> out = support::example_programs();
    out.insert(out.end(), {"phases", "traps"});
    return out;
}

Subject subject(const std::string& name) {
    constexpr std::size_t kSize = 300;
    if (name == "phases") {
        const auto before = words(kSize, [](std::uint32_t i) { return i; });
        // The two rounds reverse the order of the elements twice, and add the numbers of the
        // rounds.
        const auto after = words(kSize, [](std::uint32_t i) { return i + 1; });
        const auto scratch = words(kSize, [](std::uint32_t i) { return kSize - i; });
        return {name,
                std::string(kPhases),
                {name,
                 "",
                 {{"a", true, true, before, after},
                  {"s", false, true, std::vector<std::byte>(after.size()), scratch}},
                 {{2}},
                 {"rounds"}},
                false,
                true};
    }
    if (name == "traps") {
        const auto x = words(kSize, [](std::uint32_t i) { return i; });
        return {
            name,
            std::string(kTraps),
            {name,
             "",
             {{"x", true, false, x, {}}, {"r", false, true, std::vector<std::byte>(x.size()), x}},
             {{}},
             {}},
            true,
            false};
    }
    if (name == "scale") {
        const auto x = words(kSize, [](std::uint32_t i) { return i; });
        const auto r = words(kSize, [](std::uint32_t i) { return i * 3; });
        return {
            name,
            std::string(kScale),
            {name,
             "",
             {{"x", true, false, x, {}}, {"r", false, true, std::vector<std::byte>(x.size()), r}},
             {{3}},
             {"factor"}},
            false,
            false};
    }
    return {name, support::example_text(name), support::small_example(name), false, false};
}

const std::vector<Target>& targets() {
    static const std::vector<Target> kTargets = {
        {"none", "", "", {}},
        {"cpu", "cpu", "", {{"cpu.threads", "2"}}},
        {"faulty", "faulty:0", WYE_FAULTY_FOLDER, {{"cpu.threads", "2"}}},
#if defined(WYE_FAULTY_OPENCL)
        {"opencl", "opencl:0", WYE_OPENCL_FOLDER, {{"opencl.library", WYE_FAULTY_OPENCL}}},
#endif
#if defined(WYE_FAULTY_VULKAN)
        {"vulkan", "vulkan:0", WYE_VULKAN_FOLDER, {{"vulkan.library", WYE_FAULTY_VULKAN}}},
#endif
#if defined(WYE_FAULTY_CUDA)
        {"cuda", "cuda:0", WYE_CUDA_FOLDER, {{"cuda.library", WYE_FAULTY_CUDA}}},
#endif
    };
    return kTargets;
}

wye_context* make_context(const Target& target, const std::string& cache, Pass& pass) {
    Calls calls(pass);
    wye_context_desc desc;
    WYE_INIT(desc);
    desc.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT;
    if (target.folder.empty()) desc.flags |= WYE_CONTEXT_NO_PLUGINS;
    const wye_string folder = abi(target.folder);
    desc.plugin_paths = &folder;
    desc.plugin_path_count = target.folder.empty() ? 0 : 1;
    std::vector<wye_key_value> config;
    for (const auto& [key, value] : target.config) config.push_back({abi(key), abi(value)});
    config.push_back({wye_str("cache_folder"), abi(cache)});
    config.push_back({wye_str("probe.mode"), wye_str("off")});
    desc.config = config.data();
    desc.config_count = config.size();
    wye_context* out = nullptr;
    return calls.ok("wye_context_create", wye_context_create(&desc, &out, calls.sink())) ? out
                                                                                         : nullptr;
}

void run_pass(wye_context* context, const Target& target, const Subject& subject, Pass& pass) {
    pass.done = Runner(context, target, subject, pass).run();
}

}  // namespace faults
