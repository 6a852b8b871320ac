// SPDX-License-Identifier: Apache-2.0
//
// The results of `wye conform` for a plugin, as plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wye::tool::conform {

enum class Depth : std::uint8_t { quick, usual, full };
[[nodiscard]] std::string_view depth_name(Depth depth);  // "quick", "default", "full"

enum class Outcome : std::uint8_t { passed, failed, not_applicable };
[[nodiscard]] std::string_view outcome_name(Outcome outcome);  // "not_applicable"

struct Case {
    std::string name;
    std::vector<std::string> rules;  // "P-25"
    Outcome result = Outcome::passed;
    std::vector<std::string> messages;  // the failures, or why the case does not apply
    std::vector<std::string> notes;     // remarks, which are no failures
    double seconds = 0;                 // of the last try
    unsigned tries = 1;                 // 2: the first try ran into the time limit
    // The failed rule whose breach probably caused this failure; empty: none.
    std::string consequence_of;
};

struct Group {
    std::string name, about;
    std::vector<Case> cases;
    std::string not_tried;  // why cases did not run; empty: all cases ran
    std::string partly;     // how many programs ran within the time; empty: all
    double seconds = 0;

    [[nodiscard]] std::size_t count(Outcome outcome) const;
};

struct Abi {
    std::uint32_t major = 0, minor = 0, draft = 0, host_minor_needed = 0;
};

struct Device {
    std::uint32_t index = 0;
    bool usable = false;
    std::string name, reason;
    std::vector<std::string> formats;
};

struct Verdict {
    std::string path;                 // of the plugin's file
    std::string id, version, vendor;  // empty: not known yet
    std::optional<Abi> abi;
    std::vector<Device> devices;   // all that the plugin lists
    std::optional<Device> device;  // the device that the cases used
    Depth depth = Depth::usual;
    std::vector<Group> groups;
    bool hangs = false;  // a case also exceeded the time limit of its second try

    [[nodiscard]] std::size_t count(Outcome outcome) const;
    [[nodiscard]] bool conforms() const { return count(Outcome::failed) == 0; }
    [[nodiscard]] std::size_t groups_tried() const;
    // The rules of the failed cases, without repetition, ascending by number.
    [[nodiscard]] std::vector<std::string> failed_rules() const;
    // The first failed rule of the groups `device` and `order`, on which all later cases rely;
    // empty: none.
    [[nodiscard]] std::string root() const;
    [[nodiscard]] const Group* find(const std::string& name) const;
};

// The text of a rule, from plugin-abi/README.md, as "a plugin TEXT; otherwise CONSEQUENCE". Empty
// for an unknown rule.
[[nodiscard]] std::string rule_text(const std::string& rule);
// "Fix: P-25: a plugin ...": what to do about a failed case, by its rules.
[[nodiscard]] std::string remedy_of(const std::vector<std::string>& rules);

// "acme 0.1.0 conforms: 200 cases passed, 12 do not apply", then the groups that were not tried.
[[nodiscard]] std::string sentence_of(const Verdict& verdict);

// The document of `--json`, which conform.schema.json describes.
[[nodiscard]] std::string document_of(const Verdict& verdict);

}  // namespace wye::tool::conform
