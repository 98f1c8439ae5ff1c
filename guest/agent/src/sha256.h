/* SHA-256 and HMAC (FIPS 180-4, RFC 2104), for the proofs of the handshake. */
#ifndef ISOLA_SHA256_H
#define ISOLA_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32 };

void sha256(const void *data, size_t length, uint8_t out[SHA256_SIZE]);
void hmac_sha256(const uint8_t *key, size_t key_length, const void *data, size_t length, uint8_t out[SHA256_SIZE]);
/* Compares in constant time. */
bool equal_in_constant_time(const uint8_t *a, const uint8_t *b, size_t length);

#endif
