// SPDX-License-Identifier: Apache-2.0
#include "exec/program/disk_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <utility>

#include "registry/json.hpp"
#include "wye/sdk/build_id.hpp"
#include "wye/sdk/numbers.hpp"

namespace wye::exec {
namespace {

constexpr char kInside = 0;  // an address inside libwye
constexpr const char* kNoBuildId = "libwye was linked without a build id (ld --build-id)";

std::string text_of(const registry::Config& config, std::string_view key) {
    const auto found = config.find(key);
    return found == config.end() ? std::string() : found->second;
}

std::string programs_of(const std::string& folder) {
    return folder.empty() ? folder : folder + "/programs";
}

// The size limit of the cache. An invalid size turns the cache off, and `off` gets the reason.
std::uint64_t limit_of(const registry::Config& config, std::string& off) {
    const auto found = config.find("cache_size");
    if (found == config.end()) return cache::kDefaultLimit;
    if (const auto wrong = wrong_cache_size(config)) off = wrong->text();
    return sdk::parse_size(found->second).value_or(0);
}

// The value of a `name=value` line of a key.
std::string line_of(std::string_view key, std::string_view name) {
    for (std::size_t at = 0; at < key.size() && key[at] != '\n';) {
        const std::size_t end = std::min(key.find('\n', at), key.size());
        const std::string_view line = key.substr(at, end - at);
        if (line.starts_with(name) && line.substr(name.size()).starts_with('='))
            return std::string(line.substr(name.size() + 1));
        at = end + 1;
    }
    return {};
}

std::int64_t ns_of(const timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The time by the clock that file systems use: a file made from now on does not have an earlier
// time.
std::int64_t coarse_now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return ns_of(now);
}

struct Settings {
    std::string off;
    std::uint64_t limit;
};

Settings settings_of(const registry::Config& config, const std::string& build,
                     const std::optional<Error>& refused) {
    Settings out{refused ? refused->text() : build.empty() ? kNoBuildId : "", 0};
    out.limit = limit_of(config, out.off);
    return out;
}

}  // namespace

std::optional<Error> wrong_cache_size(const registry::Config& config) {
    const auto found = config.find("cache_size");
    if (found == config.end() || sdk::parse_size(found->second)) return {};
    return Error(Code::INVALID_ARGUMENT, fmt::format("`{}` is not a valid size", found->second),
                 "Fix: set WYE_CACHE_SIZE (or `cache_size`) to something like 512MiB, or to 0",
                 "cache_size");
}

DiskCache::DiskCache(const std::shared_ptr<const registry::HostServices>& host,
                     std::optional<Error> why)
    : refused(std::move(why)),
      build(sdk::build_id(&kInside)),
      folder(text_of(host->config(), "cache_folder")),
      store(
          programs_of(folder), settings_of(host->config(), build, refused).limit,
          settings_of(host->config(), build, refused).off,
          [host](const std::string& text) { host->log(WYE_LOG_WARNING, "cache", text); },
          [where = folder] { return cache::trim_kept(where, UINT64_MAX); }),
      begun_ns(coarse_now_ns()) {}

DiskCache::~DiskCache() {
    struct stat status {};
    if (folder.empty() || ::stat(folder.c_str(), &status) != 0 || ns_of(status.st_mtim) < begun_ns)
        return;
    try {
        const std::uint64_t limit = store.limit() != 0 ? store.limit() : cache::kDefaultLimit;
        cache::trim_kept(folder, limit / 8);
    } catch (const std::exception&) {  // no memory: the next process trims
    }
}

Result<std::string> cache_json(DiskCache& cache) {
    using registry::Json;
    if (cache.refused) return *cache.refused;
    const std::string trouble = cache.store.trouble();
    const cache::Counts counts = cache.store.counts();
    WYE_ASSIGN(const std::vector<cache::Listed> listed, cache.store.list());
    Json entries = Json::array();
    std::uint64_t bytes = 0;
    for (const cache::Listed& one : listed) {
        bytes += one.bytes;
        const std::string plugin = line_of(one.key, "plugin");
        entries.push_back({{"program", line_of(one.key, "program")},
                           {"kind", line_of(one.key, "kind")},
                           {"format", line_of(one.key, "format")},
                           {"plugin", plugin.substr(0, plugin.find(' '))},
                           {"device", line_of(one.key, "device")},
                           {"bytes", one.bytes},
                           {"used_unix_ns", one.used_ns}});
    }
    WYE_ASSIGN(const std::vector<cache::Kept> found, cache::list_kept(cache.folder));
    Json kept = Json::array();
    for (const cache::Kept& one : found)
        kept.push_back({{"name", one.name},
                        {"kind", one.kind},
                        {"key", one.key},
                        {"sound", !one.key.empty()},
                        {"bytes", one.bytes},
                        {"made_unix_ns", one.made_ns}});
    Json out = {{"schema_version", 1},
                {"folder", cache.store.folder()},
                {"usable", trouble.empty()},
                {"trouble", trouble.empty() ? Json() : Json(trouble)},
                {"limit_bytes", cache.store.limit()},
                {"bytes", bytes},
                {"hits", counts.hits},
                {"misses", counts.misses},
                {"stored", counts.stored},
                {"evicted", counts.evicted},
                {"damaged", counts.damaged},
                {"entries", std::move(entries)},
                {"kept", std::move(kept)}};
    return out.dump(2);
}

Result<std::uint64_t> clear_cache(DiskCache& cache) {
    if (cache.refused) return *cache.refused;
    WYE_ASSIGN(const std::uint64_t entries, cache.store.clear());
    WYE_ASSIGN(const std::uint64_t kept, cache::clear_kept(cache.folder));
    return entries + kept;
}

}  // namespace wye::exec
