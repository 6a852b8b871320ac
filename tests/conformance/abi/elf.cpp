// SPDX-License-Identifier: Apache-2.0
#include "conformance/abi/elf.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

namespace harness {
namespace {

class File {
  public:
    explicit File(const char* path) {
        std::ifstream in(path, std::ios::binary);
        bytes_.assign(std::istreambuf_iterator<char>(in), {});
    }

    // The structure at `offset`; nullopt if the file ends before the structure does.
    template <typename T>
    [[nodiscard]] std::optional<T> at(std::uint64_t offset) const {
        T out;
        if (offset > bytes_.size() || bytes_.size() - offset < sizeof out) return std::nullopt;
        std::memcpy(&out, bytes_.data() + offset, sizeof out);
        return out;
    }
    // All structures of a section that lie completely within the file.
    template <typename T>
    [[nodiscard]] std::vector<T> all(const Elf64_Shdr& section) const {
        std::vector<T> out;
        for (std::uint64_t i = 0; i < section.sh_size / sizeof(T); ++i) {
            const auto one = at<T>(section.sh_offset + i * sizeof(T));
            if (!one) break;
            out.push_back(*one);
        }
        return out;
    }
    [[nodiscard]] std::string text(const Elf64_Shdr& table, std::uint64_t offset) const {
        const std::uint64_t start = table.sh_offset + offset;
        if (offset >= table.sh_size || start < offset || start >= bytes_.size()) return {};
        const std::string_view rest = std::string_view(bytes_).substr(start);
        return std::string(rest.substr(0, rest.find('\0')));
    }

  private:
    std::string bytes_;
};

bool visible(const Elf64_Sym& symbol) {
    const unsigned char binding = ELF64_ST_BIND(symbol.st_info);
    const unsigned char visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    const unsigned char type = ELF64_ST_TYPE(symbol.st_info);
    return symbol.st_shndx != SHN_UNDEF && binding != STB_LOCAL && type != STT_SECTION &&
           type != STT_FILE && (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

// Whether a symbol is the linker's: one that each shared object has, or the name of a symbol
// version.
bool of_the_linker(std::string_view name, const Elf64_Sym& symbol) {
    for (const char* own : {"_init", "_fini", "_edata", "_end", "__bss_start"})
        if (name == own) return true;
    return symbol.st_shndx == SHN_ABS && symbol.st_value == 0;
}

}  // namespace

SharedObject read_shared_object(const char* path) {
    SharedObject out;
    const File file(path);
    const auto header = file.at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_type != ET_DYN) {
        out.fault = "it is no shared object of 64 bits";
        return out;
    }
    std::vector<Elf64_Shdr> sections;
    for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
        const auto section = file.at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
        if (section) sections.push_back(*section);
    }
    bool found = false;
    for (const Elf64_Shdr& section : sections) {
        if (section.sh_link >= sections.size()) continue;
        const Elf64_Shdr& names = sections[section.sh_link];
        if (section.sh_type == SHT_DYNSYM) {
            found = true;
            for (const Elf64_Sym& symbol : file.all<Elf64_Sym>(section)) {
                std::string name = file.text(names, symbol.st_name);
                if (visible(symbol) && !of_the_linker(name, symbol))
                    out.exports.push_back(std::move(name));
            }
        } else if (section.sh_type == SHT_DYNAMIC) {
            for (const Elf64_Dyn& entry : file.all<Elf64_Dyn>(section))
                if (entry.d_tag == DT_NEEDED)
                    out.needs.push_back(file.text(names, entry.d_un.d_val));
        }
    }
    if (!found) out.fault = "it has no table of dynamic symbols in its sections";
    return out;
}

}  // namespace harness
