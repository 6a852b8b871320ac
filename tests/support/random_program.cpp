// SPDX-License-Identifier: Apache-2.0
#include "support/random_program.hpp"

#include <algorithm>

#include "support/random_statements.hpp"

namespace support {
namespace {

// The size of the largest `shared` array. A program has at most two, which fit in 16 KiB together
// with the runtime's own memory. Every device has 16 KiB.
constexpr std::size_t kSharedBytes = 8 * 1024 - 64;

class Declarations {
  public:
    Declarations(Random& random, const RandomProgramOptions& options, RandomProgram& out)
        : random_(random), options_(options), out_(out) {
        kinds_ = {WYE_KIND_BOOL, WYE_KIND_I32, WYE_KIND_U32};
        if (options.int64) kinds_.insert(kinds_.end(), {WYE_KIND_I64, WYE_KIND_U64});
        if (options.f32 && options.storage16) kinds_.push_back(WYE_KIND_F16);
        if (options.f32) kinds_.push_back(WYE_KIND_F32);
        if (options.f32 && options.f64) kinds_.push_back(WYE_KIND_F64);
        scope_.math = options.f32 ? options.math : 0;
    }

    void write() {
        out_.text = "wye 1;\n";
        if (scope_.math > 1) out_.text += "math " + std::to_string(scope_.math) + ";\n";
        out_.text += "program random;\n";
        grid();
        subgroup();
        params();
        inputs();
        tables();
        own_buffers();
        plane();
        atomic_buffers();
        shared_arrays();
        writable_.line = line();
        Statements statements(random_, scope_, kinds_, options_, writable_, subgroup_ != 0);
        if (options_.grid_barriers) out_.text += statements.number_function();
        const auto functions = random_.below(4);
        for (std::uint64_t i = 0; i < functions; ++i) out_.text += statements.function();
        if (random_.chance(4)) out_.text += statements.chain();
        out_.text += statements.main();
    }

  private:
    void grid() {
        static const std::vector<std::array<std::uint32_t, 3>> kSizes = {
            {1, 1, 1},   {2, 1, 1},  {7, 1, 1},  {8, 1, 1},  {13, 1, 1},  {16, 1, 1}, {31, 1, 1},
            {33, 1, 1},  {64, 1, 1}, {64, 1, 1}, {97, 1, 1}, {100, 1, 1}, {4, 4, 1},  {128, 1, 1},
            {256, 1, 1}, {3, 5, 1},  {8, 2, 1},  {2, 3, 4},  {1, 1, 9},   {1, 1, 64},
        };
        static const std::vector<std::array<std::uint32_t, 3>> kLarge = {
            {509, 1, 1}, {512, 1, 1}, {1000, 1, 1}, {1024, 1, 1}, {32, 32, 1}, {16, 8, 4}};
        do {
            size_ = random_.pick(random_.chance(4) ? kLarge : kSizes);
        } while (size_[0] * size_[1] * size_[2] > options_.largest_group);
        const auto up_to = [&](std::int64_t n) {
            return static_cast<std::uint32_t>(random_.between(1, n));
        };
        const bool small = size_[0] * size_[1] * size_[2] <= 16;
        out_.groups = {up_to(small ? 13 : 5), 1, 1};
        if (size_[1] * size_[2] > 1 || random_.chance(15))
            out_.groups = {up_to(3), up_to(small ? 5 : 3), up_to(2)};
        if (random_.chance(2)) out_.groups[random_.below(3)] = 0;
        if (options_.many_groups) {
            size_ = {1, up_to(2), 1};
            out_.groups = {1, 1, 1};
            out_.groups[random_.below(3)] = 65530 + up_to(20);
        }
        out_.text += "workgroup " + std::to_string(size_[0]) + ", " + std::to_string(size_[1]) +
                     ", " + std::to_string(size_[2]) + ";\n";
        if (random_.chance(25)) clause();
        invocations_ = std::size_t{size_[0]} * size_[1] * size_[2] * out_.groups[0] *
                       out_.groups[1] * out_.groups[2];
    }

    // Adds a grid clause that gives the same grid as the launch.
    void clause() {
        out_.clause = true;
        const bool elements = random_.chance(50);
        out_.text += elements ? "grid elements " : "grid groups ";
        for (std::size_t axis = 0; axis < 3; ++axis) {
            std::uint64_t n = out_.groups[axis];
            if (elements && n != 0) n = n * size_[axis] - random_.below(size_[axis]);
            out_.text += (axis == 0 ? "" : ", ") + std::to_string(n);
        }
        out_.text += ";\n";
    }

    void subgroup() {
        std::vector<std::uint32_t> fitting;
        for (const std::uint32_t width : options_.subgroups)
            if (size_[0] * size_[1] * size_[2] % width == 0) fitting.push_back(width);
        if (fitting.empty() || random_.chance(40)) return;
        subgroup_ = random_.pick(fitting);
        out_.text += "subgroup " + std::to_string(subgroup_) + ";\n";
        scope_.subgroups = true;
    }

    void params() {
        // A few programs have more parameters than a device has registers.
        const auto n = random_.chance(3) ? 20 + random_.below(40) : random_.below(4);
        for (std::uint64_t i = 0; i < n; ++i) {
            TextType type{kinds_[1 + random_.below(kinds_.size() - 1)], 1};
            if (type.kind == WYE_KIND_F16) type.kind = WYE_KIND_F32;
            const std::string name = "p" + std::to_string(i);
            out_.text += "param " + name + ": " + type.name() + ";\n";
            out_.params.push_back(name);
            out_.values.push_back(random_scalar(random_, type.kind));
            scope_.params.push_back({name, type, false, false, true});
        }
    }

    // A random element type of a buffer: any value type except bool, or a type of 8 or 16 bits.
    TextType element() {
        std::vector<unsigned> small = {WYE_KIND_I8, WYE_KIND_U8, WYE_KIND_I16, WYE_KIND_U16};
        if (options_.f32 && options_.storage16) small.push_back(WYE_KIND_BF16);
        const unsigned kind =
            random_.chance(30) ? random_.pick(small) : kinds_[1 + random_.below(kinds_.size() - 1)];
        return {kind, random_.chance(70) ? 1 : static_cast<unsigned>(random_.between(2, 4))};
    }

    std::size_t length() {
        static const std::vector<std::size_t> kLengths = {0, 1, 2, 3, 17, 64, 100};
        return random_.chance(60) ? random_.pick(kLengths) : random_.below(invocations_ + 20);
    }

    std::vector<std::byte> data(TextType type, std::size_t count) {
        return random_scalars(random_, type.kind, count * type.lanes);
    }

    // Most binding numbers are consecutive.
    std::string binding() {
        if (random_.chance(10)) next_binding_ += 1 + static_cast<unsigned>(random_.below(4));
        return " binding " + std::to_string(next_binding_++);
    }

    // Declares an array that the program writes, and makes the initial content of the array.
    void declare(const std::string& name, TextType type, std::size_t count, const std::string& size,
                 bool both) {
        const bool persistent = options_.kept && both && random_.chance(50);
        const bool live = persistent && random_.chance(50);
        out_.text += (persistent ? "persistent "
                      : both     ? "input_output "
                                 : "output ") +
                     name + ": " + type.name() + "[" + size + "]" + binding() +
                     (live ? " live" : "") + ";\n";
        const std::vector<std::byte> before = data(type, count);
        out_.buffers.push_back(
            {name, both, true, persistent, both ? before : std::vector<std::byte>(before.size())});
    }

    void inputs() {
        const auto n = random_.between(1, 3);
        for (std::int64_t i = 0; i < n; ++i) {
            const std::string name = "in" + std::to_string(i);
            const TextType type = element();
            const bool uniform = random_.chance(25);
            const std::size_t count =
                uniform ? static_cast<std::size_t>(random_.between(1, 64)) : length();
            const bool fixed = uniform || (count > 0 && random_.chance(30));
            const bool live = options_.kept && random_.chance(20);
            out_.text += (uniform ? "uniform " : "input ") + name + ": " + type.name() + "[" +
                         (fixed ? std::to_string(count) : "") + "]" + binding() +
                         (live ? " live;\n" : ";\n");
            out_.buffers.push_back({name, true, live, false, data(type, count)});
            scope_.memory.push_back({name, type, true, true, {}, false});
            scope_.memory.back().count = fixed ? count : 0;
            counts_.push_back(count);
        }
    }

    void tables() {
        if (random_.chance(60)) return;
        const TextType type{kinds_[1 + random_.below(kinds_.size() - 1)], 1};
        const auto n = random_.between(1, random_.chance(30) ? 24 : 9);
        Scope none;
        Expressions expressions(random_, none, kinds_);
        out_.text += "table tab: " + type.name() + "[" + std::to_string(n) + "] = { ";
        for (std::int64_t i = 0; i < n; ++i) {
            std::string text = expressions.literal(type);
            if (text[0] == '(') text = text.substr(1, text.size() - 2);  // no () in a table
            out_.text += (i == 0 ? "" : ", ") + text;
        }
        out_.text += " };\n";
        scope_.memory.push_back({"tab", type, true, true, {}, false});
        scope_.memory.back().count = static_cast<std::size_t>(n);
        scope_.memory.back().table = true;
    }

    // Expressions for the indices of a buffer in which each invocation owns `k` neighbouring
    // elements.
    std::vector<std::string> own_indices(const std::string& number, unsigned k) {
        std::vector<std::string> out;
        for (unsigned j = 0; j < k; ++j) {
            const std::string text =
                k == 1 ? number
                       : number + " * " + std::to_string(k) + "u + " + std::to_string(j) + "u";
            out.push_back(text);
            if (j == 0) out.push_back("i32(" + text + ")");
            if (j == 0 && options_.int64) out.push_back("u64(" + text + ")");
        }
        return out;
    }

    [[nodiscard]] bool line() const {
        return size_[1] * size_[2] * out_.groups[1] * out_.groups[2] == 1;
    }

    void own_buffers() {
        const auto n = random_.between(1, 3);
        for (std::int64_t i = 0; i < n; ++i) {
            const std::string name = "own" + std::to_string(i);
            const TextType type = element();
            const auto k = static_cast<unsigned>(random_.chance(70) ? 1 : random_.between(2, 3));
            const bool both = random_.chance(40);
            // Most buffers have `k` elements for each invocation. In a smaller one, some stores
            // have no effect.
            std::size_t count = random_.chance(75) ? invocations_ * k + random_.below(3) : length();
            std::string size;
            if (both) {
                size = "";
            } else if (random_.chance(30)) {  // a computed size
                const std::size_t of = random_.below(counts_.size());
                const auto more = random_.below(5);
                count = counts_[of] * k + more;
                size = "len(in" + std::to_string(of) + ") * " + std::to_string(k) + " + " +
                       std::to_string(more);
            } else if (random_.chance(20)) {
                count = std::max<std::size_t>(count / k, 1);
                size = "total * " + std::to_string(k);
                elements(count);
                count = out_.values.back() * k;
            } else {
                count = std::max<std::size_t>(count, 1);
                size = std::to_string(count);
            }
            declare(name, type, count, size, both);
            std::vector<std::string> own =
                own_indices(options_.grid_barriers ? "number()" : "gid", k);
            if (line() && k == 1) own.insert(own.end(), 2, "global_id.x");
            scope_.memory.push_back({name, type, false, true, own, true, k == 1});
            writable_.own.push_back(name);
        }
    }

    // Declares the last parameter, `total`, which gives sizes. The first call alone has an effect.
    void elements(std::size_t count) {
        if (!out_.params.empty() && out_.params.back() == "total") return;
        out_.text += "param total: u32;\n";
        out_.params.emplace_back("total");
        out_.values.push_back(count);
        scope_.params.push_back({"total", kTextU32, false, false, true});
    }

    void plane() {
        if (size_[2] * out_.groups[2] != 1 || options_.many_groups || random_.chance(50)) return;
        const std::uint32_t columns = size_[0] * out_.groups[0];
        const std::uint32_t rows = size_[1] * out_.groups[1];
        writable_.plane = "plane";
        writable_.plane_width = 1 + static_cast<std::uint32_t>(random_.below(columns + 4));
        const TextType type = element();
        const std::size_t count = std::size_t{rows} * writable_.plane_width + random_.below(3);
        declare("plane", type, std::max<std::size_t>(count, 1),
                std::to_string(std::max<std::size_t>(count, 1)), random_.chance(40));
        scope_.memory.push_back({"plane", type, false, false, {}, true});
    }

    void atomic_buffers() {
        const auto n = random_.below(3);
        for (std::uint64_t i = 0; i < n; ++i) {
            const std::string name = "sum" + std::to_string(i);
            Expressions expressions(random_, scope_, kinds_);
            TextType type = expressions.integer_type();
            if (!options_.atomic_int64 && type.scalar_bytes() == 8) type = kTextU32;
            const auto count = static_cast<std::size_t>(random_.between(1, 20));
            declare(name, type, count, std::to_string(count), random_.chance(50));
            scope_.memory.push_back({name, type, false, false, {}, false});
            writable_.shared.push_back({name, false, {}, random_.below(6)});
        }
    }

    void shared_arrays() {
        const auto n = random_.chance(50) ? 0 : random_.between(1, 2);
        const std::size_t group = std::size_t{size_[0]} * size_[1] * size_[2];
        for (std::int64_t i = 0; i < n; ++i) {
            const std::string name = "sh" + std::to_string(i);
            Expressions expressions(random_, scope_, kinds_);
            const TextType type = expressions.any_type(false);
            const auto k = static_cast<unsigned>(random_.chance(80) ? 1 : 2);
            std::size_t count =
                random_.chance(80) ? group * k : static_cast<std::size_t>(random_.between(1, 40));
            count = std::min<std::size_t>(
                count, kSharedBytes / (type.lanes * std::max(type.scalar_bytes(), 4U)));
            out_.text += "shared " + name + ": " + type.name() + "[" + std::to_string(count) + "]" +
                         binding() + ";\n";
            scope_.memory.push_back({name, type, false, false, {}, true});
            writable_.shared.push_back({name, true, own_indices("local_index", k), 0});
        }
    }

    Random& random_;
    const RandomProgramOptions& options_;
    RandomProgram& out_;
    std::vector<unsigned> kinds_;
    Scope scope_;
    std::array<std::uint32_t, 3> size_{};
    std::uint32_t subgroup_ = 0;  // width of the subgroups; 0: none
    std::size_t invocations_ = 0;
    std::vector<std::size_t> counts_;  // element counts of the inputs
    Writable writable_;
    unsigned next_binding_ = 0;
};

}  // namespace

RandomProgram random_program(std::uint64_t seed, const RandomProgramOptions& options) {
    Random random(seed);
    RandomProgram out;
    Declarations(random, options, out).write();
    return out;
}

}  // namespace support
