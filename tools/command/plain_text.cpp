// SPDX-License-Identifier: Apache-2.0
#include "command/plain_text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "wye/sdk/words.hpp"

namespace wye::tool {
namespace {

std::string without_marks(std::string_view text) {
    std::string out(text);
    std::erase(out, '`');
    return out;
}

// The position of the ": " that ends an item's term; npos: the item begins with no term. A term is
// `code`, words in capitals, or both.
std::size_t term_end(std::string_view item) {
    const std::size_t end = item.find(": ");
    bool code = false;
    for (const char c : item.substr(0, std::min(end, item.size()))) {
        if (c == '`')
            code = !code;
        else if (!code && std::islower(static_cast<unsigned char>(c)) != 0)
            return std::string_view::npos;
    }
    return code ? std::string_view::npos : end;
}

// Writes blocks, with an empty line between them, but not between the items of a list.
class Blocks {
  public:
    explicit Blocks(std::size_t width) : width_(width) {}

    void add(std::string_view line) {
        const bool fence = line.starts_with("```");
        const bool begins_item = line.starts_with("- ") && !fenced_;
        if (fence || begins_item || line.empty()) finish();
        const bool indented = paragraph_.empty() && line.starts_with("    ");
        if (fence)
            fenced_ = !fenced_;
        else if (fenced_ || indented)
            add_code(fenced_ ? line : line.substr(4));
        else if (line.empty())
            end_block();
        else
            add_words(line, begins_item);
    }

    void finish() {
        if (paragraph_.empty()) return;
        gap(item_ ? Block::item : Block::paragraph);
        const std::size_t term = item_ ? term_end(paragraph_) : std::string::npos;
        if (term != std::string::npos) {
            constexpr std::size_t kIndent = 6;
            const std::string name = "  " + without_marks(paragraph_.substr(0, term));
            const std::string about = paragraph_.substr(term + 2);
            std::string first(kIndent, ' ');
            if (name.size() + 2 <= kIndent)
                first.replace(0, name.size(), name);
            else
                fmt::print("{}\n", name);
            print_wrapped(about, first, width_);
        } else {
            print_wrapped(paragraph_, item_ ? "  - " : "  ", width_);
        }
        paragraph_.clear();
    }

  private:
    enum class Block { none, paragraph, item, code };

    void gap(Block next) {
        if (last_ != Block::none && (next != last_ || next == Block::paragraph)) fmt::print("\n");
        last_ = next;
    }

    void add_code(std::string_view line) {
        gap(Block::code);
        fmt::print("{}{}\n", line.empty() ? "" : "    ", line);
    }

    void end_block() {
        item_ = false;
        if (last_ == Block::code) last_ = Block::paragraph;  // so that a gap follows
    }

    void add_words(std::string_view line, bool begins_item) {
        item_ = item_ || begins_item;
        if (!paragraph_.empty()) paragraph_ += ' ';
        paragraph_ += line.substr(begins_item || line.starts_with("  ") ? 2 : 0);
    }

    std::size_t width_;
    std::string paragraph_;
    bool item_ = false;
    bool fenced_ = false;
    Block last_ = Block::none;
};

}  // namespace

std::string in_capitals(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return out;
}

std::size_t page_width() {
    winsize size{};
    constexpr std::size_t kLeast = 40;
    constexpr std::size_t kMost = 100;  // longer lines are hard to read
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return std::clamp<std::size_t>(size.ws_col, kLeast, kMost);
}

void print_wrapped(std::string_view text, std::string_view first, std::size_t width) {
    std::string line(first);
    bool begun = false;  // whether the line has a word
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        for (bool code = false; end < text.size() && (code || text[end] != ' '); ++end)
            if (text[end] == '`') code = !code;
        const std::string_view word = text.substr(at, end - at);
        at = std::min(end + 1, text.size());
        if (word.empty()) continue;
        if (begun && line.size() + 1 + word.size() > width) {
            fmt::print("{}\n", line);
            line.assign(first.size(), ' ');
            begun = false;
        }
        if (begun) line += ' ';
        line += word;
        begun = true;
    }
    fmt::print("{}\n", line);
}

void print_blocks(std::span<const std::string_view> lines, std::size_t width) {
    Blocks blocks(width);
    for (const std::string_view line : lines) blocks.add(line);
    blocks.finish();
}

void print_page(std::string_view text, std::size_t width) {
    const std::vector<std::string_view> lines = sdk::split(text, "\n");
    const auto is_heading = [](std::string_view line) { return line.starts_with('#'); };
    for (auto at = lines.begin(); at != lines.end();) {
        const std::string_view heading = *at;
        const auto begin = at + 1;
        at = std::find_if(begin, lines.end(), is_heading);
        const std::span<const std::string_view> part(begin, at);
        if (heading.starts_with("# ")) {
            const auto about = std::ranges::find_if(part, [](auto line) { return !line.empty(); });
            fmt::print("NAME\n  {} - {}\n", heading.substr(2),
                       about == part.end() ? std::string_view() : *about);
        } else if (heading.starts_with("## ")) {
            fmt::print("\n{}\n", in_capitals(heading.substr(3)));
            print_blocks(part, width);
        } else {
            fmt::print("\n  {}\n", without_marks(heading.substr(heading.find(' ') + 1)));
            print_blocks(part, width);
        }
    }
}

}  // namespace wye::tool
