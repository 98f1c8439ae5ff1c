#include "process_stat.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Field numbers of proc(5); the first two are the pid and the name. */
enum {
    STATE = 3,
    PARENT,
    SESSION = 6,
    FLAGS = 9,
    USER_TIME = 14,
    KERNEL_TIME,
    CHILDREN_USER_TIME,
    CHILDREN_KERNEL_TIME,
    THREADS = 20,
    START = 22,
    PAGES = 24
};

/*
 * Uses neither stdio nor heap, because supervisors call it too. The name may contain anything, so parsing starts after
 * the last ')'.
 */
bool process_stat_read(int folder, const char *name, struct process_stat *out)
{
    char path[32], text[1024];
    size_t length = strnlen(name, 20);
    memcpy(path, name, length);
    memcpy(path + length, "/stat", 6);
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    char *at = strrchr(text, ')');
    if (!at || at[1] != ' ' || !at[2] || at[3] != ' ') return false;
    long long fields[PAGES + 1];
    char state = at[2];
    at += 3;
    for (int field = PARENT; field <= PAGES; field++) {
        char *end;
        fields[field] = strtoll(at, &end, 10);
        if (end == at) return false;
        at = end;
    }
    *out = (struct process_stat){
        .state = state,
        .parent = (pid_t)fields[PARENT],
        .session = (pid_t)fields[SESSION],
        .flags = (unsigned)fields[FLAGS],
        .threads = (int)fields[THREADS],
        .ticks = (uint64_t)(fields[USER_TIME] + fields[KERNEL_TIME] + fields[CHILDREN_USER_TIME]
                            + fields[CHILDREN_KERNEL_TIME]),
        .start = (uint64_t)fields[START],
        .pages = fields[PAGES] > 0 ? (uint64_t)fields[PAGES] : 0,
    };
    return true;
}
