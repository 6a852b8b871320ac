// SPDX-License-Identifier: Apache-2.0
//
// The parser: recursive descent in one pass, which builds the ir::Program directly. parser.cpp has
// tokens, names and recovery; the parse_*.cpp files have the rules of the grammar.
//
// After a syntax error a rule returns false (or kNone), and the nearest statement or declaration
// skips to its end. A wrong name becomes a node of op None, whose type is unknown, so that the rest
// of the statement is still read. A Parser is used once, by one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "program/text/foreign.hpp"
#include "program/text/lexer.hpp"
#include "program/text/literal.hpp"
#include "program/text/text.hpp"

namespace wye::ir::detail {

// What a name stands for.
struct Symbol {
    enum class Kind : std::uint8_t { Constant, Param, Buffer, Table, Function, Local };
    Kind kind = Kind::Constant;
    std::uint32_t index = 0;
    Place place;
};

class Parser {
  public:
    explicit Parser(std::string_view text);
    ParseResult run();

  private:
    // ---- tokens ----
    void take();
    bool expect(Tok tok, std::string_view text, std::string_view where);
    bool expect_semicolon(std::string_view after);
    bool name(std::string_view what, Token& out);
    bool type(Type& out);
    void error(Place place, std::string message, std::string fix);
    void unexpected(std::string_view wanted, std::string fix);
    void skip_to_end(bool head);
    [[nodiscard]] bool starts_line() const { return token_.place.line > last_.place.line; }
    [[nodiscard]] Token peek() const;
    [[nodiscard]] bool doubled(Op op) const;
    [[nodiscard]] std::string source(std::string_view begin) const;
    void skip_group();
    void skip_all();

    // ---- names ----
    // A name of main that is declared again after a grid barrier.
    struct Again {
        // The local number of the earlier let. If that let did not end at the barrier, the new
        // declaration is an error.
        std::uint32_t earlier = 0;
        Token name;
    };
    bool ended(const Symbol& symbol) const;
    void already_declared(const Token& name, const Symbol& earlier);
    void lasting_lets();
    [[nodiscard]] const Symbol* find(std::string_view text) const;
    void declare(const Token& name, Symbol::Kind kind, std::size_t index);
    void unknown(const Token& name, std::string_view wanted);
    void look_ahead();
    [[nodiscard]] std::string article(const Symbol& symbol) const;

    // ---- forms of other languages (parse_foreign.cpp) ----
    bool foreign_text(Place place);
    [[nodiscard]] bool foreign_declaration() const;
    bool c_declaration(std::vector<StmtId>& into);
    bool type_first(Token& given, Type& out);
    std::optional<bool> foreign_statement(std::vector<StmtId>& into, unsigned nesting);
    bool c_for(std::vector<StmtId>& into, unsigned nesting);
    bool do_loop(std::vector<StmtId>& into, unsigned nesting);
    bool step_by_one();
    bool foreign_head();
    std::optional<Op> foreign_operator() const;
    ExprId foreign_value();
    ExprId cast();
    ExprId foreign_call(const Token& name, Type type);
    ExprId converted();
    void foreign_point(const Token& number);
    [[nodiscard]] static std::string one(Type type);

    // ---- declarations ----
    void header();
    bool math_set();
    void heads();
    bool head();
    bool workgroup();
    bool subgroup();
    bool constant();
    void constant_type(std::string_view given);
    bool param();
    bool buffer(Role role);
    bool attributes(Buffer& buffer, bool& bound);
    bool hint(HintWord word, Hints& out);
    bool coalesce(Hints& out);
    bool locality(Hints& out);
    bool grid();
    bool table();
    bool function();
    void function_body(Function& function);
    bool variant();
    bool program_string(std::string_view what, std::string& out);
    void body();
    void launch_shape();
    void order_buffers();

    bool num(std::string_view what, std::uint64_t& out);
    bool num32(std::string_view what, std::uint64_t least, std::uint32_t& out);
    bool counted(Buffer& buffer);
    void count(Buffer& buffer, Place place);
    bool size(SizeExpr& out);
    bool size_join(std::uint8_t op, SizeExpr& out, const SizeExpr& right, unsigned& depth,
                   unsigned right_depth);
    bool size_sum(SizeExpr& out, unsigned& depth);
    bool size_product(SizeExpr& out, unsigned& depth);
    bool size_primary(SizeExpr& out, unsigned& depth);
    bool size_len(SizeExpr& out);
    std::optional<LiteralValue> literal();
    bool at_literal() const;

    // ---- statements ----
    BlockId block(unsigned nesting);
    void statements(std::vector<StmtId>& into, unsigned nesting, bool function);
    bool statement(std::vector<StmtId>& into, unsigned nesting);
    bool let(std::vector<StmtId>& into);
    bool var(std::vector<StmtId>& into);
    bool branch(std::vector<StmtId>& into, unsigned nesting);
    bool for_loop(std::vector<StmtId>& into, unsigned nesting);
    bool while_loop(std::vector<StmtId>& into, unsigned nesting);
    bool leave(std::vector<StmtId>& into);
    bool assignment(std::vector<StmtId>& into);
    bool assign_to(Stmt& out, const Token& target, const Symbol& symbol, ExprId index, int lane);
    void check_annotation(const Token& name, Type wanted, ExprId value);
    StmtId add(std::vector<StmtId>& into, Stmt stmt);
    std::uint32_t add_local(const Token& name, Local local);
    ExprId value();
    void close_scope(std::size_t mark);

    // ---- expressions ----
    ExprId expression();
    ExprId binary(int level);
    ExprId unary();
    ExprId postfix();
    ExprId selected(ExprId id);
    ExprId primary();
    ExprId name_use();
    ExprId call(const Token& name, std::uint32_t function);
    ExprId operation(const Token& name, Op op);
    ExprId construct();
    ExprId bitcast();
    ExprId length();
    ExprId effect();
    ExprId indexed(const Token& name, const Symbol& symbol);
    ExprId parenthesised();
    bool arguments(std::vector<ExprId>& out);
    bool component(std::uint16_t& out);
    ExprId node(Op op, std::uint16_t imm, std::uint64_t extra, Place place,
                std::initializer_list<ExprId> operands);
    ExprId node(Op op, std::uint16_t imm, std::uint64_t extra, Place place, const ExprId* operands,
                std::size_t count);
    ExprId literal_node(const LiteralValue& value, Place place);
    ExprId poison(Place place);
    [[nodiscard]] Type type_of(ExprId id) const { return code_->exprs[id].type; }
    bool deeper(Place place);

    std::string_view text_;
    Diagnostics errors_;
    Lexer lexer_;
    Token token_;  // the next token
    Token last_;   // the token before it
    Program program_;
    Code* code_ = nullptr;
    std::vector<LiteralValue> constants_;
    std::unordered_map<std::string_view, Symbol> symbols_;
    std::unordered_map<std::string_view, Place> gone_;  // names whose scopes have closed
    std::vector<std::string_view> local_names_;  // names that are declared and still in scope
    std::vector<std::uint32_t> phase_of_;  // for each local, the number of grid barriers before it
    std::uint32_t phase_ = 0;              // number of grid barriers so far
    std::vector<Again> again_;             // lets declared again in later phases
    // Names that are declared further down in the text.
    std::unordered_map<std::string_view, Place> later_;
    bool looked_ahead_ = false;
    std::unordered_set<std::string_view> reported_;  // unknown names, so that each is reported once
    std::unordered_set<std::string_view> misnamed_;  // reserved words that were declared as names
    bool in_function_ = false;
    std::vector<std::uint8_t> depths_;  // the depth of each expression of code_
    unsigned depth_ = 0;                // the depth of the recursion
    std::uint32_t next_binding_ = 0;
    Place workgroup_place_;
    Place subgroup_place_;
    bool seen_workgroup_ = false;
    bool seen_subgroup_ = false;
    bool seen_grid_ = false;
    bool foreign_ = false;  // whether it was reported that the text is no program at all
    bool asked_language_ = false;
    std::optional<OtherLanguage> language_;  // the language of the text, if it is no Wye program
};

// Returns the binding strength of a binary operator, from 1 (loosest) to 9, or 0 for other
// operators.
[[nodiscard]] int strength(Op op);

}  // namespace wye::ir::detail
