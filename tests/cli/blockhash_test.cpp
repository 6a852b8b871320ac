// SPDX-License-Identifier: Apache-2.0
//
// Compares the example blockhash with coreutils (split, sha256sum) on every device, and on large
// files with Python's hashlib.
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "command.hpp"
#include "support/slice.hpp"

namespace wye::test::blockhash_test {
namespace {

const std::string kBlockhash = WYE_BLOCKHASH;

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        out.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

std::string random_bytes(std::size_t count) {
    std::mt19937 generator(7);
    std::string bytes(count, '\0');
    for (char& byte : bytes) byte = static_cast<char>(generator());
    return bytes;
}

// "digest  offset  file" for each block, computed with split and sha256sum.
std::string coreutils(const std::string& file, std::size_t block) {
    const Outcome outcome =
        run_command({"split", "-b", std::to_string(block), "--filter=sha256sum", file});
    REQUIRE(outcome.code == 0);
    std::string out;
    std::size_t offset = 0;
    for (const std::string& line : lines(outcome.out)) {
        out += line.substr(0, 64) + "  " + std::to_string(offset) + "  " + file + "\n";
        offset += block;
    }
    return out;
}

// The digest of each block, computed with Python's hashlib.
std::vector<std::string> hashlib(const std::string& file, std::size_t block) {
    const Outcome outcome = run_command({"python3", "-c", R"(import hashlib, sys
with open(sys.argv[1], 'rb') as file:
    while block := file.read(int(sys.argv[2])):
        print(hashlib.sha256(block).hexdigest()))",
                                         file, std::to_string(block)});
    REQUIRE(outcome.code == 0);
    return lines(outcome.out);
}

// The digests in the output of blockhash, without offsets and names.
std::vector<std::string> digests_of(const std::string& printed) {
    std::vector<std::string> out;
    for (const std::string& line : lines(printed)) out.push_back(line.substr(0, 64));
    return out;
}

}  // namespace

TEST_CASE("blockhash equals coreutils on every device") {
    const TempFolder folder;
    struct Row {
        std::size_t size;
        std::size_t block;
    };
    const std::vector<Row> rows = {{0, 4096},   {1, 4096},      {4096, 4096}, {4097, 4096},
                                   {20000, 55}, {20000, 64},    {10007, 119}, {10007, 1000},
                                   {500, 1},    {300000, 65536}};
    const std::vector<std::string> devices = listed_devices();
    for (const Row& row : rows) {
        CAPTURE(row.size);
        CAPTURE(row.block);
        const std::string file = folder.write("data", random_bytes(row.size));
        const std::string expected = coreutils(file, row.block);
        for (const std::string& device : devices) {
            CAPTURE(device);
            const Outcome outcome = run_command(
                {kBlockhash, "--device", device, "--block", std::to_string(row.block), file});
            CAPTURE(outcome.err);
            CHECK(outcome.code == 0);
            CHECK(outcome.out == expected);
        }
    }
}

TEST_CASE("a large file has the digests of its blocks, in order") {
    constexpr std::size_t kBlock = 4096;
    const TempFolder folder;
    // Two whole chunks, which are pending at once, and a part of a third. The last block is short.
    std::string bytes(40'000 * kBlock + 5001, '\0');
    for (std::size_t i = 0; i < bytes.size(); i += 61) bytes[i] = static_cast<char>(i / kBlock * 7);
    const std::string whole = folder.write("whole", bytes);
    std::string expected;
    std::size_t offset = 0;
    for (const std::string& digest : hashlib(whole, kBlock)) {
        expected += digest + "  " + std::to_string(offset) + "  " + whole + "\n";
        offset += kBlock;
    }
    const Outcome outcome = run_command({kBlockhash, "--device", "cpu", whole});
    CAPTURE(outcome.err);
    CHECK(outcome.code == 0);
    CHECK((outcome.out == expected));
}

// Devices that can read the host's memory read the chunks of a file of at least 1 GiB from there.
// Such a file takes half a minute, so only one run in three does this test, on one device.
TEST_CASE("the chunks of a very large file do not mix") {
    constexpr std::size_t kBlock = 65'536;
    constexpr std::size_t kSize = (std::size_t{1100} << 20U) + 10'001;
    const std::vector<std::string> devices = listed_devices();
    const auto slice = support::Slice::of_this_run();
    const std::size_t parts = 3 * devices.size();
    std::printf("slice: devices for a very large file, %s\n", slice.text(parts).c_str());
    if (!slice.has(0, 3)) return;
    const TempFolder folder;
    const std::string whole = folder.write("whole", "");
    {
        // Each block begins with its own text; the rest of the file is a hole.
        std::ofstream out(whole, std::ios::binary);
        for (std::size_t at = 0; at < kSize; at += kBlock) {
            out.seekp(static_cast<std::streamoff>(at));
            out << "block at " << at;
        }
        out.seekp(kSize - 1);
        out << 'x';
    }
    const std::vector<std::string> expected = hashlib(whole, kBlock);
    REQUIRE(expected.size() == (kSize + kBlock - 1) / kBlock);
    for (std::size_t n = 0; n < devices.size(); ++n) {
        if (!slice.has(3 * n, parts)) continue;
        const std::string& device = devices[n];
        const Outcome outcome =
            run_command({kBlockhash, "--device", device, "--block", std::to_string(kBlock), whole});
        CAPTURE(device);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 0);
        CHECK((digests_of(outcome.out) == expected));
    }
}

TEST_CASE("blockhash goes on after a file it cannot read, and fails at the end") {
    const TempFolder folder;
    const std::string good = folder.write("good", "hello");
    const Outcome outcome = run_command({kBlockhash, "--device", "cpu", folder.path("none"), good});
    CHECK(outcome.code == 1);
    CHECK(outcome.out == coreutils(good, 4096));
    CHECK(outcome.err.find("No such") != std::string::npos);
    CHECK(run_command({kBlockhash, "--block", "0", good}).code == 2);
    CHECK(run_command({kBlockhash, "--device", "warp", good}).code == 3);
    CHECK(run_command({kBlockhash}).code == 2);
}

}  // namespace wye::test::blockhash_test
