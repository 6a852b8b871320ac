// SPDX-License-Identifier: Apache-2.0
#include "differential/target.hpp"

#include <unistd.h>

#include <memory>

#include <nlohmann/json.hpp>

#include "support/caller_state.hpp"
#include "support/device.hpp"
#include "support/random_case.hpp"

namespace differential {
namespace {

using nlohmann::json;

// Writes a message. A driver's text may have bytes that are not UTF-8.
std::string text_of(const json& message) {
    return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

json of_error(const wye::Error& error) {
    return {{"error", error.message}, {"fix", error.fix}, {"code", static_cast<int>(error.code)}};
}

json of_finding(const Finding& finding) {
    return {{"kind", static_cast<int>(finding.kind)},
            {"code", static_cast<int>(finding.code)},
            {"text", finding.text}};
}

// Answers a question, in the child: a seed gives a random case, a case gives a finding.
json answer(const support::Device& device, const json& question) {
    if (question.contains("seed"))
        return {{"case", support::write_case(
                             support::random_case(question["seed"], support::options_for(device),
                                                  question["traps"]),
                             {})}};
    const auto what = support::read_case(question["case"]);
    if (!what.ok()) return of_error(what.error());
    // The text is parsed again in the caller's state, since that state may affect literals.
    const support::Runner runner = [&](const wye::Program&, const Case& one) {
        wye::Result<support::Ending> out =
            wye::Error(wye::Code::INTERNAL, "the state cannot be set", "");
        const bool kept = support::caller_states()[question["state"]].run([&] {
            const auto program = device.context().program_from_text(one.text);
            out = program.ok() ? on(device)(*program, one) : program.error();
        });
        if (out.ok() && !kept)
            out = wye::Error(wye::Code::INTERNAL, "the caller's state was changed", "");
        return out;
    };
    return of_finding(judge(device.context(), runner, *what,
                            {question["steps"].get<std::uint64_t>(), question["races"]}));
}

// Opens the device, in the child. An empty question asks whether the device is open.
Child::Answer open_device(const std::string& selector, const TargetOptions& options,
                          std::size_t state) {
    // The alarm ends the process even if the driver hangs.
    ::alarm(options.ends_after);
    wye::Result<support::Device> opened =
        wye::Error(wye::Code::INTERNAL, "the state cannot be set", "");
    (void)support::caller_states()[state].run(
        [&] { opened = support::Device::open(selector, options.config); });
    if (!opened.ok())
        return [text = text_of(of_error(opened.error()))](const std::string&) { return text; };
    const auto device = std::make_shared<support::Device>(std::move(opened).value());
    device->give_up_after(options.timeout_ns);
    return [device, limit = options.ends_after](const std::string& message) {
        ::alarm(limit);
        const json question = json::parse(message);
        return text_of(question.empty() ? json{{"selector", device->selector()}}
                                        : answer(*device, question));
    };
}

std::string report() {
    const auto context = wye::Context::create();
    const auto text = context.ok() ? context->report() : wye::Result<std::string>("");
    return text.ok() ? *text : std::string();
}

// Asks the child. nullopt: the child has ended. Otherwise the answer, which may be an error.
std::optional<wye::Result<json>> ask(Child& child, const json& question) {
    const auto text = child.ask(text_of(question));
    if (!text) return std::nullopt;
    json message = json::parse(*text);
    if (message.contains("error"))
        return wye::Error(static_cast<wye::Code>(message["code"].get<int>()),
                          message["error"].get<std::string>(), message["fix"].get<std::string>());
    return wye::Result<json>(std::move(message));
}

}  // namespace

std::string report_of_devices() {
    auto child = Child::start([] { return [](const std::string&) { return report(); }; });
    const auto text = child.ok() ? child->ask({}) : std::nullopt;
    return text.value_or("");
}

std::vector<std::string> usable_devices() {
    std::vector<std::string> out;
    const json report = json::parse(report_of_devices(), nullptr, false);
    if (!report.is_object()) return out;
    for (const auto& device : report.value("devices", json::array()))
        if (device.value("usable", false)) out.push_back(device.value("selector", ""));
    return out;
}

wye::Result<Target> Target::open(const std::string& selector, TargetOptions options) {
    Target target(selector, std::move(options));
    WYE_TRY(target.start());
    return target;
}

wye::Result<void> Target::start() {
    WYE_ASSIGN(Child child,
               Child::start([this] { return open_device(selector_, options_, state_); }));
    const auto opened = ask(child, json::object());
    if (!opened)
        return wye::Error(wye::Code::DRIVER,
                          "opening device `" + selector_ + "` ended the process: " + child.stop(),
                          "Fix: see `wye info --verify`");
    if (!opened->ok()) return opened->error();
    selector_ = (**opened)["selector"];
    child_ = std::move(child);
    return {};
}

wye::Result<Case> Target::random(std::uint64_t seed, bool traps) {
    if (!child_) WYE_TRY(start());
    const auto made = ask(*child_, {{"seed", seed}, {"traps", traps}});
    if (!made) return wye::Error(wye::Code::INTERNAL, "the generator ended: " + child_->stop(), "");
    if (!made->ok()) return made->error();
    return support::read_case((**made)["case"]);
}

Finding Target::judge(const Case& what, const Care& care) {
    if (!child_)
        if (auto started = start(); !started.ok())
            return {Finding::Kind::Error, started.error().code, started.error().text()};
    const auto answer = ask(*child_, {{"case", support::write_case(what, {})},
                                      {"steps", care.steps},
                                      {"races", care.races},
                                      {"state", state_}});
    if (!answer) {
        const std::string how = child_->stop();
        child_.reset();
        return {Finding::Kind::Ended, wye::Code::DRIVER, "the process ended: " + how};
    }
    if (!answer->ok()) return {Finding::Kind::Error, answer->error().code, answer->error().text()};
    const json& found = **answer;
    Finding finding{static_cast<Finding::Kind>(found["kind"].get<int>()),
                    static_cast<wye::Code>(found["code"].get<int>()), found["text"]};
    if (state_ != 0 && finding.differs())
        finding.text += std::string(" (caller: ") + support::caller_states()[state_].name + ")";
    const bool stuck = finding.code == wye::Code::TIMEOUT;
    if (finding.kind == Finding::Kind::Error && (stuck || finding.code == wye::Code::DEVICE_LOST)) {
        if (stuck) child_->kill();  // since closing the device might never end
        child_.reset();
    }
    return finding;
}

}  // namespace differential
