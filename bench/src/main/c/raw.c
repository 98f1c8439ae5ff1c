/*
 * Baselines: the cost of the kernel alone, with which Isola's results are compared.
 *
 *   raw exec N WORKERS PROGRAM   fork, exec, waitpid; N times, spread over WORKERS processes
 *   raw copy FROM TO             read and write a file, 128 KiB at a time
 *   raw flood PROGRAM ARG...     run a program and read its output to the end
 *
 * Prints the nanoseconds of each iteration, one per line, then "wall N" for the total elapsed time.
 *
 * Containers of bare runtimes run it too, under other names: `true` succeeds, `pause` waits forever.
 * A virtual machine runs it as `init`: it runs itself once and ends the machine.
 * `raw without-cgroup2 PROGRAM ARG...` executes a program with the cgroup2 mount hidden, for runtimes that refuse a
 * host with both cgroup versions.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUFFER (128 << 10) /* fits the CPU cache; larger buffers are slower */

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void run_once(char *program)
{
    char *arguments[] = {program, NULL};
    pid_t child = fork();
    if (child == 0) {
        execv(program, arguments);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) fail("fork");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "%s failed\n", program);
        exit(1);
    }
}

static int exec_loop(long n, long workers, char *program)
{
    size_t size = (size_t)n * sizeof(uint64_t);
    uint64_t *taken = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (taken == MAP_FAILED) fail("mmap");
    memset(taken, 0, size);
    uint64_t begin = now();
    for (long w = 0; w < workers; w++) {
        pid_t worker = fork();
        if (worker < 0) fail("fork");
        if (worker == 0) {
            for (long i = w; i < n; i += workers) {
                uint64_t start = now();
                run_once(program);
                taken[i] = now() - start;
            }
            _exit(0);
        }
    }
    int status, bad = 0;
    while (wait(&status) > 0) bad |= status;
    uint64_t wall = now() - begin;
    for (long i = 0; i < n; i++) printf("%llu\n", (unsigned long long)taken[i]);
    printf("wall %llu\n", (unsigned long long)wall);
    return bad != 0;
}

static void print_one(uint64_t taken)
{
    printf("%llu\nwall %llu\n", (unsigned long long)taken, (unsigned long long)taken);
}

static int copy(const char *from, const char *to)
{
    char *buffer = malloc(BUFFER);
    if (!buffer) fail("malloc");
    uint64_t start = now();
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (in < 0 || out < 0) fail("open");
    ssize_t got;
    while ((got = read(in, buffer, BUFFER)) > 0)
        for (ssize_t done = 0; done < got;) {
            ssize_t put = write(out, buffer + done, (size_t)(got - done));
            if (put < 0) fail("write");
            done += put;
        }
    if (got < 0 || close(out) != 0) fail("copy");
    print_one(now() - start);
    return 0;
}

static int flood(char **arguments)
{
    char *buffer = malloc(BUFFER);
    int ends[2];
    if (!buffer || pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    uint64_t start = now();
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        dup2(ends[1], 1);
        execvp(arguments[0], arguments);
        _exit(127);
    }
    close(ends[1]);
    while (read(ends[0], buffer, BUFFER) > 0)
        ;
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) fail(arguments[0]);
    print_one(now() - start);
    return 0;
}

static int without_cgroup2(char **arguments)
{
    char line[4096], point[4096], type[64];
    FILE *mounts = fopen("/proc/self/mounts", "re");
    if (!mounts || unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        fail("a mount namespace");
    while (fgets(line, sizeof line, mounts))
        if (sscanf(line, "%*s %4095s %63s", point, type) == 2 && strcmp(type, "cgroup2") == 0
            && umount2(point, MNT_DETACH) != 0)
            fail(point);
    fclose(mounts);
    execvp(arguments[0], arguments);
    fail(arguments[0]);
    return 1;
}

static int run_in_container(const char *name)
{
    if (strcmp(name, "pause") == 0)
        for (;;) pause();
    return 0;
}

/* The init of a virtual machine that runs one program. */
static int run_as_init(char *program)
{
    if (getpid() != 1) return 0;
    run_once(program);
    return reboot(RB_AUTOBOOT); /* the machine ends with it */
}

int main(int count, char **arguments)
{
    const char *slash = strrchr(arguments[0], '/'), *name = slash ? slash + 1 : arguments[0];
    if (strcmp(name, "init") == 0) return run_as_init(arguments[0]);
    if (strcmp(name, "true") == 0 || strcmp(name, "pause") == 0) return run_in_container(name);
    if (count >= 3 && strcmp(arguments[1], "without-cgroup2") == 0) return without_cgroup2(arguments + 2);
    if (count == 5 && strcmp(arguments[1], "exec") == 0)
        return exec_loop(atol(arguments[2]), atol(arguments[3]), arguments[4]);
    if (count == 4 && strcmp(arguments[1], "copy") == 0) return copy(arguments[2], arguments[3]);
    if (count >= 3 && strcmp(arguments[1], "flood") == 0) return flood(arguments + 2);
    fprintf(stderr, "usage: raw exec N WORKERS PROGRAM | copy FROM TO | flood PROGRAM ARG...\n");
    return 2;
}
