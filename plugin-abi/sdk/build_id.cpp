// SPDX-License-Identifier: Apache-2.0
#include "wye/sdk/build_id.hpp"

#include <link.h>

#include <cstdint>
#include <cstring>
#include <span>

#include "wye/sdk/numbers.hpp"

namespace wye::sdk {
namespace {

struct Search {
    std::uintptr_t inside;  // an address in the object to find
    std::string found;
};

constexpr std::size_t padded(std::size_t size) { return (size + 3) / 4 * 4; }

std::string id_in(std::span<const unsigned char> notes) {
    ElfW(Nhdr) note{};
    while (notes.size() >= sizeof note) {
        std::memcpy(&note, notes.data(), sizeof note);
        const std::size_t name = sizeof note;
        const std::size_t text = name + padded(note.n_namesz);
        const std::size_t end = text + padded(note.n_descsz);
        if (end > notes.size()) return {};
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            std::memcmp(notes.data() + name, "GNU", 4) == 0)
            return hex_of(std::as_bytes(notes.subspan(text, note.n_descsz)));
        notes = notes.subspan(end);
    }
    return {};
}

int look_at(dl_phdr_info* object, std::size_t, void* data) {
    Search& search = *static_cast<Search*>(data);
    bool mine = false;
    for (const auto& part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
        const std::uintptr_t start = object->dlpi_addr + part.p_vaddr;
        mine = mine || (part.p_type == PT_LOAD && search.inside >= start &&
                        search.inside - start < part.p_memsz);
    }
    if (!mine) return 0;
    for (const auto& part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
        if (part.p_type != PT_NOTE || !search.found.empty()) continue;
        const auto* start =
            reinterpret_cast<const unsigned char*>(object->dlpi_addr + part.p_vaddr);
        search.found = id_in({start, part.p_filesz});
    }
    return 1;
}

}  // namespace

std::string build_id(const void* inside) {
    Search search{reinterpret_cast<std::uintptr_t>(inside), {}};
    dl_iterate_phdr(look_at, &search);
    return search.found;
}

}  // namespace wye::sdk
