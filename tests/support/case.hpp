// SPDX-License-Identifier: Apache-2.0
//
// Case: a program with one launch. The file of a case is a `.wye` text whose first lines are
// comments that describe the launch, so that the file alone reproduces the case. Pure values.
//
//   //: grid 2 1 1
//   //: param 3f800000          bits of each parameter in declared order, hexadecimal
//   //: buffer x input          input, output or both, in binding order
//   //: zeros 12                content of the buffer above, in order: 12 bytes of zeros,
//   //: bytes 00ff17            then these bytes
//   //: resident                buffers live on the device
//   //: may_trap
//   //: needs subgroup          a device without this capability may refuse the program
//   // any other comment
//   wye 1;
//   ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/device.hpp"

namespace support {

struct Case {
    std::string text;
    Launch launch;
    bool resident = false;
    bool may_trap = false;
    std::vector<std::string> needs;  // capabilities that the program needs
};

// Makes the file of a case. `remarks`: comment lines for readers, written first.
[[nodiscard]] std::string write_case(const Case& what, const std::vector<std::string>& remarks);
// Parses the file of a case. INVALID_TEXT names the line.
[[nodiscard]] wye::Result<Case> read_case(const std::string& file);

}  // namespace support
