// SPDX-License-Identifier: Apache-2.0
//
// TemporaryFolder: a folder removed by the destructor, with helpers that copy plugins of
// tests/fakes into it. Tests only.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "registry/find/manifest.hpp"
#include "wye/abi.h"

class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "wye_test_XXXXXX").string();
        path_ = std::filesystem::canonical(::mkdtemp(name.data()));
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    std::filesystem::path write(const std::string& name, const std::string& content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return path_ / name;
    }
    static std::string read(const std::filesystem::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    // A copy of tests/fakes/NAME.so with a good manifest for `id`.
    void plugin(const std::string& name, std::string id = "",
                const std::string& version = "0.1.0") const {
        if (id.empty()) id = name;
        std::filesystem::copy_file(std::filesystem::path(WYE_FAKES) / (name + ".so"),
                                   path_ / (id + ".so"));
        write(id + ".wye.json",
              R"({"schema": 1, "id": ")" + id + R"(", "library": ")" + id + R"(.so", "arch": ")" +
                  std::string(wye::registry::host_arch()) + R"(", "abi": {"major": 1, "draft": )" +
                  std::to_string(WYE_ABI_MINOR_DRAFT) +
                  R"(, "minor_needed": 0, "minor_built": 0}, "backend": "fake", "version": ")" +
                  version + "\"}");
    }

  private:
    std::filesystem::path path_;
};
