/* Network mode filtered: an agent in a network namespace of its own, and commands that connect to other hosts. */
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
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

/* For connect_to: ends after the connection does, so that await() cannot drop the end of the command. */
#define UNTIL_CLOSED "read -r _ <&3; :"

/* Waits for a frame of a type, on any stream. Drops other frames. */
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
    uint32_t command = connect_to(&c, "192.0.2.9", 80, UNTIL_CLOSED);
    client_send(&c, STREAM_EOF, incoming(&c, second, "192.0.2.9", 80), NULL, 0);
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
    uint32_t command = connect_to(&c, "192.0.2.9", 80, UNTIL_CLOSED);
    struct frame f;
    CHECK(await(&c, &f, INCOMING, 0) && f.stream == 0x80000000u);
    client_send(&c, STREAM_EOF, f.stream, NULL, 0);
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

/* Stands for the relay of the server: listens beside its socket. */
static int relay_listen_beside(const struct agent *a)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s/egress", a->folder);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK_INT(0, bind(fd, (struct sockaddr *)&at, sizeof at));
    CHECK_INT(0, listen(fd, 4));
    return fd;
}

static struct outcome hand_over(struct client *c, uint32_t incoming, size_t token_length)
{
    static const uint8_t token[64] = "0123456789abcdef";
    struct builder b = {0};
    build_u64(&b, T_RELAY, incoming);
    build_bytes(&b, T_NONCE, token, token_length);
    struct outcome o = client_finish(c, client_request(c, OP_HANDOVER, &b), 5000);
    builder_free(&b);
    return o;
}

static void check_not_handed_over(struct client *c, uint32_t incoming, size_t token_length, int code)
{
    struct outcome o = hand_over(c, incoming, token_length);
    CHECK(o.failed);
    CHECK_INT(code, outcome_u64(&o, T_CODE, 0));
    outcome_free(&o);
}

static void a_connection_is_handed_over(void)
{
    struct agent a;
    struct client c;
    uint64_t flags;
    if (!can_run(__func__)) return;
    CHECK(agent_prepare(&a));
    int listener = server_listen(&a);
    struct builder b = {0};
    build_u64(&b, T_NAMESPACES, namespaces);
    build_u64(&b, T_EGRESS, 1);
    build_u64(&b, T_SECCOMP, 1);
    CHECK(agent_dial(&a, &b, NULL, own_network));
    builder_free(&b);
    CHECK(server_serve(listener, &c, &a));
    uint32_t egress = open_egress(&c, NULL, &flags);
    CHECK_INT(3, flags);
    uint32_t command = connect_to(&c, "192.0.2.9", 80, "printf question >&3; cat <&3");
    uint32_t stream = incoming(&c, egress, "192.0.2.9", 80);
    check_not_handed_over(&c, stream, 16, E_IO); /* no relay is there */
    int relay = relay_listen_beside(&a);
    check_not_handed_over(&c, stream, 15, E_INVALID);
    check_not_handed_over(&c, stream + 1, 16, E_INVALID);
    check_not_handed_over(&c, egress, 16, E_INVALID);
    struct outcome o = hand_over(&c, stream, 16);
    CHECK(o.ended);
    outcome_free(&o);
    check_not_handed_over(&c, stream, 16, E_INVALID); /* the agent has it no more */

    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    char text[64] = {0};
    struct iovec part = {text, sizeof text - 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct pollfd arrived = {relay, POLLIN, 0};
    int from = poll(&arrived, 1, 5000) == 1 ? accept(relay, NULL, NULL) : -1, fd = -1;
    ssize_t received = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
    CHECK_INT(16, received);
    CHECK_TEXT("0123456789abcdef", text);
    CHECK(message.msg_controllen > 0);
    if (received == 16) memcpy(&fd, CMSG_DATA(&control.header), sizeof fd);
    struct pollfd readable = {fd, POLLIN, 0};
    CHECK_INT(1, poll(&readable, 1, 5000));
    CHECK_INT(8, recv(fd, text, 8, 0)); /* the agent has read nothing of it */
    CHECK_INT(7, send(fd, "answer\n", 7, 0));
    close(fd);
    expect_exit(&c, command, "answer\n", 0);

    /* A connection that carries bytes over its stream stays there. */
    command = connect_to(&c, "192.0.2.9", 80, "printf x >&3; cat <&3");
    stream = incoming(&c, egress, "192.0.2.9", 80);
    struct frame f;
    client_grant(&c, stream, 65536);
    CHECK(await(&c, &f, DATA, stream));
    check_not_handed_over(&c, stream, 16, E_INVALID);
    client_send(&c, DATA, stream, "y\n", 2);
    client_send(&c, STREAM_EOF, stream, NULL, 0);
    expect_exit(&c, command, "y\n", 0);
    close(from);
    close(relay);
    close(listener);
    finish(&a, &c);
}

static void network_of_a_pod(void)
{
    own_network();
    char *words[] = {"ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth1", NULL};
    pid_t pid = fork();
    if (pid == 0) {
        execvp(words[0], words);
        _exit(126);
    }
    int status = 1;
    if (waitpid(pid, &status, 0) != pid || status) _exit(126);
    setenv("OF_THE_IMAGE", "1", 1);
    setenv("KUBERNETES_PORT", "1", 1);
    setenv("REPLACED", "by the image", 1);
}

static void a_pod_has_no_network_and_the_variables_of_its_image(void)
{
    struct agent a;
    struct client c;
    struct builder b = {0};
    if (!can_run(__func__)) return;
    build_u64(&b, T_NAMESPACES, namespaces);
    build_u64(&b, T_ISOLATE, 1);
    build_u64(&b, T_INHERIT, 1);
    build_text(&b, T_ENV, "REPLACED=by the record");
    CHECK(agent_start_as(&a, &b, NULL, network_of_a_pod) && client_connect(&c, &a));
    builder_free(&b);
    struct outcome o = run(&c,
                           shell("sed -n 's/^ *\\([a-z0-9]*\\):.*/\\1/p' /proc/net/dev; "
                                 "env | grep -E '^(OF_THE_IMAGE|KUBERNETES|REPLACED|HOME)' | sort; "
                                 "grep ^CapBnd /proc/self/status"),
                           5000);
    char *bounding = strstr((char *)o.output[0], "CapBnd:\t");
    CHECK(bounding);
    CHECK_INT(0, bounding ? strtoull(bounding + 8, NULL, 16) & (1u << 12 | 1u << 13) : 1);
    if (bounding) *bounding = 0;
    CHECK_TEXT("lo\nHOME=/root\nOF_THE_IMAGE=1\nREPLACED=by the record\n", (char *)o.output[0]);
    outcome_free(&o);
    finish(&a, &c);
}

void egress_tests(void)
{
    RUN(a_pod_has_no_network_and_the_variables_of_its_image);
    RUN(a_connection_is_handed_over);
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
