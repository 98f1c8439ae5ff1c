#include "execution_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"
#include "disk_budget.h"
#include "events.h"
#include "execution_launch.h"
#include "process_tree.h"
#include "sudo_listen.h"
#include "supervisor.h"

enum {
    RUNNING_MAX = 4096,
    ENDED_MAX = 64,            /* how many ended executions are kept, */
    ENDED_RECENTLY_MS = 30000, /* in addition to all that ended this recently, */
    ENDED_HARD_MAX = 256,      /* but never more than this */
    ENDED_JOURNAL = 16 << 20,  /* journal bytes kept for all ended executions together */
    JOURNAL_DEFAULT = 1 << 20,
    JOURNAL_MAX = 16 << 20,
    JOURNAL_MIN = 16 << 10,
    DRAIN_IDLE_MS = 100, /* how long to wait for output while another process holds the pipe open */
    DRAIN_MAX_MS = 2000,
    KILL_TREE_MS = 3000,         /* how long a supervisor may take to kill its tree */
    START_MS = 250,              /* how long a supervisor may take to report that the command has started */
    PIPE_CAPACITY_MAX = 1 << 20, /* what a pipe can hold that was written before the leader ended */
};

#define MS 1000000ull

struct execution *executions;
static struct execution **executions_end = &executions;
static uint64_t next_id = 1;
static int running;
static bool evict_due;
static const struct execution_defaults *defaults;

void evict_later(void)
{
    evict_due = true;
}

void executions_setup(const struct execution_defaults *d)
{
    defaults = d;
}

uint64_t unix_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct execution *find_execution(uint64_t id)
{
    struct execution *e = executions;
    while (e && e->id != id) e = e->next;
    return e && e->started ? e : NULL;
}

/* ---- end of an execution ---- */

void close_watch(struct watch *w)
{
    if (w->fd < 0) return;
    loop_forget(w);
    close(w->fd);
    w->fd = -1;
}

static void execution_free(struct execution *e)
{
    close_watch(&e->control);
    close_input(e);
    for (int i = 0; i < 2; i++) close_watch(&e->outputs[i].watch);
    timer_clear(&e->timeout);
    timer_clear(&e->drain);
    journal_trim(&e->journal, 0);
    builder_free(&e->description);
    free(e);
}

static void forget(struct execution *e)
{
    for (struct execution **at = &executions; *at; at = &(*at)->next)
        if (*at == e) {
            *at = e->next;
            if (!*at) executions_end = at;
            execution_free(e);
            return;
        }
}

static void enforce_disk(void);

bool outputs_open(const struct execution *e)
{
    return e->outputs[0].watch.fd >= 0 || e->outputs[1].watch.fd >= 0;
}

/*
 * Evicts old ended executions. One whose pipe is still open in another process stays, because closing it would send
 * that process SIGPIPE. Runs once per loop iteration, so that callers never see an execution freed.
 */
void executions_evict(void)
{
    enforce_disk();
    if (!evict_due) return;
    evict_due = false;
    int ended = 0;
    size_t kept = 0;
    for (struct execution *e = executions; e; e = e->next)
        if (e->finished) {
            ended++;
            kept += e->journal.kept;
        }
    uint64_t now = now_ns();
    for (struct execution *e = executions; e && (ended > ENDED_MAX || kept > ENDED_JOURNAL);) {
        struct execution *next = e->next;
        if (e->finished && !e->attachments && !outputs_open(e) && e->control.fd < 0) {
            bool recently = now - e->ended_ns < ENDED_RECENTLY_MS * MS;
            if (kept > ENDED_JOURNAL) {
                kept -= e->journal.kept;
                journal_trim(&e->journal, 0);
                kept += e->journal.kept;
            }
            if (ended > ENDED_HARD_MAX || (ended > ENDED_MAX && !recently)) {
                ended--;
                kept -= e->journal.kept;
                forget(e);
            }
        }
        e = next;
    }
}

/* Ended by the signal itself, or with the exit code that a shell reports for it. */
static bool ended_by(int status, int signal_number)
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

/* Counts the limits reached while the execution ran. Concurrent executions may have reached them too. */
static void note_limits(struct execution *e)
{
    struct limit_counts now = limits_read();
    e->limits_met.memory = now.memory - e->limits_before.memory;
    e->limits_met.processes = now.processes - e->limits_before.processes;
    e->limits_met.threads = now.threads - e->limits_before.threads;
    e->limits_met.disk = now.disk - e->limits_before.disk;
    if (disk_limit() && ended_by(e->end.status, SIGXFSZ)) e->limits_met.disk++; /* one file was too large */
    if (disk_is_full()) e->limits_met.disk++;
}

static void finish(struct execution *e)
{
    if (e->finished) return;
    e->finished = true;
    running--;
    timer_clear(&e->timeout);
    timer_clear(&e->drain);
    close_input(e);
    if (e->terminal_fd >= 0) { /* processes still on the terminal get SIGHUP */
        e->terminal_fd = e->input.fd = -1;
        close_watch(&e->outputs[0].watch);
    }
    end_attachments(e);
    evict_due = true;
}

/*
 * Ends the execution once its leader has ended and its output is drained. While another process holds a pipe open there
 * is no end of file; the execution then ends when no output arrives for a while. A slow reader does not cut off what
 * the leader left in the pipe; a process that never stops writing does.
 */
void finish_if_drained(struct execution *e)
{
    if (!e->leader_ended || e->finished) return;
    bool drained = true;
    for (int i = 0; i < 2; i++)
        if (e->outputs[i].watch.fd >= 0 && !e->outputs[i].drained) drained = false;
    uint64_t now = now_ns();
    uint64_t latest = e->ended_ns + DRAIN_MAX_MS * MS;
    if (!outputs_open(e)) {
        finish(e);
    } else if (drained) {
        uint64_t quiet_from = e->last_output_ns > e->ended_ns ? e->last_output_ns : e->ended_ns;
        uint64_t until = quiet_from + DRAIN_IDLE_MS * MS;
        if (now >= until || now >= latest)
            finish(e);
        else
            timer_set(&e->drain, until < latest ? until : latest);
    } else if (now >= latest && e->journal.end - e->offset_at_exit > 2 * PIPE_CAPACITY_MAX) {
        finish(e);
    }
}

/* A process of the sandbox may have stopped the supervisor, which could then neither report nor receive an order. */
static void ensure_running(const struct execution *e)
{
    if (e->supervisor > 0 && e->control.fd >= 0) kill(e->supervisor, SIGCONT);
}

static void drain_fired(struct timer *t)
{
    struct execution *e = (struct execution *)((char *)t - offsetof(struct execution, drain));
    if (e->started) {
        finish_if_drained(e);
    } else {
        ensure_running(e);
        timer_set(t, now_ns() + START_MS * MS);
    }
}

static void leader_ended(struct execution *e, const struct report *r)
{
    if (e->leader_ended) return;
    e->leader_ended = true;
    e->end = *r;
    e->ended_ns = now_ns();
    e->offset_at_exit = e->journal.end;
    note_limits(e);
    timer_clear(&e->timeout);
    for (int i = 0; i < 2; i++) e->outputs[i].drained = false;
    pump(e);
    finish_if_drained(e);
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

/* Kills running commands when the disk limit is exceeded. Called once per loop iteration. */
static void enforce_disk(void)
{
    const pid_t *helpers;
    if (running || sudo_helpers(&helpers)) limits_check_soon();
    if (!limits_disk_exceeded()) return;
    sudo_kill_all();
    for (struct execution *e = executions; e; e = e->next)
        if (e->started && !e->leader_ended) order(e, ORDER_KILL_TREE, 0);
}

static void timeout_fired(struct timer *t)
{
    struct execution *e = (struct execution *)((char *)t - offsetof(struct execution, timeout));
    if (!e->kill_pending) {
        e->timed_out = true;
        order(e, ORDER_KILL_TREE, 0);
    } else if (e->supervisor > 0 && e->control.fd >= 0) {
        kill(e->supervisor, SIGKILL); /* it cannot act; its children are reparented to the agent */
    }
}

/* ---- reports of the supervisor ---- */

static void failed(struct execution *e, const struct report *r)
{
    struct stream *s = e->attachments ? e->attachments->stream : NULL;
    while (e->attachments) detach_reader(e->attachments);
    if (r->error_number == EAGAIN) {
        supervisors_end_idle();
        events->command_starved();
    }
    if (s) launch_error(s, &e->description, r->stage, r->error_number);
    running--;
    forget(e);
}

static void started(struct execution *e, const struct report *r)
{
    e->started = true;
    e->pid = r->pid;
    events->command_started();
    struct builder b = {0};
    build_u64(&b, T_EXECUTION, e->id);
    build_u64(&b, T_PID, (uint64_t)e->pid);
    build_u64(&b, T_TIME_NS, e->started_unix_ns);
    for (struct attachment *a = e->attachments; a; a = a->next)
        stream_post(a->stream, RESPONSE, b.data, b.length, NULL, 0);
    builder_free(&b);
    timer_clear(&e->drain);
    if (e->pending_input.length || e->input_eof) write_input(e);
}

static void watch_outputs(struct execution *e)
{
    for (int i = 0; i < 2; i++)
        if (e->outputs[i].watch.fd >= 0) loop_watch(&e->outputs[i].watch, EPOLLIN);
}

/* Sends the start, output and end of a short command in one write, so that the client wakes once. */
static void ended(struct execution *e, const struct report *r)
{
    connection_cork();
    if (!e->started) started(e, r);
    leader_ended(e, r);
    connection_uncork();
}

static void free_supervisor(struct execution *e)
{
    loop_forget(&e->control);
    supervisor_free(e->supervisor, e->control.fd);
    e->control.fd = -1;
    e->supervisor = 0;
    evict_due = true;
}

static void control_ready(struct watch *w, uint32_t what)
{
    (void)what;
    struct execution *e = (struct execution *)((char *)w - offsetof(struct execution, control));
    for (;;) {
        struct report r;
        ssize_t n = recv(w->fd, &r, sizeof r, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n != (ssize_t)sizeof r) break;
        switch (r.kind) {
        case REPORT_STARTED:
            started(e, &r);
            watch_outputs(e);
            break;
        case REPORT_FAILED:
            failed(e, &r);
            return;
        case REPORT_ENDED:
            ended(e, &r);
            if (!r.is_free) break;
            free_supervisor(e);
            return;
        case REPORT_FREE:
            free_supervisor(e);
            return;
        }
    }
    close_watch(&e->control);
    if (!e->started && !e->timed_out) {
        struct report r = {.kind = REPORT_FAILED, .stage = STAGE_SETUP, .error_number = ECHILD};
        failed(e, &r);
        kill_strays();
    } else if (!e->leader_ended) {
        struct report r = {.kind = REPORT_ENDED, .status = SIGKILL};
        ended(e, &r);
        kill_strays();
    } else {
        finish_if_drained(e);
        evict_due = true;
    }
}

bool is_supervisor(pid_t pid)
{
    for (struct execution *e = executions; e; e = e->next)
        if (e->supervisor == pid && e->control.fd >= 0) return true;
    return tree_is_excluded(pid) || sudo_is_helper(pid);
}

static void strays_fired(struct timer *t)
{
    (void)t;
    kill_strays();
}

void kill_strays(void)
{
    static struct timer again = {.fire = strays_fired};
    if (tree_signal_children(getpid(), SIGKILL, is_supervisor) > 0) timer_set(&again, now_ns() + 20 * MS);
}

void executions_reaped(pid_t pid, int status)
{
    supervisor_reaped(pid);
    if (sudo_reaped(pid)) {
        if (WIFSIGNALED(status)) kill_strays();
        return;
    }
    for (struct execution *e = executions; e; e = e->next)
        if (e->supervisor == pid) {
            e->supervisor = 0;
            if (WIFSIGNALED(status)) kill_strays();
            return;
        }
}

/* ---- operations ---- */

static void describe(struct execution *e, struct fields request)
{
    size_t position = 0;
    struct field f;
    while (fields_next(request, &position, &f))
        if (f.tag == T_ARG || f.tag == T_CWD || f.tag == T_USER || f.tag == T_TAG)
            build_bytes(&e->description, (enum tag)f.tag, f.value, f.length);
}

void execution_start(struct stream *s, struct fields request)
{
    sudo_update();
    if (running >= RUNNING_MAX) {
        stream_error(s, E_LIMIT, EAGAIN, "%d commands are already running; end some of them first", RUNNING_MAX);
        stream_release(s);
        return;
    }
    struct execution *e = calloc(1, sizeof *e);
    if (e) e->awaited_from = UINT64_MAX;
    struct prepared p;
    if (!e || !launch_prepare(&p, s, request, defaults, next_id)) { /* launch_prepare has sent the error */
        if (!e) stream_error(s, E_LIMIT, ENOMEM, "the agent is out of memory");
        stream_release(s);
        free(e);
        return;
    }
    uint64_t journal = fields_u64(request, T_JOURNAL, JOURNAL_DEFAULT);
    e->id = next_id++;
    e->journal.limit = journal > JOURNAL_MAX ? JOURNAL_MAX : journal < JOURNAL_MIN ? JOURNAL_MIN : (size_t)journal;
    e->columns = p.columns;
    e->rows = p.rows;
    e->timeout_ms = fields_u64(request, T_TIMEOUT_MS, 0);
    if (e->timeout_ms > UINT64_MAX / (4 * MS)) e->timeout_ms = 0;
    e->timeout.fire = timeout_fired;
    e->drain.fire = drain_fired;
    e->terminal_fd = p.terminal ? p.our_output : -1;
    e->control = (struct watch){.fd = -1, .ready = control_ready};
    e->input = (struct watch){.fd = p.our_input, .ready = input_ready};
    for (int i = 0; i < 2; i++) e->outputs[i].execution = e;
    e->outputs[0].channel = p.terminal ? CHANNEL_TERMINAL : CHANNEL_STDOUT;
    e->outputs[1].channel = CHANNEL_STDERR;
    e->outputs[0].watch = (struct watch){.fd = p.our_output, .ready = p.terminal ? terminal_ready : output_ready};
    e->outputs[1].watch = (struct watch){.fd = p.our_error, .ready = output_ready};
    describe(e, request);
    e->limits_before = limits_read();
    e->started_ns = now_ns();
    e->started_unix_ns = unix_ns();
    pid_t pid = supervisor_start(&p.launch, &e->control.fd);
    int error = errno;
    launch_close(&p);
    *executions_end = e;
    executions_end = &e->next;
    running++;
    if (!attach(e, s, 0, false)) {
        stream_error(s, E_LIMIT, ENOMEM, "the agent is out of memory");
        stream_release(s);
        pid = -1;
    }
    if (pid < 0) {
        struct report r = {.kind = REPORT_FAILED, .stage = STAGE_SETUP, .error_number = error};
        failed(e, &r);
        return;
    }
    e->supervisor = pid;
    timer_set(&e->drain, e->started_ns + START_MS * MS);
    if (e->timeout_ms) timer_set(&e->timeout, e->started_ns + e->timeout_ms * MS);
    loop_watch(&e->control, EPOLLIN);
}
