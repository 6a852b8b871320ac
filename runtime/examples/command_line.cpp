// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <cstdio>
#include <new>

#include <CLI/CLI.hpp>

#include "wye/sdk/printable.hpp"
#include "wye/sdk/standard_files.hpp"

namespace wye::examples {

struct Options::Parser {
    CLI::App app;
};

void Options::text(const char* name, std::string& target, const char* help) {
    parser_.app.add_option(name, target, help);
}

void Options::number(const char* name, std::uint32_t& target, std::uint32_t least,
                     std::uint32_t most, const char* help) {
    parser_.app.add_option(name, target, help)->check(CLI::Range(least, most));
}

void Options::number(const char* name, double& target, double least, double most,
                     const char* help) {
    parser_.app.add_option(name, target, help)->check(CLI::Range(least, most));
}

void Options::positive(const char* name, double& target, const char* help) {
    parser_.app.add_option(name, target, help)->check(CLI::PositiveNumber);
}

void Options::numbers(const char* name, std::vector<double>& target, const char* help) {
    const int count = static_cast<int>(target.size());
    parser_.app.add_option(name, target, help)->delimiter(',')->expected(count);
}

void Options::flag(const char* name, bool& target, const char* help) {
    parser_.app.add_flag(name, target, help);
}

void Options::file(const char* name, std::string& target, const char* help) {
    parser_.app.add_option(name, target, help)->required();
}

void Options::files(const char* name, std::vector<std::string>& target, const char* help) {
    parser_.app.add_option(name, target, help)->required();
}

int command(int argc, char** argv, const char* name, const char* about,
            const std::function<void(Options&)>& describe, const std::function<int()>& work) {
    sdk::open_standard_files();
    try {
        Options::Parser parser{CLI::App(about, name)};
        Options options(parser);
        describe(options);
        try {
            parser.app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            if (error.get_exit_code() == 0) return parser.app.exit(error);  // --help
            std::fprintf(stderr, "%s: error: %s\nFix: see `%s --help`\n", name,
                         sdk::one_line(error.what()).c_str(), name);
            return 2;
        }
        return work();
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr,
                     "%s: error: there is no memory left\nFix: free memory, or ask for less\n",
                     name);
        return 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: internal error: %s\nFix: report this\n", name, error.what());
        return 1;
    }
}

}  // namespace wye::examples
