// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "exec/api.hpp"
#include "registry/handshake.hpp"

namespace wye::exec {

Error missing(std::string_view what) {
    return {Code::INVALID_ARGUMENT, fmt::format("argument `{}` is null", what),
            "Fix: pass a valid pointer", std::string(what)};
}

Result<void> check_header(const wye_header& header, std::size_t size, std::string_view name) {
    if (header.size == 0)
        return Error(Code::INVALID_ARGUMENT, fmt::format("{} has size 0 in its header", name),
                     "Fix: start from WYE_INIT, which sets it", std::string(name));
    if (header.size != size)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("{} has {} bytes by its header, this version ({}) knows {}", name,
                                 header.size, wye_version(), size),
                     "Fix: build with the header of the library that is loaded", std::string(name));
    if (header.type != 0)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("{} has type {:#x} in its header", name, header.type),
                     "Fix: leave the type of a base structure 0", std::string(name));
    return registry::check_chain(header.next, name);
}

Result<void> check_string(wye_string text, std::string_view name) {
    if (text.data != nullptr || text.size == 0) return {};
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("`{}` has {} bytes at a null pointer", name, text.size),
                 "Fix: pass the text, or size 0", std::string(name));
}

Result<Context*> context_of(wye_context* context) {
    if (context == nullptr) return missing("context");
    return context->context.get();
}

wye_blob* make_blob(std::string bytes) { return new wye_blob{std::move(bytes)}; }

Result<wye_context*> make_context(registry::Options options, std::string default_selector) {
    WYE_ASSIGN(auto context, Context::create(std::move(options), std::move(default_selector)));
    return new wye_context{std::move(context)};
}

}  // namespace wye::exec
