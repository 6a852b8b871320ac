// SPDX-License-Identifier: Apache-2.0
//
// The program builder: builds a program by C++ calls and returns its wire form. Header-only; needs
// only wye/program_format.h and the standard library.
//
//     using namespace wye::builder;
//     Kernel k("saxpy");
//     k.workgroup(256);
//     auto a = k.param<float>("a");
//     auto x = k.input("x", f32);
//     auto y = k.input("y", f32, len(x));
//     auto r = k.output("r", f32, len(x));
//     k.grid_elements({len(x)});
//     auto i = k.let("i", k.global_id().x());
//     k.if_(i < len(r), [&] { k.store(r, i, a * x[i] + y[i]); });
//     std::vector<std::byte> wire = k.wire();
//
// The builder does not check types or rules: wye_program_create reads the wire form and refuses a
// program that breaks a rule of the language, with the reason. C++ values become literals of their
// own type (1 is i32, 1u u32, 1.0f f32), and nothing converts implicitly: use `convert`, `splat`,
// `construct` and `bitcast`. Arguments are copied. A builder is used by one thread at a time.
// Throws only when memory runs out (from the standard library).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wye/builder/body.hpp"
#include "wye/builder/container.hpp"

namespace wye::builder {

// The element count of a buffer: empty (known when the buffer is bound), a literal, or an
// expression of integer parameters, `len` of buffers, integer literals and + - * /.
class Count {
  public:
    Count() = default;
    // An expression.
    Count(const Expr& e) : size_(detail::size_words(e.words())) {}
    // A number.
    template <Scalar T>
    Count(T literal) : Count(Expr(literal)) {}

  private:
    friend class Kernel;
    Words size_;
};

// An axis of the grid.
enum class Axis : std::uint32_t { x = 1, y = 2, z = 3 };
// How soon a kernel uses an element again.
enum class Locality : std::uint32_t {
    unspecified = WYE_LOCALITY_UNSPECIFIED,
    streaming = WYE_LOCALITY_STREAMING,
    temporal = WYE_LOCALITY_TEMPORAL
};

// The less common clauses of a buffer declaration.
struct BufferOptions {
    std::optional<std::uint32_t> binding = {};  // default: one more than the previous buffer
    std::uint32_t align = 0;                    // 0: natural
    std::optional<std::array<std::uint64_t, 2>> bytes = {};  // read-back range [first, end)
    bool live = false;
    bool unset = false;
    // Hints: no result depends on them.
    std::optional<Axis> coalesce = {};  // invocations adjacent along it use adjacent elements
    std::uint32_t prefer_align = 0;     // 0: none
    Locality locality = Locality::unspecified;

    // Whether there is a hint.
    [[nodiscard]] bool hints() const {
        return coalesce || prefer_align != 0 || locality != Locality::unspecified;
    }
};

// An argument of a function.
struct Argument {
    std::string name;
    Type type;
};

// A function of the kernel, called as `f(a, b)`.
struct Function {
    std::uint16_t index = 0;
    // A call.
    template <typename... Arguments>
    [[nodiscard]] Expr operator()(const Arguments&... arguments) const {
        Words words{detail::head(WYE_OP_CALL, index)};
        (detail::append(words, Expr(arguments).words()), ...);
        return Expr(std::move(words));
    }
};

// A program, made by calls in the order of its text: declarations, then the statements of its body.
class Kernel : public Body {
  public:
    // An empty program of this name.
    explicit Kernel(std::string_view name) : name_(name) {}

    // `math set;`: selects the definitions of the math functions.
    Kernel& math_set(std::uint32_t set) {
        math_set_ = set;
        return *this;
    }
    // `workgroup x, y, z;`
    Kernel& workgroup(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
        workgroup_ = {x, y, z};
        return *this;
    }
    // Lets a dispatch choose another workgroup size.
    Kernel& adjustable() {
        flags_ |= WYE_HEAD_ADJUSTABLE;
        return *this;
    }
    // `subgroup width;`
    Kernel& subgroup(std::uint32_t width) {
        subgroup_ = width;
        return *this;
    }
    // The default grid in invocations, rounded up to whole workgroups, for one to three axes.
    void grid_elements(std::initializer_list<Expr> axes) { grid(WYE_GRID_ELEMENTS, axes); }
    // The default grid in workgroups, for one to three axes.
    void grid_groups(std::initializer_list<Expr> axes) { grid(WYE_GRID_GROUPS, axes); }

    // A parameter with the language's type for T.
    template <Scalar T>
    Expr param(std::string_view name) {
        return param(name, type_of<T>());
    }
    // A parameter.
    Expr param(std::string_view name, Type type) {
        params_.push_back({std::string(name), type});
        return Expr::leaf(WYE_OP_PARAM, static_cast<std::uint32_t>(params_.size() - 1));
    }

    // A buffer that the program reads.
    Buffer input(std::string_view name, Type type, const Count& count = {},
                 const BufferOptions& options = {}) {
        return buffer(WYE_ROLE_INPUT, name, type, count, options);
    }
    // A small buffer that all invocations read alike.
    Buffer uniform(std::string_view name, Type type, const Count& count,
                   const BufferOptions& options = {}) {
        return buffer(WYE_ROLE_UNIFORM, name, type, count, options);
    }
    // A buffer that the program reads and writes.
    Buffer input_output(std::string_view name, Type type, const Count& count = {},
                        const BufferOptions& options = {}) {
        return buffer(WYE_ROLE_INPUT_OUTPUT, name, type, count, options);
    }
    // A buffer that the program writes.
    Buffer output(std::string_view name, Type type, const Count& count = {},
                  const BufferOptions& options = {}) {
        return buffer(WYE_ROLE_OUTPUT, name, type, count, options);
    }
    // A buffer whose contents stay from one dispatch to the next.
    Buffer persistent(std::string_view name, Type type, const Count& count = {},
                      const BufferOptions& options = {}) {
        return buffer(WYE_ROLE_PERSISTENT, name, type, count, options);
    }
    // An array in the memory of each workgroup.
    Buffer shared(std::string_view name, Type type, const Count& count,
                  const BufferOptions& options = {}) {
        return buffer(WYE_ROLE_SHARED, name, type, count, options);
    }

    // An array of constants.
    template <Scalar T>
    Table table(std::string_view name, std::span<const T> values) {
        std::vector<std::uint64_t> bits;
        for (const T value : values) bits.push_back(bits_of(value));
        return table(name, type_of<T>(), bits);
    }
    // A table given by the bits of each element, for types that C++20 lacks (f16).
    Table table(std::string_view name, Type type, std::span<const std::uint64_t> bits) {
        const std::size_t size = detail::scalar_bytes(type);
        std::vector<std::byte> packed(bits.size() * size);
        for (std::size_t i = 0; i < bits.size(); ++i)
            std::memcpy(packed.data() + i * size, &bits[i], size);
        detail::put_text(tables_, name);
        tables_.push_back(type.code);
        tables_.push_back(static_cast<std::uint32_t>(bits.size()));
        detail::put_bytes(tables_, packed.data(), packed.size());
        return Table{static_cast<std::uint16_t>(table_count_++)};
    }
    // An array of constants.
    template <Scalar T>
    Table table(std::string_view name, std::initializer_list<T> values) {
        return table(name, std::span<const T>(std::data(values), values.size()));
    }

    // fn NAME(arguments) -> result { ... return e; }. `define` takes (Body&, one Expr per argument)
    // and returns the result's Expr:
    // k.fn("bin", u32, {{"v", u32}}, [](Body&, Expr v) { return v >> 2u; }).
    template <typename Define>
    Function fn(std::string_view name, Type result, const std::vector<Argument>& arguments,
                Define&& define) {
        Body body;
        std::vector<Expr> values;
        for (const Argument& a : arguments)
            values.push_back(Expr::leaf_with_word(WYE_OP_LOCAL, body.declare(a.name)));
        detail::append(body.words_, returned(define, body, values).words());
        functions_.push_back({std::string(name), result, arguments, std::move(body)});
        return Function{static_cast<std::uint16_t>(functions_.size() - 1)};
    }

    // Native code for devices that match `filter` (empty: any), used only if the dispatch allows
    // variants.
    void variant(std::string_view format, std::string_view entry, std::string_view filter,
                 std::span<const std::byte> bytes) {
        for (const std::string_view text : {format, entry, filter})
            detail::put_text(variants_, text);
        variants_.push_back(static_cast<std::uint32_t>(bytes.size()));
        detail::put_bytes(variants_, bytes.data(), bytes.size());
        ++variant_count_;
    }

    // The wire form of the program built so far.
    [[nodiscard]] std::vector<std::byte> wire() const {
        const std::vector<std::uint16_t> order = binding_order();
        std::vector<detail::Section> sections;
        sections.push_back({WYE_SECTION_HEAD, head_section(order)});
        const auto list = [&](std::uint32_t id, std::size_t count, const Words& content) {
            if (count == 0) return;
            Words words{static_cast<std::uint32_t>(count)};
            detail::append(words, content);
            sections.push_back({id, std::move(words)});
        };
        list(WYE_SECTION_PARAMS, params_.size(), params_section());
        list(WYE_SECTION_BUFFERS, buffers_.size(), buffers_section(order));
        list(WYE_SECTION_TABLES, table_count_, tables_);
        list(WYE_SECTION_FUNCTIONS, functions_.size(), functions_section(order));
        Words main = words_;
        detail::renumber(main, counts_, order);
        Words body;
        detail::put_counted(body, main);
        sections.push_back({WYE_SECTION_BODY, std::move(body)});
        list(WYE_SECTION_VARIANTS, variant_count_, variants_);
        if (Words names = names_section(); !names.empty())
            sections.push_back({WYE_SECTION_NAMES, std::move(names)});
        const bool hints =
            std::ranges::any_of(buffers_, [](const Declared& b) { return b.options.hints(); });
        return detail::container(sections, hints ? 1 : 0);
    }

  private:
    struct Declared {
        std::string name;
        std::uint32_t binding;
        std::uint32_t role;
        Type type;
        Words size;
        BufferOptions options;
    };
    struct Defined {
        std::string name;
        Type result;
        std::vector<Argument> arguments;
        Body body;
    };

    void grid(std::uint32_t kind, std::initializer_list<Expr> axes) {
        grid_kind_ = kind;
        grid_.clear();
        for (const Expr& axis : axes) grid_.push_back(detail::size_words(axis.words()));
    }

    Buffer buffer(std::uint32_t role, std::string_view name, Type type, const Count& count,
                  const BufferOptions& options) {
        const std::uint32_t next = buffers_.empty() ? 0 : buffers_.back().binding + 1;
        buffers_.push_back(
            {std::string(name), options.binding.value_or(next), role, type, count.size_, options});
        return Buffer{static_cast<std::uint16_t>(buffers_.size() - 1)};
    }

    // Calls `define` with as many values as it takes, or with the list. A missing value becomes an
    // invalid local, which the reader of the wire form refuses.
    template <typename Define>
    static Expr returned(Define& define, Body& body, const std::vector<Expr>& values) {
        const auto v = [&](std::size_t i) {
            return i < values.size() ? values[i] : Expr::leaf_with_word(WYE_OP_LOCAL, UINT32_MAX);
        };
        if constexpr (std::is_invocable_v<Define&, Body&, const std::vector<Expr>&>)
            return define(body, values);
        else if constexpr (std::is_invocable_v<Define&, Body&>)
            return define(body);
        else if constexpr (std::is_invocable_v<Define&, Body&, Expr>)
            return define(body, v(0));
        else if constexpr (std::is_invocable_v<Define&, Body&, Expr, Expr>)
            return define(body, v(0), v(1));
        else if constexpr (std::is_invocable_v<Define&, Body&, Expr, Expr, Expr>)
            return define(body, v(0), v(1), v(2));
        else
            return define(body, v(0), v(1), v(2), v(3));
    }

    // Returns, for each buffer in declared order, its index in binding order.
    [[nodiscard]] std::vector<std::uint16_t> binding_order() const {
        std::vector<std::uint16_t> by_binding(buffers_.size());
        for (std::size_t i = 0; i < by_binding.size(); ++i)
            by_binding[i] = static_cast<std::uint16_t>(i);
        std::stable_sort(by_binding.begin(), by_binding.end(),
                         [&](auto a, auto b) { return buffers_[a].binding < buffers_[b].binding; });
        std::vector<std::uint16_t> order(buffers_.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[by_binding[i]] = static_cast<std::uint16_t>(i);
        return order;
    }

    static Words renumbered_size(Words size, const std::vector<std::uint16_t>& order) {
        for (std::size_t at = 0; at < size.size(); ++at) {
            const std::uint32_t op = size[at] & 0xffffU;
            if (op == WYE_SIZE_LEN && (size[at] >> 16U) < order.size())
                size[at] = detail::head(op, order[size[at] >> 16U]);
            if (op == WYE_SIZE_LITERAL) at += 2;
        }
        return size;
    }

    [[nodiscard]] Words head_section(const std::vector<std::uint16_t>& order) const {
        Words out;
        detail::put_text(out, name_);
        out.insert(out.end(), workgroup_.begin(), workgroup_.end());
        out.insert(out.end(), {subgroup_, flags_, math_set_, grid_kind_,
                               static_cast<std::uint32_t>(grid_.size())});
        for (const Words& axis : grid_) detail::put_counted(out, renumbered_size(axis, order));
        return out;
    }

    [[nodiscard]] Words params_section() const {
        Words out;
        for (const Argument& p : params_) {
            detail::put_text(out, p.name);
            out.push_back(p.type.code);
        }
        return out;
    }

    [[nodiscard]] Words buffers_section(const std::vector<std::uint16_t>& order) const {
        std::vector<const Declared*> sorted(buffers_.size());
        for (std::size_t i = 0; i < buffers_.size(); ++i) sorted[order[i]] = &buffers_[i];
        Words out;
        for (const Declared* b : sorted) {
            const BufferOptions& o = b->options;
            detail::put_text(out, b->name);
            out.insert(out.end(),
                       {b->binding, b->role, b->type.code,
                        (o.live ? WYE_BUFFER_LIVE : 0) | (o.unset ? WYE_BUFFER_UNSET : 0) |
                            (o.bytes ? WYE_BUFFER_BYTES : 0) | (o.hints() ? WYE_BUFFER_HINTS : 0),
                        o.align});
            if (o.bytes) {
                detail::put64(out, (*o.bytes)[0]);
                detail::put64(out, (*o.bytes)[1]);
            }
            if (o.hints())
                out.insert(out.end(), {o.coalesce ? static_cast<std::uint32_t>(*o.coalesce) : 0,
                                       o.prefer_align, static_cast<std::uint32_t>(o.locality)});
            const bool literal = b->size.size() == 3 && b->size[0] == WYE_SIZE_LITERAL;
            if (b->size.empty()) {
                out.push_back(WYE_COUNT_RUNTIME);
            } else if (literal) {
                out.insert(out.end(), {WYE_COUNT_LITERAL, b->size[1], b->size[2]});
            } else {
                out.push_back(WYE_COUNT_COMPUTED);
                detail::put_counted(out, renumbered_size(b->size, order));
            }
        }
        return out;
    }

    [[nodiscard]] Words functions_section(const std::vector<std::uint16_t>& order) const {
        Words out;
        for (const Defined& f : functions_) {
            detail::put_text(out, f.name);
            out.push_back(f.result.code);
            out.push_back(static_cast<std::uint32_t>(f.arguments.size()));
            for (const Argument& a : f.arguments) out.push_back(a.type.code);
            Words code = f.body.words_;
            detail::renumber(code, f.body.counts_, order);
            detail::put_counted(out, code);
        }
        return out;
    }

    [[nodiscard]] Words names_section() const {
        Words out;
        bool any = false;
        const auto add = [&](const std::vector<std::string>& names) {
            out.push_back(static_cast<std::uint32_t>(names.size()));
            for (const std::string& name : names) {
                detail::put_text(out, name);
                any = any || !name.empty();
            }
        };
        for (const Defined& f : functions_) add(f.body.names_);
        add(names_);
        return any ? out : Words{};
    }

    std::string name_;
    std::array<std::uint32_t, 3> workgroup_ = {1, 1, 1};
    std::uint32_t subgroup_ = 0;
    std::uint32_t flags_ = 0;
    std::uint32_t math_set_ = WYE_PROGRAM_MATH_SET;
    std::uint32_t grid_kind_ = WYE_GRID_NONE;
    std::vector<Words> grid_;
    std::vector<Argument> params_;
    std::vector<Declared> buffers_;
    Words tables_;
    std::size_t table_count_ = 0;
    std::vector<Defined> functions_;
    Words variants_;
    std::size_t variant_count_ = 0;
};

}  // namespace wye::builder
