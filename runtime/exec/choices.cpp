// SPDX-License-Identifier: Apache-2.0
#include "exec/choices.hpp"

#include <algorithm>

namespace wye::exec {

std::optional<Choices::Known> Choices::find(const Key& key, const Sizes& sizes) const {
    const sdk::Lock lock(mutex_);
    const Known* found = nullptr;
    for (const Known& one : known_[group_of(key)]) {
        if (one.number == 0 || one.key != key) continue;
        if (one.sizes == sizes) return one;
        if (!one.sized) found = &one;
    }
    return found == nullptr ? std::nullopt : std::optional(*found);
}

void Choices::remember(const Known& known) {
    const sdk::Lock lock(mutex_);
    Group& group = known_[group_of(known.key)];
    auto place = std::ranges::find_if(group, [&](const Known& one) {
        return one.number != 0 && one.key == known.key && one.sized == known.sized &&
               (!one.sized || one.sizes == known.sizes);
    });
    // If no entry is for equal requests, an empty entry or else the oldest choice is replaced.
    if (place == group.end()) place = std::ranges::min_element(group, {}, &Known::number);
    *place = known;
}

std::uint32_t Choices::keep(Choice choice) {
    auto made = std::make_shared<Choice>(std::move(choice));
    const sdk::Lock lock(mutex_);
    const std::uint32_t number = last_ == UINT32_MAX ? 1 : last_ + 1;
    made->number = number;
    kept_.push_back(std::move(made));
    last_ = number;
    if (kept_.size() > kMostKept) kept_.pop_front();
    return number;
}

ChoiceRef Choices::at(std::uint32_t number) const {
    const sdk::Lock lock(mutex_);
    const auto found =
        std::ranges::find_if(kept_, [=](const ChoiceRef& one) { return one->number == number; });
    return found == kept_.end() ? nullptr : *found;
}

}  // namespace wye::exec
