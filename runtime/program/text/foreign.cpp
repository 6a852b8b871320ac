// SPDX-License-Identifier: Apache-2.0
#include "program/text/foreign.hpp"

#include <algorithm>
#include <array>

#include "program/text/lexer.hpp"

namespace wye::ir {
namespace {

struct Pair {
    std::string_view theirs;
    std::string_view ours;
};

template <std::size_t N>
std::string_view look_up(const std::array<Pair, N>& table, std::string_view text) {
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const Pair& p) { return p.theirs == text; });
    return found == table.end() ? std::string_view() : found->ours;
}

constexpr std::array kScalars = std::to_array<Pair>({
    {"float", "f32"},     {"double", "f64"},   {"half", "f16"},      {"int", "i32"},
    {"uint", "u32"},      {"long", "i64"},     {"ulong", "u64"},     {"char", "i8"},
    {"uchar", "u8"},      {"short", "i16"},    {"ushort", "u16"},    {"byte", "u8"},
    {"bfloat16", "bf16"}, {"unsigned", "u32"}, {"signed", "i32"},    {"size_t", "u64"},
    {"usize", "u64"},     {"isize", "i64"},    {"int8_t", "i8"},     {"uint8_t", "u8"},
    {"int16_t", "i16"},   {"uint16_t", "u16"}, {"int32_t", "i32"},   {"uint32_t", "u32"},
    {"int64_t", "i64"},   {"uint64_t", "u64"}, {"float16_t", "f16"}, {"float32_t", "f32"},
    {"float64_t", "f64"}, {"float16", "f16"},  {"float32", "f32"},   {"float64", "f64"},
    {"int32", "i32"},     {"uint32", "u32"},   {"int64", "i64"},     {"uint64", "u64"},
    {"dword", "u32"},     {"vec", "f32"},      {"ivec", "i32"},      {"uvec", "u32"},
    {"dvec", "f64"},      {"bvec", "bool"},
});

constexpr std::array kNames = std::to_array<Pair>({
    // The position of an invocation.
    {"threadIdx", "write `local_id`"},
    {"blockIdx", "write `workgroup_id`"},
    {"blockDim", "write `workgroup_size`"},
    {"gridDim", "write `num_workgroups`"},
    {"warpSize", "write `subgroup_size`"},
    {"gl_GlobalInvocationID", "write `global_id`"},
    {"gl_LocalInvocationID", "write `local_id`"},
    {"gl_LocalInvocationIndex", "write `local_index`"},
    {"gl_WorkGroupID", "write `workgroup_id`"},
    {"gl_WorkGroupSize", "write `workgroup_size`"},
    {"gl_NumWorkGroups", "write `num_workgroups`"},
    {"gl_SubgroupInvocationID", "write `subgroup_lane`"},
    {"gl_SubgroupSize", "write `subgroup_size`"},
    {"gl_SubgroupID", "write `subgroup_id`"},
    {"global_invocation_id", "write `global_id`"},
    {"local_invocation_id", "write `local_id`"},
    {"local_invocation_index", "write `local_index`"},
    {"subgroup_invocation_id", "write `subgroup_lane`"},
    {"thread_position_in_grid", "write `global_id`"},
    {"thread_position_in_threadgroup", "write `local_id`"},
    {"get_global_id", "write `global_id.x`"},
    {"get_local_id", "write `local_id.x`"},
    {"get_group_id", "write `workgroup_id.x`"},
    {"get_local_size", "write `workgroup_size.x`"},
    {"get_num_groups", "write `num_workgroups.x`"},
    {"get_global_size", "write `num_workgroups.x * workgroup_size.x`"},
    {"get_local_linear_id", "write `local_index`"},
    // Barriers, which order memory too.
    {"__syncthreads", "write `barrier;`"},
    {"__syncwarp", "write `barrier;`"},
    {"syncthreads", "write `barrier;`"},
    {"workgroupBarrier", "write `barrier;`"},
    {"storageBarrier", "write `barrier;`"},
    {"memoryBarrier", "write `barrier;`"},
    {"memoryBarrierShared", "write `barrier;`"},
    {"memoryBarrierBuffer", "write `barrier;`"},
    {"groupMemoryBarrier", "write `barrier;`"},
    {"threadgroup_barrier", "write `barrier;`"},
    {"work_group_barrier", "write `barrier;`"},
    {"mem_fence", "write `barrier;`"},
    {"__threadfence", "write `barrier;`"},
    {"__threadfence_block", "write `barrier;`"},
    {"GroupMemoryBarrierWithGroupSync", "write `barrier;`"},
    {"AllMemoryBarrierWithGroupSync", "write `barrier;`"},
    {"workgroupUniformLoad", "write `workgroup_uniform_load(s[i])`"},
    // Atomics.
    {"atomicAdd", "write `atomic_add(b[i], value)`"},
    {"atomicSub", "write `atomic_add(b[i], 0u - value)`"},
    {"atomicMin", "write `atomic_min(b[i], value)`"},
    {"atomicMax", "write `atomic_max(b[i], value)`"},
    {"atomicAnd", "write `atomic_and(b[i], value)`"},
    {"atomicOr", "write `atomic_or(b[i], value)`"},
    {"atomicXor", "write `atomic_xor(b[i], value)`"},
    {"atomicExch", "write `atomic_exchange(b[i], value)`"},
    {"atomicExchange", "write `atomic_exchange(b[i], value)`"},
    {"atomicCAS", "write `atomic_cas(b[i], expected, new)`"},
    {"atomicCompSwap", "write `atomic_cas(b[i], expected, new)`"},
    {"atomicCompareExchangeWeak", "write `atomic_cas(b[i], expected, new)`"},
    {"atomicLoad", "write `atomic_load(b[i])`"},
    {"atomicStore", "write `atomic_store(b[i], value)`"},
    {"atomicInc", "write `atomic_add(b[i], 1u)`"},
    {"atomic_inc", "write `atomic_add(b[i], 1u)`"},
    {"atomic_sub", "write `atomic_add(b[i], 0u - value)`"},
    {"atomic_cmpxchg", "write `atomic_cas(b[i], expected, new)`"},
    {"atomic_xchg", "write `atomic_exchange(b[i], value)`"},
    {"InterlockedAdd", "write `atomic_add(b[i], value)`"},
    {"InterlockedMin", "write `atomic_min(b[i], value)`"},
    {"InterlockedMax", "write `atomic_max(b[i], value)`"},
    {"atomic_fetch_add_explicit", "write `atomic_add(b[i], value)`"},
    // Functions.
    {"fmod", "write `x - trunc(x / y) * y`"},
    {"mod", "write `x - floor(x / y) * y`"},
    {"mix", "write `x + t * (y - x)`"},
    {"lerp", "write `x + t * (y - x)`"},
    {"fract", "write `x - floor(x)`"},
    {"frac", "write `x - floor(x)`"},
    {"saturate", "write `clamp(x, 0.0, 1.0)`"},
    {"sign", "write `copysign(1.0, x)`"},
    {"dot", "add the products of the components, as in `v.x * w.x + v.y * w.y`"},
    {"length", "write `len(b)` for an array, or `sqrt(v.x * v.x + v.y * v.y)` for a vector"},
    {"normalize", "divide the vector by a vector of its length"},
    {"inversesqrt", "write `rsqrt(x)`"},
    {"inverseSqrt", "write `rsqrt(x)`"},
    {"fabs", "write `abs(x)`"},
    {"fabsf", "write `abs(x)`"},
    {"fmin", "write `min(x, y)`"},
    {"fmax", "write `max(x, y)`"},
    {"fminf", "write `min(x, y)`"},
    {"fmaxf", "write `max(x, y)`"},
    {"mad", "write `fma(x, y, z)`"},
    {"rint", "write `round(x)`"},
    {"roundEven", "write `round(x)`"},
    {"bitCount", "write `popcount(x)`"},
    {"countOneBits", "write `popcount(x)`"},
    {"countbits", "write `popcount(x)`"},
    {"__popc", "write `popcount(x)`"},
    {"__clz", "write `clz(x)`"},
    {"countLeadingZeros", "write `clz(x)`"},
    {"countTrailingZeros", "write `ctz(x)`"},
    {"reverseBits", "write `reverse_bits(x)`"},
    {"bitfieldReverse", "write `reverse_bits(x)`"},
    {"__brev", "write `reverse_bits(x)`"},
    {"mulhi", "write `mul_hi(x, y)`"},
    {"__umulhi", "write `mul_hi(x, y)`"},
    {"floatBitsToInt", "write `bitcast<i32>(x)`"},
    {"floatBitsToUint", "write `bitcast<u32>(x)`"},
    {"intBitsToFloat", "write `bitcast<f32>(x)`"},
    {"uintBitsToFloat", "write `bitcast<f32>(x)`"},
    {"__float_as_int", "write `bitcast<i32>(x)`"},
    {"__float_as_uint", "write `bitcast<u32>(x)`"},
    {"__int_as_float", "write `bitcast<f32>(x)`"},
    {"__uint_as_float", "write `bitcast<f32>(x)`"},
    {"as_float", "write `bitcast<f32>(x)`"},
    {"as_int", "write `bitcast<i32>(x)`"},
    {"as_uint", "write `bitcast<u32>(x)`"},
    {"asfloat", "write `bitcast<f32>(x)`"},
    {"asint", "write `bitcast<i32>(x)`"},
    {"asuint", "write `bitcast<u32>(x)`"},
    {"arrayLength", "write `len(b)`"},
    {"sizeof", "write the number of bytes"},
    {"range", "write `for i in 0..n { ... }`"},
    {"print", "store the value in an `output` buffer; a program prints nothing"},
    {"printf", "store the value in an `output` buffer; a program prints nothing"},
    {"debugPrintfEXT", "store the value in an `output` buffer; a program prints nothing"},
    {"assert", "write `if !(CONDITION) { trap 1; }`"},
    // Constants.
    {"True", "write `true`"},
    {"False", "write `false`"},
    {"INFINITY", "write `inf_f32`"},
    {"HUGE_VALF", "write `inf_f32`"},
    {"NAN", "write `nan_f32`"},
    {"M_PI", "write `3.1415927`, or `3.141592653589793f64`"},
    {"M_PI_F", "write `3.1415927`"},
    {"PI", "write `3.1415927`, or declare `const PI = 3.1415927;`"},
    {"FLT_MAX", "write `0x1.fffffep127`"},
    {"FLT_MIN", "write `0x1.0p-126`"},
    {"FLT_EPSILON", "write `0x1.0p-23`"},
    {"DBL_MAX", "write `0x1.fffffffffffffp1023f64`"},
    {"INT_MAX", "write `2147483647`"},
    {"INT_MIN", "write `-2147483648`"},
    {"UINT_MAX", "write `0xffffffffu`"},
    {"NULL", "use an index; there are no pointers"},
    {"nullptr", "use an index; there are no pointers"},
    {"null", "use an index; there are no pointers"},
    {"None", "use a number that stands for it; there are no empty values"},
});

constexpr std::string_view kFunctions =
    "declare it above `main`, as in `fn twice(a: f32) -> f32 { return a + a; }`";
constexpr std::string_view kStructs = "use a variable or a buffer for each member";

constexpr std::array kStarts = std::to_array<Pair>({
    {"switch", "write `if x == 0 { ... } else if x == 1 { ... } else { ... }`"},
    {"match", "write `if x == 0 { ... } else if x == 1 { ... } else { ... }`"},
    {"case", "write `else if x == 1 { ... }`"},
    {"default", "write `else { ... }`"},
    {"continuing", "put its statements at the end of the loop's block"},
    {"goto", "use a loop with `break` and `continue`"},
    {"discard", "write `return;`"},
    {"pass", "remove it; a block may be empty"},
    {"struct", kStructs},
    {"class", kStructs},
    {"union", kStructs},
    {"enum", "declare a `const` for each value, above `main`"},
    {"typedef", "write the type itself"},
    {"alias", "write the type itself"},
    {"type", "write the type itself"},
    {"template", "write a function for each type"},
    {"namespace", "remove it; a program is one text"},
    {"using", "remove it; a program is one text"},
    {"import", "remove it; a program is one text"},
    {"from", "remove it; a program is one text"},
    {"use", "remove it; a program is one text"},
    {"mod", "remove it; a program is one text"},
    {"enable", "remove it; `wye check` lists what a program needs"},
    {"precision", "remove it; every operation has one exact result"},
    {"layout", "write a buffer such as `input x: f32[];`, or the size as `workgroup 64;`"},
    {"override", "declare a `param` or a `const`"},
    {"def", kFunctions},
    {"func", kFunctions},
    {"function", kFunctions},
    {"pub", kFunctions},
    {"void", kFunctions},
    {"inline", kFunctions},
    {"__device__", kFunctions},
    {"__global__", "write `main { ... }`, and declare its arguments above"},
    {"__kernel", "write `main { ... }`, and declare its arguments above"},
    {"kernel", "write `main { ... }`, and declare its arguments above"},
});

// Words that one language has and Wye programs do not. A text is taken to be in the language of
// which it has the most such words.
struct Tell {
    std::string_view word;
    std::uint8_t language;
};
enum Language : std::uint8_t { kWgsl, kGlsl, kCuda, kOpenCl, kMetal, kHlsl, kRust, kPython, kC };
constexpr std::array kLanguages = std::to_array<OtherLanguage>({
    {"WGSL", ""},
    {"GLSL", ""},
    {"CUDA C++", "cuda-c"},
    {"OpenCL C", "opencl-c"},
    {"the Metal language", ""},
    {"HLSL", ""},
    {"Rust", ""},
    {"Python", ""},
    {"C", ""},
});
constexpr std::array kTells = std::to_array<Tell>({
    {"@compute", kWgsl},
    {"@workgroup_size", kWgsl},
    {"@group", kWgsl},
    {"@binding", kWgsl},
    {"@builtin", kWgsl},
    {"@id", kWgsl},
    {"var<", kWgsl},
    {"array<", kWgsl},
    {"#version", kGlsl},
    {"layout", kGlsl},
    {"#extension", kGlsl},
    {"gl_", kGlsl},
    {"__global__", kCuda},
    {"__device__", kCuda},
    {"__shared__", kCuda},
    {"threadIdx", kCuda},
    {"blockIdx", kCuda},
    {"__syncthreads", kCuda},
    {"__restrict__", kCuda},
    {"__kernel", kOpenCl},
    {"__global", kOpenCl},
    {"__local", kOpenCl},
    {"get_global_id", kOpenCl},
    {"get_local_id", kOpenCl},
    {"get_group_id", kOpenCl},
    {"metal_stdlib", kMetal},
    {"threadgroup", kMetal},
    {"thread_position_in_grid", kMetal},
    {"metal", kMetal},
    {"numthreads", kHlsl},
    {"RWStructuredBuffer", kHlsl},
    {"StructuredBuffer", kHlsl},
    {"RWByteAddressBuffer", kHlsl},
    {"cbuffer", kHlsl},
    {"groupshared", kHlsl},
    {"SV_", kHlsl},
    {"pub", kRust},
    {"mut", kRust},
    {"impl", kRust},
    {"def", kPython},
    {"import", kPython},
    {"elif", kPython},
    {"#include", kC},
    {"#define", kC},
    {"void", kC},
    {"int", kC},
    {"float", kC},
    {"double", kC},
    {"unsigned", kC},
});

}  // namespace

std::optional<OtherLanguage> other_language(std::string_view text) {
    std::array<unsigned, kLanguages.size()> seen{};
    Lexer lexer(text, nullptr);
    std::string word;
    for (Token last, token = lexer.next(); !token.is(Tok::End);
         last = token, token = lexer.next()) {
        // Some words of kTells are two tokens: `@` and a name, or a name and `<`. Others are a
        // `#` with a name: without diagnostics, the lexer returns the whole line as one token.
        word = token.text;
        if (last.is(Tok::Bad) && last.text == "@") word = "@" + word;
        if (token.is(Op::LT)) word = std::string(last.text) + "<";
        if (token.is(Tok::Bad) && word.starts_with('#')) {
            if (word.find("metal_stdlib") != std::string::npos) ++seen[kMetal];
            word = word.substr(0, std::min(word.find_first_of(" \t<\""), word.size()));
        }
        if (word.starts_with("gl_")) word = "gl_";
        if (word.starts_with("SV_")) word = "SV_";
        for (const Tell& tell : kTells)
            if (tell.word == word) ++seen[tell.language];
    }
    // C only counts if no other language does, since languages derived from C have its words, too.
    const auto most = std::max_element(seen.begin(), seen.end() - 1);
    if (*most != 0) return kLanguages[static_cast<std::size_t>(most - seen.begin())];
    if (seen[kC] != 0) return kLanguages[kC];
    return std::nullopt;
}

Type foreign_type(std::string_view text) {
    if (text.starts_with("make_")) text.remove_prefix(5);
    unsigned lanes = 1;
    const auto letter_suffix = [&](char c, std::string_view kind) {
        return text.size() == 5 && text.starts_with("vec") && text.back() == c ? kind
                                                                               : std::string_view();
    };
    for (const auto& [c, kind] : {std::pair('f', "f32"), {'i', "i32"}, {'u', "u32"}, {'h', "f16"}})
        if (!letter_suffix(c, kind).empty() && text[3] >= '2' && text[3] <= '4')
            return type_from_name(kind)->with_lanes(static_cast<std::uint8_t>(text[3] - '0'));
    const bool vector = !text.empty() && text.back() >= '2' && text.back() <= '4' &&
                        look_up(kScalars, text).empty();
    if (vector) {
        lanes = static_cast<unsigned>(text.back() - '0');
        text.remove_suffix(1);
    }
    std::string_view scalar = look_up(kScalars, text);
    if (vector && text == "bool") scalar = "bool";
    if (scalar.empty() || (!vector && text.ends_with("vec"))) return {};
    return type_from_name(scalar)->with_lanes(static_cast<std::uint8_t>(lanes));
}

std::string_view foreign_name(std::string_view text) { return look_up(kNames, text); }

std::string_view foreign_start(std::string_view text) { return look_up(kStarts, text); }

bool foreign_qualifier(std::string_view text) {
    static constexpr std::array kWords = std::to_array<std::string_view>(
        {"auto",     "static",   "volatile",   "constexpr",  "register",    "extern",      "highp",
         "mediump",  "lowp",     "private",    "__private",  "local",       "__local",     "global",
         "__global", "constant", "__constant", "__shared__", "groupshared", "threadgroup", "thread",
         "device",   "mut",      "restrict",   "readonly",   "writeonly",   "coherent"});
    return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

}  // namespace wye::ir
