#include "execution.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "connection.h"
#include "disk_budget.h"
#include "events.h"
#include "execution_io.h"
#include "execution_launch.h"
#include "execution_table.h"
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
    START_MS = 250, /* how long a supervisor may take to report that the command has started */
};

#define MS 1000000ull

static uint64_t next_id = 1;
static const struct execution_defaults *defaults;

void executions_setup(const struct execution_defaults *d)
{
    defaults = d;
}

/* ---- end of an execution ---- */

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
    execution_remove(e);
    execution_free(e);
}

static void enforce_disk(void);

/*
 * Evicts old ended executions. One whose pipe is still open in another process stays, because closing it would send
 * that process SIGPIPE. Runs once per loop iteration, so that callers never see an execution freed.
 */
void executions_evict(void)
{
    enforce_disk();
    if (!is_eviction_due()) return;
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

/* Kills running commands when the disk limit is exceeded. Called once per loop iteration. */
static void enforce_disk(void)
{
    const pid_t *helpers;
    if (executions_running || sudo_helpers(&helpers)) limits_check_soon();
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
    executions_running--;
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
    evict_later();
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
        evict_later();
    }
}

/* Returns true for a supervisor, busy or idle, and for a sudo helper. */
static bool is_supervisor(pid_t pid)
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
    if (executions_running >= RUNNING_MAX) {
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
    execution_add(e);
    executions_running++;
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
