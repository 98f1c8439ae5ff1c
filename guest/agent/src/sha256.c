#include "sha256.h"

#include <string.h>

struct hash {
    uint32_t state[8];
    uint64_t total;
    uint8_t block[64];
    size_t used;
};

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void mix(uint32_t s[8], const uint8_t p[64])
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    uint32_t v[8];
    memcpy(v, s, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t e = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t t = v[7] + e + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[i] + w[i];
        uint32_t a = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t u = a + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t;
        v[0] = t + u;
    }
    for (int i = 0; i < 8; i++) s[i] += v[i];
}

static void start(struct hash *h)
{
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(h->state, initial, sizeof initial);
    h->total = 0;
    h->used = 0;
}

static void add(struct hash *h, const void *data, size_t length)
{
    const uint8_t *p = data;
    h->total += length;
    while (length > 0) {
        size_t take = sizeof h->block - h->used;
        if (take > length) take = length;
        memcpy(h->block + h->used, p, take);
        h->used += take;
        p += take;
        length -= take;
        if (h->used == sizeof h->block) {
            mix(h->state, h->block);
            h->used = 0;
        }
    }
}

static void finish(struct hash *h, uint8_t out[SHA256_SIZE])
{
    uint64_t bits = h->total * 8;
    static const uint8_t padding[64] = {0x80};
    size_t pad = h->used < 56 ? 56 - h->used : 120 - h->used;
    add(h, padding, pad);
    uint8_t tail[8];
    for (int i = 0; i < 8; i++) tail[i] = (uint8_t)(bits >> (56 - 8 * i));
    add(h, tail, sizeof tail);
    for (int i = 0; i < SHA256_SIZE; i++) out[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256(const void *data, size_t length, uint8_t out[SHA256_SIZE])
{
    struct hash h;
    start(&h);
    add(&h, data, length);
    finish(&h, out);
}

void hmac_sha256(const uint8_t *key, size_t key_length, const void *data, size_t length, uint8_t out[SHA256_SIZE])
{
    uint8_t block[64] = {0}, pad[64];
    if (key_length > sizeof block)
        sha256(key, key_length, block);
    else
        memcpy(block, key, key_length);

    struct hash h;
    start(&h);
    for (size_t i = 0; i < sizeof pad; i++) pad[i] = block[i] ^ 0x36;
    add(&h, pad, sizeof pad);
    add(&h, data, length);
    finish(&h, out);

    uint8_t inner[SHA256_SIZE];
    memcpy(inner, out, sizeof inner);
    start(&h);
    for (size_t i = 0; i < sizeof pad; i++) pad[i] = block[i] ^ 0x5c;
    add(&h, pad, sizeof pad);
    add(&h, inner, sizeof inner);
    finish(&h, out);
}

bool equal_in_constant_time(const uint8_t *a, const uint8_t *b, size_t length)
{
    uint8_t difference = 0;
    for (size_t i = 0; i < length; i++) difference |= a[i] ^ b[i];
    return difference == 0;
}
