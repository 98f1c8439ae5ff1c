/* An agent that gets its boot record on its own socket, from a process that the runtime starts beside it. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent_test.h"

static void socket_of(const struct agent *a, char path[128])
{
    snprintf(path, 128, "%s/s", a->folder);
}

/* Starts an agent that waits for its record, after a pause. */
static bool start_waiting(struct agent *a, int pause_ms)
{
    char path[128];
    if (!agent_prepare(a)) return false;
    socket_of(a, path);
    a->pid = fork();
    if (a->pid == 0) {
        const char *program = getenv("AGENT");
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++) dup2(null, fd);
        usleep((useconds_t)pause_ms * 1000);
        execl(program, program, "--boot-listen", path, "--instance", "ctest", "--sandbox", "test", (char *)NULL);
        _exit(127);
    }
    return a->pid > 0;
}

/* Starts a bridge. Returns the test's end of its standard input and output. */
static int boot_bridge(const struct agent *a, pid_t *pid)
{
    int ends[2];
    char path[128];
    socket_of(a, path);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    *pid = fork();
    if (*pid == 0) {
        const char *program = getenv("AGENT");
        dup2(ends[1], 0);
        dup2(ends[1], 1);
        execl(program, program, "--boot-bridge", path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return ends[0];
}

static struct builder fields(const struct agent *a)
{
    struct builder b = {0};
    char path[128];
    build_bytes(&b, T_SECRET, a->secret, sizeof a->secret);
    build_text(&b, T_SANDBOX, "test");
    snprintf(path, sizeof path, "%s/ws", a->folder);
    build_text(&b, T_ROOT, path);
    socket_of(a, path);
    build_text(&b, T_SOCKET, path);
    return b;
}

/* Sends the record, or its first bytes. */
static bool send_record(int fd, const struct agent *a, size_t limit)
{
    static uint8_t bytes[4096];
    struct builder b = fields(a);
    size_t length = b.length + 4 < limit ? b.length + 4 : limit;
    put_u32(bytes, (uint32_t)b.length);
    memcpy(bytes + 4, b.data, b.length);
    builder_free(&b);
    return write(fd, bytes, length) == (ssize_t)length;
}

/* Reads a line, without what follows it. Returns false at the end, or after 10 s. */
static bool read_line(int fd, char *line, size_t size)
{
    size_t at = 0;
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (at + 1 == size || poll(&ready, 1, 10000) != 1 || read(fd, line + at, 1) != 1) return false;
        if (line[at++] == '\n') break;
    }
    line[at] = 0;
    return true;
}

static bool boot(const struct agent *a, struct client *c, pid_t *bridge)
{
    char line[300] = "";
    *c = (struct client){.fd = boot_bridge(a, bridge), .reader = {.limit = FRAME_MAX}, .next_stream = 1};
    bool ok = c->fd >= 0 && send_record(c->fd, a, SIZE_MAX) && read_line(c->fd, line, sizeof line)
              && strcmp(line, "ready\n") == 0 && client_handshake(c, a->secret);
    if (!ok) printf("  the agent reported: %s\n", line);
    return ok;
}

static int wait_for_end(pid_t pid)
{
    int status;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void end(struct agent *a)
{
    kill(a->pid, SIGKILL);
    waitpid(a->pid, NULL, 0);
    agent_finish(a);
}

static void record_and_connection_arrive_by_one_bridge(void)
{
    struct agent a;
    struct client c, next;
    pid_t bridge = 0;
    CHECK(start_waiting(&a, 200)); /* the bridge waits for it */
    CHECK(boot(&a, &c, &bridge));
    check_command(&c, "booted");
    CHECK(client_connect(&next, &a)); /* it also listens, and a new server replaces the one that booted it */
    CHECK_INT(0, wait_for_end(bridge));
    client_close(&c);
    check_command(&next, "again");
    client_close(&next);
    end(&a);
}

static void bridge_ends_with_the_agent_it_booted(void)
{
    struct agent a;
    struct client c;
    pid_t bridge = 0;
    CHECK(start_waiting(&a, 0));
    CHECK(boot(&a, &c, &bridge));
    check_command(&c, "booted"); /* no process of the agent keeps the connection open */
    kill(a.pid, SIGKILL);
    CHECK_INT(bridge, waitpid(bridge, NULL, 0)); /* with SIGPIPE if it was just writing */
    client_close(&c);
    end(&a);
}

static void part_of_a_record_is_discarded(void)
{
    struct agent a;
    struct client c;
    pid_t bridge = 0;
    CHECK(start_waiting(&a, 0));
    for (size_t length = 0; length < 20; length += 3) {
        int fd = boot_bridge(&a, &bridge);
        CHECK(send_record(fd, &a, length));
        close(fd);
        CHECK_INT(0, wait_for_end(bridge));
    }
    CHECK(agent_alive(&a));
    CHECK(boot(&a, &c, &bridge));
    check_command(&c, "booted");
    client_close(&c);
    CHECK_INT(0, wait_for_end(bridge));
    end(&a);
}

static void invalid_record_is_reported_and_ends_the_agent(void)
{
    static const uint8_t without_secret[] = {0, 0, 0, 0}, too_long[] = {0xff, 0, 0, 0};
    const uint8_t *records[] = {without_secret, too_long};
    const char *problems[] = {"error the boot record has no 32-byte secret\n",
                              "error the boot record is longer than 1 MiB\n"};
    for (int i = 0; i < 2; i++) {
        struct agent a;
        pid_t bridge = 0;
        char line[300] = "";
        CHECK(start_waiting(&a, 0));
        int fd = boot_bridge(&a, &bridge);
        CHECK(write(fd, records[i], 4) == 4);
        CHECK(read_line(fd, line, sizeof line));
        CHECK_TEXT(problems[i], line);
        CHECK_INT(1, wait_for_end(a.pid));
        CHECK_INT(0, wait_for_end(bridge));
        close(fd);
        a.pid = 0;
        agent_finish(&a);
    }
}

static void agent_that_cannot_start_says_why(void)
{
    struct agent a;
    pid_t bridge = 0;
    char line[300] = "";
    CHECK(start_waiting(&a, 0));
    char path[128];
    snprintf(path, sizeof path, "%s/ws", a.folder);
    CHECK(rmdir(path) == 0);
    int fd = boot_bridge(&a, &bridge);
    CHECK(send_record(fd, &a, SIZE_MAX));
    CHECK(read_line(fd, line, sizeof line));
    CHECK(strstr(line, "cannot open the workspace") != NULL);
    CHECK_INT(1, wait_for_end(a.pid));
    CHECK_INT(0, wait_for_end(bridge));
    close(fd);
    a.pid = 0;
    agent_finish(&a);
}

void boot_tests(void)
{
    RUN(record_and_connection_arrive_by_one_bridge);
    RUN(bridge_ends_with_the_agent_it_booted);
    RUN(part_of_a_record_is_discarded);
    RUN(invalid_record_is_reported_and_ends_the_agent);
    RUN(agent_that_cannot_start_says_why);
}
