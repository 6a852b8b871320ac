// SPDX-License-Identifier: Apache-2.0
#include "cache/entry.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "wye/sdk/checksum.hpp"

namespace wye::cache {
namespace {

constexpr char kMagic[8] = {'W', 'Y', 'E', 'C', 'A', 'C', 'H', '2'};

struct Header {
    char magic[8];
    std::uint64_t checksum;  // of everything after this member
    std::uint64_t key_bytes;
    std::uint64_t value_bytes;
};
constexpr std::size_t kUnchecked = offsetof(Header, key_bytes);

Error bad(const char* why) {
    return {Code::INVALID_WIRE, why, "Fix: none needed: the entry is made again"};
}

}  // namespace

std::string entry_name(Bytes key) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(key.data(), key.size()));
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string out;
    for (const unsigned char byte : canonical.digest) {
        out += kDigits[byte >> 4U];
        out += kDigits[byte & 15U];
    }
    return out;
}

std::vector<std::byte> pack_entry(Bytes key, Bytes value) {
    Header header{};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.key_bytes = key.size();
    header.value_bytes = value.size();
    std::vector<std::byte> out(sizeof header + key.size() + value.size());
    std::memcpy(out.data(), &header, sizeof header);
    std::ranges::copy(key, out.begin() + sizeof header);
    std::ranges::copy(value, out.begin() + static_cast<std::ptrdiff_t>(sizeof header + key.size()));
    header.checksum = sdk::checksum(Bytes(out).subspan(kUnchecked));
    std::memcpy(out.data(), &header, sizeof header);
    return out;
}

Result<EntryParts> unpack_entry(Bytes file) {
    Header header{};
    if (file.size() < sizeof header) return bad("the file is truncated");
    std::memcpy(&header, file.data(), sizeof header);
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
        return bad("it has another version, or is not an entry");
    const std::uint64_t rest = file.size() - sizeof header;
    if (header.key_bytes > rest || header.value_bytes != rest - header.key_bytes)
        return bad("the file is truncated");
    if (header.checksum != sdk::checksum(file.subspan(kUnchecked)))
        return bad("its checksum is wrong");
    const Bytes body = file.subspan(sizeof header);
    return EntryParts{body.first(header.key_bytes), body.subspan(header.key_bytes)};
}

Bytes key_of_beginning(Bytes beginning) {
    Header header{};
    if (beginning.size() < sizeof header) return {};
    std::memcpy(&header, beginning.data(), sizeof header);
    const Bytes body = beginning.subspan(sizeof header);
    return body.first(std::min<std::uint64_t>(header.key_bytes, body.size()));
}

}  // namespace wye::cache
