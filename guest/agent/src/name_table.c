#include "name_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "sha256.h"

enum { CHUNK = 256, BUCKETS = 16384, KEY_SIZE = 16, FIRST_HOST = 1 /* so that slot 1 is 198.18.0.2 */ };

/* Slot 0 is the head of the list by age and has no name. */
struct slot {
    char *name;
    uint16_t older, newer, next; /* next: of the same bucket */
};

static struct slot *chunks[NAME_TABLE_MAX / CHUNK + 1]; /* allocated as the table grows */
static uint16_t buckets[BUCKETS];
static uint16_t used;

static struct slot *slot(uint16_t number)
{
    return &chunks[number / CHUNK][number % CHUNK];
}

/* Keyed, so that no guest process can choose names that share a bucket. */
static uint16_t bucket_of(const char *name)
{
    static uint8_t key[KEY_SIZE];
    static bool has_key;
    if (!has_key) {
        has_key = true; /* a key that cannot be read stays 0: buckets must not change */
        ssize_t ignored = getrandom(key, sizeof key, GRND_NONBLOCK);
        (void)ignored;
    }
    uint8_t digest[SHA256_SIZE];
    hmac_sha256(key, sizeof key, (const uint8_t *)name, strlen(name), digest);
    return (uint16_t)((digest[0] << 8 | digest[1]) % BUCKETS);
}

static void list_remove(struct slot *s)
{
    slot(s->older)->newer = s->newer;
    slot(s->newer)->older = s->older;
}

static void list_add_newest(uint16_t number)
{
    struct slot *s = slot(number), *head = slot(0);
    s->older = head->older;
    s->newer = 0;
    slot(head->older)->newer = number;
    head->older = number;
}

static void touch(uint16_t number)
{
    list_remove(slot(number));
    list_add_newest(number);
}

static void bucket_remove(uint16_t number)
{
    uint16_t *at = &buckets[bucket_of(slot(number)->name)];
    while (*at != number) at = &slot(*at)->next;
    *at = slot(number)->next;
}

static bool allocate(uint16_t number)
{
    struct slot **chunk = &chunks[number / CHUNK];
    if (!*chunk) *chunk = calloc(CHUNK, sizeof **chunk);
    return *chunk;
}

/* Returns a slot that is in neither list nor bucket; 0 when out of memory. */
static uint16_t take_slot(void)
{
    if (used < NAME_TABLE_MAX && allocate(0) && allocate((uint16_t)(used + 1))) return ++used;
    uint16_t oldest = used ? slot(0)->newer : 0;
    if (!oldest) return 0;
    bucket_remove(oldest);
    list_remove(slot(oldest));
    free(slot(oldest)->name);
    return oldest;
}

uint32_t name_table_address(const char *name)
{
    uint16_t bucket = bucket_of(name);
    for (uint16_t at = buckets[bucket]; at; at = slot(at)->next)
        if (!strcmp(slot(at)->name, name)) {
            touch(at);
            return NAME_TABLE_NETWORK + FIRST_HOST + at;
        }
    char *copy = strdup(name);
    uint16_t taken = copy ? take_slot() : 0;
    if (!taken) {
        free(copy);
        return 0;
    }
    slot(taken)->name = copy;
    slot(taken)->next = buckets[bucket];
    buckets[bucket] = taken;
    list_add_newest(taken);
    return NAME_TABLE_NETWORK + FIRST_HOST + taken;
}

const char *name_table_name(uint32_t address)
{
    uint32_t number = address - NAME_TABLE_NETWORK - FIRST_HOST;
    if (number < 1 || number > used) return NULL;
    touch((uint16_t)number);
    return slot((uint16_t)number)->name;
}
