// SPDX-License-Identifier: Apache-2.0
//
// Compares the lowered text of small programs with reviewed files. After an intended change, set
// WYE_UPDATE_GOLDEN=1 and review the difference.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lower/lower.hpp"
#include "programs.hpp"

namespace test_golden {

namespace {

std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
}

}  // namespace

TEST_CASE("lowered text is as reviewed") {
    const std::filesystem::path folder = WYE_GOLDEN_LOWER;
    unsigned seen = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".wye") continue;
        ++seen;
        const auto program = valid_program(read(entry.path()));
        wye::lower::Options options;
        options.folded_grid = entry.path().stem() == "folded";
        wye::lower::TargetFacts facts;
        facts.workgroup_loops = entry.path().stem() == "regions";
        if (facts.workgroup_loops) facts.quirks = wye::lower::QuirkSet::of_unknown_driver(true);
        const std::pair<const char*, const char*> forms[] = {{WYE_FORMAT_OPENCL_C, ".cl"},
                                                             {WYE_FORMAT_CUDA_C, ".cu"}};
        for (const auto& [format, extension] : forms) {
            if (facts.workgroup_loops && format != forms[0].first) continue;  // no such CUDA device
            const auto artifact = wye::lower::lower(program, format, facts, options);
            REQUIRE_MESSAGE(artifact.ok(), entry.path().string());
            const std::filesystem::path golden =
                std::filesystem::path(entry.path()).replace_extension(extension);
            if (std::getenv("WYE_UPDATE_GOLDEN") != nullptr)
                std::ofstream(golden, std::ios::binary) << artifact->text();
            CHECK_MESSAGE(read(golden) == artifact->text(), golden.string(),
                          " differs; now it is:\n", artifact->text());
        }
    }
    CHECK(seen >= 8);
}

}  // namespace test_golden
