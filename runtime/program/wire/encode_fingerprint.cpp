// SPDX-License-Identifier: Apache-2.0
#include <xxhash.h>

#include <algorithm>

#include "program/wire/encode.hpp"

namespace wye::ir {

std::string Fingerprint::hex() const {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const std::uint8_t byte : bytes) {
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
    }
    return text;
}

Fingerprint fingerprint_of_encoding(const std::vector<std::byte>& without_notes) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(without_notes.data(), without_notes.size()));
    Fingerprint result;
    std::copy(std::begin(canonical.digest), std::end(canonical.digest), result.bytes.begin());
    return result;
}

Result<Fingerprint> fingerprint(const Program& program) {
    WYE_ASSIGN(const std::vector<std::byte> wire, encode(program, Notes::Drop));
    return fingerprint_of_encoding(wire);
}

}  // namespace wye::ir
