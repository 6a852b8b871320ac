// SPDX-License-Identifier: Apache-2.0
#include "registry/open/driver_objects.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <exception>
#include <span>
#include <string_view>

namespace wye::registry {
namespace {

using Object = DriverObjects::Object;

struct Look {
    std::uint64_t adds, subs;  // input: at the last look; output: now
    bool changed = false;
    bool complete = true;  // false: there was no memory for an object
    std::vector<Object> objects{};
};

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Reads the names in the dynamic section. Most loaders have already relocated the string table's
// address.
void read_dynamic(const dl_phdr_info& info, const ElfW(Phdr) & segment, Object& out) {
    const auto* const first = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + segment.p_vaddr);
    std::uintptr_t strings = 0;
    for (const auto* at = first; at->d_tag != DT_NULL; ++at)
        if (at->d_tag == DT_STRTAB) strings = at->d_un.d_ptr;
    if (strings == 0) return;
    if (strings < info.dlpi_addr) strings += info.dlpi_addr;
    for (const auto* at = first; at->d_tag != DT_NULL; ++at) {
        const char* text = reinterpret_cast<const char*>(strings) + at->d_un.d_val;
        if (at->d_tag == DT_NEEDED) out.needed.emplace_back(text);
        if (at->d_tag == DT_SONAME) {
            out.soname = text;
            out.has_soname = true;
        }
    }
}

Object read(const dl_phdr_info& info) {
    Object out;
    out.base = info.dlpi_addr;
    out.name = info.dlpi_name == nullptr ? "" : info.dlpi_name;
    out.begin = UINTPTR_MAX;
    for (const auto& segment : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
        if (segment.p_type == PT_LOAD) {
            const std::uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
            out.begin = std::min(out.begin, begin);
            out.end = std::max(out.end, begin + segment.p_memsz);
        } else if (segment.p_type == PT_DYNAMIC && !out.name.starts_with("linux-vdso")) {
            read_dynamic(info, segment, out);
        }
    }
    if (out.soname.empty()) out.soname = last_part(out.name);
    return out;
}

int visit(dl_phdr_info* info, std::size_t, void* user) noexcept {
    Look& look = *static_cast<Look*>(user);
    if (!look.changed && look.adds == info->dlpi_adds && look.subs == info->dlpi_subs) return 1;
    look.changed = true;
    look.adds = info->dlpi_adds;
    look.subs = info->dlpi_subs;
    try {
        look.objects.push_back(read(*info));
    } catch (const std::exception&) {
        look.complete = false;
    }
    return 0;
}

bool never_a_driver(const Object& object) {
    return object.name.empty() || object.soname.starts_with("libc.so") ||
           object.soname.starts_with("ld-") || object.soname.starts_with("linux-vdso");
}

}  // namespace

std::vector<Object> DriverObjects::loaded() noexcept {
    Look look{UINT64_MAX, UINT64_MAX};
    dl_iterate_phdr(visit, &look);
    return std::move(look.objects);
}

void DriverObjects::look(bool drivers) noexcept try {
    Look look{adds_, subs_};
    dl_iterate_phdr(visit, &look);
    // If an object could not be read, keeps the old list, and the next look tries again.
    if (!look.changed || !look.complete) return;
    for (Object& found : look.objects) {
        const auto known = std::ranges::find_if(objects_, [&](const Object& o) {
            return o.base == found.base && o.end == found.end && o.name == found.name;
        });
        found.driver =
            !never_a_driver(found) && (known == objects_.end() ? drivers : known->driver);
    }
    objects_ = std::move(look.objects);
    adds_ = look.adds;
    subs_ = look.subs;
    spread();
} catch (const std::exception&) {
}

void DriverObjects::add(const void* address) noexcept try {
    look(false);
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (Object& object : objects_)
        if (at >= object.begin && at < object.end && !never_a_driver(object)) object.driver = true;
    spread();
} catch (const std::exception&) {
}

bool DriverObjects::has(const void* code) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(code);
    return std::ranges::any_of(objects_, [&](const Object& object) {
        return object.driver && at >= object.begin && at < object.end;
    });
}

// Marks the libraries that a driver's library links, directly or not, as a driver's.
void DriverObjects::spread() {
    std::vector<const Object*> next;
    for (const Object& object : objects_)
        if (object.driver) next.push_back(&object);
    while (!next.empty()) {
        const Object& from = *next.back();
        next.pop_back();
        for (const std::string& name : from.needed)
            for (Object& object : objects_)
                if (!object.driver && !never_a_driver(object) &&
                    (object.soname == name || last_part(object.name) == name)) {
                    object.driver = true;
                    next.push_back(&object);
                }
    }
}

}  // namespace wye::registry
