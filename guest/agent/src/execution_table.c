#include "execution_table.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "execution_launch.h"
#include "process_tree.h"

#define MS 1000000ull

enum { KILL_TREE_MS = 3000 }; /* how long a supervisor may take to kill its tree */

struct execution *executions;
int executions_running;
static struct execution **executions_end = &executions;
static bool evict_due;

void execution_add(struct execution *e)
{
    *executions_end = e;
    executions_end = &e->next;
}

void execution_remove(struct execution *e)
{
    for (struct execution **at = &executions; *at; at = &(*at)->next)
        if (*at == e) {
            *at = e->next;
            if (!*at) executions_end = at;
            return;
        }
}

struct execution *find_execution(uint64_t id)
{
    struct execution *e = executions;
    while (e && e->id != id) e = e->next;
    return e && e->started ? e : NULL;
}

void evict_later(void)
{
    evict_due = true;
}

bool is_eviction_due(void)
{
    bool due = evict_due;
    evict_due = false;
    return due;
}

uint64_t unix_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void close_watch(struct watch *w)
{
    if (w->fd < 0) return;
    loop_forget(w);
    close(w->fd);
    w->fd = -1;
}

bool outputs_open(const struct execution *e)
{
    return e->outputs[0].watch.fd >= 0 || e->outputs[1].watch.fd >= 0;
}

/* ---- its end ---- */

bool ended_by(int status, int signal_number)
{
    return WIFSIGNALED(status) ? WTERMSIG(status) == signal_number : WEXITSTATUS(status) == 128 + signal_number;
}

void build_exit(const struct execution *e, struct builder *b)
{
    int status = e->end.status;
    bool signaled = WIFSIGNALED(status);
    bool killed = ended_by(status, SIGKILL);
    enum exit_kind kind = e->timed_out                     ? EXIT_TIMED_OUT
                          : killed && e->limits_met.memory ? EXIT_OUT_OF_MEMORY
                          : signaled                       ? EXIT_SIGNALED
                                                           : EXIT_EXITED;
    build_u64(b, T_EXIT_KIND, kind);
    if (e->limits_met.memory) build_text(b, T_LIMIT, "memory");
    if (e->limits_met.processes) build_text(b, T_LIMIT, "processes");
    if (e->limits_met.threads) build_text(b, T_LIMIT, "threads");
    if (e->limits_met.disk) build_text(b, T_LIMIT, "disk");
    if (signaled)
        build_u64(b, T_SIGNAL, (uint64_t)WTERMSIG(status));
    else
        build_u64(b, T_EXIT_CODE, (uint64_t)WEXITSTATUS(status));
    build_u64(b, T_DURATION_NS, e->ended_ns - e->started_ns);
    build_u64(b, T_CPU_NS, e->end.cpu_ns);
    build_u64(b, T_MEMORY_PEAK, e->end.memory_peak);
}

void build_counts(const struct execution *e, struct builder *b)
{
    build_u64(b, T_STDOUT_BYTES, e->bytes[0] + e->bytes[2]);
    build_u64(b, T_STDERR_BYTES, e->bytes[1]);
    build_u64(b, T_OFFSET, e->journal.end);
}

/* ---- its supervisor ---- */

void ensure_running(const struct execution *e)
{
    if (e->supervisor > 0 && e->control.fd >= 0) kill(e->supervisor, SIGCONT);
}

/* On kernels where orphans leave their tree, remaining processes are not beneath the supervisor, which may be gone. */
static void order_orphans(const struct execution *e, enum order_kind kind, int signal_number)
{
    bool kill_all = kind == ORDER_KILL_TREE;
    char *mark = kill_all || kind == ORDER_SIGNAL_TREE ? launch_mark(e->id) : NULL;
    if (mark) tree_signal_marked(mark, kill_all ? SIGKILL : signal_number);
    free(mark);
}

void order(struct execution *e, enum order_kind kind, int signal_number)
{
    if (e->control.fd < 0 && !tree_keeps_orphans()) order_orphans(e, kind, signal_number);
    struct order o = {kind, signal_number};
    ensure_running(e);
    if (kind == ORDER_KILL_TREE && !e->kill_pending) {
        e->kill_pending = true;
        timer_set(&e->timeout, now_ns() + KILL_TREE_MS * MS);
    }
    ssize_t ignored = e->control.fd < 0 ? 0 : send(e->control.fd, &o, sizeof o, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)ignored; /* the supervisor is gone, and with it its tree */
}
