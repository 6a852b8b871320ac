// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <new>

#include "exec/api/api.hpp"
#include "registry/open/handshake.hpp"

namespace wye::exec {

wye_status caught(wye_error** sink) noexcept {
    if (sink != nullptr) *sink = nullptr;
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return WYE_OUT_OF_MEMORY;
    } catch (const std::exception& e) {
        try {
            return registry::put_error(
                Error(Code::INTERNAL, std::string("an internal check failed: ") + e.what(),
                      "Fix: report this with the program and the request"),
                sink);
        } catch (...) {
            return WYE_OUT_OF_MEMORY;
        }
    } catch (...) {
        try {
            return registry::put_error(
                Error(Code::INTERNAL, "an internal check failed with an exception without a text",
                      "Fix: report this with the program and the request"),
                sink);
        } catch (...) {
            return WYE_OUT_OF_MEMORY;
        }
    }
}

Error missing(std::string_view what) {
    return {Code::INVALID_ARGUMENT, fmt::format("argument `{}` is null", what),
            "Fix: pass a valid pointer", std::string(what)};
}

Result<void> refuse_header(const wye_header& header, std::size_t size, std::string_view name) {
    if (header.size == 0)
        return Error(Code::INVALID_ARGUMENT, fmt::format("{} has size 0 in its header", name),
                     "Fix: start from WYE_INIT, which sets it", std::string(name));
    if (header.size != size)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`header.size` of {} is {}; libwye {} expects {}", name,
                                 header.size, wye_version(), size),
                     "Fix: build with the header of the library that is loaded", std::string(name));
    if (header.type != 0)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("{} has type {:#x} in its header", name, header.type),
                     "Fix: leave the type of a base structure 0", std::string(name));
    const auto fault = registry::chain_fault(header.next);
    if (!fault) return {};
    switch (fault->kind) {
        case registry::ChainFault::Kind::Endless:
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("the `next` chain of {} has more than {} entries, so it is "
                                     "probably a cycle",
                                     name, fault->number),
                         "Fix: set `next` to null, in the structure or in the last entry of its "
                         "chain",
                         std::string(name));
        case registry::ChainFault::Kind::Short:
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("an entry in the `next` chain of {} has {} bytes by its "
                                     "header, fewer than the {} of a header",
                                     name, fault->number, sizeof(wye_header)),
                         "Fix: fill in the header of each entry, and set `next` of the last one to "
                         "null",
                         std::string(name));
        case registry::ChainFault::Kind::Unknown:
            break;
    }
    return Error(
        Code::UNSUPPORTED_EXTENSION,
        fmt::format("the `next` chain of {} demands extension {}, which libwye {} does not "
                    "know",
                    name, fault->number, wye_version()),
        "Fix: leave the entry out, or use a newer libwye", std::string(name));
}

Error refuse_string(wye_string text, std::string_view name) {
    if (text.data != nullptr)
        return {Code::INVALID_ARGUMENT,
                fmt::format("`{}` claims {} bytes, more than memory has", name, text.size),
                "Fix: pass the size of the text in bytes", std::string(name)};
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("`{}` has {} bytes at a null pointer", name, text.size),
                 "Fix: pass the text, or size 0", std::string(name));
}

wye_blob* make_blob(std::string bytes) { return new wye_blob{std::move(bytes)}; }

Error inherited() {
    return {Code::WRONG_OWNER,
            fmt::format("the context belongs to the parent of process {}, whose threads and "
                        "drivers a forked child does not have",
                        ::getpid()),
            "Fix: create a context after the fork, or start the child as a program (posix_spawn, "
            "exec)",
            "context"};
}

Error inside_callback() {
    return {Code::INVALID_ARGUMENT, "the context is used inside one of its own callbacks",
            "Fix: return from the callback, and make the call afterwards or on another thread",
            "context"};
}

Error Call::refusal() const {
    if (context_ == nullptr)
        return {Code::INVALID_ARGUMENT, "argument `context` is null",
                "Fix: pass the context that wye_context_create made; in C++ use no object that was "
                "moved from",
                "context"};
    if (!entered_) return inherited();
    if (CallbackScope::forbids(context_)) return inside_callback();
    return {Code::SHUTTING_DOWN,
            "the context was shut down, or is being destroyed on another thread",
            "Fix: end the calls of a context before destroying it", "context"};
}

bool Call::admits(const wye_context* context, std::uint32_t flags) noexcept {
    return (flags & Gate::kClosed) == 0 && !CallbackScope::forbids(context);
}

void LogDoor::log(std::uint32_t level, std::string_view area, std::string_view text) {
    door_.through([&] {
        const CallbackScope scope(context_);
        sink_(level, area, text);
    });
}

Result<wye_context*> make_context(registry::Options options, std::string default_selector) {
    registry::watch_forks();
    auto out = std::make_unique<wye_context>();
    out->forks = registry::fork_count();
    if (options.log) {
        out->gate.watch();
        out->log = std::make_shared<LogDoor>(std::move(options.log), out.get());
        options.log = [door = out->log](std::uint32_t level, std::string_view area,
                                        std::string_view text) { door->log(level, area, text); };
    }
    WYE_ASSIGN(out->context, Context::create(std::move(options), std::move(default_selector)));
    return out.release();
}

}  // namespace wye::exec
