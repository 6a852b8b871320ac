// SPDX-License-Identifier: Apache-2.0
#include "picture.hpp"

#include <png.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "wye/sdk/output_file.hpp"

namespace wye::examples {
namespace {

constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 28U;

// The control structure of libpng's simplified interface.
class Image {
  public:
    Image() {
        std::memset(&png_, 0, sizeof png_);
        png_.version = PNG_IMAGE_VERSION;
    }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image() { png_image_free(&png_); }
    [[nodiscard]] png_image* get() { return &png_; }
    [[nodiscard]] png_image* operator->() { return &png_; }

  private:
    png_image png_;
};

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

Error io_error(const std::string& what, const std::string& path, const char* fix) {
    const int number = errno;
    Error error(Code::IO, fmt::format("{} `{}`: {}", what, path, std::strerror(number)), fix, path);
    error.native_domain = "errno";
    error.native_code = number;
    return error;
}

}  // namespace

Result<Picture> read_png(const std::string& path) {
    const File file(std::fopen(path.c_str(), "rbe"));
    if (!file) return io_error("cannot read", path, "Fix: name a readable PNG file");
    Image image;
    const auto broken = [&] {
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`{}` is not a picture that libpng reads: {}", path,
                                 static_cast<const char*>(image->message)),
                     "Fix: name a PNG file", path);
    };
    if (png_image_begin_read_from_stdio(image.get(), file.get()) == 0) return broken();
    const std::uint64_t pixels = std::uint64_t{image->width} * image->height;
    if (pixels > kMostPixels)
        return Error(Code::LIMIT_EXCEEDED,
                     fmt::format("`{}` has {} x {} pixels, the limit is {} in all", path,
                                 image->width, image->height, kMostPixels),
                     "Fix: scale it down, or cut it", path);
    image->format = PNG_FORMAT_RGBA;
    Picture picture{image->width, image->height, {}};
    picture.rgba.resize(pixels * 4);
    if (png_image_finish_read(image.get(), nullptr, picture.rgba.data(), 0, nullptr) == 0)
        return broken();
    return picture;
}

Result<void> write_png(const std::string& path, const Picture& picture) {
    constexpr const char* kFix = "Fix: name a file in a writable folder with room";
    Image image;
    image->width = picture.width;
    image->height = picture.height;
    image->format = PNG_FORMAT_RGBA;
    std::vector<std::byte> bytes(PNG_IMAGE_PNG_SIZE_MAX(*image.get()));
    png_alloc_size_t size = bytes.size();
    if (png_image_write_to_memory(image.get(), bytes.data(), &size, 0, picture.rgba.data(), 0,
                                  nullptr) == 0)
        return Error(
            Code::IO,
            fmt::format("cannot write `{}`: {}", path, static_cast<const char*>(image->message)),
            kFix, path);
    sdk::OutputFile file;
    int problem = file.open(path);
    if (problem == 0) problem = file.write(std::span(bytes).first(size));
    if (problem == 0) problem = file.commit();
    if (problem == 0) return {};
    errno = problem;
    return io_error("cannot write", path, kFix);
}

}  // namespace wye::examples
