/* An agent in a container of a container engine. */
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent_test.h"

/* Starts the agent's program as a bridge to a socket. Returns the test's end of its standard input and output. */
static int bridge_to(const char *socket, pid_t *pid)
{
    int ends[2];
    const char *program = getenv("AGENT");
    if (!program || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    *pid = fork();
    if (*pid == 0) {
        dup2(ends[1], 0);
        dup2(ends[1], 1);
        execl(program, program, "--bridge", socket, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return ends[0];
}

static int exit_code(pid_t pid)
{
    int status;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_bridge_transfers_both_ways_and_ends_with_its_server(void)
{
    struct agent a;
    CHECK(start(&a, NULL, NULL));
    char path[128];
    snprintf(path, sizeof path, "%s/s", a.folder);
    pid_t pid = 0;
    struct client c = {.fd = bridge_to(path, &pid), .reader = {.limit = FRAME_MAX}, .next_stream = 1};
    CHECK(c.fd >= 0 && client_handshake(&c, a.secret));
    struct outcome o = run(&c, shell("head -c 5000000 /dev/zero; echo done >&2"), 20000);
    CHECK_INT(5000000, outcome_u64(&o, T_STDOUT_BYTES, 0));
    CHECK_INT(5000005, o.bytes);
    CHECK_TEXT("done\n", (char *)o.output[1]);
    outcome_free(&o);
    client_close(&c);
    CHECK_INT(0, exit_code(pid));
    CHECK(agent_alive(&a)); /* and the next connection is served */
    struct client next;
    CHECK(client_connect(&next, &a));
    finish(&a, &next);
}

static void a_bridge_ends_with_its_agent(void)
{
    struct agent a;
    CHECK(start(&a, NULL, NULL));
    char path[128];
    snprintf(path, sizeof path, "%s/s", a.folder);
    pid_t pid = 0;
    struct client c = {.fd = bridge_to(path, &pid), .reader = {.limit = FRAME_MAX}, .next_stream = 1};
    CHECK(c.fd >= 0 && client_handshake(&c, a.secret));
    kill(a.pid, SIGKILL);
    CHECK_INT(0, exit_code(pid));
    struct frame f;
    while (client_next(&c, &f, 2000)) {}
    client_close(&c);
    finish(&a, NULL);
}

static void a_bridge_without_an_agent_fails(void)
{
    pid_t pid = 0;
    int fd = bridge_to("/nowhere/at/all", &pid);
    CHECK(fd >= 0);
    CHECK_INT(1, exit_code(pid));
    close(fd);
    char longest[200];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    fd = bridge_to(longest, &pid);
    CHECK_INT(1, exit_code(pid));
    close(fd);
}

/* Simulates the control groups that an engine shows a container; the test plays the kernel. */
static void show_control_groups(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0
        || mount("groups", "/sys/fs/cgroup", "tmpfs", 0, "mode=0777") != 0)
        _exit(126);
    FILE *events = fopen("/sys/fs/cgroup/memory.events", "w");
    if (!events || fputs("low 0\noom_kill 3\n", events) < 0 || fclose(events) != 0) _exit(126);
}

static void own_control_groups_report_memory(void)
{
    if (geteuid() != 0) {
        NOT_RUN(own_control_groups_report_memory, "only root can show others");
        return;
    }
    static const char killed[] = "printf 'low 0\\noom_kill 4\\n' > /sys/fs/cgroup/memory.events; kill -9 $$";
    for (int own_events = 1; own_events >= 0;
         own_events--) { /* control: without --own-events the counters are not read */
        struct agent a;
        struct client c;
        struct builder b = {0};
        build_u64(&b, T_NAMESPACES, namespaces);
        CHECK(agent_start_as(&a, &b, own_events ? "--own-events" : NULL, show_control_groups)
              && client_connect(&c, &a));
        builder_free(&b);
        struct outcome o = run(&c, shell("kill -9 $$"), 5000);
        CHECK_INT(EXIT_SIGNALED, outcome_u64(&o, T_EXIT_KIND, 99)); /* memory ran out before, not now */
        outcome_free(&o);
        o = run(&c, shell(killed), 5000);
        CHECK_INT(own_events ? EXIT_OUT_OF_MEMORY : EXIT_SIGNALED, outcome_u64(&o, T_EXIT_KIND, 99));
        outcome_free(&o);
        finish(&a, &c);
    }
}

/* A root like a container's: a separate file system with content older than the sandbox. */
static void show_a_root(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0
        || mount("root", "/mnt", "tmpfs", 0, "mode=0755") != 0 || mkdir("/mnt/tmp", 0777) != 0)
        _exit(126);
    static const char *const shown[] = {"usr", "bin", "lib", "lib64", "dev", "proc"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        char from[32], to[32];
        snprintf(from, sizeof from, "/%s", shown[i]);
        snprintf(to, sizeof to, "/mnt/%s", shown[i]);
        if (access(from, F_OK) == 0 && (mkdir(to, 0755) != 0 || mount(from, to, NULL, MS_BIND | MS_REC, NULL) != 0))
            _exit(126);
    }
    static char block[1 << 20];
    FILE *old = fopen("/mnt/old", "w");
    for (int i = 0; old && i < 8; i++) fwrite(block, 1, sizeof block, old);
    /* The test's folder has the socket, the workspace and perhaps the agent; it is not part of the root. */
    if (!old || fclose(old) != 0 || mount("/tmp", "/mnt/tmp", NULL, MS_BIND | MS_REC, NULL) != 0) _exit(126);
    const char *program = getenv("AGENT");
    int agent = program ? open(program, O_PATH | O_CLOEXEC) : -1;
    if (agent < 0 || chroot("/mnt") != 0 || chdir("/") != 0) _exit(126);
    char self[32];
    snprintf(self, sizeof self, "/proc/self/fd/%d", agent);
    usleep(100000); /* files older than a clock tick at the first boot belong to the image */
    execl(self, "isola-agent", "--detach", "--instance", "ctest", "--sandbox", "test", (char *)NULL);
    _exit(127);
}

static void writes_to_a_container_root_count(void)
{
    if (geteuid() != 0 || namespaces) { /* with namespaces of its own the agent would have another root */
        if (!namespaces)
            NOT_RUN(writes_to_a_container_root_count, "only root can make one");
        else
            check_now_not_run = true;
        return;
    }
    struct agent a;
    struct client c;
    struct builder b = {0};
    build_u64(&b, T_DISK_LIMIT, 4 << 20);
    CHECK(agent_start_as(&a, &b, NULL, show_a_root) && client_connect(&c, &a));
    builder_free(&b);
    struct outcome o = run(&c, shell("head -c 3000000 /dev/zero > /tmp/../first && sleep 2"), 20000);
    CHECK_INT(EXIT_EXITED, outcome_u64(&o, T_EXIT_KIND, 99)); /* existing content does not count */
    CHECK_INT(0, outcome_u64(&o, T_EXIT_CODE, 99));
    outcome_free(&o);
    o = run(&c, shell("head -c 3000000 /dev/zero > /second; sleep 20"), 30000);
    CHECK_INT(EXIT_SIGNALED, outcome_u64(&o, T_EXIT_KIND, 99));
    outcome_free(&o);
    /* Changing an existing file counts as writing it, whatever mtime it is given. */
    o = run(&c, shell("rm /first /second; sleep 1.5; echo x >> /old; touch -d 2001-01-01 /old; sleep 20"), 30000);
    CHECK_INT(EXIT_SIGNALED, outcome_u64(&o, T_EXIT_KIND, 99));
    outcome_free(&o);
    finish(&a, &c);
}

void container_tests(void)
{
    RUN(a_bridge_transfers_both_ways_and_ends_with_its_server);
    RUN(a_bridge_ends_with_its_agent);
    RUN(a_bridge_without_an_agent_fails);
    RUN(own_control_groups_report_memory);
    RUN(writes_to_a_container_root_count);
}
