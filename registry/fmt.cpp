// SPDX-License-Identifier: Apache-2.0
// Compiles once the functions of {fmt} that its headers only declare. With FMT_HEADER_ONLY, the
// headers would define them, and each file that includes <fmt/format.h> would compile them, which
// doubles the time of a build. The templates below are those that src/format.cc of {fmt} 9
// instantiates for char.
#include <fmt/format-inl.h>

#if FMT_VERSION < 90000 || FMT_VERSION >= 100000
#error "written for {fmt} 9. Fix: compile with FMT_HEADER_ONLY in place of this file"
#endif

namespace fmt {
inline namespace v9 {
namespace detail {

template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template locale_ref::locale_ref(const std::locale&);
template std::locale locale_ref::get<std::locale>() const;
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, basic_string_view<char>,
                         basic_format_args<buffer_context<char>>, locale_ref);

}  // namespace detail
}  // namespace v9
}  // namespace fmt
