/*
 * Runs a fuzz target on files, without libFuzzer.
 *   fuzz_TARGET FILE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

__attribute__((weak)) int LLVMFuzzerInitialize(int *count, char ***words)
{
    (void)count, (void)words;
    return 0;
}

struct input {
    uint8_t *bytes;
    size_t length;
};

/* Of its exact size, so that the sanitizer sees each byte that is read behind it. */
static struct input input_read(const char *path)
{
    static uint8_t all[INPUT_MAX];
    FILE *file = fopen(path, "re");
    if (!file) {
        perror(path);
        exit(2);
    }
    struct input input = {.length = fread(all, 1, sizeof all, file)};
    fclose(file);
    input.bytes = malloc(input.length ? input.length : 1);
    memcpy(input.bytes, all, input.length);
    return input;
}

int main(int count, char **words)
{
    struct input *inputs = calloc((size_t)count, sizeof *inputs);
    for (int i = 1; i < count; i++) inputs[i] = input_read(words[i]); /* before a target enters its jail */
    LLVMFuzzerInitialize(&count, &words);
    for (int i = 1; i < count; i++) {
        fprintf(stderr, "%s\n", words[i]); /* the last one is the one that fails */
        LLVMFuzzerTestOneInput(inputs[i].bytes, inputs[i].length);
        free(inputs[i].bytes);
    }
    free(inputs);
    printf("%d passed, %d failed\n", count > 1, count <= 1);
    return count <= 1;
}
