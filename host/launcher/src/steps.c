#include "steps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boot_id.h"
#include "common.h"
#include "disk.h"
#include "filter.h"
#include "folders.h"
#include "cgroups.h"
#include "merge.h"
#include "mounts.h"
#include "commit.h"
#include "users.h"

enum { ENVIRONMENT_MAX = 64 };

static int users_fd = -1;
static bool layered; /* the workspace has lower layers */
static char *environment[ENVIRONMENT_MAX + 1];
static int variables;

static void open_source(struct step *s, int source, int word)
{
    s->sources[source] = move_fd_up(open(s->words[word], O_PATH | O_CLOEXEC));
    if (s->sources[source] < 0) fail("cannot open %s", s->words[word]);
}

static void open_folders(struct step *s)
{
    for (int i = FIRST_RENAME; i < s->count && i - FIRST_RENAME < SOURCES_MAX; i++) {
        char folder[PATH_MAX];
        snprintf(folder, sizeof folder, "%s", s->words[i]);
        char *slash = strrchr(folder, '/');
        errno = EINVAL;
        if (!slash || slash == folder) fail("cannot rename %s", s->words[i]);
        *slash = 0;
        s->sources[i - FIRST_RENAME] = move_fd_up(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (s->sources[i - FIRST_RENAME] < 0) fail("cannot open %s", folder);
    }
}

/* Returns the last step if it executes a program, otherwise NULL. */
static struct step *program_step(struct plan *plan)
{
    struct step *last = &plan->steps[plan->count - 1];
    bool executes = strcmp(last->words[0], "run") == 0 || strcmp(last->words[0], "call") == 0;
    return executes && last->count > 1 ? last : NULL;
}

/* The program that `run` or `call` executes, looked up before the stage. */
static struct {
    bool searched;
    int error; /* why it was not found */
    char path[PATH_MAX];
    struct stat file;
} executable;

static bool is_program(const char *path)
{
    executable.error = 0;
    errno = EACCES;
    if (stat(path, &executable.file) != 0 || !S_ISREG(executable.file.st_mode) || access(path, X_OK) != 0)
        executable.error = errno;
    return executable.error == 0;
}

/* Searches only absolute folders of the PATH, as the server does when it looks for a program. */
static bool find_program(const char *name)
{
    const char *folder = strchr(name, '/') ? NULL : getenv("PATH");
    executable.searched = true;
    snprintf(executable.path, sizeof executable.path, "%s", name);
    if (strchr(name, '/')) return is_program(executable.path);
    executable.error = ENOENT;
    while (folder) {
        int length = (int)strcspn(folder, ":");
        int written = snprintf(executable.path, sizeof executable.path, "%.*s/%s", length, folder, name);
        if (*folder == '/' && written < (int)sizeof executable.path && is_program(executable.path)) return true;
        folder = folder[length] ? folder + length + 1 : NULL;
    }
    return false;
}

/*
 * The path is preferred to the mount, because security modules assign profiles by path. A file that is at this path only
 * now belongs to the sandbox.
 */
static void execute(const struct step *s)
{
    struct stat now;
    errno = executable.error;
    if (executable.error) return;
    bool reachable = executable.searched && stat(executable.path, &now) == 0 && now.st_dev == executable.file.st_dev
                     && now.st_ino == executable.file.st_ino;
    execvpe(!executable.searched ? s->words[1]
            : reachable          ? executable.path
                                 : STAGE_PROGRAM,
            s->words + 1, environment);
}

/* Opens the sources of mounts in the launcher's own mount namespace, before the stage covers anything. */
static void open_sources(struct plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        struct step *s = &plan->steps[i];
        bool one = strcmp(s->words[0], "bind") == 0 || strcmp(s->words[0], "beside") == 0;
        int count = one ? 1 : strcmp(s->words[0], "overlay") == 0 ? 3 : 0;
        for (int k = 0; k < count && k + 1 < s->count; k++) open_source(s, k, k + 1);
        if (strcmp(s->words[0], "push") == 0 || strcmp(s->words[0], "mend") == 0) open_folders(s);
        if (s == program_step(plan) && find_program(s->words[1]))
            s->sources[0] = move_fd_up(open(executable.path, O_PATH | O_CLOEXEC));
        if (strcmp(s->words[0], "workspace") != 0 || s->count < 4) continue;
        open_source(s, 0, 2);
        if (s->count > 4) open_source(s, 1, 3);
        for (int k = 2; k < SOURCES_MAX && 3 * k < s->count; k++) {
            if (!disk_mount_layer(s->words[3 * k - 2])) fail("cannot mount %s", s->words[3 * k - 2]);
            open_source(s, k, 3 * k - 2);
        }
    }
}

/*
 * ext4 places what is created in a folder close together and does not reuse an inode within a minute after it was
 * freed: with many short-lived sandboxes it scans thousands of such inodes. FS_TOPDIR_FL makes it give each subfolder
 * its own region of the disk.
 */
static void spread(const char *folder)
{
    int flags, fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && !(flags & FS_TOPDIR_FL)) {
        flags |= FS_TOPDIR_FL;
        ioctl(fd, FS_IOC_SETFLAGS, &flags); /* not supported by other file systems */
    }
    close(fd);
}

static bool has_word(const struct step *s, const char *word)
{
    for (int i = 1; i < s->count; i++)
        if (strcmp(s->words[i], word) == 0) return true;
    return false;
}

static void assign_fd(int fd, const char *number, const char *what)
{
    if (fd < 0 || dup2(fd, atoi(number)) < 0) fail("cannot open %s", what);
}

static void pass_boot_record(const struct step *s)
{
    int fd = memfd_create("isola-boot", MFD_CLOEXEC);
    if (fd < 0 || write(fd, s->words[1], s->lengths[1]) != (ssize_t)s->lengths[1] || lseek(fd, 0, SEEK_SET) != 0
        || dup2(fd, 0) != 0)
        fail("cannot pass the boot record");
    close(fd);
}

/* Provides the seccomp filter as a file, for a program that installs it itself. */
static void pass_filter(const struct step *s)
{
    struct sock_fprog program = filter_sandbox((struct filter_options){.setuid_files = has_word(s, "setuid")});
    size_t bytes = program.len * sizeof *program.filter;
    int fd = move_fd_up(memfd_create("isola-filter", MFD_CLOEXEC));
    if (fd < 0 || !bytes || write(fd, program.filter, bytes) != (ssize_t)bytes || lseek(fd, 0, SEEK_SET) != 0)
        fail("cannot write the seccomp filter");
    assign_fd(fd, s->words[1], "the seccomp filter");
}

static void require_words(const struct step *s, int arguments)
{
    errno = 0;
    if (s->count < arguments + 1) fail("the plan's step %s has too few words", s->words[0]);
}

static bool is_step(const struct step *s, const char *verb, int arguments)
{
    if (strcmp(s->words[0], verb) != 0) return false;
    require_words(s, arguments);
    return true;
}

/* Copies renamed folders instead of redirecting them: changes are detected by name, not by overlay attributes. */
static bool take_overlay(const struct step *s, bool mapped)
{
    struct lower lower = {s->sources[0], mapped ? users_fd : -1};
    return stage_overlay(&lower, 1, s->sources[1], s->sources[2], s->words[4],
                         users_are_own() ? ",userxattr" : ",redirect_dir=off");
}

/* Redirects of renamed folders are stored in an attribute that only the host's root can set. */
static bool take_workspace(const struct step *s)
{
    struct lower lowers[LAYERS_MAX];
    int count = (s->count - 4) / 3;
    errno = E2BIG;
    if (count > LAYERS_MAX) return false;
    layered = count > 0;
    if (!layered) return stage_bind(s->sources[0], s->words[1], (struct mount_options){0}, -1);
    for (int i = 0; i < count; i++) {
        char **layer = s->words + 4 + 3 * i;
        lowers[i].folder = s->sources[2 + i];
        /* The layer above usually belongs to the same sandbox. */
        bool same = i > 0 && strcmp(layer[1], layer[-2]) == 0;
        bool mapped = strcmp(layer[1], layer[2]) != 0;
        lowers[i].userns = same ? lowers[i - 1].userns : mapped ? users_map(layer[1], layer[2]) : -1;
    }
    return stage_overlay(lowers, count, s->sources[0], s->sources[1], s->words[1],
                         users_are_own() ? ",userxattr" : ",redirect_dir=on");
}

/* Parses a user id; without root the owner is left unchanged. */
static uid_t owner(const char *word)
{
    return users_are_own() ? (uid_t)-1 : (uid_t)strtoul(word, NULL, 10);
}

static bool take_make(const struct step *s)
{
    struct stat like;
    bool given = s->count > 6;
    if (given && access(s->words[1], F_OK) == 0) return true; /* its model may be gone */
    if (given && !disk_stat(s->words[5], &like)) return false;
    return folder_make(s->words[1], (mode_t)strtoul(s->words[2], NULL, 8), owner(s->words[3]), owner(s->words[4]),
                       given ? &like : NULL, given ? (uid_t)strtoul(s->words[6], NULL, 10) : 0);
}

static int take_untouched(const struct step *s)
{
    struct stat like;
    if (!disk_stat(s->words[3], &like)) fail("cannot stat %s", s->words[3]);
    bool same = folder_untouched(s->words[1], owner(s->words[2]), &like, (uid_t)strtoul(s->words[4], NULL, 10));
    puts(same ? "yes" : "no");
    return 0;
}

static int take_remove(const struct step *s)
{
    for (int i = 1; i < s->count; i++)
        if (!folder_remove(s->words[i])) fail("cannot remove %s", s->words[i]);
    puts("done");
    return 0;
}

/* Takes a step that assembles the root; returns false for any other step. */
static bool take_mount_step(struct plan *plan, const struct step *s)
{
    struct mount_options options = {has_word(s, "ro"), has_word(s, "mapped"), has_word(s, "deep"), false};
    bool ok;
    if (is_step(s, "stage", 0)) {
        ok = disk_unshare_mounts();
        if (ok) open_sources(plan);
        ok = ok && stage_open();
        if (executable.searched && !executable.error) ok = ok && stage_program(program_step(plan)->sources[0]);
    } else if (is_step(s, "disk", 4)) {
        ok = disk_mount(s->words[1], s->words[2], s->words[3], s->words[4]);
    } else if (is_step(s, "make", 4)) {
        ok = take_make(s);
    } else if (is_step(s, "folder", 4)) {
        ok = stage_folder(s->words[1], (mode_t)strtoul(s->words[2], NULL, 8), (uid_t)strtoul(s->words[3], NULL, 10),
                          (gid_t)strtoul(s->words[4], NULL, 10));
    } else if (is_step(s, "file", 2)) {
        ok = stage_file(s->words[1], s->words[2], s->lengths[2]);
    } else if (is_step(s, "copy", 2)) {
        ok = stage_copy(s->words[1], s->words[2]);
    } else if (is_step(s, "link", 2)) {
        ok = stage_link(s->words[1], s->words[2]);
    } else if (is_step(s, "bind", 2)) {
        ok = has_word(s, "public") && users_have_subordinate()
                 ? stage_public(s->sources[0], s->words[2])
                 : stage_bind(s->sources[0], s->words[2], options, users_fd);
    } else if (is_step(s, "tmpfs", 2)) {
        ok = stage_tmpfs(s->words[1], s->words[2]);
    } else if (is_step(s, "overlay", 4)) {
        ok = take_overlay(s, options.mapped);
    } else if (is_step(s, "workspace", 3)) {
        ok = take_workspace(s);
    } else if (is_step(s, "again", 2)) {
        ok = !layered || stage_again(s->words[1], s->words[2]);
    } else if (is_step(s, "reserve", 0)) {
        ok = stage_reserve();
    } else if (is_step(s, "lock", 0)) {
        ok = stage_lock();
    } else if (is_step(s, "devices", 1)) {
        ok = stage_devices((uid_t)strtoul(s->words[1], NULL, 10));
    } else if (is_step(s, "mask", 1)) {
        ok = stage_mask(s->words[1]);
    } else if (is_step(s, "seal", 0)) {
        ok = stage_seal();
    } else if (is_step(s, "beside", 2)) {
        ok = stage_beside(s->sources[0], s->words[2], has_word(s, "writable"));
    } else if (is_step(s, "bundle", 2)) {
        ok = stage_bundle((uid_t)strtoul(s->words[1], NULL, 10), s->words[2], s->lengths[2]) && stage_users(users_fd);
    } else if (is_step(s, "cover", 1)) {
        ok = host_cover(s->words[1]);
    } else if (is_step(s, "protect", 1)) {
        ok = host_protect(s->words[1]);
    } else {
        return false;
    }
    if (ok) return true;
    if (strcmp(s->words[0], "bundle") == 0) fail("cannot write the bundle");
    if (strcmp(s->words[0], "reserve") == 0) fail("the image or a volume occupies /.isola");
    if (errno == EPERM && s->count > 2)
        fail("cannot mount on %s, which leads to a reserved path", s->words[strcmp(s->words[0], "bind") == 0 ? 2 : 1]);
    fail("%s %s %s", s->words[0], s->count > 1 ? s->words[1] : "", s->count > 2 ? s->words[2] : "");
}

/* The subordinate user is only for mounts; the sandbox has no user but its root. */
static void take_enter(void)
{
    if (users_have_subordinate()) users_fd = users_make("0", "0", "1");
    if (users_fd >= 0) users_enter(users_fd);
}

/* Prints the start of the program's output if it fails, in one line. */
static int take_call(const struct step *s)
{
    char output[1500], piece[512];
    size_t length = 0;
    int pipes[2], status;
    if (pipe2(pipes, O_CLOEXEC) != 0) fail("cannot create a pipe");
    pid_t child = fork();
    if (child < 0) fail("cannot start %s", s->words[1]);
    if (child == 0) {
        signal(SIGPIPE, SIG_DFL);
        if (dup2(pipes[1], 1) < 0 || dup2(pipes[1], 2) < 0) _exit(1);
        execute(s);
        dprintf(2, "cannot execute %s: %s", s->words[1], strerror(errno));
        _exit(127);
    }
    close(pipes[1]);
    for (ssize_t n; (n = read(pipes[0], piece, sizeof piece)) > 0;) {
        size_t room = sizeof output - 1 - length, added = (size_t)n < room ? (size_t)n : room;
        memcpy(output + length, piece, added);
        length += added;
    }
    output[length] = 0;
    for (char *p = output; *p; p++)
        if ((unsigned char)*p < ' ') *p = ' ';
    if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        puts("done");
        return 0;
    }
    printf("error %s\n", length ? output : "the program failed without a message");
    return 1;
}

static _Noreturn void exit_with(int code)
{
    fflush(stdout);
    _exit(code);
}

static void take_step(struct plan *plan, struct step *s)
{
    if (take_mount_step(plan, s)) return;
    if (is_step(s, "", 0)) return; /* done already */
    if (is_step(s, "cgroup", 1)) {
        if (!cgroup_join(s->words[1])) fail("cannot join %s", s->words[1]);
    } else if (is_step(s, "score", 1)) {
        write_text("/proc/self/oom_score_adj", s->words[1]); /* ignored without permission */
    } else if (is_step(s, "priority", 1)) {
        int value = atoi(s->words[1]);
        if (setpriority(PRIO_PROCESS, 0, value) != 0 && errno != EACCES && errno != EPERM)
            fail("cannot set the priority to %s", s->words[1]);
    } else if (is_step(s, "spread", 1)) {
        spread(s->words[1]);
    } else if (is_step(s, "network", 1)) {
        int fd = open(s->words[1], O_RDONLY | O_CLOEXEC);
        if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) fail("cannot enter the network namespace %s", s->words[1]);
        close(fd);
    } else if (is_step(s, "users", 3)) {
        users_limit_objects();
        users_fd = has_word(s, "limited") ? users_make_limited(s->words[2], s->words[3])
                                          : users_make_own(s->words[1], s->words[2], s->words[3]);
    } else if (is_step(s, "self", 0)) {
        users_limit_objects();
        if (s->count > 2)
            users_become_root_with_subordinate(s->words[1], s->words[2], has_word(s, "limited"));
        else
            users_become_root(has_word(s, "limited"));
    } else if (is_step(s, "enter", 0)) {
        take_enter();
    } else if (is_step(s, "listen", 2)) {
        assign_fd(listen_on(s->words[1]), s->words[2], s->words[1]);
    } else if (is_step(s, "open", 2)) {
        assign_fd(move_fd_up(open(s->words[1], O_RDONLY | O_CLOEXEC)), s->words[2], s->words[1]);
    } else if (is_step(s, "filter", 1)) {
        pass_filter(s);
    } else if (is_step(s, "boot", 1)) {
        pass_boot_record(s);
    } else if (is_step(s, "environment", 1)) {
        if (variables == ENVIRONMENT_MAX) fail("too many environment variables");
        environment[variables++] = s->words[1];
    } else if (is_step(s, "fill", 5)) {
        const char *problem = merge_fill(s, users_map);
        errno = 0;
        if (problem) fail("cannot copy %s: %s", s->words[4], problem);
    } else if (is_step(s, "loose", 0) || is_step(s, "kept", 2) || is_step(s, "restored", 1)
               || is_step(s, "machine", 1)) {
        /* handled in ready.c and cgroup_cleanup.c */
    } else if (is_step(s, "join", 1)) {
        users_join(s->words[1]);
    } else if (is_step(s, "push", 9)) {
        exit_with(commit_layer(s));
    } else if (is_step(s, "mend", 9)) {
        exit_with(recover_commit(s));
    } else if (is_step(s, "untouched", 4)) {
        exit_with(take_untouched(s));
    } else if (is_step(s, "remove", 1)) {
        exit_with(take_remove(s));
    } else if (is_step(s, "boot-id", 1)) {
        exit_with(boot_id_mount(s));
    } else if (is_step(s, "merge", FIRST_LAYER)) {
        for (int i = FIRST_LAYER; i + 1 < s->count; i += 2)
            if (!disk_mount_layer(s->words[i])) fail("cannot mount %s", s->words[i]);
        exit_with(merge(s, users_map, users_are_own()));
    } else if (is_step(s, "call", 1)) {
        exit_with(take_call(s));
    } else if (is_step(s, "run", 1)) {
        execute(s);
        fail("cannot execute %s", s->words[1]);
    } else {
        errno = 0;
        fail("the plan has an unknown step: %s", s->words[0]);
    }
}

void steps_run(struct plan *plan)
{
    for (int i = 0; i < plan->count; i++) take_step(plan, &plan->steps[i]);
    errno = 0;
    fail("the plan has no step run");
}
