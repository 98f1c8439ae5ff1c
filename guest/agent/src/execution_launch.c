#include "execution_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sandbox_limits.h"
#include "disk_budget.h"
#include "file_error.h"
#include "operations.h"
#include "process_tree.h"
#include "trust.h"

static const char DEFAULT_PATH[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static void close_if_open(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void free_list(char **list)
{
    if (!list) return;
    for (char **p = list; *p; p++) free(*p);
    free(list);
}

/*
 * Returns all fields with `tag` as C strings, with room for `more`. NULL when out of memory or when a field contains
 * NUL.
 */
static char **collect(struct fields f, enum tag tag, size_t more)
{
    size_t count = 0, position = 0;
    struct field field;
    while (fields_next(f, &position, &field)) count += field.tag == tag;
    char **list = calloc(count + more + 1, sizeof *list);
    if (!list) return NULL;
    size_t n = 0;
    position = 0;
    while (fields_next(f, &position, &field)) {
        if (field.tag != tag) continue;
        char *text = memchr(field.value, 0, field.length) ? NULL : malloc(field.length + 1);
        if (!text) {
            free_list(list);
            return NULL;
        }
        memcpy(text, field.value, field.length);
        text[field.length] = 0;
        list[n++] = text;
    }
    return list;
}

static const char *value_of(char **environment, const char *name)
{
    size_t length = strlen(name);
    for (char **p = environment; *p; p++)
        if (strncmp(*p, name, length) == 0 && (*p)[length] == '=') return *p + length + 1;
    return NULL;
}

/* Sets K=V. Takes ownership of `entry`, which is NULL when out of memory. */
static bool put(char **environment, char *entry, bool replace)
{
    if (!entry) return false;
    char *equals = strchr(entry, '=');
    size_t length = equals ? (size_t)(equals - entry) + 1 : strlen(entry);
    char **p = environment;
    while (*p && strncmp(*p, entry, length) != 0) p++;
    if (*p && !replace) {
        free(entry);
        return true;
    }
    free(*p);
    *p = entry;
    return true;
}

static char *entry_of(const char *name, const char *value)
{
    char *entry = malloc(strlen(name) + strlen(value) + 2);
    if (entry) strcpy(stpcpy(stpcpy(entry, name), "="), value);
    return entry;
}

/* Combines the boot record's environment, the command's, and the defaults that every command gets. */
static char **environment_of(char **ours, char **boot, const struct user *u, bool terminal)
{
    size_t count = 9 + TRUST_VARIABLES;
    for (char **p = ours; *p; p++) count++;
    for (char **p = boot; p && *p; p++) count++;
    char **all = calloc(count + 1, sizeof *all);
    if (!all) return NULL;
    bool ok = true;
    for (char **p = boot; p && *p; p++) ok = put(all, strdup(*p), true) && ok;
    for (char **p = ours; *p; p++) ok = put(all, strdup(*p), true) && ok;
    ok = put(all, entry_of("PATH", DEFAULT_PATH), false) && ok;
    ok = put(all, entry_of("HOME", u->home[0] ? u->home : "/"), false) && ok;
    if (u->name[0]) {
        ok = put(all, entry_of("USER", u->name), false) && ok;
        ok = put(all, entry_of("LOGNAME", u->name), false) && ok;
    }
    if (u->shell[0]) ok = put(all, entry_of("SHELL", u->shell), false) && ok;
    if (terminal) ok = put(all, entry_of("TERM", "xterm-256color"), false) && ok;
    for (const char *const *p = trust_variables(); *p; p++) ok = put(all, strdup(*p), false) && ok;
    if (ok) return all;
    free_list(all);
    return NULL;
}

/* Returns the working folder as the kernel names it; a confined sandbox names its ROOT differently. */
static char *folder_of(struct fields request)
{
    char *asked = fields_text(request, T_CWD);
    const char *base = file_view.root ? file_view.root : file_view.cwd;
    const char *start = file_view.root && file_view.cwd ? file_view.cwd : base;
    if (!asked || !*asked) {
        free(asked);
        asked = strdup(start);
    }
    if (!asked) return NULL;
    char *result = NULL;
    size_t mount = file_view.mount ? strlen(file_view.mount) : 0;
    if (mount && strncmp(asked, file_view.mount, mount) == 0 && (asked[mount] == '/' || asked[mount] == 0)) {
        if (asprintf(&result, "%s%s", file_view.root, asked + mount) < 0) result = NULL;
    } else if (asked[0] != '/') {
        const char *inner = file_view.start ? file_view.start : "";
        if (asprintf(&result, "%s/%s/%s", base, inner, asked) < 0) result = NULL;
    } else {
        return asked;
    }
    free(asked);
    return result;
}

static bool is_root(void)
{
    static int known; /* it does not change */
    if (!known) known = geteuid() == 0 ? 1 : 2;
    return known == 1;
}

static bool user_of(struct prepared *p, struct stream *s, struct fields request)
{
    char *asked = fields_text(request, T_USER);
    const char *name = asked && *asked ? asked : file_view.user;
    bool ok = true;
    if (name) {
        ok = user_find(name, &p->user);
        if (!ok)
            stream_error(s, E_NO_SUCH_USER, 0, "no such user: %s", name);
        else if (is_root())
            p->launch.user = &p->user;
        else if (p->user.uid != geteuid()) {
            stream_error(s, E_DENIED, EPERM, "cannot run as %s: the agent is not root", name);
            ok = false;
        }
    } else {
        user_by_uid(geteuid(), &p->user);
    }
    free(asked);
    return ok;
}

static void limits_of(struct launch *l, struct fields f)
{
    size_t position = 0;
    struct field field;
    while (fields_next(f, &position, &field)) {
        if (field.tag != T_RLIMIT || field.length != 17) continue;
        struct rlimit limit = {get_u64(field.value + 1), get_u64(field.value + 9)};
        struct rlimit now;
        /* Without privilege to raise it, the current hard limit is the maximum. */
        if (!is_root() && getrlimit((__rlimit_resource_t)field.value[0], &now) == 0) {
            if (limit.rlim_max > now.rlim_max) limit.rlim_max = now.rlim_max;
            if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
        }
        int i = 0;
        while (i < l->limit_count && l->limits[i].resource != field.value[0]) i++;
        if (i == LAUNCH_LIMITS_MAX) continue;
        l->limits[i].resource = field.value[0];
        l->limits[i].limit = limit;
        if (i == l->limit_count) l->limit_count++;
    }
}

void launch_limits(struct launch *l, const struct execution_defaults *defaults)
{
    l->limits[0].resource = RLIMIT_NOFILE;
    l->limits[0].limit = defaults->descriptors;
    l->limit_count = 1;
    if (disk_limit()) { /* limits the size of one file exactly; the total is measured */
        l->limits[1].resource = RLIMIT_FSIZE;
        l->limits[1].limit = (struct rlimit){disk_limit(), disk_limit()};
        l->limit_count = 2;
    }
    l->expendable = limits_have_memory();
    uint64_t processors = fields_u64(defaults->boot, T_PROCESSORS, 0);
    l->processors = processors < CPU_SETSIZE ? (int)processors : 0;
    limits_of(l, defaults->boot);
}

static bool open_terminal(struct prepared *p)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0) return false;
    int slave = -1;
    if (grantpt(master) == 0 && unlockpt(master) == 0) {
        slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (slave < 0) {
            char name[64];
            if (ptsname_r(master, name, sizeof name) == 0) slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
        }
    }
    if (slave < 0) {
        close(master);
        return false;
    }
    struct winsize size = {.ws_col = p->columns, .ws_row = p->rows};
    ioctl(master, TIOCSWINSZ, &size);
    if (p->launch.user) {
        int ignored = fchown(slave, p->user.uid, p->user.gid); /* allows the user to open /dev/tty */
        (void)ignored;
    }
    p->our_input = p->our_output = master;
    p->launch.input = p->launch.output = p->launch.error = slave;
    p->launch.terminal = true;
    return true;
}

static bool open_pipes(struct prepared *p, bool with_input)
{
    int pair[2];
    if (with_input) {
        if (pipe2(pair, O_CLOEXEC) != 0) return false;
        p->launch.input = pair[0];
        p->our_input = pair[1];
    } else {
        p->launch.input = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (p->launch.input < 0) {
            /* For an image without /dev: a pipe with a closed write end reads as /dev/null does. */
            if (pipe2(pair, O_CLOEXEC) != 0) return false;
            close(pair[1]);
            p->launch.input = pair[0];
        }
    }
    if (pipe2(pair, O_CLOEXEC) != 0) return false;
    p->our_output = pair[0];
    p->launch.output = pair[1];
    if (pipe2(pair, O_CLOEXEC) != 0) return false;
    p->our_error = pair[0];
    p->launch.error = pair[1];
    return true;
}

void launch_close(struct prepared *p)
{
    struct launch *l = &p->launch;
    if (p->terminal) {
        close_if_open(&l->input);
    } else {
        close_if_open(&l->input);
        close_if_open(&l->output);
        close_if_open(&l->error);
    }
    free_list(p->words);
    free_list(p->environment);
    free(p->cwd);
}

static void close_ours(struct prepared *p)
{
    if (!p->terminal) close_if_open(&p->our_input);
    close_if_open(&p->our_output);
    close_if_open(&p->our_error);
}

char *launch_mark(uint64_t execution)
{
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)execution);
    return entry_of("ISOLA_EXECUTION", number);
}

bool launch_prepare(struct prepared *p, struct stream *s, struct fields request,
                    const struct execution_defaults *defaults, uint64_t execution)
{
    *p = (struct prepared){.our_input = -1, .our_output = -1, .our_error = -1};
    p->launch.input = p->launch.output = p->launch.error = -1;
    uint64_t columns = fields_u64(request, T_COLS, 0), rows = fields_u64(request, T_ROWS, 0);
    p->terminal = columns && rows;
    p->columns = (uint16_t)(columns > 65535 ? 65535 : columns);
    p->rows = (uint16_t)(rows > 65535 ? 65535 : rows);
    if (!user_of(p, s, request)) return false;

    p->words = collect(request, T_ARG, 0);
    if (!p->words || !p->words[0] || !p->words[0][0]) {
        stream_error(s, E_INVALID, 0, "the command is empty or contains a NUL byte");
        launch_close(p);
        return false;
    }
    char **ours = collect(request, T_ENV, 0);
    p->environment = ours ? environment_of(ours, defaults->environment, &p->user, p->terminal) : NULL;
    free_list(ours);
    p->cwd = folder_of(request);
    if (p->environment && !tree_keeps_orphans()) {
        char *mark = launch_mark(execution);
        if (put(p->environment, mark, true)) p->launch.mark = mark;
    }
    if (!p->environment || !p->cwd) {
        stream_error(s, E_INVALID, 0,
                     "the environment or the working folder contains a NUL byte, or the agent is out of memory");
        launch_close(p);
        return false;
    }
    launch_limits(&p->launch, defaults);
    limits_of(&p->launch, request);
    p->launch.arguments = p->words;
    p->launch.environment = p->environment;
    p->launch.search_path = value_of(p->environment, "PATH");
    p->launch.cwd = p->cwd;
    bool open = p->terminal ? open_terminal(p) : open_pipes(p, fields_u64(request, T_NO_STDIN, 0) == 0);
    if (!open) {
        int error = errno;
        stream_error(s, error == EMFILE || error == ENFILE ? E_LIMIT : E_IO, error, "cannot open %s: %s",
                     p->terminal ? "a terminal" : "pipes", strerror(error));
        close_ours(p);
        launch_close(p);
        return false;
    }
    int all[3] = {p->our_input, p->our_output, p->our_error};
    for (int i = 0; i < 3; i++)
        if (all[i] >= 0) fcntl(all[i], F_SETFL, O_NONBLOCK); /* no other file status flag is set on it */
    return true;
}

/* Everything but a name that cannot exist and a lack of resources is a property of the program's file. */
static enum error_code exec_error(int error_number)
{
    switch (error_number) {
    case ENAMETOOLONG:
    case ELOOP:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EIO:
        return error_code_of(error_number);
    case EAGAIN:
        return E_LIMIT;
    default:
        return E_EXEC_DENIED;
    }
}

void launch_error(struct stream *s, const struct builder *description, enum stage stage, int error_number)
{
    struct fields described = {description->data, description->length};
    char *program = fields_text(described, T_ARG);
    char *folder = fields_text(described, T_CWD);
    const char *reason = strerror(error_number);
    switch (stage) {
    case STAGE_EXEC:
        if (error_number == ENOENT || error_number == ENOTDIR)
            stream_error(s, E_EXEC_NOT_FOUND, error_number, "no such program: %s", program);
        else if (error_number == E2BIG)
            stream_error(s, E_LIMIT, error_number, "arguments and environment exceed the kernel's limit");
        else
            stream_error(s, exec_error(error_number), error_number, "cannot execute %s: %s", program, reason);
        break;
    case STAGE_CWD:
        stream_error(s, error_code_of(error_number), error_number, "cannot enter the working folder %s: %s",
                     folder          ? folder
                     : file_view.cwd ? file_view.cwd
                                     : "/",
                     reason);
        break;
    case STAGE_USER:
        stream_error(s, E_DENIED, error_number, "cannot switch to the user: %s", reason);
        break;
    case STAGE_LIMIT:
        stream_error(s, E_LIMIT, error_number, "cannot set a resource limit: %s", reason);
        break;
    case STAGE_SETUP:
        stream_error(s, error_number == EAGAIN || error_number == ENOMEM || error_number == EMFILE ? E_LIMIT : E_IO,
                     error_number, "cannot start a process: %s", reason);
        break;
    }
    free(program);
    free(folder);
}
