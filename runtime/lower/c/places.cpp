// SPDX-License-Identifier: Apache-2.0
#include "lower/c/places.hpp"

#include <optional>
#include <utility>

#include "lower/c/lower.hpp"
#include "lower/passes/strict.hpp"
#include "wye/sdk/compiler_log.hpp"

namespace wye::lower {

std::string place_of_line(const ir::Program& program, std::string_view format,
                          const TargetFacts& facts, const Options& options, std::string_view code,
                          std::size_t line) {
    const bool opencl = format == WYE_FORMAT_OPENCL_C;
    if (line == 0 || (!opencl && format != WYE_FORMAT_CUDA_C)) return {};
    std::optional<ir::Program> expanded;
    if (expands_for(format, program, options.natives)) {
        auto result = expand_for(format, facts, program, options.natives);
        if (!result.ok()) return {};
        expanded = *std::move(result);
    }
    const auto again = lower_c(expanded ? *expanded : program, format,
                               opencl ? opencl_c() : cuda_c(), facts, options, true);
    if (!again.ok()) return {};
    const std::string_view text(reinterpret_cast<const char*>(again->code.data()),
                                again->code.size());
    const std::string_view marked = sdk::numbered_line(text, line);
    const std::size_t mark = marked.rfind(kPlaceMark);
    if (mark == std::string_view::npos || marked.substr(0, mark) != sdk::numbered_line(code, line))
        return {};
    return std::string(marked.substr(mark + kPlaceMark.size()));
}

}  // namespace wye::lower
