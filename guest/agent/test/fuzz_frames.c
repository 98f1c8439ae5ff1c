/*
 * The fuzz target for the frame and field parsers. With clang: -fsanitize=fuzzer (define LIBFUZZER). Without, the
 * program drives itself for a bounded time: it mutates frames that make sense, under the sanitizers.
 *   fuzz_frames [SECONDS [SEED]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frame.h"

static void look_at_fields(struct fields f)
{
    static volatile uint64_t sink __attribute__((unused));
    if (!fields_valid(f)) return;
    size_t position = 0;
    struct field field;
    while (fields_next(f, &position, &field))
        for (size_t i = 0; i < field.length; i++) sink += field.value[i];
    for (int tag = 0; tag < 256; tag++) sink += fields_u64(f, (enum tag)tag, 1);
    free(fields_text(f, T_PATH));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    struct frame_reader r = {.limit = data[0] & 1 ? FRAME_MAX : 1024};
    size_t step = 1 + (size_t)data[1] * 7;
    data += 2;
    size -= 2;
    while (size) {
        size_t available;
        uint8_t *room = frame_room(&r, &available);
        if (!room || !available || r.capacity > FRAME_HEADER + FRAME_MAX + 65536) abort();
        size_t n = size < step ? size : step;
        if (n > available) n = available;
        memcpy(room, data, n);
        frame_filled(&r, n);
        data += n;
        size -= n;
        struct frame f;
        enum frame_result result;
        while ((result = frame_next(&r, &f)) == FRAME_READY) {
            if (f.length > r.limit) abort();
            look_at_fields((struct fields){f.payload, f.length});
            if (f.length) look_at_fields((struct fields){f.payload + 1, f.length - 1});
        }
        if (result == FRAME_BROKEN) break;
    }
    frame_reader_free(&r);
    return 0;
}

#ifndef LIBFUZZER
static uint64_t state;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* A few frames with fields, then some bytes changed, removed or repeated. */
static size_t generate(uint8_t *out, size_t capacity)
{
    size_t at = 2;
    out[0] = (uint8_t)next_random();
    out[1] = (uint8_t)next_random();
    int frames = 1 + (int)(next_random() % 5);
    for (int i = 0; i < frames; i++) {
        struct builder b = {0};
        int count = (int)(next_random() % 6);
        for (int k = 0; k < count; k++) {
            uint8_t value[64];
            size_t length = next_random() % sizeof value;
            for (size_t n = 0; n < length; n++) value[n] = (uint8_t)next_random();
            if (next_random() & 1)
                build_u64(&b, (enum tag)(next_random() % 90), next_random());
            else
                build_bytes(&b, (enum tag)(next_random() % 90), value, length);
        }
        if (at + FRAME_HEADER + b.length < capacity) {
            put_u32(out + at, (uint32_t)b.length);
            out[at + 4] = (uint8_t)(next_random() % 30);
            put_u32(out + at + 5, (uint32_t)next_random());
            if (b.length) memcpy(out + at + FRAME_HEADER, b.data, b.length);
            at += FRAME_HEADER + b.length;
        }
        builder_free(&b);
    }
    int changes = (int)(next_random() % 8);
    for (int i = 0; i < changes && at > 2; i++) {
        size_t where = next_random() % at;
        if (next_random() % 4)
            out[where] = (uint8_t)(next_random() % 3 ? next_random() : 0xff);
        else
            at = where + 1;
    }
    return at;
}

int main(int count, char **words)
{
    int seconds = count > 1 ? atoi(words[1]) : 5;
    state = count > 2 ? strtoull(words[2], NULL, 10) : (uint64_t)time(NULL) * 2654435761u + 1;
    printf("fuzzing frames for %d s with seed %llu\n", seconds, (unsigned long long)state);
    fflush(stdout);
    static uint8_t input[65536];
    time_t until = time(NULL) + seconds;
    unsigned long long runs = 0;
    while (time(NULL) < until)
        for (int i = 0; i < 1000; i++, runs++) LLVMFuzzerTestOneInput(input, generate(input, sizeof input));
    printf("ok fuzz_frames: %llu inputs\n1 passed, 0 failed\n", runs);
    return 0;
}
#endif
