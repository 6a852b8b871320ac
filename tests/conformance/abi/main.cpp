// SPDX-License-Identifier: Apache-2.0
//
// The conformance kit of the plugin contract:
//
//     wye-abi-conformance PLUGIN.so [--layer LAYER.so]... [--config KEY=VALUE]...
//                         [--test-suite=plugin,memory ...]
//
// `--layer` puts a layer over the plugin, the first nearest to the kit. `--config` sets the
// configuration of the host; other options are doctest's (`--help` lists them).
// Exit status: 0 all passed, 1 something failed, 2 wrong usage.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <string_view>

#include "conformance/abi/harness.hpp"

namespace {

harness::Subject& chosen() {
    static harness::Subject value;
    return value;
}

}  // namespace

const harness::Subject& harness::subject() { return chosen(); }

int main(int argc, char** argv) {
    std::vector<char*> rest = {argv[0]};
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--config" && i + 1 < argc) {
            const std::string_view setting = argv[++i];
            const std::size_t equals = setting.find('=');
            chosen().config.emplace(setting.substr(0, equals),
                                    equals == setting.npos ? "" : setting.substr(equals + 1));
        } else if (word == "--layer" && i + 1 < argc) {
            chosen().layers.push_back(argv[++i]);
        } else if (!word.starts_with("-") && chosen().library == nullptr) {
            chosen().library = argv[i];
        } else {
            rest.push_back(argv[i]);
        }
    }
    doctest::Context context(static_cast<int>(rest.size()), rest.data());
    if (chosen().library == nullptr && !context.shouldExit()) {
        std::fputs("wye-abi-conformance: no plugin named. Fix: wye-abi-conformance PLUGIN.so\n",
                   stderr);
        return 2;
    }
    return context.run();
}
