// SPDX-License-Identifier: Apache-2.0
//
// The container of the wire form: header, section table, order and padding. The sections are read
// in wire_declarations.cpp and wire_code.cpp.
#include "wye/sdk/wire.hpp"

#include <cstring>

#include "wire_reader.hpp"
#include "wye/sdk/typing.hpp"

namespace wye::ir {

namespace {

using detail::Context;
using detail::Reader;

struct Section {
    std::uint32_t id = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
};

struct SectionKind {
    std::uint32_t id;
    const char* name;
    bool (*read)(Reader&, Context&);
};
constexpr SectionKind kSections[] = {
    {WYE_SECTION_HEAD, "HEAD", detail::read_head},
    {WYE_SECTION_PARAMS, "PARAMS", detail::read_params},
    {WYE_SECTION_BUFFERS, "BUFFERS", detail::read_buffers},
    {WYE_SECTION_TABLES, "TABLES", detail::read_tables},
    {WYE_SECTION_FUNCTIONS, "FUNCTIONS", detail::read_functions},
    {WYE_SECTION_BODY, "BODY", detail::read_body},
    {WYE_SECTION_VARIANTS, "VARIANTS", detail::read_variants},
    {WYE_SECTION_NAMES, "NAMES", detail::read_names},
};

const SectionKind* known(std::uint32_t id) {
    for (const SectionKind& k : kSections)
        if (k.id == id) return &k;
    return nullptr;
}

constexpr std::size_t align8(std::size_t n) { return (n + 7) / 8 * 8; }

std::string version_text(std::uint32_t major, std::uint32_t minor) {
    return std::to_string(major) + "." + std::to_string(minor);
}

// Checks the magic number and the version.
bool read_version(std::span<const std::byte> wire, Reader& in, std::uint32_t& minor) {
    std::span<const std::byte> magic;
    if (!in.bytes(magic, WYE_PROGRAM_MAGIC_SIZE)) return false;
    if (std::memcmp(magic.data(), WYE_PROGRAM_MAGIC, WYE_PROGRAM_MAGIC_SIZE) != 0)
        return in.fail("the magic number is wrong; this is not the wire form of a program",
                       "Fix: pass a file written by `wye lower --to wire` or by the encoder, "
                       "copied without newline conversion");
    std::uint32_t version = 0;
    if (!in.word(version)) return false;
    const std::uint32_t major = version & 0xffffU;
    minor = version >> 16U;
    if (major != WYE_PROGRAM_MAJOR || minor > WYE_PROGRAM_MINOR)
        return in.fail("the program has version " + version_text(major, minor) +
                           "; this reader takes " + version_text(WYE_PROGRAM_MAJOR, 0) + " to " +
                           version_text(WYE_PROGRAM_MAJOR, WYE_PROGRAM_MINOR),
                       "Fix: use a newer Wye, or encode the program with an older one");
    if (wire.size() > WYE_LIMIT_WIRE_BYTES)
        return in.over("the size of the wire form", wire.size(), WYE_LIMIT_WIRE_BYTES);
    return true;
}

bool read_entry(std::span<const std::byte> wire, Reader& in, std::uint32_t previous,
                std::size_t earliest, Section& out) {
    std::uint32_t zero = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    if (!in.word(out.id)) return false;
    if (out.id <= previous)
        return in.fail("section " + detail::hex(out.id) + " does not come after section " +
                       detail::hex(previous) + "; ids ascend from 1");
    if (out.id < WYE_SECTION_NOTE_BASE && known(out.id) == nullptr)
        return in.fail("section " + detail::hex(out.id) + " is unknown",
                       "Fix: use a newer Wye, which may know the section");
    if (!in.word(zero) || !in.zero(zero, "the second word of a section entry")) return false;
    if (!in.word64(offset)) return false;
    if (offset != earliest)
        return in.fail("section " + detail::hex(out.id) + " starts at byte " +
                       std::to_string(offset) + ", not at " + std::to_string(earliest));
    if (!in.word64(size)) return false;
    if (offset > wire.size() || size > wire.size() - offset)
        return in.fail("section " + detail::hex(out.id) + " has " + std::to_string(size) +
                       " bytes from byte " + std::to_string(offset) + ", past the end at " +
                       std::to_string(wire.size()));
    out.begin = static_cast<std::size_t>(offset);
    out.end = static_cast<std::size_t>(offset + size);
    return true;
}

bool read_table(std::span<const std::byte> wire, Error& error, std::uint32_t& minor,
                std::vector<Section>& out) {
    Reader in(wire, 0, wire.size(), "header", error);
    std::uint32_t count = 0;
    std::uint64_t total = 0;
    if (!read_version(wire, in, minor) || !in.word(count)) return false;
    const std::uint32_t sections = count;
    if (!in.word64(total)) return false;
    if (total != wire.size())
        return in.fail("the header announces " + std::to_string(total) + " bytes, there are " +
                           std::to_string(wire.size()),
                       "Fix: pass the whole file and nothing else");
    if (sections > in.left() / WYE_PROGRAM_SECTION_ENTRY_BYTES)
        return in.fail(std::to_string(sections) + " sections are announced, but only " +
                       std::to_string(in.left()) + " bytes are left");
    std::size_t next =
        WYE_PROGRAM_HEADER_BYTES + std::size_t{sections} * WYE_PROGRAM_SECTION_ENTRY_BYTES;
    std::uint32_t previous = 0;
    for (std::uint32_t i = 0; i < sections; ++i) {
        Section section;
        if (!read_entry(wire, in, previous, next, section)) return false;
        out.push_back(section);
        previous = section.id;
        next = align8(section.end);
    }
    // Padding between sections is zero, and the last section ends at the end of the file.
    for (std::size_t i = 0; i < out.size(); ++i) {
        const bool last = i + 1 == out.size();
        const std::size_t end = last ? wire.size() : out[i + 1].begin;
        Reader gap(wire, out[i].end, end, "header", error);
        if (!last && !gap.padding(8)) return false;
        if (!gap.finished()) return false;
    }
    return true;
}

const Section* find(const std::vector<Section>& sections, std::uint32_t id) {
    for (const Section& s : sections)
        if (s.id == id) return &s;
    return nullptr;
}

std::size_t first_word(std::span<const std::byte> wire, const Section* section) {
    std::uint32_t count = 0;
    if (section != nullptr && section->end - section->begin >= 4)
        std::memcpy(&count, wire.data() + section->begin, 4);
    return count;
}

bool read_all(std::span<const std::byte> wire, Error& error, Program& program) {
    std::vector<Section> sections;
    std::uint32_t minor = 0;
    if (!read_table(wire, error, minor, sections)) return false;
    for (const std::uint32_t id : {WYE_SECTION_HEAD, WYE_SECTION_BODY})
        if (find(sections, id) == nullptr)
            return Reader(wire, 0, 0, "header", error)
                .fail(std::string("section ") + known(id)->name + " is missing");
    Context context{program,
                    first_word(wire, find(sections, WYE_SECTION_PARAMS)),
                    first_word(wire, find(sections, WYE_SECTION_BUFFERS)),
                    0,
                    0,
                    {}};
    for (const Section& s : sections) {
        if (const SectionKind* k = known(s.id)) {
            Reader in(wire, s.begin, s.end, k->name, error);
            if (!k->read(in, context) || !in.finished()) return false;
        } else {
            const auto content = wire.subspan(s.begin, s.end - s.begin);
            program.notes.push_back({s.id, {content.begin(), content.end()}});
        }
    }
    if (const std::uint32_t least = least_minor(program); minor != least)
        return Reader(wire, WYE_PROGRAM_MAGIC_SIZE, wire.size(), "header", error)
            .fail("the program has version " + version_text(WYE_PROGRAM_MAJOR, minor) +
                  ", but its contents are those of version " +
                  version_text(WYE_PROGRAM_MAJOR, least));
    return true;
}

}  // namespace

Result<Program> decode(std::span<const std::byte> wire) {
    Error error;
    Program program;
    if (!read_all(wire, error, program)) return error;
    assign_types(program, [](const TypeProblem&) {});
    return program;
}

}  // namespace wye::ir
