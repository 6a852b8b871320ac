// SPDX-License-Identifier: Apache-2.0
//
// The buffers of a program for `wye run`: reads the inputs, and makes room for the outputs, both
// before anything runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "../verbs.hpp"
#include "command/files.hpp"
#include "slot.hpp"
#include "wye/wye.hpp"

namespace wye::tool {

using Named = std::map<std::string, std::string>;

// The options about buffers, by the buffers' names.
struct SlotOptions {
    Named inputs, outputs, shapes;
    std::vector<std::string> shown;
    bool show_others = false;  // also shows the outputs without a file
};

// INVALID_ARGUMENT if an option is no NAME=VALUE, a name is given twice, or standard input or
// output would be used twice.
[[nodiscard]] Result<SlotOptions> slot_options(const RunOptions& options);

// Splits options NAME=VALUE into names and values.
[[nodiscard]] Result<Named> parse_names(const std::vector<std::string>& items, const char* flag);

// Checks that the program has every given name.
[[nodiscard]] Result<void> check_names(const Named& names, const std::vector<std::string>& known,
                                       const char* flag, const char* noun);

// The files that the options name, for check_files.
[[nodiscard]] std::vector<FileUse> files_of(const SlotOptions& options);

// Makes a slot for each buffer that is not `shared`, in the program's order, and reads its input.
// `dispatch` must have the program's parameters and number of elements.
[[nodiscard]] Result<std::vector<Slot>> read_slots(const wye_program_description& about,
                                                   const SlotOptions& options, const Device& device,
                                                   const Dispatch& dispatch);

// Makes room for an output of `bytes`. INVALID_ARGUMENT if the output cannot have the slot's shape
// or form.
[[nodiscard]] Result<void> make_room(Slot& slot, std::uint64_t bytes);

// Opens the files of the outputs.
[[nodiscard]] Result<void> open_outputs(std::vector<Slot>& slots, StagedOutputs& staged);

// Puts all output files in place, and prints the outputs that are shown.
[[nodiscard]] Result<void> write_outputs(const std::vector<Slot>& slots, StagedOutputs& staged);

}  // namespace wye::tool
