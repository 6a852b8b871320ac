// SPDX-License-Identifier: Apache-2.0
//
// A wire form put together by hand, word by word, from the description in program_format.h; shares
// nothing with the encoder or the builder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace test {

using Words = std::vector<std::uint32_t>;

inline void text(Words& out, std::string_view t) {
    out.push_back(static_cast<std::uint32_t>(t.size()));
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < t.size(); ++i) {
        word |= static_cast<std::uint32_t>(static_cast<unsigned char>(t[i])) << (8 * (i % 4));
        if (i % 4 == 3 || i + 1 == t.size()) {
            out.push_back(word);
            word = 0;
        }
    }
}

struct Section {
    std::uint32_t id;
    Words words;
};

struct Wire {
    std::uint16_t major = 1;
    std::uint16_t minor = 0;
    std::vector<Section> sections;

    [[nodiscard]] std::vector<std::byte> bytes() const {
        std::vector<std::byte> out;
        const auto put = [&](std::uint64_t value, int size) {
            for (int i = 0; i < size; ++i)
                out.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
        };
        for (const unsigned char c : {0x57, 0x59, 0x45, 0x50, 0x0d, 0x0a, 0x1a, 0x0a}) put(c, 1);
        put(major, 2);
        put(minor, 2);
        put(sections.size(), 4);
        const std::size_t total_at = out.size();
        put(0, 8);
        std::uint64_t offset = 24 + 24 * sections.size();
        for (const Section& s : sections) {
            offset = (offset + 7) / 8 * 8;
            put(s.id, 4);
            put(0, 4);
            put(offset, 8);
            put(s.words.size() * 4, 8);
            offset += s.words.size() * 4;
        }
        for (const Section& s : sections) {
            while (out.size() % 8 != 0) put(0, 1);
            for (const std::uint32_t word : s.words) put(word, 4);
        }
        for (int i = 0; i < 8; ++i)
            out[total_at + static_cast<std::size_t>(i)] =
                static_cast<std::byte>((out.size() >> (8 * i)) & 0xff);
        return out;
    }

    Words& section(std::uint32_t id) {
        for (Section& s : sections)
            if (s.id == id) return s.words;
        std::size_t at = 0;
        while (at < sections.size() && sections[at].id < id) ++at;
        return sections.insert(sections.begin() + static_cast<std::ptrdiff_t>(at), {id, {}})->words;
    }
};

// The section HEAD of a program `p` with a workgroup of 1 and no grid clause.
inline Words head() {
    Words w;
    text(w, "p");
    w.insert(w.end(), {1, 1, 1, 0, 0, 1, 0, 0});
    return w;
}

// A program that has this body and nothing else. `body` does not begin with its word count.
inline Wire with_body(const Words& body) {
    Wire wire;
    wire.sections.push_back({1, head()});
    Words counted{static_cast<std::uint32_t>(body.size())};
    counted.insert(counted.end(), body.begin(), body.end());
    wire.sections.push_back({6, counted});
    return wire;
}

// One u32[] input_output buffer named "b" at binding 0.
inline Words one_buffer() {
    Words w{1};
    text(w, "b");
    w.insert(w.end(), {0, 3, 0x0103, 0, 0, 0});
    return w;
}

}  // namespace test
