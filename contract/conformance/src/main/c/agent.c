/* The guest agent that started this process: its memory, its descriptors, its survival, its channel. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "probe.h"

enum { AGENTS_MAX = 16 };

static pid_t agents[AGENTS_MAX];
static int agent_count;

static pid_t parent_of(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (!read_text(path, text, sizeof text)) return 0;
    char *at = strrchr(text, ')');
    int parent = 0;
    return at && sscanf(at, ") %*c %d", &parent) == 1 ? parent : 0;
}

static bool is_first_of_its_own(pid_t pid)
{
    char name[64] = "";
    ssize_t n = readlink("/proc/self/ns/pid", name, sizeof name - 1);
    return pid == 1 && n > 0 && strcmp(name, "pid:[4026531836]") != 0; /* the initial pid namespace of the machine */
}

static bool is_agent(pid_t pid)
{
    char path[64], name[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    if (!read_text(path, name, sizeof name)) return false;
    return strcmp(name, "isola-agent") == 0 || strcmp(name, "agent") == 0
           || (strcmp(name, "init") == 0 && is_first_of_its_own(pid)); /* of a virtual machine */
}

/*
 * `agent` selects those ancestors that are the agent or its supervisors, the agent last; a number selects that
 * process.
 */
static void find_agents(const char *victim)
{
    if (strcmp(victim, "agent") != 0) {
        agents[agent_count++] = atoi(victim);
        return;
    }
    for (pid_t pid = parent_of(starter); pid > 0 && agent_count < AGENTS_MAX; pid = parent_of(pid))
        if (is_agent(pid)) agents[agent_count++] = pid;
    if (agent_count == 0) absent("no agent is visible");
}

/* agent-memory VICTIM: the kernel checks the permission before it finds that the address is not mapped */
static void agent_memory(int count, char **arguments)
{
    (void)count;
    int error = ENOENT;
    find_agents(arguments[0]);
    for (int i = 0; i < agent_count; i++) {
        char path[64], byte;
        struct iovec here = {&byte, 1}, there = {(void *)0x10000, 1};
        if (process_vm_readv(agents[i], &here, 1, &there, 1, 0) >= 0 || errno == EFAULT)
            got("process_vm_readv of process %d", (int)agents[i]);
        error = errno;
        snprintf(path, sizeof path, "/proc/%d/mem", (int)agents[i]);
        int fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0) fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) got("opened %s", path);
    }
    failed(error, "the agent's memory");
}

/* agent-trace VICTIM: detaches when the attempt ends */
static void agent_trace(int count, char **arguments)
{
    (void)count;
    int error = ENOENT;
    find_agents(arguments[0]);
    for (int i = 0; i < agent_count; i++) {
        if (ptrace(PTRACE_SEIZE, agents[i], NULL, NULL) == 0) got("traced process %d", (int)agents[i]);
        error = errno;
    }
    failed(error, "ptrace of the agent");
}

/* agent-files VICTIM: files of /proc/PID that require permission to trace, including descriptors */
static void agent_files(int count, char **arguments)
{
    (void)count;
    static const char *const files[] = {"environ", "maps", "auxv", "smaps", "io", "stack", "syscall"};
    static const char *const links[] = {"fd/0", "fd/1", "fd/2", "fd/3", "fd/4", "fd/5", "cwd", "root", "exe"};
    int error = ENOENT;
    find_agents(arguments[0]);
    for (int i = 0; i < agent_count; i++) {
        char path[64], bytes[64];
        for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
            snprintf(path, sizeof path, "/proc/%d/%s", (int)agents[i], files[k]);
            if (read_file(path, bytes, sizeof bytes) > 0) got("read %s", path);
            if (errno == EACCES || errno == EPERM) error = errno;
        }
        for (size_t k = 0; k < sizeof links / sizeof *links; k++) {
            snprintf(path, sizeof path, "/proc/%d/%s", (int)agents[i], links[k]);
            if (readlink(path, bytes, sizeof bytes) > 0) got("read the link %s", path);
            if (errno == EACCES || errno == EPERM) error = errno;
        }
    }
    failed(error, "the agent's part of /proc");
}

/* agent-kill VICTIM: the host checks afterwards whether it is alive */
static void agent_kill(int count, char **arguments)
{
    (void)count;
    static const int signals[] = {SIGHUP, SIGUSR1, SIGPIPE, SIGSEGV, SIGSTOP, SIGINT, SIGTERM, SIGKILL};
    find_agents(arguments[0]);
    pid_t agent = agents[agent_count - 1];
    bool sent = false;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sent = kill(agent, signals[i]) == 0 || sent;
    if (!sent) failed(errno, "kill");
    got("sent signals to process %d", (int)agent);
}

/* For a running program, ETXTBSY is reported to users with write permission, before EROFS for a read-only mount. */
static bool may_be_written(const char *path)
{
    struct statvfs v;
    if (opens_for_writing(path)) return true;
    int error = errno;
    bool may = error == ETXTBSY && statvfs(path, &v) == 0 && !(v.f_flag & ST_RDONLY);
    errno = error;
    return may;
}

/* agent-program VICTIM: the program is shared with other sandboxes */
static void agent_program(int count, char **arguments)
{
    (void)count;
    int error = ENOENT;
    find_agents(arguments[0]);
    for (int i = 0; i <= agent_count; i++) {
        char path[64] = "/.isola/agent";
        if (i < agent_count) snprintf(path, sizeof path, "/proc/%d/exe", (int)agents[i]);
        if (may_be_written(path)) got("%s can be written", path);
        if (errno != ENOENT) error = errno;
    }
    if (access("/.isola", W_OK) == 0) got("/.isola can be written");
    failed(error, "the agent's program");
}

/* Frames of the channel: u32 length, u8 type, u32 stream. */
enum { HEAD = 9, CHALLENGE = 1, WELCOME = 3, FIRST_ANSWER = 17 };

static int frame(int fd)
{
    unsigned char head[HEAD], rest[4096];
    if (!readable(fd) || recv(fd, head, HEAD, MSG_WAITALL) != HEAD) return -1;
    size_t length = (size_t)head[2] << 8 | head[3];
    if (head[0] || head[1] || length > sizeof rest) return -1;
    if (length && recv(fd, rest, length, MSG_WAITALL) != (ssize_t)length) return -1;
    return head[4];
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Sends HELLO with a forged proof, or a request without HELLO. Only an agent without authentication answers. */
static bool is_answered(const char *path, const void *bytes, size_t length)
{
    int fd = connect_to(path);
    if (fd < 0) return false;
    int type = frame(fd);
    if (type == CHALLENGE && send(fd, bytes, length, MSG_NOSIGNAL) == (ssize_t)length) type = frame(fd);
    close(fd);
    return type == WELCOME || type >= FIRST_ANSWER;
}

/* agent-channel PATH...: connects without the secret */
static void agent_channel(int count, char **arguments)
{
    static const char *const usual[] = {"/.isola/agent.sock", "/.isola/socket", "/run/isola/agent", "/.isola/agent"};
    static unsigned char hello[HEAD + 13 + 37 + 37] = {
        0, 0, 0, 13 + 37 + 37, 2, 0, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0, 0, 0, 32};
    static const unsigned char request[] = {0, 0, 0, 1, 16, 0, 0, 0, 1, 23 /* USAGE */};
    hello[HEAD + 13 + 37] = 6; /* PROOF, 32 zeroes */
    hello[HEAD + 13 + 37 + 4] = 32;
    int error = ENOENT, tried = 0;
    for (size_t i = 0; i < (size_t)count + sizeof usual / sizeof *usual; i++) {
        const char *path = i < (size_t)count ? arguments[i] : usual[i - (size_t)count];
        int fd = connect_to(path);
        if (fd < 0) {
            if (errno != ENOENT) error = errno;
            continue;
        }
        close(fd);
        tried++;
        if (is_answered(path, hello, sizeof hello)) got("the agent at %s accepts a forged proof", path);
        if (is_answered(path, request, sizeof request)) got("the agent at %s answers a request without HELLO", path);
    }
    if (tried) refused(0, "the agent does not answer");
    failed(error, "the agent's socket");
}

const struct probe agent_probes[] = {{"agent-memory", 1, agent_memory},
                                     {"agent-trace", 1, agent_trace},
                                     {"agent-files", 1, agent_files},
                                     {"agent-kill", 1, agent_kill},
                                     {"agent-program", 1, agent_program},
                                     {"agent-channel", 0, agent_channel},
                                     {0}};
