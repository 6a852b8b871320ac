// SPDX-License-Identifier: Apache-2.0
// Runs the fuzz target once on each file of the folder that the argument names, so that builds
// without libFuzzer replay what fuzzing has found. A crash is the failure. The number printed at
// the end is the number of files.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: replay FOLDER\n");
        return 2;
    }
    std::error_code error;
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1], error)) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        if (!file.good() && !file.eof()) {
            std::fprintf(stderr, "cannot read %s\n", entry.path().c_str());
            return 1;
        }
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
        ++count;
    }
    if (error || count == 0) {
        std::fprintf(stderr, "%s: no saved input\n", argv[1]);
        return 1;
    }
    std::printf("%d passed, 0 failed\n", count);
    return 0;
}
