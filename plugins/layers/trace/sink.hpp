// SPDX-License-Identifier: Apache-2.0
//
// The destination of a trace: a file, or the host's log. A file is complete after each line, as
// text or as a JSON array of Chrome trace events, so that it can be read after a crash. The copies
// of the layer in one process, one for each plugin, write to the same file. A file that another
// process left is replaced; a link is refused. When the size limit is reached, the last line says
// so. Free-threaded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "layers/trace/line.hpp"
#include "wye/abi.h"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::layers::trace {

class Sink {
  public:
    // Reads the configuration:
    //   layer.trace.file    the file; `%p` in its name is the process id; default: the host's log
    //   layer.trace.format  text or chrome; default: chrome if the name ends with .json, else text
    //   layer.trace.bytes   the size limit of the file, as in 64MiB; default 256MiB
    // Errors: IO, which names the file and the reason; INVALID_ARGUMENT.
    [[nodiscard]] static Result<std::unique_ptr<Sink>> open(const wye_host_table& host);
    ~Sink();
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;

    [[nodiscard]] Format format() const { return format_; }
    // Writes one line, given without the line break, or one JSON object. A failure ends the trace,
    // with a warning in the log.
    void write(std::string_view line);

  private:
    explicit Sink(const wye_host_table& host) : host_(host) {}
    [[nodiscard]] Result<void> begin();
    void append(std::string_view line) WYE_REQUIRES(mutex_);
    void stop(const std::string& why) WYE_REQUIRES(mutex_);

    const wye_host_table& host_;
    Format format_ = Format::text;
    std::string path_;
    std::uint64_t limit_ = 0;
    int descriptor_ = -1;  // -1: writes to the log

    sdk::Mutex mutex_;
    bool stopped_ WYE_GUARDED_BY(mutex_) = false;
};

}  // namespace wye::layers::trace
