#include "watch_seen.h"

static uint64_t hash_of(int watch, const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u ^ (uint64_t)(uint32_t)watch;
    for (; *name; name++) hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
    return hash;
}

void watch_seen_add(struct watch_seen *s, int watch, const char *name)
{
    if (s->count < WATCH_SEEN_MAX) s->hashes[s->count++] = hash_of(watch, name);
}

bool watch_seen_take(struct watch_seen *s, int watch, const char *name)
{
    uint64_t hash = hash_of(watch, name);
    for (size_t i = 0; i < s->count; i++) {
        if (s->hashes[i] == hash) {
            s->hashes[i] = s->hashes[--s->count];
            return true;
        }
    }
    return false;
}
