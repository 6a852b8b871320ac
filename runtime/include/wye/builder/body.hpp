// SPDX-License-Identifier: Apache-2.0
//
// The builder's statements: the body of the kernel or of one function, written in order.
// Part of wye/builder.hpp; include that.
#pragma once

#include <string>
#include <string_view>

#include "wye/builder/place.hpp"

namespace wye::builder {

// A component of a vector.
enum class Component : std::uint8_t { x = 0, y = 1, z = 2, w = 3 };

// The statements of one body. Locals are numbered in order of declaration. Blocks are callables
// that add statements to the same body: `k.if_(c, [&] { k.store(r, i, v); })`. Names of locals are
// optional and affect only the program's text form.
class Body {
  public:
    Body() { open_block(); }

    // let NAME = value;
    Expr let(const Value& value) { return let({}, value); }
    // As above, with a name.
    Expr let(std::string_view name, const Value& value) {
        statement(WYE_OP_LET);
        detail::append(words_, value.words());
        return Expr::leaf_with_word(WYE_OP_LOCAL, declare(name));
    }
    // var NAME = value; the variable starts at its value each time the declaration runs.
    Var var(const Value& value) { return var({}, value); }
    // As above, with a name.
    Var var(std::string_view name, const Value& value) {
        statement(WYE_OP_VAR);
        detail::append(words_, value.words());
        return Var(declare(name));
    }
    // var NAME: type; starts at zero.
    Var var(Type type) { return var({}, type); }
    // As above, with a name.
    Var var(std::string_view name, Type type) {
        statement(WYE_OP_VAR_ZERO, type.code);
        return Var(declare(name));
    }
    // var NAME: type[count]; starts at zero.
    Array array(Type type, std::uint32_t count) { return array({}, type, count); }
    // As above, with a name.
    Array array(std::string_view name, Type type, std::uint32_t count) {
        statement(WYE_OP_VAR_ARRAY, type.code, count);
        return Array{declare(name)};
    }

    // variable = value;
    void set(const Var& variable, const Value& value) {
        const std::uint32_t local = variable.local;  // `value` may hold the variable itself
        statement(WYE_OP_ASSIGN, 0, local);
        detail::append(words_, value.words());
    }
    // variable.x = value;
    void set(const Var& variable, Component component, const Value& value) {
        statement(WYE_OP_ASSIGN_COMPONENT, static_cast<std::uint32_t>(component), variable.local);
        detail::append(words_, value.words());
    }
    // buffer[index] = value;
    void store(Buffer buffer, const Expr& index, const Value& value) {
        statement(WYE_OP_STORE, buffer.index);
        detail::append(words_, index.words());
        detail::append(words_, value.words());
    }
    // array[index] = value;
    void store(Array array, const Expr& index, const Value& value) {
        statement(WYE_OP_STORE_ARRAY, 0, array.local);
        detail::append(words_, index.words());
        detail::append(words_, value.words());
    }
    // Adds an effect as a statement: run(atomic_add(hist, i, 1u)).
    void run(const Effect& effect) {
        statement(WYE_OP_EFFECT);
        detail::append(words_, effect.words());
    }

    // if condition { ... }
    template <typename Then>
    void if_(const Expr& condition, Then&& then) {
        if_(condition, then, [] {});
    }
    // if condition { ... } else { ... }
    template <typename Then, typename Else>
    void if_(const Expr& condition, Then&& then, Else&& otherwise) {
        statement(WYE_OP_IF);
        detail::append(words_, condition.words());
        block(then);
        block(otherwise);
    }
    // for NAME in first..end step step: `body` takes the counter as an Expr.
    template <typename Block>
    void for_(const Expr& first, const Expr& end, const Expr& step, Block&& body) {
        for_({}, first, end, step, body);
    }
    // As above, with a name.
    template <typename Block>
    void for_(std::string_view name, const Expr& first, const Expr& end, const Expr& step,
              Block&& body) {
        statement(WYE_OP_FOR);
        for (const Expr* bound : {&first, &end, &step}) detail::append(words_, bound->words());
        const Expr counter = Expr::leaf_with_word(WYE_OP_LOCAL, declare(name));
        block([&] { body(counter); });
    }
    // while condition { ... }
    template <typename Block>
    void while_(const Expr& condition, Block&& body) {
        statement(WYE_OP_WHILE);
        detail::append(words_, condition.words());
        block(body);
    }

    void break_() { statement(WYE_OP_BREAK); }                       // break;
    void continue_() { statement(WYE_OP_CONTINUE); }                 // continue;
    void return_() { statement(WYE_OP_RETURN); }                     // return;
    void barrier() { statement(WYE_OP_BARRIER); }                    // barrier;
    void grid_barrier() { statement(WYE_OP_GRID_BARRIER); }          // grid_barrier;
    void trap(std::uint16_t code) { statement(WYE_OP_TRAP, code); }  // trap code;

    // The built-in value `workgroup_id`, as in `k.workgroup_id().x()`.
    [[nodiscard]] static Expr workgroup_id() { return builder::workgroup_id(); }
    // The built-in value `local_id`.
    [[nodiscard]] static Expr local_id() { return builder::local_id(); }
    // The built-in value `global_id`.
    [[nodiscard]] static Expr global_id() { return builder::global_id(); }
    // The built-in value `num_workgroups`.
    [[nodiscard]] static Expr num_workgroups() { return builder::num_workgroups(); }
    // The built-in value `workgroup_size`.
    [[nodiscard]] static Expr workgroup_size() { return builder::workgroup_size(); }
    // The built-in value `local_index`.
    [[nodiscard]] static Expr local_index() { return builder::local_index(); }
    // The element count of a buffer, an array or a table.
    template <typename Place>
    [[nodiscard]] static Expr len(const Place& place) {
        return builder::len(place);
    }

  private:
    friend class Kernel;

    void statement(std::uint32_t op, std::uint32_t imm = 0) {
        ++words_[open_.back()];
        words_.push_back(detail::head(op, imm));
    }
    void statement(std::uint32_t op, std::uint32_t imm, std::uint32_t extra) {
        statement(op, imm);
        words_.push_back(extra);
    }
    std::uint32_t declare(std::string_view name) {
        names_.emplace_back(name);
        return static_cast<std::uint32_t>(names_.size() - 1);
    }
    void open_block() {
        open_.push_back(words_.size());
        counts_.push_back(words_.size());
        words_.push_back(0);
    }
    template <typename Block>
    void block(Block&& body) {
        open_block();
        body();
        open_.pop_back();
    }

    Words words_;                      // statement counts of open blocks grow in place
    std::vector<std::size_t> open_;    // indices of the open blocks' counts
    std::vector<std::size_t> counts_;  // indices of all block counts, ascending
    std::vector<std::string> names_;   // of locals, maybe empty
};

}  // namespace wye::builder
