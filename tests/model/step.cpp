// SPDX-License-Identifier: Apache-2.0
#include "step.hpp"

#include <algorithm>
#include <charconv>

namespace wye::model {

const std::vector<Letter>& letters() {
    static const std::vector<Letter> kLetters = {
        {'+', "", "wye_queue_create"},
        {'-', "q", "wye_queue_free"},
        {'s', "qrw", "wye_dispatch_submit, reading and writing a buffer"},
        {'a', "qrw", "the same with WYE_DISPATCH_AT_ONCE"},
        {'p', "qrw", "the same through a pipeline"},
        {'h', "qw", "the same with an input of the host"},
        {'H', "q", "the same with a large input of the host, and without outputs"},
        {'d', "qrw", "wye_dispatch"},
        {'e', "qw", "wye_dispatch with an input of the host"},
        {'t', "qrw", "wye_dispatch with a time limit"},
        {'v', "qrw", "wye_dispatch with a time limit, of a program that is not compiled yet"},
        {'S', "qrw", "wye_dispatch_submit of a program that is not compiled yet"},
        {'b', "qrw", "the same with a time limit"},
        {'r', "qw", "wye_dispatch_submit of two rounds, between which the host looks for traps"},
        {'I', "", "wye_program_prepare_submit of the program that is not compiled yet"},
        {'B', "rw", "wye_pipeline_batch of two dispatches"},
        {'G', "rw", "wye_graph_create"},
        {'g', "q", "wye_graph_submit"},
        {'j', "b", "wye_graph_rebind of the buffer that is written"},
        {'i', "", "wye_graph_free"},
        {'u', "qw", "wye_buffer_transfer_submit, an upload"},
        {'l', "qr", "wye_buffer_transfer_submit, a download"},
        {'f', "qw", "wye_buffer_transfer_submit, a fill"},
        {'D', "b", "wye_buffer_download"},
        {'w', "p", "wye_pending_wait"},
        {'P', "p", "wye_pending_wait with a time limit"},
        {'N', "p", "wye_pending_notify"},
        {'W', "", "wye_pending_wait_any"},
        {'o', "p", "wye_pending_poll"},
        {'c', "p", "wye_pending_cancel"},
        {'k', "p", "wye_pending_free"},
        {'x', "b", "wye_buffer_free"},
        {'m', "b", "wye_buffer_map"},
        {'n', "b", "wye_buffer_unmap"},
        {'y', "b", "wye_buffer_sync to the host"},
        {'Y', "", "wye_device_flush"},
        {'R', "", "wye_device_recover"},
        {'C', "", "wye_device_close"},
        {'O', "", "wye_device_open"},
        {'Z', "", "wye_context_destroy"},
        {'z', "", "wye_context_destroy_within, without waiting"},
        {'E', "n", "the next work of a native queue ends"},
        {'F', "n", "the next work of a native queue fails"},
        {'X', "n", "the next work of a native queue, whose cancel was asked for, ends by it"},
        {'K', "", "the oldest compile ends"},
        {'J', "", "the oldest compile fails"},
        {'Q', "", "the device will refuse the next submit"},
        {'L', "", "the device is lost"},
        {'T', "", "time passes, until some time limit is reached"},
        {'>', "f", "a stopped call or thread goes on"},
    };
    return kLetters;
}

const Letter* letter_of(char kind) {
    const auto found = std::ranges::find(letters(), kind, &Letter::kind);
    return found == letters().end() ? nullptr : &*found;
}

std::string Step::text() const {
    return kind + arguments + (stop != 0 ? "!" + std::to_string(stop) : std::string());
}

std::string text_of(const Sequence& steps) {
    std::string out;
    for (const Step& step : steps) out += (out.empty() ? "" : " ") + step.text();
    return out;
}

Sequence parse(std::string_view text, std::string& wrong) {
    Sequence out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        at = end + 1;
        if (word.empty()) continue;
        wrong = word;
        const Letter* const letter = letter_of(word[0]);
        if (letter == nullptr) return {};
        const std::size_t count = std::string_view(letter->arguments).size();
        if (word.size() < 1 + count) return {};
        Step step{word[0], std::string(word.substr(1, count)), 0};
        for (const char one : step.arguments)
            if (one != 'n' && (one < '0' || one > '9')) return {};
        if (word.size() > 1 + count) {
            const std::string_view rest = word.substr(1 + count);
            const auto read =
                std::from_chars(rest.data() + 1, rest.data() + rest.size(), step.stop);
            if (rest[0] != '!' || read.ptr != rest.data() + rest.size()) return {};
        }
        out.push_back(std::move(step));
    }
    return out;
}

}  // namespace wye::model
