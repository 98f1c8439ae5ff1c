/* Flow control, journals and reattaching. */
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

#include "agent_test.h"

static void input_beyond_the_window_waits_for_credit(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct builder b = shell("sleep 0.2; wc -c");
    uint32_t stream = client_request(&c, OP_EXEC, &b);
    builder_free(&b);
    int64_t credit = AGENT_WINDOW;
    size_t left = 3 << 20;
    static uint8_t block[65536];
    while (left) {
        while (credit < (int64_t)sizeof block) {
            struct frame f;
            if (!client_next(&c, &f, 5000)) break;
            if (f.type == CREDIT && f.stream == stream) credit += get_u32(f.payload);
        }
        CHECK(credit >= (int64_t)sizeof block);
        if (credit < (int64_t)sizeof block) break;
        client_send(&c, DATA, stream, block, sizeof block);
        credit -= (int64_t)sizeof block;
        left -= sizeof block;
    }
    client_send(&c, STREAM_EOF, stream, NULL, 0);
    struct outcome o = client_finish(&c, stream, 5000);
    CHECK_INT(3 << 20, atoi((char *)o.output[0]));
    outcome_free(&o);
    finish(&a, &c);
}

static long agent_rss_kb(const struct agent *a)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)a->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    char *at = strstr(text, "VmRSS:");
    return at ? strtol(at + 6, NULL, 10) : -1;
}

static void a_flood_of_output_is_counted_exactly_in_bounded_memory(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct outcome small = run(&c, shell("echo warm"), 5000);
    outcome_free(&small);
    long before = agent_rss_kb(&a);
    long total = getenv("SANITIZED") ? 15000000 : 60000000;
    char script[64];
    snprintf(script, sizeof script, "head -c %ld /dev/zero", total);
    struct outcome o = run(&c, shell(script), 60000);
    CHECK(o.ended);
    CHECK_INT(total, o.bytes);
    CHECK_INT(total, outcome_u64(&o, T_STDOUT_BYTES, 0));
    outcome_free(&o);
    /* A reader that consumes nothing: the command waits, and the agent's memory does not grow. */
    struct builder b = {0};
    build_text(&b, T_ARG, "sh");
    build_text(&b, T_ARG, "-c");
    build_text(&b, T_ARG, script);
    build_u64(&b, T_CREDIT, 65536);
    uint32_t stream = client_request(&c, OP_EXEC, &b);
    builder_free(&b);
    usleep(300000);
    long during = agent_rss_kb(&a);
    CHECK(during - before < 8192 || getenv("SANITIZED"));
    if (during - before >= 8192 && !getenv("SANITIZED")) printf("  grew from %ld to %ld kB\n", before, during);
    o = client_finish(&c, stream, 180000);
    CHECK_INT(total, o.bytes);
    outcome_free(&o);
    finish(&a, &c);
}

static void a_command_survives_its_server_and_is_reattached(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct builder b = shell("for i in 1 2 3 4 5 6; do echo line $i; sleep 0.1; done; exit 3");
    uint32_t stream = client_request(&c, OP_EXEC, &b);
    builder_free(&b);
    struct frame f;
    uint64_t execution = 0, offset = 0;
    while (offset == 0 && client_next(&c, &f, 5000)) {
        if (f.type == RESPONSE) execution = fields_u64((struct fields){f.payload, f.length}, T_EXECUTION, 0);
        if (f.type == OUTPUT) offset = get_u64(f.payload + 1) + f.length - 17;
    }
    CHECK(execution > 0 && stream == 1);
    client_close(&c); /* the server is gone */
    usleep(200000);
    CHECK(client_connect(&c, &a));
    struct builder again = {0};
    build_u64(&again, T_EXECUTION, execution);
    build_u64(&again, T_OFFSET, offset);
    build_u64(&again, T_CREDIT, 1 << 20);
    stream = client_request(&c, OP_ATTACH, &again);
    builder_free(&again);
    struct outcome o = client_finish(&c, stream, 5000);
    CHECK(o.ended);
    CHECK_INT(3, outcome_u64(&o, T_EXIT_CODE, 99));
    CHECK_INT(0, o.gap);
    CHECK_INT(42, offset + o.bytes); /* six lines of seven bytes, none repeated, none missing */
    outcome_free(&o);
    finish(&a, &c);
}

static struct outcome attach_to(struct client *c, uint64_t execution)
{
    struct builder b = {0};
    build_u64(&b, T_EXECUTION, execution);
    build_u64(&b, T_CREDIT, 1 << 20);
    uint32_t stream = client_request(c, OP_ATTACH, &b);
    builder_free(&b);
    return client_finish(c, stream, 5000);
}

static void ended_executions_are_bounded(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    uint64_t first = 0, last = 0;
    for (int i = 0; i < 200; i++) {
        struct outcome o = run(&c, shell("echo much; exit 9"), 5000);
        last = o.execution;
        if (!first) first = last;
        outcome_free(&o);
    }
    struct outcome o = attach_to(&c, first);
    CHECK(o.ended);
    CHECK_INT(9, outcome_u64(&o, T_EXIT_CODE, 99));
    CHECK_TEXT("much\n", (char *)o.output[0]);
    outcome_free(&o);
    for (int i = 0; i < 100; i++) {
        o = run(&c, shell("true"), 5000);
        outcome_free(&o);
    }
    o = attach_to(&c, first);
    CHECK(o.failed);
    outcome_free(&o);
    o = attach_to(&c, last);
    CHECK(o.ended);
    outcome_free(&o);
    finish(&a, &c);
}

static void a_full_journal_reports_the_gap(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct builder b = shell("sleep 0.3; head -c 5000000 /dev/zero; sleep 0.5; echo done >&2");
    build_u64(&b, T_JOURNAL, 100000);
    client_request(&c, OP_EXEC, &b);
    builder_free(&b);
    struct frame f;
    CHECK(client_next(&c, &f, 5000) && f.type == RESPONSE);
    uint64_t execution = fields_u64((struct fields){f.payload, f.length}, T_EXECUTION, 0);
    client_close(&c);
    usleep(3000000);
    CHECK(client_connect(&c, &a));
    struct builder again = {0};
    build_u64(&again, T_EXECUTION, execution);
    build_u64(&again, T_CREDIT, 1 << 20);
    uint32_t stream = client_request(&c, OP_ATTACH, &again);
    builder_free(&again);
    struct outcome o = client_finish(&c, stream, 5000);
    CHECK(o.gap > 4000000);
    CHECK_INT(5000005, o.gap + o.bytes);
    CHECK_TEXT("done\n", (char *)o.output[1]);
    outcome_free(&o);
    finish(&a, &c);
}

/* A server that is slow to read: the list must wait for room in the send queue, and then continue. */
static void a_list_continues_when_the_send_queue_has_room(void)
{
    struct agent a;
    struct client c;
    struct builder list = {0};
    CHECK(start(&a, &c, NULL));
    struct builder flood = shell("head -c 60000000 /dev/zero");
    uint32_t output = client_request(&c, OP_EXEC, &flood);
    builder_free(&flood);
    client_grant(&c, output, 64 << 20);
    usleep(500000); /* the output fills the socket and the queue */
    build_u64(&list, T_CREDIT, 1 << 20);
    uint32_t stream = client_request(&c, OP_EXEC_LIST, &list);
    builder_free(&list);
    usleep(200000);
    struct outcome o = client_finish(&c, stream, 5000);
    CHECK(o.ended);
    CHECK_INT(1, o.items);
    outcome_free(&o);
    finish(&a, &c);
}

void streams_tests(void)
{
    RUN(a_list_continues_when_the_send_queue_has_room);
    RUN(input_beyond_the_window_waits_for_credit);
    RUN(a_flood_of_output_is_counted_exactly_in_bounded_memory);
    RUN(a_command_survives_its_server_and_is_reattached);
    RUN(ended_executions_are_bounded);
    RUN(a_full_journal_reports_the_gap);
}
