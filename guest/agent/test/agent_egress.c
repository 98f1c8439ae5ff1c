/* Network mode filtered: an agent in a network namespace of its own, and commands that connect to other hosts. */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent_test.h"

#define CERTIFICATE "-----BEGIN CERTIFICATE-----\nSXNvbGE=\n-----END CERTIFICATE-----\n"

static void own_network(void)
{
    if (unshare(CLONE_NEWNET) != 0) _exit(126);
}

/* Starts an agent that passes connections on. SECCOMP drops what is not needed, as in a container. */
static bool start_filtered(struct agent *a, struct client *c)
{
    struct builder b = {0};
    build_u64(&b, T_NAMESPACES, namespaces);
    build_u64(&b, T_EGRESS, 1);
    build_u64(&b, T_SECCOMP, 1);
    bool ok = agent_start_as(a, &b, NULL, own_network) && client_connect(c, a);
    if (!ok) printf("  the agent output: %s\n", a->output);
    builder_free(&b);
    return ok;
}

static bool can_run(const char *test)
{
    if (geteuid() == 0 && access("/bin/bash", X_OK) == 0 && access("/proc/self/ns/net", F_OK) == 0) return true;
    check_now_not_run = true;
    printf("NOT RUN %s: only root can give the agent a network namespace, and bash connects\n", test);
    return false;
}

/* Starts a bash that connects and runs a script on descriptor 3. Returns the stream. */
static uint32_t connect_to(struct client *c, const char *host, int port, const char *script)
{
    char line[512];
    snprintf(line, sizeof line, "exec 3<>/dev/tcp/%s/%d || exit 3; %s", host, port, script);
    struct builder b = {0};
    build_text(&b, T_ARG, "/bin/bash");
    build_text(&b, T_ARG, "-c");
    build_text(&b, T_ARG, line);
    build_u64(&b, T_CREDIT, 1 << 20);
    uint32_t stream = client_request(c, OP_EXEC, &b);
    builder_free(&b);
    return stream;
}

static uint32_t open_egress(struct client *c, struct builder *more, uint64_t *flags)
{
    struct frame f;
    uint32_t stream = client_request(c, OP_EGRESS, more);
    *flags = 99;
    while (client_next(c, &f, 5000))
        if (f.stream == stream) {
            if (f.type == RESPONSE) *flags = fields_u64((struct fields){f.payload, f.length}, T_FLAGS, 0);
            return f.type == RESPONSE ? stream : 0;
        }
    return 0;
}

/* Waits for a frame of a type, on any stream. */
static bool await(struct client *c, struct frame *f, enum frame_type type, uint32_t stream)
{
    while (client_next(c, f, 10000))
        if (f->type == type && (!stream || f->stream == stream)) return true;
    return false;
}

static uint32_t incoming(struct client *c, uint32_t egress, const char *host, int port)
{
    struct frame f;
    if (!await(c, &f, INCOMING, 0)) {
        CHECK(!"a connection arrives");
        return 0;
    }
    uint32_t stream = f.stream;
    struct fields fields = {f.payload, f.length};
    char *name = fields_text(fields, T_HOST);
    CHECK_INT(egress, fields_u64(fields, T_RELAY, 0));
    CHECK_TEXT(host, name);
    CHECK_INT(port, fields_u64(fields, T_PORT, 0));
    free(name);
    return stream;
}

static void expect_exit(struct client *c, uint32_t stream, const char *output, int code)
{
    struct outcome o = client_finish(c, stream, 10000);
    CHECK(o.ended);
    CHECK_TEXT(output, (char *)o.output[0]);
    CHECK_INT(code, outcome_u64(&o, T_EXIT_CODE, 99));
    outcome_free(&o);
}

static void a_connection_carries_bytes_both_ways(void)
{
    struct agent a;
    struct client c;
    struct frame f;
    uint64_t flags;
    if (!can_run(__func__)) return;
    CHECK(start_filtered(&a, &c));
    uint32_t egress = open_egress(&c, NULL, &flags);
    CHECK_INT(1, flags);
    uint32_t command = connect_to(&c, "192.0.2.9", 5432, "printf question >&3; read -r line <&3; echo $line");
    uint32_t stream = incoming(&c, egress, "192.0.2.9", 5432);
    client_grant(&c, stream, 65536);
    CHECK(await(&c, &f, DATA, stream) && f.length == 8 && memcmp(f.payload, "question", 8) == 0);
    client_send(&c, DATA, stream, "answer\n", 7);
    client_send(&c, STREAM_EOF, stream, NULL, 0);
    expect_exit(&c, command, "answer\n", 0);
    finish(&a, &c);
}

static void a_cancelled_connection_is_reset(void)
{
    struct agent a;
    struct client c;
    uint64_t flags;
    if (!can_run(__func__)) return;
    CHECK(start_filtered(&a, &c));
    uint32_t egress = open_egress(&c, NULL, &flags);
    uint32_t command = connect_to(&c, "192.0.2.9", 80, "cat <&3 2>&1 | grep -o reset");
    client_send(&c, CANCEL, incoming(&c, egress, "192.0.2.9", 80), NULL, 0);
    expect_exit(&c, command, "reset\n", 0);
    finish(&a, &c);
}

static void nothing_is_passed_on_without_a_request(void)
{
    struct agent a;
    struct client c;
    uint64_t flags;
    if (!can_run(__func__)) return;
    static const char try[] = "cat <&3 2>&1 | grep -o reset";
    CHECK(start_filtered(&a, &c));
    expect_exit(&c, connect_to(&c, "192.0.2.9", 80, try), "reset\n", 0);
    uint32_t egress = open_egress(&c, NULL, &flags);
    client_send(&c, CANCEL, egress, NULL, 0);
    expect_exit(&c, connect_to(&c, "192.0.2.9", 80, try), "reset\n", 0);
    /* The next server has not asked yet. */
    CHECK(open_egress(&c, NULL, &flags) > 0);
    client_close(&c);
    CHECK(client_connect(&c, &a));
    expect_exit(&c, connect_to(&c, "192.0.2.9", 80, try), "reset\n", 0);
    finish(&a, &c);
}

static void another_request_replaces_the_first(void)
{
    struct agent a;
    struct client c;
    struct frame f;
    uint64_t flags;
    if (!can_run(__func__)) return;
    CHECK(start_filtered(&a, &c));
    uint32_t first = open_egress(&c, NULL, &flags);
    uint32_t second = client_request(&c, OP_EGRESS, NULL);
    CHECK(await(&c, &f, END, first));
    CHECK(await(&c, &f, RESPONSE, second));
    uint32_t command = connect_to(&c, "192.0.2.9", 80, ":");
    incoming(&c, second, "192.0.2.9", 80);
    expect_exit(&c, command, "", 0);
    finish(&a, &c);
}

static void the_listener_itself_is_not_a_destination(void)
{
    struct agent a;
    struct client c;
    uint64_t flags;
    if (!can_run(__func__)) return;
    CHECK(start_filtered(&a, &c));
    CHECK(open_egress(&c, NULL, &flags) > 0);
    /* Every listener of the agent, by its port in hexadecimal. */
    struct outcome o = run(&c,
                           shell("for p in $(awk '$4 == \"0A\" {split($2, a, \":\"); print a[2]}' /proc/net/tcp); do "
                                 "bash -c \"exec 3<>/dev/tcp/127.0.0.1/$((0x$p)); cat <&3\" > /dev/null 2>&1; done; "
                                 "echo done"),
                           10000);
    CHECK_TEXT("done\n", (char *)o.output[0]); /* and no INCOMING, on which the last check would wait */
    outcome_free(&o);
    uint32_t command = connect_to(&c, "192.0.2.9", 80, ":");
    struct frame f;
    CHECK(await(&c, &f, INCOMING, 0) && f.stream == 0x80000000u);
    expect_exit(&c, command, "", 0);
    finish(&a, &c);
}

static void commands_have_no_capability_over_the_network(void)
{
    struct agent a;
    struct client c;
    if (!can_run(__func__)) return;
    CHECK(start_filtered(&a, &c));
    struct outcome o = run(&c, shell("grep ^Cap /proc/self/status"), 5000);
    int sets = 0;
    for (char *line = strtok((char *)o.output[0], "\n"); line; line = strtok(NULL, "\n"), sets++)
        CHECK_INT(0, strtoull(line + 8, NULL, 16) & (1u << 12 | 1u << 13));
    CHECK_INT(5, sets);
    outcome_free(&o);
    finish(&a, &c);
}

static void datagrams_are_refused(void)
{
    struct agent a;
    struct client c;
    uint64_t flags;
    if (!can_run(__func__)) return;
    CHECK(start_filtered(&a, &c));
    CHECK(open_egress(&c, NULL, &flags) > 0);
    struct outcome o = run(&c,
                           shell("bash -c 'exec 3<>/dev/udp/192.0.2.9/443; echo x >&3; sleep 0.2; echo x >&3' 2>&1 "
                                 "| grep -o refused"),
                           5000);
    CHECK_TEXT("refused\n", (char *)o.output[0]);
    outcome_free(&o);
    finish(&a, &c);
}

static void connections_are_limited(void)
{
    struct agent a;
    struct client c;
    uint64_t flags;
    if (!can_run(__func__)) return;
    CHECK(start_filtered(&a, &c));
    CHECK(open_egress(&c, NULL, &flags) > 0);
    struct builder b = {0};
    build_text(&b, T_ARG, "/bin/bash");
    build_text(&b, T_ARG, "-c");
    build_text(&b, T_ARG,
               "for i in {1..600}; do eval \"exec $((i + 10))<>/dev/tcp/192.0.2.9/80\" || exit 1; done; "
               "read -r -t 20 line <&610; echo ended");
    build_u64(&b, T_CREDIT, 1 << 20);
    uint32_t command = client_request(&c, OP_EXEC, &b);
    builder_free(&b);
    int count = 0;
    struct frame f;
    while (client_next(&c, &f, 20000)) {
        if (f.type == INCOMING) count++;
        if (f.stream == command && f.type == END) break;
    }
    CHECK_INT(512, count); /* the last is reset, which ends the read */
    finish(&a, &c);
}

static void an_ordinary_agent_refuses_it(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct outcome o = client_finish(&c, client_request(&c, OP_EGRESS, NULL), 5000);
    CHECK(o.failed);
    CHECK_INT(E_UNSUPPORTED, outcome_u64(&o, T_CODE, 0));
    outcome_free(&o);
    check_command(&c, "alive");
    finish(&a, &c);
}

static void certificates_are_not_added_to_files_of_the_host(void)
{
    struct agent a;
    struct client c;
    if (!can_run(__func__)) return;
    CHECK(start_filtered(&a, &c));
    struct builder b = {0};
    build_text(&b, T_TRUST, CERTIFICATE);
    struct outcome o = client_finish(&c, client_request(&c, OP_EGRESS, &b), 5000);
    builder_free(&b);
    CHECK(o.failed);
    CHECK_INT(E_UNSUPPORTED, outcome_u64(&o, T_CODE, 0));
    outcome_free(&o);
    finish(&a, &c);
}

void egress_tests(void)
{
    RUN(a_connection_carries_bytes_both_ways);
    RUN(a_cancelled_connection_is_reset);
    RUN(nothing_is_passed_on_without_a_request);
    RUN(another_request_replaces_the_first);
    RUN(the_listener_itself_is_not_a_destination);
    RUN(commands_have_no_capability_over_the_network);
    RUN(datagrams_are_refused);
    RUN(connections_are_limited);
    RUN(an_ordinary_agent_refuses_it);
    RUN(certificates_are_not_added_to_files_of_the_host);
}
