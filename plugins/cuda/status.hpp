// SPDX-License-Identifier: Apache-2.0
//
// Converts CUresult values to errors. Pure.
#pragma once

#include <string_view>

#include "cuda/driver.hpp"

namespace wye::cuda {

[[nodiscard]] Code code_of(CUresult status);

// Whether the status means that the context is lost. Every later call on a lost context fails with
// the same status.
[[nodiscard]] bool sticky(CUresult status);

// Returns the error "CALL on SUBJECT failed: CUDA_ERROR_NAME (700, an illegal memory access...)",
// with a remedy for the status.
[[nodiscard]] Error native_error(const Driver& driver, CUresult status, std::string_view call,
                                 std::string_view subject);

}  // namespace wye::cuda
