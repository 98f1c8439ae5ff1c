/* Pure parts of the core: hashes, fields, frames, the journal. */
#include <stdlib.h>

#include "check.h"
#include "blocks.h"
#include "frame.h"
#include "journal.h"
#include "sha256.h"

static void hex(const uint8_t *bytes, size_t length, char *out)
{
    for (size_t i = 0; i < length; i++) sprintf(out + 2 * i, "%02x", bytes[i]);
}

static void sha256_matches_the_standard(void)
{
    uint8_t out[SHA256_SIZE];
    char text[65];
    sha256("abc", 3, out);
    hex(out, sizeof out, text);
    CHECK_TEXT("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", text);
    sha256("", 0, out);
    hex(out, sizeof out, text);
    CHECK_TEXT("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", text);
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    sha256(two, strlen(two), out);
    hex(out, sizeof out, text);
    CHECK_TEXT("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", text);
}

static void hmac_matches_rfc_4231(void)
{
    uint8_t out[SHA256_SIZE], key[131];
    char text[65];
    memset(key, 0x0b, 20);
    hmac_sha256(key, 20, "Hi There", 8, out);
    hex(out, sizeof out, text);
    CHECK_TEXT("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7", text);
    memset(key, 0xaa, sizeof key);
    const char *data = "Test Using Larger Than Block-Size Key - Hash Key First";
    hmac_sha256(key, sizeof key, data, strlen(data), out);
    hex(out, sizeof out, text);
    CHECK_TEXT("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54", text);
}

static void fields_round_trip(void)
{
    struct builder b = {0};
    build_text(&b, T_PATH, "/a");
    build_u64(&b, T_SIZE, 1ull << 40);
    build_bytes(&b, T_VALUE, "x\0y", 3);
    build_text(&b, T_ARG, "one");
    build_text(&b, T_ARG, "");
    struct fields f = {b.data, b.length};
    CHECK(fields_valid(f));
    CHECK_INT(1ull << 40, fields_u64(f, T_SIZE, 0));
    CHECK_INT(7, fields_u64(f, T_MODE, 7));
    CHECK_INT(9, fields_u64(f, T_PATH, 9)); /* not an integer */
    char *path = fields_text(f, T_PATH);
    CHECK_TEXT("/a", path);
    free(path);
    CHECK(fields_text(f, T_VALUE) == NULL); /* contains NUL */
    struct fields cut = {b.data, b.length - 1};
    for (; cut.length > 0; cut.length--) {
        size_t position = 0;
        struct field field;
        while (fields_next(cut, &position, &field)) CHECK(field.value + field.length <= cut.data + cut.length);
    }
    CHECK(!fields_valid((struct fields){b.data, b.length - 1}));
    builder_free(&b);
}

static void a_builder_stops_at_the_frame_limit(void)
{
    struct builder b = {0};
    char big[100000] = {0};
    for (int i = 0; i < 10; i++) build_bytes(&b, T_VALUE, big, sizeof big);
    CHECK(b.overflow);
    CHECK(b.length <= FRAME_MAX);
    CHECK(fields_valid((struct fields){b.data, b.length}));
    builder_free(&b);
}

static void feed(struct frame_reader *r, const uint8_t *bytes, size_t length)
{
    while (length) {
        size_t available;
        uint8_t *room = frame_room(r, &available);
        size_t n = length < available ? length : available;
        memcpy(room, bytes, n);
        frame_filled(r, n);
        bytes += n;
        length -= n;
        if (length) break;
    }
}

static void frames_arrive_byte_by_byte(void)
{
    struct frame_reader r = {.limit = FRAME_MAX};
    uint8_t bytes[FRAME_HEADER + 5] = {0, 0, 0, 5, DATA, 0, 0, 0, 9, 'h', 'e', 'l', 'l', 'o'};
    struct frame f;
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof bytes; i++) {
            CHECK_INT(FRAME_NONE, frame_next(&r, &f));
            feed(&r, bytes + i, 1);
            if (i == sizeof bytes - 1) {
                CHECK_INT(FRAME_READY, frame_next(&r, &f));
                CHECK_INT(DATA, f.type);
                CHECK_INT(9, f.stream);
                CHECK_INT(5, f.length);
                CHECK(memcmp(f.payload, "hello", 5) == 0);
            }
        }
    frame_reader_free(&r);
}

static void an_oversize_frame_is_refused_before_it_is_allocated(void)
{
    struct frame_reader r = {.limit = 1024};
    uint8_t bytes[FRAME_HEADER] = {0, 0, 4, 1, DATA, 0, 0, 0, 1};
    feed(&r, bytes, sizeof bytes);
    struct frame f;
    CHECK_INT(FRAME_BROKEN, frame_next(&r, &f));
    CHECK(r.capacity <= FRAME_HEADER + 1024 + 65536);
    frame_reader_free(&r);
}

static void the_largest_frame_passes(void)
{
    struct frame_reader r = {.limit = FRAME_MAX};
    uint8_t header[FRAME_HEADER] = {0, 4, 0, 0, DATA, 0, 0, 0, 1};
    uint8_t *payload = calloc(1, FRAME_MAX);
    payload[FRAME_MAX - 1] = 7;
    size_t sent = 0, total = sizeof header + FRAME_MAX;
    struct frame f;
    enum frame_result result = FRAME_NONE;
    while (result == FRAME_NONE && sent < total) {
        size_t available;
        uint8_t *room = frame_room(&r, &available);
        CHECK(available > 0);
        for (size_t i = 0; i < available && sent < total; i++, sent++) {
            room[i] = sent < sizeof header ? header[sent] : payload[sent - sizeof header];
            frame_filled(&r, 1);
        }
        result = frame_next(&r, &f);
    }
    CHECK_INT(FRAME_READY, result);
    CHECK_INT(FRAME_MAX, f.length);
    CHECK_INT(7, f.payload[FRAME_MAX - 1]);
    free(payload);
    frame_reader_free(&r);
}

/* Fills the reader with one DATA frame of `length` bytes of `value`, and reads it. */
static struct frame frame_of(struct frame_reader *r, size_t length, uint8_t value)
{
    uint8_t header[FRAME_HEADER] = {0, 0, 0, 0, DATA, 0, 0, 0, 1};
    put_u32(header, (uint32_t)length);
    struct frame f = {0};
    size_t sent = 0, total = sizeof header + length;
    while (sent < total) {
        size_t available;
        uint8_t *room = frame_room(r, &available);
        size_t from = sent;
        for (; sent < total && sent - from < available; sent++)
            room[sent - from] = sent < sizeof header ? header[sent] : value;
        frame_filled(r, sent - from);
    }
    CHECK_INT(FRAME_READY, frame_next(r, &f));
    return f;
}

static void check_block(const struct block *block, size_t length, uint8_t value)
{
    CHECK(block != NULL);
    if (!block) return;
    CHECK_INT(length, block->length);
    CHECK_INT(value, block->memory[block->start]);
    CHECK_INT(value, block->memory[block->start + length - 1]);
}

static void a_large_payload_is_passed_on_and_its_block_reused(void)
{
    struct frame_reader r = {.limit = FRAME_MAX};
    struct blocks b = {0};
    struct frame f = frame_of(&r, FRAME_MAX, 1);
    const uint8_t *buffer = r.buffer;
    CHECK(blocks_put(&b, &f));
    CHECK(r.buffer != buffer);
    f = frame_of(&r, FRAME_MAX, 2);
    CHECK(blocks_put(&b, &f));
    struct block *first = blocks_take(&b), *second = blocks_take(&b);
    CHECK(blocks_take(&b) == NULL);
    CHECK(first->memory == buffer);
    check_block(first, FRAME_MAX, 1);
    check_block(second, FRAME_MAX, 2);
    blocks_recycle(&b, first);
    f = frame_of(&r, FRAME_MAX, 3);
    CHECK(blocks_put(&b, &f));
    CHECK(r.buffer == buffer);
    check_block(b.first, FRAME_MAX, 3);
    blocks_recycle(&b, second);
    blocks_free(&b);
    frame_reader_free(&r);
}

static void a_payload_followed_by_another_frame_is_copied(void)
{
    struct frame_reader r = {.limit = FRAME_MAX};
    struct blocks b = {0};
    frame_of(&r, FRAME_MAX, 1);
    uint8_t two[2 * (FRAME_HEADER + 70000)];
    memset(two, 7, sizeof two);
    for (int i = 0; i < 2; i++) {
        put_u32(two + i * (FRAME_HEADER + 70000), 70000);
        two[i * (FRAME_HEADER + 70000) + 4] = DATA;
    }
    feed(&r, two, sizeof two);
    struct frame f;
    const uint8_t *buffer = r.buffer;
    CHECK_INT(FRAME_READY, frame_next(&r, &f));
    CHECK(blocks_put(&b, &f));
    CHECK(r.buffer == buffer);
    CHECK_INT(FRAME_READY, frame_next(&r, &f));
    CHECK(blocks_put(&b, &f));
    CHECK(r.buffer != buffer);
    check_block(b.first, 70000, 7);
    check_block(b.last, 70000, 7);
    blocks_free(&b);
    frame_reader_free(&r);
}

static void small_payloads_share_a_block_in_their_order(void)
{
    struct frame_reader r = {.limit = FRAME_MAX};
    struct blocks b = {0};
    for (uint8_t i = 1; i <= 100; i++) {
        struct frame f = frame_of(&r, 1000, i);
        CHECK(blocks_put(&b, &f));
    }
    int blocks = 0;
    size_t total = 0;
    for (struct block *block = blocks_take(&b); block; block = blocks_take(&b), blocks++) {
        for (size_t i = 0; i < block->length; i += 1000)
            CHECK_INT(1 + (total + i) / 1000, block->memory[block->start + i]);
        total += block->length;
        blocks_recycle(&b, block);
    }
    CHECK_INT(100000, total);
    CHECK_INT(2, blocks);
    blocks_free(&b);
    frame_reader_free(&r);
}

static bool write_journal_at(struct journal *j, uint8_t channel, uint64_t needed, const char *text, uint64_t time)
{
    size_t available;
    uint8_t *room = journal_room(j, channel, needed, time, &available);
    if (!room) return false;
    size_t n = strlen(text) < available ? strlen(text) : available;
    memcpy(room, text, n);
    journal_filled(j, n, time);
    return true;
}

static bool write_journal(struct journal *j, uint8_t channel, uint64_t needed, const char *text)
{
    return write_journal_at(j, channel, needed, text, 1);
}

static void the_journal_keeps_order_and_channels(void)
{
    struct journal j = {.limit = 1 << 20};
    write_journal(&j, 1, UINT64_MAX, "out");
    write_journal(&j, 1, UINT64_MAX, "more");
    write_journal(&j, 2, UINT64_MAX, "err");
    CHECK_INT(10, j.end);
    const struct piece *p = journal_find(&j, 0);
    CHECK_INT(7, p->length);
    CHECK_INT(1, p->channel);
    p = journal_find(&j, 7);
    CHECK_INT(2, p->channel);
    CHECK_INT(7, p->offset);
    CHECK(journal_find(&j, 10) == NULL);
    journal_trim(&j, 0);
    CHECK_INT(10, journal_first(&j));
    CHECK_INT(0, j.kept);
}

static void the_journal_is_bounded_and_drops_the_oldest(void)
{
    struct journal j = {.limit = 64 << 10};
    char text[3001];
    memset(text, 'x', 3000);
    text[3000] = 0;
    for (int i = 0; i < 1000; i++) {
        CHECK(write_journal(&j, (uint8_t)(1 + i % 2), UINT64_MAX, text));
        CHECK(j.kept <= j.limit);
    }
    CHECK(journal_first(&j) > 0);
    CHECK(j.end - journal_first(&j) > 3000);
    journal_trim(&j, 0);
}

static void the_journal_waits_for_a_reader(void)
{
    struct journal j = {.limit = 32 << 10};
    char text[2001];
    memset(text, 'x', 2000);
    text[2000] = 0;
    int written = 0;
    while (written < 1000 && write_journal(&j, (uint8_t)(1 + written % 2), 0, text)) written++;
    CHECK(written < 1000);
    CHECK_INT(0, journal_first(&j));
    CHECK(write_journal(&j, (uint8_t)(1 + written % 2), j.end, text)); /* the reader has caught up */
    journal_trim(&j, 0);
}

/* As the agent reads: after each line of one channel it polls the other. */
static void small_writes_take_little_of_the_journal(void)
{
    struct journal j = {.limit = 1 << 20};
    size_t available;
    char line[32];
    for (int i = 0; i < 5000; i++) {
        snprintf(line, sizeof line, "line %d\n", i);
        uint64_t time = (uint64_t)i * 100 * 1000 * 1000;
        CHECK(write_journal_at(&j, 1, UINT64_MAX, line, time));
        CHECK(journal_room(&j, 2, UINT64_MAX, time, &available) != NULL); /* finds nothing */
    }
    CHECK_INT(0, journal_first(&j));
    CHECK(j.kept <= j.limit);
    uint64_t at = 0;
    for (int i = 0; i < 5000; i++) {
        const struct piece *p = journal_find(&j, at);
        snprintf(line, sizeof line, "line %d\n", i);
        CHECK_INT((long)strlen(line), p->length);
        CHECK(memcmp(line, p->data, p->length) == 0);
        CHECK_INT(1, p->channel);
        CHECK(p->time_ns == (uint64_t)i * 100 * 1000 * 1000);
        at += p->length;
    }
    CHECK(at == j.end);
    journal_trim(&j, 0);
    CHECK_INT(0, j.kept);
}

int main(void)
{
    RUN(sha256_matches_the_standard);
    RUN(hmac_matches_rfc_4231);
    RUN(fields_round_trip);
    RUN(a_builder_stops_at_the_frame_limit);
    RUN(frames_arrive_byte_by_byte);
    RUN(an_oversize_frame_is_refused_before_it_is_allocated);
    RUN(the_largest_frame_passes);
    RUN(a_large_payload_is_passed_on_and_its_block_reused);
    RUN(a_payload_followed_by_another_frame_is_copied);
    RUN(small_payloads_share_a_block_in_their_order);
    RUN(the_journal_keeps_order_and_channels);
    RUN(the_journal_is_bounded_and_drops_the_oldest);
    RUN(the_journal_waits_for_a_reader);
    RUN(small_writes_take_little_of_the_journal);
    return check_result();
}
