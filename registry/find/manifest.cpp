// SPDX-License-Identifier: Apache-2.0
#include "registry/find/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "registry/json.hpp"
#include "wye/sdk/ascii.hpp"
#include "wye/sdk/numbers.hpp"
#include "wye/sdk/words.hpp"

namespace wye::registry {
namespace {

constexpr std::size_t kTextBytes = 256;  // limit of one string
constexpr std::size_t kEntries = 64;     // limit of one list
constexpr std::size_t kUnknownKeys = 8;  // unknown keys that are listed

Error bad(std::string_view path, std::string_view what, std::string_view fix) {
    return Error(Code::BAD_MANIFEST, fmt::format("manifest `{}`: {}", path, what),
                 fmt::format("Fix: {}", fix), std::string(path));
}

// Converts a byte offset to a text such as "line 3, column 7".
std::string place_of(std::string_view bytes, std::size_t offset) {
    const std::string_view before = bytes.substr(0, std::min(offset, bytes.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t start = before.rfind('\n');
    const std::size_t column = before.size() - (start == before.npos ? 0 : start + 1);
    return fmt::format("line {}, column {}", line, std::max<std::size_t>(column, 1));
}

// Reads the members of one object, and keeps the first fault with its full key.
class Reader {
  public:
    Reader(const Json& object, std::string prefix, std::string_view path,
           std::optional<Error>& fault, std::vector<std::string>& unknown)
        : object_(object),
          prefix_(std::move(prefix)),
          path_(path),
          fault_(fault),
          unknown_(unknown) {}

    std::string text(const char* key, bool required) {
        const Json* value = find(key, required);
        if (value == nullptr) return {};
        if (!value->is_string()) return wrong(key, *value, "a string"), std::string{};
        std::string result = value->text();
        if (required && result.empty()) {
            fail(fmt::format("key `{}{}` is empty", prefix_, key), "write a value there");
        } else if (result.size() > kTextBytes) {
            fail(fmt::format("key `{}{}` has {} bytes", prefix_, key, result.size()),
                 fmt::format("use at most {}", kTextBytes));
        } else if (std::any_of(result.begin(), result.end(), [](char c) {
                       return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                   })) {
            fail(fmt::format("key `{}{}` has a control character", prefix_, key), "remove it");
        }
        return result;
    }

    std::uint32_t number(const char* key, bool required = true) {
        const Json* value = find(key, required);
        if (value == nullptr) return 0;
        if (!value->is_integer()) return wrong(key, *value, "an integer"), 0U;
        const std::string& digits = value->text();
        if (const auto out = sdk::parse_number<std::uint32_t>(digits)) return *out;
        fail(fmt::format("key `{}{}` is {}", prefix_, key, digits),
             "use an integer from 0 to 4294967295");
        return 0;
    }

    // Calls read(members) for a required object.
    template <typename Read>
    void member(const char* key, Read&& read) {
        const Json* value = find(key, true);
        if (value != nullptr && !value->is_object()) wrong(key, *value, "an object");
        if (fault_) return;
        Reader inner(*value, fmt::format("{}{}.", prefix_, key), path_, fault_, unknown_);
        read(inner);
        inner.list_unknown();
    }

    const Json* array(const char* key) {
        const Json* value = find(key, false);
        if (value != nullptr && !value->is_array()) wrong(key, *value, "an array");
        return fault_ ? nullptr : value;
    }

    // Calls read(entry) for each object of an optional list.
    template <typename Read>
    void each(const char* key, std::string_view example, Read&& read) {
        const Json* list = array(key);
        if (list == nullptr) return;
        if (list->size() > kEntries)
            fail(fmt::format("key `{}` has {} entries", key, list->size()),
                 fmt::format("list at most {}", kEntries));
        for (std::size_t i = 0; i < list->size() && !fault_; ++i) {
            const Json& entry = list->at(i);
            if (!entry.is_object())
                return fail(
                    fmt::format("key `{}[{}]` is {}, not an object", key, i, entry.type_name()),
                    fmt::format("write {}", example));
            Reader inner(entry, fmt::format("{}[{}].", key, i), path_, fault_, unknown_);
            read(inner);
            inner.list_unknown();
        }
    }

    // Lists the keys that were not read.
    void list_unknown() {
        for (const std::string& name : object_.names())
            if (unknown_.size() < kUnknownKeys && std::ranges::find(asked_, name) == asked_.end())
                unknown_.push_back(prefix_ + name.substr(0, kTextBytes));
    }

    [[nodiscard]] std::string full(const char* key) const { return prefix_ + key; }

    void fail(std::string what, std::string fix) {
        if (!fault_) fault_ = bad(path_, std::move(what), std::move(fix));
    }

  private:
    const Json* find(const char* key, bool required) {
        asked_.emplace_back(key);
        if (const Json* value = object_.find(key)) return value;
        if (required) fail(fmt::format("key `{}{}` is missing", prefix_, key), "add it");
        return nullptr;
    }

    void wrong(const char* key, const Json& value, const char* expected) {
        fail(fmt::format("key `{}{}` is {}, not {}", prefix_, key, value.type_name(), expected),
             fmt::format("write {} there", expected));
    }

    const Json& object_;
    std::string prefix_;
    std::string_view path_;
    std::optional<Error>& fault_;
    std::vector<std::string>& unknown_;
    std::vector<std::string_view> asked_;
};

// Whether the name is a file name, for which the loader searches. A path would be opened without a
// search.
bool is_soname(std::string_view name) {
    return name.find('/') == name.npos && name != "." && name != "..";
}

bool is_version(std::string_view text) { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }

Need read_need(Reader& need) {
    Need out{need.text("soname", true), need.text("min_version", false),
             need.text("version_from", false), need.text("package", false)};
    if (!is_soname(out.soname))
        need.fail(fmt::format("key `{}` is `{}`, which is a path", need.full("soname"), out.soname),
                  "write the library's soname, without a folder");
    if (!out.min_version.empty() && !is_version(out.min_version))
        need.fail(fmt::format("key `{}` is `{}`, not a version", need.full("min_version"),
                              out.min_version),
                  "write numbers with dots between them");
    if (!out.version_from.empty() && out.version_from != "symbols" && out.version_from != "file")
        need.fail(fmt::format("key `{}` is `{}`", need.full("version_from"), out.version_from),
                  "write \"symbols\" or \"file\"");
    return out;
}

void read_members(Reader& reader, Manifest& m) {
    (void)reader.text("$schema", false);
    const std::uint32_t schema = reader.number("schema");
    if (schema != 1)
        reader.fail(fmt::format("schema {} is not known", schema), "use schema 1, or a newer host");
    const std::string kind = reader.text("kind", false);
    if (kind == "layer")
        m.kind = PluginKind::layer;
    else if (!kind.empty() && kind != "plugin")
        reader.fail(fmt::format("kind `{}` is not known", kind),
                    "write \"plugin\" or \"layer\", or use a newer host");
    m.id = reader.text("id", true);
    m.library = reader.text("library", true);
    m.arch = reader.text("arch", true);
    reader.member("abi", [&](Reader& abi) {
        m.abi_major = abi.number("major");
        m.draft = abi.number("draft", false);
        m.minor_needed = abi.number("minor_needed");
        m.minor_built = abi.number("minor_built");
    });
    m.backend = reader.text("backend", true);
    m.version = reader.text("version", true);
    reader.each("needs", "{\"soname\": \"libNAME.so.N\"}",
                [&](Reader& need) { m.needs.push_back(read_need(need)); });
    reader.each("translates", "{\"format\": \"NAME\", \"from\": \"NAME\"}", [&](Reader& one) {
        m.translates.push_back(
            {one.text("format", true), one.text("from", true), one.text("target_option", false)});
    });
    reader.each("watches", "{\"path\": \"/FOLDER\"}", [&](Reader& one) {
        m.watches.push_back(
            {one.text("path", false), one.text("variable", false), one.text("value_of", false)});
    });
    if (!valid_plugin_id(m.id))
        reader.fail(fmt::format("id `{}` is not a selector name", m.id),
                    "use a-z, 0-9 and _, a letter first, at most 64, and not `auto`");
    if (!is_soname(m.library))
        reader.fail(fmt::format("library `{}` is not a plain file name", m.library),
                    "put the library beside the manifest and name it without a folder");
}

Result<Manifest> read(const Json& root, std::string_view path) {
    if (!root.is_object())
        return bad(path, fmt::format("the document is {}, not an object", root.type_name()),
                   "write {\"schema\": 1, \"id\": ..., \"library\": ...}");
    std::optional<Error> fault;
    Manifest m;
    Reader reader(root, "", path, fault, m.unknown_keys);
    read_members(reader, m);
    reader.list_unknown();
    if (fault) return std::move(*fault);
    return m;
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view bytes, std::string_view path) {
    if (bytes.size() > kManifestBytes)
        return bad(path, fmt::format("it has {} bytes, more than {}", bytes.size(), kManifestBytes),
                   "keep the manifest short");
    if (const std::size_t at = too_deep_at(bytes, kManifestDepth); at != std::string_view::npos)
        return bad(
            path, fmt::format("{}: nested deeper than {}", place_of(bytes, at + 1), kManifestDepth),
            "a manifest needs 3 levels");
    try {
        return read(Json::parse(bytes), path);
    } catch (const Json::ParseError& e) {
        return bad(path, fmt::format("{}: not valid JSON", place_of(bytes, e.offset)),
                   "correct the file there");
    }
}

bool valid_plugin_id(std::string_view id) noexcept {
    if (id.empty() || id.size() > 64 || id == "auto") return false;
    if (id[0] < 'a' || id[0] > 'z') return false;
    return std::all_of(id.begin(), id.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || sdk::ascii::is_digit(c) || c == '_';
    });
}

int compare_versions(std::string_view left, std::string_view right) noexcept {
    // Whether the text after a number marks a version that precedes the release: "1.0.0-rc1" comes
    // before "1.0.0".
    const auto is_early = [](std::string_view rest) {
        if (rest.starts_with('-') && rest.size() > 1 && !sdk::ascii::is_digit(rest[1])) return true;
        return rest.starts_with('~') || rest.starts_with("rc") || rest.starts_with("alpha") ||
               rest.starts_with("beta");
    };
    while (!left.empty() || !right.empty()) {
        std::string_view a = sdk::cut(left, ".");
        std::string_view b = sdk::cut(right, ".");
        const auto number = [](std::string_view& part) {  // takes leading digits, drops zeros
            std::size_t n = 0;
            while (n < part.size() && sdk::ascii::is_digit(part[n])) ++n;
            std::string_view digits = part.substr(0, n);
            part.remove_prefix(n);
            while (!digits.empty() && digits[0] == '0') digits.remove_prefix(1);
            return digits;
        };
        const std::string_view x = number(a);
        const std::string_view y = number(b);
        if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
        if (const int order = x.compare(y); order != 0) return order;
        if (is_early(a) != is_early(b)) return is_early(a) ? -1 : 1;
        if (const int order = a.compare(b); order != 0) return order;
    }
    return 0;
}

std::string_view host_arch() noexcept {
#if defined(__x86_64__)
    return "x86_64";
#elif defined(__aarch64__)
    return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
    return "riscv64";
#else
#error "Fix: add this machine's name as `uname -m` prints it"
#endif
}

}  // namespace wye::registry
