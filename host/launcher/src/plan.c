#include "plan.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ssize_t read_all(int fd, uint8_t *at, size_t room)
{
    size_t have = 0;
    while (have < room) {
        ssize_t n = read(fd, at + have, room - have);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

static size_t get_u32(const uint8_t *p)
{
    return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

/* u32 number of words, then for each word its u32 length and its bytes. */
static const char *read_step(const uint8_t **at, const uint8_t *end, struct step *out)
{
    if (end - *at < 4) return "the plan is truncated";
    size_t count = get_u32(*at);
    *at += 4;
    if (count == 0 || count > PLAN_MAX / 4) return "a step of the plan has no words, or too many";
    *out = (struct step){.count = (int)count};
    for (int i = 0; i < SOURCES_MAX; i++) out->sources[i] = -1;
    out->words = calloc(count + 1, sizeof *out->words);
    out->lengths = calloc(count, sizeof *out->lengths);
    if (!out->words || !out->lengths) return "no memory for the plan";
    for (size_t i = 0; i < count; i++) {
        if (end - *at < 4) return "the plan is truncated";
        size_t length = get_u32(*at);
        *at += 4;
        if (length > (size_t)(end - *at)) return "the plan is truncated";
        out->words[i] = malloc(length + 1);
        if (!out->words[i]) return "no memory for the plan";
        memcpy(out->words[i], *at, length);
        out->words[i][length] = 0;
        out->lengths[i] = length;
        *at += length;
    }
    return NULL;
}

static const char *read_steps(const uint8_t *at, const uint8_t *end, struct plan *out)
{
    while (at < end) {
        if (out->count == STEPS_MAX) return "the plan has too many steps";
        const char *problem = read_step(&at, end, &out->steps[out->count++]);
        if (problem) return problem;
    }
    return out->count ? NULL : "the plan is empty";
}

static const char *read_plan(int fd, size_t expected, uint8_t *data, struct plan *out)
{
    ssize_t length = read_all(fd, data, expected < PLAN_MAX ? expected : PLAN_MAX);
    if (length < 0) return "cannot read the plan";
    if (length == PLAN_MAX) return "the plan is longer than 2 MiB";
    if (expected < PLAN_MAX && (size_t)length < expected) return "the plan is truncated";
    return read_steps(data, data + length, out);
}

const char *plan_read(int fd, size_t expected, struct plan *out)
{
    uint8_t *data = malloc(PLAN_MAX);
    out->steps = calloc(STEPS_MAX, sizeof *out->steps);
    const char *problem = data && out->steps ? read_plan(fd, expected, data, out) : "no memory for the plan";
    free(data);
    return problem;
}
