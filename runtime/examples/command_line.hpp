// SPDX-License-Identifier: Apache-2.0
//
// The command line of an example, parsed with CLI11. CLI11 is header-only and slow to compile; this
// header hides it, so that it is compiled once for all examples.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace wye::examples {

// The options of a command line. A variable keeps its value if its option is not given, and must
// live until `command` returns. A value of another type, or out of range, is wrong usage.
class Options {
  public:
    void text(const char* name, std::string& target, const char* help);
    void number(const char* name, std::uint32_t& target, std::uint32_t least, std::uint32_t most,
                const char* help);
    void number(const char* name, double& target, double least, double most, const char* help);
    void positive(const char* name, double& target, const char* help);
    // Takes exactly as many numbers as `target` has, separated by commas.
    void numbers(const char* name, std::vector<double>& target, const char* help);
    void flag(const char* name, bool& target, const char* help);

    // Positional arguments, in the order of the calls. Each is required; `files` takes one or more.
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

// Runs an example and returns its exit status. `describe` declares the options. After parsing,
// `work` runs and returns the status. Otherwise the status is 2 for wrong usage, 0 for --help, or 1
// after an exception, with a message. Throws nothing.
[[nodiscard]] int command(int argc, char** argv, const char* name, const char* about,
                          const std::function<void(Options&)>& describe,
                          const std::function<int()>& work);

}  // namespace wye::examples
