// SPDX-License-Identifier: Apache-2.0
//
// The misbehaviour of the fake plugin `misbehaves`: what the plugin does to its process, in which
// of its functions, and what a user must see. The tests of the registry and of the command share
// this table, and tests/fakes/README.md shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace wye::test {

// The memory limit of probes in the tests. A healthy plugin needs a tenth of it.
inline constexpr std::uint64_t kProbeMemory = std::uint64_t{256} << 20U;

// A function of a plugin in which a fault can happen. `stage` and `slot`: how the registry's record
// names the function if the plugin ends the process there.
struct PlaceOfFault {
    const char* name;
    const char* stage;
    const char* slot;
};
inline constexpr PlaceOfFault kPlacesOfFaults[] = {
    {"constructor", "opened", "the loading of its library"},
    {"query", "negotiated", "wye_plugin_query_1"},
    {"init", "initialised", "init"},
    {"probe", "enumerated", "probe_devices"},
    {"facts", "enumerated", "device_fact"},
    {"open", "probed", "open_device"},
    {"build", "probed", "program_create"},
    {"dispatch", "probed", "a dispatch"},
    {"wait", "probed", "a dispatch"},
};

struct Fault {
    enum class Effect : std::uint8_t {
        none,      // the plugin works, and there is no record
        warning,   // the plugin works, and there is a warning
        unusable,  // there is a warning, and the device is not used
        refused,   // the plugin is refused
    };
    enum class Where : std::uint8_t {
        slots,     // in every place; the record names the slot
        anywhere,  // in any place
        build,     // only while a program is compiled
    };
    const char* name;
    Effect effect;
    Where where;
    const char* code;
    const char* text;  // what the record's message contains
};
inline constexpr Fault kFaults[] = {
    {"crash", Fault::Effect::refused, Fault::Where::slots, "PROBE_CRASHED", "crashed (SIGSEGV)"},
    {"abort", Fault::Effect::refused, Fault::Where::slots, "PROBE_CRASHED", "crashed (SIGABRT)"},
    {"exit", Fault::Effect::refused, Fault::Where::slots, "PLUGIN_FAULT",
     "ended its process (status 1)"},
    {"_exit", Fault::Effect::refused, Fault::Where::slots, "PLUGIN_FAULT",
     "ended its process (status 0)"},
    {"quick_exit", Fault::Effect::refused, Fault::Where::slots, "PLUGIN_FAULT",
     "ended its process (status 1)"},
    {"hang", Fault::Effect::refused, Fault::Where::slots, "PROBE_TIMEOUT",
     "did not answer within N ms"},
    {"endless", Fault::Effect::refused, Fault::Where::slots, "LIMIT_EXCEEDED",
     "printed more than 1 MiB"},
    {"memory", Fault::Effect::refused, Fault::Where::slots, "LIMIT_EXCEEDED",
     "took more than 256 MiB of memory"},
    {"descriptors", Fault::Effect::refused, Fault::Where::slots, "BAD_PLUGIN",
     "closed or garbled the result of its probe"},
    {"scribbles", Fault::Effect::refused, Fault::Where::slots, "BAD_PLUGIN",
     "closed or garbled the result of its probe"},
    {"signals", Fault::Effect::warning, Fault::Where::slots, "PLUGIN_FAULT",
     "replaces the handlers of SIGINT, SIGTERM"},
    {"signal_mask", Fault::Effect::warning, Fault::Where::slots, "PLUGIN_FAULT",
     "changes the signal mask of its caller"},
    {"floats", Fault::Effect::warning, Fault::Where::slots, "PLUGIN_FAULT",
     "changes the floating-point mode of its caller"},
    {"flushes", Fault::Effect::warning, Fault::Where::slots, "PLUGIN_FAULT",
     "changes the floating-point mode of its caller"},
    {"thread", Fault::Effect::warning, Fault::Where::anywhere, "PLUGIN_FAULT",
     "thread(s) running after its shutdown"},
    {"locale", Fault::Effect::warning, Fault::Where::anywhere, "PLUGIN_FAULT",
     "changes the locale of its process"},
    {"folder", Fault::Effect::warning, Fault::Where::anywhere, "PLUGIN_FAULT",
     "changes the current folder of its process"},
    {"environment", Fault::Effect::warning, Fault::Where::anywhere, "PLUGIN_FAULT",
     "changes the environment of its process"},
    {"umask", Fault::Effect::warning, Fault::Where::anywhere, "PLUGIN_FAULT",
     "changes the file mode mask (umask) of its process"},
    {"descriptor", Fault::Effect::warning, Fault::Where::anywhere, "PLUGIN_FAULT",
     "closes or replaces descriptor 1"},
    {"wrong_capabilities", Fault::Effect::warning, Fault::Where::build, "PLUGIN_FAULT",
     "claims int64 and f64, but with them"},
    {"wrong_bytes", Fault::Effect::unusable, Fault::Where::build, "PLUGIN_FAULT",
     "the test dispatch gave 0x"},
    {"prints", Fault::Effect::none, Fault::Where::anywhere, "", ""},
};

// A fault at one place.
struct Misbehaviour {
    const Fault* fault;
    const PlaceOfFault* place;

    // The value of WYE_MISBEHAVES, such as "crash@init".
    [[nodiscard]] std::string how() const { return std::string(fault->name) + "@" + place->name; }
    // The id of the plugin, which is also its file's name without `.so`. A plugin with this file
    // name misbehaves in this way.
    [[nodiscard]] std::string id() const {
        return "does_" + std::string(fault->name) + "_at_" + place->name;
    }
    [[nodiscard]] std::string stage() const {
        return fault->effect == Fault::Effect::refused ? place->stage : "probed";
    }
    // Whether `message` is that of the record for this misbehaviour.
    [[nodiscard]] bool is_told_by(const std::string& message) const {
        const std::string text = fault->text;
        const std::size_t number = text.find(" N ");  // the limit, which differs between machines
        const std::string slot = fault->where == Fault::Where::slots
                                     ? " in `" + std::string(place->slot) + "`"
                                     : std::string();
        if (number == text.npos) return message.find(text + slot) != message.npos;
        return message.find(text.substr(0, number + 1)) != message.npos &&
               message.find(text.substr(number + 2) + slot) != message.npos;
    }
};

// The misbehaviours by `fault` that are tested. A fault that can happen in any place is tested in
// the first, the middle and the last place.
inline std::vector<Misbehaviour> misbehaviours_of(const Fault& fault) {
    std::vector<Misbehaviour> out;
    for (std::size_t i = 0; i < std::size(kPlacesOfFaults); ++i) {
        const PlaceOfFault& place = kPlacesOfFaults[i];
        const bool tested =
            fault.where == Fault::Where::slots ||
            (fault.where == Fault::Where::anywhere && i % 4 == 0) ||
            (fault.where == Fault::Where::build && place.name == std::string_view("build"));
        if (tested) out.push_back({&fault, &place});
    }
    return out;
}

// The rows of the tables in tests/fakes/README.md, without headings.
inline std::string rows_of_places() {
    std::string out;
    for (const PlaceOfFault& place : kPlacesOfFaults)
        out +=
            "| `" + std::string(place.name) + "` | " + place.stage + " | `" + place.slot + "` |\n";
    return out;
}
inline std::string rows_of_faults() {
    std::string out;
    for (const Fault& fault : kFaults) {
        const bool refused = fault.effect == Fault::Effect::refused;
        const char* const effects[] = {"none", "a warning", "a warning; the device is not used",
                                       "refused"};
        out += "| `" + std::string(fault.name) + "` | " +
               (fault.where == Fault::Where::build ? "`build`" : "anywhere") + " | " +
               effects[static_cast<int>(fault.effect)] + " | ";
        if (fault.effect == Fault::Effect::none) {
            out += "| | |\n";
            continue;
        }
        out += std::string(refused ? "of the place" : "probed") + " | `" + fault.code + "` | " +
               fault.text + (fault.where == Fault::Where::slots ? " in `SLOT`" : "") + " |\n";
    }
    return out;
}

}  // namespace wye::test
