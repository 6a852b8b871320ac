// SPDX-License-Identifier: Apache-2.0
#include "exec/program/saved_program.hpp"

#include <cstring>
#include <string>

namespace wye::exec {
namespace {

class SavedWriter {
  public:
    void number(std::uint64_t value) { raw(&value, sizeof value); }
    void block(const void* data, std::size_t size) {
        number(size);
        raw(data, size);
    }
    std::vector<std::byte> out;

  private:
    void raw(const void* data, std::size_t size) {
        const auto* bytes = static_cast<const std::byte*>(data);
        out.insert(out.end(), bytes, bytes + size);
    }
};

class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
    std::uint64_t number() {
        std::uint64_t value = 0;
        const auto bytes = take(sizeof value);
        if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    std::uint32_t small() {
        const std::uint64_t value = number();
        good_ = good_ && value <= UINT32_MAX;
        return static_cast<std::uint32_t>(value);
    }
    std::span<const std::byte> block() { return take(number()); }
    std::string text() {
        const auto bytes = block();
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    [[nodiscard]] bool complete() const { return good_ && rest_.empty(); }
    [[nodiscard]] bool good() const { return good_; }

  private:
    std::span<const std::byte> take(std::uint64_t size) {
        good_ = good_ && size <= rest_.size();
        if (!good_) return {};
        const auto out = rest_.first(size);
        rest_ = rest_.subspan(size);
        return out;
    }
    std::span<const std::byte> rest_;
    bool good_ = true;
};

}  // namespace

std::vector<std::byte> write_saved(const lower::Artifact& artifact,
                                   std::span<const std::byte> native) {
    SavedWriter w;
    w.block(artifact.format.data(), artifact.format.size());
    w.block(artifact.code.data(), artifact.code.size());
    w.block(artifact.entry.data(), artifact.entry.size());
    w.block(artifact.options.data(), artifact.options.size());
    w.number(artifact.slots.size());
    for (const wye_slot& slot : artifact.slots)
        for (const std::uint32_t value : {slot.kind, slot.binding, slot.offset, slot.access})
            w.number(value);
    w.number(artifact.binding_count);
    for (const std::uint32_t axis : artifact.workgroup) w.number(axis);
    w.number(artifact.subgroup);
    w.number(artifact.shared_bytes);
    w.number(artifact.params_size);
    w.number(artifact.uses_trap ? 1 : 0);
    w.number(artifact.natives);
    w.block(native.data(), native.size());
    return std::move(w.out);
}

Result<SavedProgram> read_saved(std::span<const std::byte> bytes) {
    Reader r(bytes);
    SavedProgram out;
    lower::Artifact& artifact = out.artifact;
    artifact.format = r.text();
    const auto code = r.block();
    artifact.code.assign(code.begin(), code.end());
    artifact.entry = r.text();
    artifact.options = r.text();
    const std::uint64_t slots = r.number();
    for (std::uint64_t s = 0; s < slots && r.good(); ++s) {
        wye_slot& slot = artifact.slots.emplace_back();
        for (std::uint32_t* member : {&slot.kind, &slot.binding, &slot.offset, &slot.access})
            *member = r.small();
    }
    artifact.binding_count = r.small();
    for (std::uint32_t& axis : artifact.workgroup) axis = r.small();
    artifact.subgroup = r.small();
    artifact.shared_bytes = r.small();
    artifact.params_size = r.small();
    artifact.uses_trap = r.number() == 1;
    artifact.natives = r.number();
    out.native = r.block();
    if (r.complete()) return out;
    return Error(Code::INVALID_WIRE, "the entry has no program in the form of this library",
                 "Fix: none needed, the program is compiled again");
}

}  // namespace wye::exec
