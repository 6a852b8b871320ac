// SPDX-License-Identifier: Apache-2.0
#include "helper_options.hpp"

namespace wye::tool {

void add_bench(CLI::App& app, BenchOptions& options) {
    app.add_option("-d,--device", options.device, "Selector (default: $WYE_DEVICE, else auto)")
        ->type_name("SELECTOR");
    app.add_flag("--against-raw", options.against_raw,
                 "The same work through CUDA, OpenCL or Vulkan beside each row");
    app.add_flag("--quick", options.quick,
                 "Small sizes and few samples: shows that it works, not how fast");
    app.add_option("--json", options.json, "All samples, as one JSON document")->type_name("FILE");
    app.add_flag("--list", options.list, "Only list the rows");
    app.add_option("row", options.names, "Rows (default: all)");
    app.footer(
        "Times are medians, ratios are Wye's time by the raw time, medians over neighbouring\n"
        "runs. A missed goal is no failure. Goals on GPUs are those of an H200.\n"
        "Exit status: 0 ok; 1 a row failed; 2 bad usage; 3 no usable device. See wye-bench(1).");
}

void add_fuzz(CLI::App& app, FuzzOptions& options) {
    app.add_option("--seed", options.seed, "The first program (default 0)")->type_name("N");
    app.add_option("--count", options.count, "How many programs (default 100)")->type_name("N");
    app.add_option("--seeds", options.seeds,
                   "These programs, as in 25,173,1000..1100 (the end of a range is left out)")
        ->type_name("LIST");
    app.add_option("--devices", options.devices,
                   "Selectors, separated by commas (default: every usable device)")
        ->type_name("LIST");
    app.add_flag("--traps", options.traps, "Programs that may trap");
    app.add_flag("--any-state", options.any_state,
                 "Run each program in another state of thread and process: rounding mode, locale, "
                 "stack, signals and others");
    app.add_option("--keep", options.keep,
                   "Write each program that differs into this folder, as one .wye file with its "
                   "launch")
        ->type_name("FOLDER");
    app.add_option("--limit", options.limit,
                   "How long to make one finding small (default 120; 0: leave it as it is)")
        ->type_name("SECONDS");
    app.add_option("--timeout", options.timeout, "How long one dispatch may take (default 60)")
        ->type_name("SECONDS");
    app.add_option("--replay", options.replay,
                   "Run such files, or all in a folder, instead of random programs (may be "
                   "repeated)")
        ->type_name("PATH");
    app.add_option("--with-quirk", options.with_quirks,
                   "Use these driver workarounds too (`wye quirks` lists them; may be repeated)")
        ->type_name("LIST");
    app.add_option("--without-quirk", options.without_quirks,
                   "Do not use these driver workarounds (may be repeated)")
        ->type_name("LIST");
    app.footer(
        "Exit status: 0 all equal; 1 something differs or a device failed; 2 wrong usage;\n"
        "3 no usable device. See wye-fuzz(1).");
}

}  // namespace wye::tool
