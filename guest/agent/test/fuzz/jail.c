#include "jail.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void require(bool condition, const char *what)
{
    if (condition) return;
    perror(what);
    _exit(2);
}

static void drop_capabilities(void)
{
    static const int kept[] = {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_SETUID, CAP_SETGID};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        data[0].permitted |= 1u << kept[i];
        data[0].effective |= 1u << kept[i];
    }
    for (int i = 0; i < 64; i++) prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
    require(syscall(SYS_capset, &header, data) == 0, "capset");
}

/* The rest runs in a child, which is the first process of a namespace: /proc shows no other. */
static void fork_into_namespaces(const char *folder)
{
    int status;
    require(unshare(CLONE_NEWPID) == 0, "unshare");
    pid_t child = fork();
    require(child >= 0, "fork");
    if (child == 0) {
        require(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0
                    && unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) == 0,
                "unshare");
        return;
    }
    require(waitpid(child, &status, 0) == child, "waitpid");
    rmdir(folder); /* on which nothing is mounted here */
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Mounts a folder of the words in the jail, and replaces the word. */
static void keep(char **word, const char *folder, int number)
{
    static const char prefix[] = "-artifact_prefix=";
    char inside[64], target[128], changed[128];
    struct stat st;
    bool prefixed = strncmp(*word, prefix, sizeof prefix - 1) == 0;
    const char *path = prefixed ? *word + sizeof prefix - 1 : *word;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) return;
    snprintf(inside, sizeof inside, "/keep/%d", number);
    snprintf(target, sizeof target, "%s%s", folder, inside);
    snprintf(changed, sizeof changed, "%s%s/", prefixed ? prefix : "", inside);
    require(mkdir(target, 0700) == 0 && mount(path, target, NULL, MS_BIND, NULL) == 0, path);
    *word = strdup(changed);
}

void jail_open(int count, char **words)
{
    char folder[] = "/tmp/isola-jail-XXXXXX", path[64];
    if (getuid() != 0) {
        printf("NOT RUN the fuzz targets for files: not root\n0 passed, 0 failed\n");
        exit(0);
    }
    require(mkdtemp(folder) != NULL, folder);
    fork_into_namespaces(folder);
    require(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "private");
    require(mount("jail", folder, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=16m,nr_inodes=2k,mode=755") == 0,
            "tmpfs");
    snprintf(path, sizeof path, "%s/keep", folder);
    require(mkdir(path, 0700) == 0, path);
    for (int i = 1; i < count; i++) keep(&words[i], folder, i);
    snprintf(path, sizeof path, "%s/proc", folder);
    require(mkdir(path, 0755) == 0
                && mount("proc", path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, NULL) == 0,
            path);
    require(chdir(folder) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0
                && chdir("/") == 0,
            "pivot_root");
    drop_capabilities();
}

/* Removes all that is in a folder, whose descriptor it closes. */
static void clear(int fd, bool top)
{
    DIR *d = fdopendir(fd);
    require(d != NULL, "fdopendir");
    for (struct dirent *entry; (entry = readdir(d));) {
        const char *name = entry->d_name;
        if (!strcmp(name, ".") || !strcmp(name, "..")) continue;
        if (top && (!strcmp(name, "keep") || !strcmp(name, "proc"))) continue;
        if (unlinkat(fd, name, 0) == 0) continue;
        int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        require(below >= 0, "open");
        clear(below, false);
        require(unlinkat(fd, name, AT_REMOVEDIR) == 0, "rmdir");
    }
    closedir(d);
}

static void put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    require(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
    close(fd);
}

static const char OUTSIDE[] = "nothing may change this";

void jail_reset(void)
{
    int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(root >= 0 && chdir("/") == 0, "the jail");
    clear(root, true);
    umask(022);
    bool made = mkdir("/etc", 0755) == 0 && mkdir("/outside", 0755) == 0 && mkdir("/root", 0755) == 0
                && mkdir("/root/d", 0755) == 0 && mkdir("/root/d/e", 0700) == 0;
    require(made, "mkdir");
    put("/etc/passwd", "root:x:0:0::/root:/bin/sh\nu:x:1000:1000::/root:/bin/sh\n");
    put("/etc/group", "root:x:0:\nu:x:1000:u\n");
    put("/outside/f", OUTSIDE);
    put("/root/f", "content");
    put("/root/d/g", "more");
    require(symlink("d", "/root/l") == 0 && symlink("/outside", "/root/o") == 0
                && symlink("../outside/f", "/root/p") == 0 && link("/root/f", "/root/h") == 0,
            "links");
}

void jail_verify(void)
{
    char text[sizeof OUTSIDE + 1] = "";
    struct stat file, above;
    int fd = open("/outside/f", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool same = fd >= 0 && read(fd, text, sizeof text) == sizeof OUTSIDE - 1 && !strcmp(text, OUTSIDE)
                && fstat(fd, &file) == 0 && file.st_mode == (S_IFREG | 0644) && file.st_uid == 0 && file.st_nlink == 1
                && stat("/outside", &above) == 0 && above.st_mode == (S_IFDIR | 0755) && above.st_nlink == 2;
    if (fd >= 0) close(fd);
    int entries = 0;
    const char *const folders[] = {"/", "/outside"};
    for (int i = 0; i < 2; i++) {
        DIR *d = opendir(folders[i]);
        while (d && readdir(d)) entries++;
        if (d) closedir(d);
    }
    if (same && entries == 7 + 3) return;
    fprintf(stderr, "something outside of /root was changed: %d entries\n", entries);
    abort();
}
