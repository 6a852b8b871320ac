// SPDX-License-Identifier: Apache-2.0
#include "support/case.hpp"

#include <charconv>
#include <sstream>

namespace support {
namespace {

constexpr std::string_view kMark = "//: ";
constexpr std::size_t kBytesPerLine = 32;
constexpr std::uint64_t kMostZeros = std::uint64_t{1} << 30;

std::string hex_of(std::span<const std::byte> bytes) {
    std::string out;
    for (const std::byte b : bytes) {
        out += "0123456789abcdef"[std::to_integer<unsigned>(b) >> 4];
        out += "0123456789abcdef"[std::to_integer<unsigned>(b) & 15];
    }
    return out;
}

// Writes a run of zeros as a count, and other bytes as hexadecimal digits.
void write_bytes(std::string& out, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        std::size_t zeros = 0;
        while (zeros < bytes.size() && bytes[zeros] == std::byte{0}) ++zeros;
        if (zeros >= 8 || zeros == bytes.size()) {
            out += std::string(kMark) + "zeros " + std::to_string(zeros) + "\n";
            bytes = bytes.subspan(zeros);
            continue;
        }
        const auto line = bytes.first(std::min(bytes.size(), kBytesPerLine));
        out += std::string(kMark) + "bytes " + hex_of(line) + "\n";
        bytes = bytes.subspan(line.size());
    }
}

template <typename T>
bool read_number(std::istringstream& line, T& out, int base = 10) {
    std::string word;
    line >> word;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out, base);
    return error == std::errc() && end == word.data() + word.size();
}

bool read_hex(std::istringstream& line, std::vector<std::byte>& out) {
    std::string word;
    line >> word;
    if (word.size() % 2 != 0) return false;
    for (std::size_t i = 0; i < word.size(); i += 2) {
        unsigned value = 0;
        const auto [end, error] = std::from_chars(word.data() + i, word.data() + i + 2, value, 16);
        if (error != std::errc() || end != word.data() + i + 2) return false;
        out.push_back(static_cast<std::byte>(value));
    }
    return true;
}

bool read_line(std::istringstream& line, Case& out) {
    std::string word;
    line >> word;
    auto& launch = out.launch;
    if (word == "resident") return out.resident = true;
    if (word == "may_trap") return out.may_trap = true;
    if (word == "needs") return static_cast<bool>(line >> out.needs.emplace_back());
    if (word == "grid") {
        auto& groups = launch.groups.emplace();
        return read_number(line, groups[0]) && read_number(line, groups[1]) &&
               read_number(line, groups[2]);
    }
    if (word == "param") return read_number(line, launch.params.emplace_back(), 16);
    if (word == "buffer") {
        auto& buffer = launch.buffers.emplace_back();
        std::string way;
        line >> buffer.name >> way;
        buffer.input = way == "input" || way == "both";
        buffer.output = way == "output" || way == "both";
        return buffer.input || buffer.output;
    }
    if (launch.buffers.empty()) return false;
    auto& bytes = launch.buffers.back().bytes;
    if (word == "bytes") return read_hex(line, bytes);
    std::uint64_t zeros = 0;
    if (word != "zeros" || !read_number(line, zeros) || zeros > kMostZeros) return false;
    bytes.resize(bytes.size() + zeros);
    return true;
}

}  // namespace

std::string write_case(const Case& what, const std::vector<std::string>& remarks) {
    std::string out;
    for (const std::string& remark : remarks) {
        std::istringstream lines(remark);
        for (std::string line; std::getline(lines, line);) out += "// " + line + "\n";
    }
    const std::string mark(kMark);
    if (what.launch.groups) {
        const auto& g = *what.launch.groups;
        out += mark + "grid " + std::to_string(g[0]) + " " + std::to_string(g[1]) + " " +
               std::to_string(g[2]) + "\n";
    }
    for (const std::uint64_t bits : what.launch.params) {
        char text[32];
        out += mark + "param " +
               std::string(text, std::to_chars(text, text + sizeof text, bits, 16).ptr) + "\n";
    }
    for (const auto& b : what.launch.buffers) {
        out += mark + "buffer " + b.name +
               (b.input && b.output ? " both\n"
                : b.input           ? " input\n"
                                    : " output\n");
        write_bytes(out, b.bytes);
    }
    if (what.resident) out += mark + "resident\n";
    if (what.may_trap) out += mark + "may_trap\n";
    for (const std::string& capability : what.needs) out += mark + "needs " + capability + "\n";
    return out + what.text;
}

wye::Result<Case> read_case(const std::string& file) {
    Case out;
    std::istringstream lines(file);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (!line.starts_with(kMark)) {
            out.text += line + "\n";
            continue;
        }
        std::istringstream words(line.substr(kMark.size()));
        std::string rest;
        if (!read_line(words, out) || words >> rest)
            return wye::Error(
                wye::Code::INVALID_TEXT,
                "line " + std::to_string(number) + " says nothing of a launch: " + line,
                "Fix: write it as tests/support/case.hpp says");
    }
    return out;
}

}  // namespace support
