// SPDX-License-Identifier: Apache-2.0
__constant__ unsigned k[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u};

__device__ unsigned rotr(unsigned v, unsigned n) { return __funnelshift_r(v, v, n); }
__device__ unsigned swap_bytes(unsigned v) { return __byte_perm(v, 0, 0x0123); }

// The message word of the bytes at..at+3, at any alignment. Bytes past the data count as zero.
__device__ unsigned load(const unsigned* __restrict__ data, unsigned words, unsigned at, unsigned block) {
    unsigned word = at / 4 < words ? data[at / 4] : 0;
    if (block % 4 != 0) {
        const unsigned next = at / 4 + 1 < words ? data[at / 4 + 1] : 0;
        word = __funnelshift_r(word, next, at % 4 * 8);
    }
    return swap_bytes(word);
}

// The word at byte `at` of a padded block. The block starts at `start` and has n bytes of data.
__device__ unsigned padded(const unsigned* __restrict__ data, unsigned words, unsigned start, unsigned at, unsigned n,
                           unsigned block) {
    if (at + 4 <= n) return load(data, words, start + at, block);
    if (at > n) return 0;
    const unsigned kept = (n - at) * 8;
    return (load(data, words, start + at, block) & ~(0xffffffffu >> kept)) | (0x80000000u >> kept);
}

extern "C" __global__ void __launch_bounds__(64)
    kernel(const unsigned* __restrict__ data, unsigned* __restrict__ digests, unsigned length, unsigned block) {
    const unsigned index = blockIdx.x * 64 + threadIdx.x;
    if (index >= (length + block - 1) / block) return;
    const unsigned start = index * block, n = min(block, length - start), words = (length + 3) / 4;
    unsigned state[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                         0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
    const unsigned chunks = n / 64 + (n % 64 < 56 ? 1 : 2);
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
        unsigned w[16];
        // Whole chunks of aligned blocks need no padding.
        if (block % 4 == 0 && chunk * 64 + 64 <= n) {
#pragma unroll
            for (unsigned i = 0; i < 16; ++i) w[i] = swap_bytes(data[(start + chunk * 64) / 4 + i]);
        } else {
#pragma unroll
            for (unsigned i = 0; i < 16; ++i) w[i] = padded(data, words, start, chunk * 64 + i * 4, n, block);
        }
        if (chunk + 1 == chunks) {
            w[14] = n >> 29;
            w[15] = n << 3;
        }
        unsigned a = state[0], b = state[1], c = state[2], d = state[3];
        unsigned e = state[4], f = state[5], g = state[6], h = state[7];
#pragma unroll
        for (unsigned i = 0; i < 64; ++i) {
            unsigned& word = w[i % 16];
            if (i >= 16) {
                const unsigned p = w[(i + 1) % 16], q = w[(i + 14) % 16];
                word += (rotr(p, 7) ^ rotr(p, 18) ^ (p >> 3)) + w[(i + 9) % 16] + (rotr(q, 17) ^ rotr(q, 19) ^ (q >> 10));
            }
            const unsigned t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + (g ^ (e & (f ^ g))) + k[i] + word;
            const unsigned t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) | (c & (a | b)));
            h = g;
            g = f;
            f = e;
            e = d + t1;
            d = c;
            c = b;
            b = a;
            a = t1 + t2;
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
        state[5] += f;
        state[6] += g;
        state[7] += h;
    }
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) digests[index * 8 + i] = swap_bytes(state[i]);
}
