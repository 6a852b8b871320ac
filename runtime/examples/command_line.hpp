// SPDX-License-Identifier: Apache-2.0
//
// The command line of an example, read with CLI11 into variables. CLI11 is a library of headers
// that takes long to compile; this header is light, and CLI11 is compiled once for all examples.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace wye::examples {

// What a command line may say. A variable keeps its value where its option is not given, and must
// live until `command` returns. A value of another type, or outside of the range, is wrong usage.
class Options {
  public:
    void text(const char* name, std::string& target, const char* help);
    void number(const char* name, std::uint32_t& target, std::uint32_t least, std::uint32_t most,
                const char* help);
    void number(const char* name, double& target, double least, double most, const char* help);
    void positive(const char* name, double& target, const char* help);
    // As many numbers as `target` has, with commas between.
    void numbers(const char* name, std::vector<double>& target, const char* help);
    void flag(const char* name, bool& target, const char* help);

    // Arguments without a dash, in this order; each is required, `files` takes one or more.
    void file(const char* name, std::string& target, const char* help);
    void files(const char* name, std::vector<std::string>& target, const char* help);

  private:
    friend int command(int argc, char** argv, const char* name, const char* about,
                       const std::function<void(Options&)>& describe,
                       const std::function<int()>& work);
    struct Parser;
    explicit Options(Parser& parser) : parser_(parser) {}
    Parser& parser_;
};

// What `main` returns: `describe` names the options, and when they were read, `work` runs and gives
// the exit status. It is 2 for wrong usage, 0 for --help, and 1 when memory ran out; a message says
// so. Throws nothing.
[[nodiscard]] int command(int argc, char** argv, const char* name, const char* about,
                          const std::function<void(Options&)>& describe,
                          const std::function<int()>& work);

}  // namespace wye::examples
