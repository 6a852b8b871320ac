// SPDX-License-Identifier: Apache-2.0
#include "kernel_bench/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernel_bench/pieces.hpp"

namespace wye::bench {
namespace {

bool near(std::uint32_t a, std::uint32_t b) {
    float x = 0, y = 0;
    std::memcpy(&x, &a, 4);
    std::memcpy(&y, &b, 4);
    return std::abs(x - y) <= 1e-3F * std::max(1.0F, std::abs(x));
}

struct Agreement {
    std::uint64_t words = 0;
    std::uint64_t same = 0;
    std::uint64_t zero = 0;
};

Result<void> compare(const CaseBuffer& b, std::size_t index, RawApi::Id id, bool fast,
                     const WyeSide& wye, RawApi& raw, Agreement& out) {
    std::vector<std::byte> left, right;
    for (std::uint64_t offset = 0; offset < b.bytes; offset += kPiece) {
        left.resize(std::min(kPiece, b.bytes - offset));
        right.resize(left.size());
        WYE_TRY(wye.download(index, offset, left));
        WYE_TRY(raw.download(id, offset, right));
        for (std::size_t at = 0; at + 4 <= left.size(); at += 4) {
            std::uint32_t l = 0, r = 0;
            std::memcpy(&l, left.data() + at, 4);
            std::memcpy(&r, right.data() + at, 4);
            ++out.words;
            out.same += l == r || (fast && b.floats && near(l, r)) ? 1 : 0;
            out.zero += l == 0 ? 1 : 0;
        }
    }
    return {};
}

}  // namespace

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

Result<Row> measure(const Case& c, bool fast, WyeSide& wye, RawApi& raw, double seconds) {
    const Launch& launch = fast ? c.fast : c.strict;
    WYE_TRY(wye.prepare(c));
    WYE_TRY(wye.read(c));
    raw.clear();
    WYE_ASSIGN(const RawApi::Id kernel, raw.compile(launch, c.buffers.size(), fast));
    std::vector<RawApi::Id> buffers, zeroed;
    for (const CaseBuffer& b : c.buffers) {
        WYE_ASSIGN(const RawApi::Id id, raw.buffer(b.bytes));
        WYE_TRY(fill_pieces(b, [&](std::uint64_t offset, const std::vector<std::byte>& bytes) {
            return raw.upload(id, offset, bytes);
        }));
        buffers.push_back(id);
        if (b.content == Content::Sum) zeroed.push_back(id);
    }

    // Each side's first run compiles. The outputs of these runs are compared.
    WYE_ASSIGN(const WyeRun first, wye.run());
    WYE_TRY(raw.run(kernel, launch, buffers, zeroed));
    Agreement agreement;
    for (std::size_t i = 0; i < buffers.size(); ++i)
        if (c.buffers[i].output())
            WYE_TRY(compare(c.buffers[i], i, buffers[i], fast, wye, raw, agreement));
    Row row;
    row.name = c.name;
    row.traffic = c.traffic;
    row.filled = first.filled;
    row.agree = static_cast<double>(agreement.same) / static_cast<double>(agreement.words);
    if (agreement.zero == agreement.words || row.agree < (fast ? 0.85 : 1.0))
        return Error(Code::INTERNAL,
                     std::to_string(agreement.words - agreement.same) + " of " +
                         std::to_string(agreement.words) + " output words differ, " +
                         std::to_string(agreement.zero) + " are zero",
                     "Fix: one of the two sides is wrong; compare both with `--device cpu`");

    std::vector<double> wye_times, raw_times, ratios;
    double spent = 0;
    while (wye_times.size() < 5 || (spent < seconds * 1e9 && wye_times.size() < 51)) {
        WYE_ASSIGN(const WyeRun left, wye.run());
        WYE_ASSIGN(const double right, raw.run(kernel, launch, buffers, zeroed));
        wye_times.push_back(left.nanoseconds);
        raw_times.push_back(right);
        ratios.push_back(right > 0 ? left.nanoseconds / right : 0);
        spent += left.nanoseconds + right;
    }
    row.wye_ns = median(std::move(wye_times));
    row.raw_ns = median(std::move(raw_times));
    row.ratio = median(std::move(ratios));
    return row;
}

}  // namespace wye::bench
