// SPDX-License-Identifier: Apache-2.0
#include "document.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "report_schema.hpp"

namespace wye::tool {
namespace {

constexpr std::uint64_t kNewestSchema = 1;

// An iterator over text that records how far the parser has read.
struct Counted {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;
    const char* at = nullptr;
    std::size_t* read = nullptr;

    reference operator*() const { return *at; }
    Counted& operator++() {
        ++at;
        ++*read;
        return *this;
    }
    Counted operator++(int) {
        const Counted before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Counted& other) const { return at == other.at; }
    bool operator!=(const Counted& other) const { return at != other.at; }
};

const Report& schema() {
    static const Report kSchema = Report::parse(report_schema());
    return kSchema;
}

// Converts an offset to its line and column, as a text such as "3:7".
std::string place_of(std::string_view bytes, std::size_t offset) {
    const std::string_view before = bytes.substr(0, std::min(offset, bytes.size()));
    const std::size_t line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
    const std::size_t start = before.rfind('\n');
    const std::size_t column = start == before.npos ? before.size() : before.size() - start - 1;
    return fmt::format("{}:{}", line, std::max<std::size_t>(column, 1));
}

// Builds the value from the parser's events, and stops at the first event that breaks a limit or
// the schema. Each open array or object has its schema; null: anything is allowed.
class Builder {
  public:
    Builder(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

    [[nodiscard]] Result<Report> run() {
        const char* const end = bytes_.data() + bytes_.size();
        if (!Report::sax_parse(Counted{bytes_.data(), &read_}, Counted{end, &read_}, this))
            return std::move(*error_);
        return std::move(root_);
    }

    bool null() { return add(nullptr, "null"); }
    bool boolean(bool value) { return add(value, "boolean"); }
    bool number_integer(std::int64_t value) { return add(value, "integer"); }
    bool number_unsigned(std::uint64_t value) { return add(value, "integer"); }
    bool number_float(double value, const std::string&) { return add(value, "number"); }
    bool string(std::string& value) { return add(std::move(value), "string"); }
    bool binary(Report::binary_t&) { return false; }
    bool start_object(std::size_t) { return open(Report::object(), "object"); }
    bool start_array(std::size_t) { return open(Report::array(), "array"); }
    bool end_array() { return close(); }
    bool key(std::string& value) {
        key_ = std::move(value);
        if (levels_.back().value->size() < kReportMembers) return true;
        return limit(fmt::format("an object has more than {} members", kReportMembers));
    }
    bool end_object() {
        const Level& level = levels_.back();
        for (const Report& needed : required(level.schema))
            if (!level.value->contains(needed.get<std::string>()))
                return refuse(fmt::format("{} has no member `{}`", path_text(false),
                                          needed.get<std::string>()));
        return close();
    }
    bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) {
        read_ = at;
        return refuse("the text is not JSON here");
    }

  private:
    struct Level {
        Report* value;
        const Report* schema;  // the value's schema; may be null
        std::string key;       // the value's key in its parent
    };

    static const Report& required(const Report* of) {
        static const Report kNone = Report::array();
        return of != nullptr && of->contains("required") ? (*of)["required"] : kNone;
    }

    // The schema of the next value.
    [[nodiscard]] const Report* next_schema() const {
        if (levels_.empty()) return &schema();
        const Report* in = levels_.back().schema;
        if (in == nullptr) return nullptr;
        const bool array = levels_.back().value->is_array();
        auto found = in->find(array ? "items" : "properties");
        if (!array && found != in->end()) {
            const auto own = found->find(key_);
            if (own != found->end()) return &*own;
            found = in->find("additionalProperties");
        }
        return found == in->end() || !found->is_object() ? nullptr : &*found;
    }

    // The path, such as "`devices[2].name`", of the next value or of the innermost open one; "the
    // report" for the root.
    [[nodiscard]] std::string path_text(bool next) const {
        std::string out;
        const auto put = [&](const std::string& key) {
            if (!out.empty() && !key.starts_with('[')) out += '.';
            out += key.substr(0, 64);
        };
        for (std::size_t i = 1; i < levels_.size(); ++i) put(levels_[i].key);
        if (next && !levels_.empty()) put(next_key());
        return out.empty() ? "the report" : fmt::format("`{}`", out);
    }
    [[nodiscard]] std::string next_key() const {
        if (levels_.empty()) return {};
        const Report& in = *levels_.back().value;
        return in.is_array() ? fmt::format("[{}]", in.size()) : key_;
    }

    bool stop(Code code, std::string message, std::string fix) {
        error_.emplace(code, fmt::format("{}:{}: {}", name_, place_of(bytes_, read_), message),
                       std::move(fix), name_);
        return false;
    }
    bool refuse(std::string message) {
        return stop(Code::INVALID_ARGUMENT, std::move(message),
                    "Fix: give a file that `wye info --json` wrote");
    }
    bool limit(std::string message) {
        return stop(Code::LIMIT_EXCEEDED, std::move(message),
                    "Fix: give a file that `wye info --json` wrote; no report is that large");
    }

    bool check(const char* type, const Report* against) {
        if (++values_ > kReportValues)
            return limit(fmt::format("a report has at most {} values", kReportValues));
        if (against == nullptr || !against->contains("type")) return true;
        const Report& allowed = (*against)["type"];
        const auto fits = [&](const Report& one) {
            return one == type || (one == "number" && std::string_view(type) == "integer");
        };
        if (allowed.is_array() ? std::ranges::any_of(allowed, fits) : fits(allowed)) return true;
        std::string wanted = value_text(allowed);
        std::ranges::replace(wanted, ' ', '/');
        return refuse(fmt::format("{} is of type {}, and a report has {} there", path_text(true),
                                  type, wanted));
    }

    Report* put(Report value) {
        if (levels_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        Report& in = *levels_.back().value;
        if (in.is_object()) return &(in[key_] = std::move(value));
        in.push_back(std::move(value));
        return &in.back();
    }
    bool add(Report value, const char* type) {
        if (!check(type, next_schema())) return false;
        put(std::move(value));
        return true;
    }
    bool open(Report value, const char* type) {
        const Report* against = next_schema();
        if (!check(type, against)) return false;
        if (levels_.size() == kReportNesting)
            return limit(fmt::format("brackets nest more than {} deep", kReportNesting));
        std::string key = next_key();
        Report* made = put(std::move(value));
        levels_.push_back({made, against, std::move(key)});
        return true;
    }
    bool close() {
        levels_.pop_back();
        return true;
    }

    std::string_view bytes_;
    std::string name_;
    std::size_t read_ = 0;
    std::size_t values_ = 0;
    Report root_;
    std::vector<Level> levels_;
    std::string key_;
    std::optional<Error> error_;
};

}  // namespace

std::string_view report_schema() noexcept { return kReportSchemaText; }

Result<Report> read_report(std::string_view bytes, const std::string& name) {
    if (bytes.size() > kReportBytes)
        return Error(Code::LIMIT_EXCEEDED,
                     fmt::format("{} has {} bytes, and a report at most {}", name, bytes.size(),
                                 kReportBytes),
                     "Fix: give a file that `wye info --json` wrote", name);
    WYE_ASSIGN(Report out, Builder(bytes, name).run());
    const auto version = number(out, "schema_version");
    if (!version || *version == 0 || *version > kNewestSchema)
        return Error(Code::UNSUPPORTED,
                     fmt::format("{} has schema version {}, and this program reads up to {}", name,
                                 member(out, "schema_version").dump(), kNewestSchema),
                     "Fix: use the `wye` that wrote it, or a newer one", name);
    return out;
}

// ---- Getters ------------------------------------------------------------------------------------

const Report& member(const Report& object, const char* key) {
    static const Report kNull;
    if (!object.is_object()) return kNull;
    const auto found = object.find(key);
    return found == object.end() ? kNull : *found;
}

std::string text(const Report& object, const char* key) {
    const Report& value = member(object, key);
    return value.is_string() ? value.get<std::string>() : std::string();
}

const Report& items(const Report& object, const char* key) {
    static const Report kEmpty = Report::array();
    const Report& value = member(object, key);
    return value.is_array() ? value : kEmpty;
}

const Report& fields(const Report& object, const char* key) {
    static const Report kEmpty = Report::object();
    const Report& value = member(object, key);
    return value.is_object() ? value : kEmpty;
}

std::optional<std::uint64_t> number(const Report& object, const char* key) {
    const Report& value = member(object, key);
    if (!value.is_number_unsigned()) return std::nullopt;
    return value.get<std::uint64_t>();
}

bool flag(const Report& object, const char* key) {
    const Report& value = member(object, key);
    return value.is_boolean() && value.get<bool>();
}

std::vector<std::string> texts(const Report& object, const char* key) {
    std::vector<std::string> out;
    for (const Report& item : items(object, key))
        if (item.is_string()) out.push_back(item.get<std::string>());
    return out;
}

std::string value_text(const Report& value) {
    if (value.is_null()) return "unknown";
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_array()) return value.dump();
    std::string out;
    for (const Report& item : value) {
        if (!out.empty()) out += ' ';
        out += item.is_primitive() ? value_text(item) : item.dump();
    }
    return out.empty() ? "none" : out;
}

bool usable(const Report& device) { return flag(device, "usable"); }

bool failed(const Report& plugin) {
    const std::string state = text(plugin, "state");
    return state == "failed" || state == "refused";
}

}  // namespace wye::tool
