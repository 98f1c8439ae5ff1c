/* /proc/PID/stat of this process, and malformed texts. */
#include <fcntl.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "process_stat.h"

#define FROM_PARENT " 7 8 9 0 -1 2097216 1 2 3 4 10 20 30 40 -2 -20 5 0 123456789012 4096 77 18446744073709551615"

static char folder[] = "/tmp/process-stat-XXXXXX";
static int root = -1;

static bool reads(const char *text, struct process_stat *seen)
{
    int fd = openat(root, "1/stat", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) close(fd);
    CHECK(written);
    return process_stat_read(root, "1", seen);
}

static void reads_every_field(void)
{
    struct process_stat seen;
    CHECK(reads("1 (init) S" FROM_PARENT " 1 2 3\n", &seen));
    CHECK_INT('S', seen.state);
    CHECK_INT(7, seen.parent);
    CHECK_INT(9, seen.session);
    CHECK_INT(2097216, seen.flags);
    CHECK_INT(100, seen.ticks);
    CHECK_INT(5, seen.threads);
    CHECK_INT(123456789012, seen.start);
    CHECK_INT(77, seen.pages);
}

static void process_name_cannot_forge_fields(void)
{
    struct process_stat seen;
    CHECK(reads("1 (a) Z 1 (2)\n) R 3 3) T" FROM_PARENT "\n", &seen));
    CHECK_INT('T', seen.state);
    CHECK_INT(7, seen.parent);
}

static void malformed_text_is_rejected(void)
{
    static const char *const texts[] = {"",
                                        "1",
                                        "1 (a",
                                        "1 (a)",
                                        "1 (a) ",
                                        "1 (a) S",
                                        "1 (a) S 1 2 3",
                                        "1 (a)S" FROM_PARENT,
                                        "1 (a) SS" FROM_PARENT,
                                        "1 (a) S 7 8 x 0 -1 0 1 2 3 4 10 20 30 40 -2 -20 5 0 12 4096 77"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct process_stat seen;
        if (reads(texts[i], &seen)) printf("  taken: %s\n", texts[i]);
        CHECK(!reads(texts[i], &seen));
    }
}

static void missing_process_is_rejected(void)
{
    struct process_stat seen;
    CHECK(!process_stat_read(root, "2", &seen));
    CHECK(!process_stat_read(root, "123456789012345678901234567890", &seen));
}

static void reads_a_child_until_it_is_reaped(void)
{
    struct process_stat seen;
    char name[32];
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_NAME, ") Z 1 1 1");
        setsid();
        raise(SIGSTOP);
        _exit(0);
    }
    int status;
    snprintf(name, sizeof name, "/proc/%d", (int)child);
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    CHECK(process_stat_read(AT_FDCWD, name, &seen));
    CHECK_INT('T', seen.state);
    CHECK_INT(getpid(), seen.parent);
    CHECK_INT(child, seen.session);
    CHECK_INT(1, seen.threads);
    CHECK(seen.start > 0);
    CHECK(seen.pages > 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK(!process_stat_read(AT_FDCWD, name, &seen));
}

int main(void)
{
    if (!mkdtemp(folder) || (root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0
        || mkdirat(root, "1", 0700) != 0)
        return 1;
    RUN(reads_every_field);
    RUN(process_name_cannot_forge_fields);
    RUN(malformed_text_is_rejected);
    RUN(missing_process_is_rejected);
    RUN(reads_a_child_until_it_is_reaped);
    unlinkat(root, "1/stat", 0);
    unlinkat(root, "1", AT_REMOVEDIR);
    close(root);
    rmdir(folder);
    return check_result();
}
