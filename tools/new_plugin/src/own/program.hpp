// SPDX-License-Identifier: Apache-2.0
//
// A program of the format `com.example.acme`, which the host hands over unread. Such code comes
// from programs that carry it as a native variant. Here it is the text of a C function, which runs
// one workgroup:
//
//     void entry(void* const* arguments, const unsigned group[3]);
//
// `arguments` has an address for each of the artifact's slots: first of each buffer, then of each
// buffer's number of elements (an unsigned long), then of the parameters.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "compiler.hpp"
#include "queue.hpp"

namespace driver {

inline constexpr std::string_view kFormat = "com.example.acme";

// The capabilities of the device, for programs. A native variant needs the capabilities that its
// program needs. Claim only what works (P-19).
inline constexpr std::uint32_t kCapabilities[] = {
    WYE_FACT_KEY_INT64,    WYE_FACT_KEY_F64,      WYE_FACT_KEY_IEEE_F32,
    WYE_FACT_KEY_IEEE_F64, WYE_FACT_KEY_STORAGE8, WYE_FACT_KEY_STORAGE16,
};

// The tools that programs need.
using Tools = Compiler;
inline constexpr std::string_view kToolsMissing = "its compiler is not installed";
inline constexpr std::string_view kToolsFix =
    "Fix: install the compiler, or name another one with `acme.compiler`";

class Program {
  public:
    Program(Compiler& compiler, const wye_artifact& artifact)
        : slots_(artifact.slots, artifact.slots + artifact.slot_count),
          params_size_(artifact.params_size) {
        refuse_unknown(artifact.header, artifact.flags, "an artifact");
        check_format(artifact, kFormat);
        check_slots(slots_);
        const std::string text(static_cast<const char*>(artifact.code.data), artifact.code.size);
        module_ = compiler.compile({"-ffp-contract=off"}, {{"c", "#line 1 \"program\"\n" + text}});
        entry_ = module_->function<Entry>(from_abi(artifact.entry));
    }

    // Prepares a launch. The host destroys the program after the end of the launch.
    [[nodiscard]] Operation launch(const wye_dispatch_op& op) const {
        std::array<unsigned, 3> groups{};
        std::copy_n(op.groups, 3, groups.begin());
        return [this, groups, arguments = Arguments(slots_, params_size_, op)]() mutable {
            const std::vector<void*> addresses = arguments.addresses();
            unsigned group[3];
            for (group[2] = 0; group[2] < groups[2]; ++group[2])
                for (group[1] = 0; group[1] < groups[1]; ++group[1])
                    for (group[0] = 0; group[0] < groups[0]; ++group[0])
                        entry_(addresses.data(), group);
        };
    }

  private:
    using Entry = void(void* const* arguments, const unsigned* group);

    std::vector<wye_slot> slots_;
    std::uint32_t params_size_;
    std::shared_ptr<const Module> module_;
    Entry* entry_ = nullptr;
};

}  // namespace driver
