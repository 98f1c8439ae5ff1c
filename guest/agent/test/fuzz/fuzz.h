/* What libFuzzer calls; replay.c calls it with files. */
#ifndef ISOLA_FUZZ_H
#define ISOLA_FUZZ_H

#include <stddef.h>
#include <stdint.h>

enum { INPUT_MAX = 1 << 20 };

int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
