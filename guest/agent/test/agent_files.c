/* File operations next to running commands. */
#include <stdlib.h>
#include <unistd.h>

#include "agent_test.h"

/* Sends more than the socket holds before the first byte is read: the rest must be queued, complete and in order. */
static void a_large_file_waits_for_a_slow_reader(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct outcome made = run(&c, shell("head -c 24000001 /dev/zero | tr '\\0' x >large"), 20000);
    CHECK(made.ended);
    outcome_free(&made);
    struct builder b = {0};
    build_text(&b, T_PATH, "large");
    build_u64(&b, T_CREDIT, 32 << 20);
    uint32_t stream = client_request(&c, OP_READ, &b);
    builder_free(&b);
    usleep(200000);
    uint64_t bytes = 0, wrong = 0;
    struct frame f = {0};
    while (client_next(&c, &f, 10000) && f.type != END && f.type != ERROR) {
        if (f.type != DATA) continue;
        CHECK_INT(stream, f.stream);
        for (size_t i = 0; i < f.length; i++) wrong += f.payload[i] != 'x';
        bytes += f.length;
    }
    CHECK_INT(END, f.type);
    CHECK_INT(24000001, bytes);
    CHECK_INT(0, wrong);
    finish(&a, &c);
}

/*
 * The connection is corked while a command's end is sent, which also delays frames of a file operation. When these fill
 * the send queue, the operation must be woken once there is room.
 */
static void files_are_sent_while_commands_end(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct outcome made = run(&c, shell("truncate -s 256M large"), 20000);
    CHECK(made.ended);
    outcome_free(&made);
    int commands = getenv("SANITIZED") ? 200 : 1000;
    struct builder read = {0}, command = shell("exit 0");
    build_text(&read, T_PATH, ".");
    build_u64(&read, T_CREDIT, AGENT_WINDOW);
    uint32_t archive = client_request(&c, OP_TAR_OUT, &read);
    uint32_t running = client_request(&c, OP_EXEC, &command);
    uint64_t idle = 0; /* bytes since the archive's last frame */
    struct frame f;
    while (commands > 0 && idle < 1000 && client_next(&c, &f, 10000)) {
        bool over = f.type == END || f.type == ERROR;
        idle = f.stream == archive ? 0 : idle + 1;
        if (f.type == DATA) client_grant(&c, f.stream, f.length);
        if (over && f.stream == archive) archive = client_request(&c, OP_TAR_OUT, &read);
        if (over && f.stream == running && --commands > 0) running = client_request(&c, OP_EXEC, &command);
    }
    CHECK_INT(0, commands);
    bool goes_on = false; /* with no command left that could wake it */
    while (!goes_on && client_next(&c, &f, 10000)) goes_on = f.stream == archive;
    CHECK(goes_on);
    builder_free(&read);
    builder_free(&command);
    finish(&a, &c);
}

/*
 * Two files that a command writes alternately, far apart in the archive: when frozen, they differ by one step at most.
 */
static long distance_of_pair(struct client *c, uint64_t flags, uint64_t *frozen_ns)
{
    struct builder b = {0};
    build_text(&b, T_PATH, ".");
    build_u64(&b, T_FLAGS, flags);
    build_u64(&b, T_CREDIT, 1 << 20);
    uint32_t stream = client_request(c, OP_TAR_OUT, &b);
    builder_free(&b);
    long first = -1, last = -1;
    struct frame f;
    uint8_t *archive = malloc(16 << 20);
    size_t length = 0;
    while (client_next(c, &f, 20000)) {
        if (f.stream == stream && f.type == DATA && length + f.length <= 16 << 20) {
            memcpy(archive + length, f.payload, f.length);
            length += f.length;
            uint8_t more[4];
            put_u32(more, (uint32_t)f.length);
            usleep(2000); /* a slow server */
            client_send(c, CREDIT, stream, more, sizeof more);
        }
        bool end = f.stream == stream && (f.type == END || f.type == ERROR);
        if (end && f.type == END) *frozen_ns = fields_u64((struct fields){f.payload, f.length}, T_DURATION_NS, 0);
        if (end) break;
    }
    for (size_t i = 0; i + 16 < length; i++) {
        if (!memcmp(archive + i, "first ", 6)) first = strtol((char *)archive + i + 6, NULL, 10);
        if (!memcmp(archive + i, "last ", 5)) last = strtol((char *)archive + i + 5, NULL, 10);
    }
    free(archive);
    return first < 0 || last < 0 ? -1 : labs(last - first);
}

static bool both_are_there(void *folder)
{
    char path[128];
    snprintf(path, sizeof path, "%s/ws/z", (char *)folder);
    return access(path, F_OK) == 0;
}

static void commands_are_frozen_during_a_capture(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct builder b =
        shell("head -c 8000000 /dev/zero > m; (i=0; while :; do i=$((i+1)); printf 'first %09d' $i > a.n; mv a.n a; "
              "printf 'last %09d' $i > z.n; mv z.n z; done) & sleep 1000 & p=$!; echo $p > p; sleep 0.2; kill -STOP "
              "$p; wait");
    uint32_t stream = client_request(&c, OP_EXEC, &b);
    builder_free(&b);
    CHECK(wait_for(both_are_there, a.folder, 5000));
    uint64_t frozen_ns = 0;
    long distance = 0;
    /* Control: without freezing the files differ by more, though not always on a busy machine. */
    for (int i = 0; i < 50 && distance <= 1; i++) {
        distance = distance_of_pair(&c, 1, &frozen_ns);
        CHECK_INT(0, frozen_ns);
    }
    CHECK(distance > 1);
    distance = distance_of_pair(&c, 1 | 2, &frozen_ns);
    CHECK(distance == 0 || distance == 1);
    CHECK(frozen_ns > 0);
    /* The command continues, and a process that was stopped before is still stopped. */
    char before[32] = "", after[32] = "";
    struct outcome o = run(&c, shell("cat z"), 5000);
    snprintf(before, sizeof before, "%s", (char *)o.output[0]);
    outcome_free(&o);
    o = run(&c, shell("sleep 0.2; cat z; cut -d ' ' -f 2,3 /proc/$(cat p)/stat"), 5000);
    snprintf(after, sizeof after, "%s", (char *)o.output[0]);
    CHECK(strncmp(before, after, 14) != 0);
    CHECK(o.length[0] > 14);
    CHECK_TEXT("(sleep) T\n", (char *)o.output[0] + 14);
    outcome_free(&o);
    (void)stream;
    finish(&a, &c);
}

void files_tests(void)
{
    RUN(a_large_file_waits_for_a_slow_reader);
    RUN(files_are_sent_while_commands_end);
    RUN(commands_are_frozen_during_a_capture);
}
