// SPDX-License-Identifier: Apache-2.0
#include "layers/validate/marks.hpp"

#include <chrono>
#include <cstring>
#include <span>
#include <thread>

namespace wye::layers::validate {
namespace {

bool meets(const unsigned char* a, std::uint64_t a_size, const void* b, std::uint64_t b_size) {
    const auto from = reinterpret_cast<std::uintptr_t>(a);
    const auto other = reinterpret_cast<std::uintptr_t>(b);
    return from < other + b_size && other < from + a_size;
}

std::uint64_t word_at(const unsigned char* at) {
    // A thread of the plugin may write the bytes meanwhile.
    std::uint64_t out = 0;
    std::memcpy(&out, const_cast<const unsigned char*>(at), sizeof out);
    return out;
}

bool is_left(const Submit& submit) {
    for (const Mark& mark : submit.marks)
        if (word_at(mark.at) == mark.word) return true;
    return false;
}

}  // namespace

void mark_downloads(Submit& submit, const wye_submission& submission, Objects& objects,
                    std::uint64_t& count) {
    const std::span operations(submission.operations, submission.operation_count);
    for (const wye_operation& one : operations)
        if (one.kind == WYE_OPERATION_UPLOAD)
            submit.sources.emplace_back(one.u.transfer.source, one.u.transfer.size);
    const auto is_read = [&](const Submit& other, const unsigned char* at) {
        return std::ranges::any_of(other.sources, [&](const auto& source) {
            return meets(at, sizeof(std::uint64_t), source.first, source.second);
        });
    };
    for (const wye_operation& one : operations) {
        if (one.kind != WYE_OPERATION_DOWNLOAD || one.u.transfer.size < sizeof(std::uint64_t))
            continue;
        auto* const at = static_cast<unsigned char*>(one.u.transfer.target) + one.u.transfer.size -
                         sizeof(std::uint64_t);
        bool used = is_read(submit, at);
        for (const auto& [pointer, timeline] : objects.timelines.all())
            for (const auto& [value, other] : timeline.submits) used = used || is_read(other, at);
        for (const auto& [pointer, buffer] : objects.buffers.all())
            used = used || (buffer.mapped != nullptr &&
                            meets(at, sizeof(std::uint64_t), buffer.mapped, buffer.size));
        for (const Mark& other : submit.marks)
            used = used || meets(at, sizeof(std::uint64_t), other.at, sizeof(std::uint64_t));
        if (used) continue;
        Mark mark{at, 0x9e3779b97f4a7c15U * ++count, word_at(at)};
        std::memcpy(mark.at, &mark.word, sizeof mark.word);
        submit.marks.push_back(mark);
    }
}

void unmark(const Submit& submit) {
    for (const Mark& mark : submit.marks)
        if (word_at(mark.at) == mark.word) std::memcpy(mark.at, &mark.before, sizeof mark.before);
}

Written written(const Submit& submit, std::uint64_t patience_ns) {
    if (!is_left(submit)) return Written::yes;
    const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience_ns);
    while (std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (!is_left(submit)) return Written::late;
    }
    return Written::no;
}

}  // namespace wye::layers::validate
