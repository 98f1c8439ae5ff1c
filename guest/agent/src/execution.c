#include "execution.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "execution_launch.h"
#include "journal.h"
#include "loop.h"
#include "operations.h"
#include "process_tree.h"
#include "supervisor.h"

enum {
    RUNNING_MAX = 4096,
    ENDED_MAX = 64,
    ENDED_JOURNAL = 16 << 20,
    JOURNAL_DEFAULT = 1 << 20,
    JOURNAL_MAX = 16 << 20,
    JOURNAL_MIN = 16 << 10,
    READ_PER_TURN = 256 << 10,
    OUTPUT_HEAD = 17,
    DRAIN_IDLE_MS = 100,             /* how long to wait for output when something else holds the pipe */
    DRAIN_MOST_MS = 2000,
    PIPE_MOST = 1 << 20,             /* what a pipe can hold that was written before the leader ended */
    TYPED_MOST = 16 * AGENT_WINDOW,
};

#define MS 1000000ull

struct execution;

struct output {
    struct watch watch;
    struct execution *execution;
    uint8_t channel;
    bool grown, dry;                 /* dry: the last read found nothing */
};

struct attachment {
    struct stream *stream;
    struct execution *execution;
    uint64_t offset;
    bool lossy;
    struct attachment *next;
};

struct execution {
    uint64_t id;
    pid_t pid, supervisor;
    struct watch control, input;
    struct output outputs[2];
    int terminal_fd;                 /* the terminal's master, also outputs[0]; -1 without one */
    struct ring typed;               /* input not yet taken by the command */
    struct stream *typed_credit;     /* whose DATA is in `typed` */
    size_t typed_ungranted;
    bool input_eof;
    struct journal journal;
    struct attachment *attachments;
    uint64_t bytes[3];               /* by channel - 1 */
    uint64_t end_mark;               /* where the output was when the leader ended */
    bool started, leader_ended, finished, timed_out;
    struct report end;
    uint64_t started_ns, started_unix_ns, ended_ns, last_output_ns, timeout_ms;
    struct timer timeout, drain;
    uint16_t columns, rows;
    struct builder description;      /* ARG, CWD, USER, TAG as listed */
    struct execution *next;
};

static struct execution *executions, **executions_end = &executions;
static uint64_t next_id = 1;
static int running;
static bool tidy_due;
static const struct execution_defaults *defaults;

static void pump(struct execution *e);
static void consider_end(struct execution *e);

void executions_setup(const struct execution_defaults *d)
{
    defaults = d;
}

static uint64_t unix_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct execution *find_execution(uint64_t id)
{
    struct execution *e = executions;
    while (e && e->id != id) e = e->next;
    return e && e->started ? e : NULL;
}

/* ---- the end ---- */

static void close_watch(struct watch *w)
{
    if (w->fd < 0) return;
    loop_forget(w);
    close(w->fd);
    w->fd = -1;
}

static void close_input(struct execution *e)
{
    if (e->terminal_fd < 0) close_watch(&e->input);
    ring_free(&e->typed);
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

static bool outputs_open(const struct execution *e)
{
    return e->outputs[0].watch.fd >= 0 || e->outputs[1].watch.fd >= 0;
}

/*
 * Old ended executions go; those whose pipe is still held by somebody stay, or that somebody would get SIGPIPE.
 * Done once per turn, so that nothing is freed under a caller's hands.
 */
void executions_tidy(void)
{
    if (!tidy_due) return;
    tidy_due = false;
    int ended = 0;
    size_t kept = 0;
    for (struct execution *e = executions; e; e = e->next)
        if (e->finished) {
            ended++;
            kept += e->journal.kept;
        }
    for (struct execution *e = executions; e && (ended > ENDED_MAX || kept > ENDED_JOURNAL);) {
        struct execution *next = e->next;
        if (e->finished && !e->attachments && !outputs_open(e) && e->control.fd < 0) {
            ended--;
            kept -= e->journal.kept;
            forget(e);
        }
        e = next;
    }
}

static void build_exit(const struct execution *e, struct builder *b)
{
    int status = e->end.status;
    bool signaled = WIFSIGNALED(status);
    build_u64(b, T_EXIT_KIND, e->timed_out ? EXIT_TIMED_OUT : signaled ? EXIT_SIGNALED : EXIT_EXITED);
    if (signaled) build_u64(b, T_SIGNAL, (uint64_t)WTERMSIG(status));
    else build_u64(b, T_EXIT_CODE, (uint64_t)WEXITSTATUS(status));
    build_u64(b, T_DURATION_NS, e->ended_ns - e->started_ns);
    build_u64(b, T_CPU_NS, e->end.cpu_ns);
    build_u64(b, T_MEMORY_PEAK, e->end.memory_peak);
}

static void build_counts(const struct execution *e, struct builder *b)
{
    build_u64(b, T_STDOUT_BYTES, e->bytes[0] + e->bytes[2]);
    build_u64(b, T_STDERR_BYTES, e->bytes[1]);
    build_u64(b, T_OFFSET, e->journal.end);
}

static void detach(struct attachment *a)
{
    struct execution *e = a->execution;
    for (struct attachment **at = &e->attachments; *at; at = &(*at)->next)
        if (*at == a) {
            *at = a->next;
            break;
        }
    if (e->typed_credit == a->stream) e->typed_credit = NULL;
    free(a);
}

/* Ends the attachments that have read everything. */
static void end_attachments(struct execution *e)
{
    for (struct attachment *a = e->attachments, *next; a; a = next) {
        next = a->next;
        if (a->offset < e->journal.end) continue;
        struct builder b = {0};
        build_exit(e, &b);
        build_counts(e, &b);
        struct stream *s = a->stream;
        detach(a);
        stream_end(s, &b);
        builder_free(&b);
    }
}

static void finish(struct execution *e)
{
    if (e->finished) return;
    e->finished = true;
    running--;
    timer_clear(&e->timeout);
    timer_clear(&e->drain);
    close_input(e);
    if (e->terminal_fd >= 0) {       /* whoever is left on the terminal gets a hang-up */
        e->terminal_fd = e->input.fd = -1;
        close_watch(&e->outputs[0].watch);
    }
    end_attachments(e);
    tidy_due = true;
}

/*
 * The command is over once its leader has ended and its output is drained. Where something else holds a pipe open
 * there is no end of file: then it is over when nothing came for a while. A slow reader is no reason to give up on
 * what the leader left in the pipe; somebody else who never stops writing is.
 */
static void consider_end(struct execution *e)
{
    if (!e->leader_ended || e->finished) return;
    bool dry = true;
    for (int i = 0; i < 2; i++)
        if (e->outputs[i].watch.fd >= 0 && !e->outputs[i].dry) dry = false;
    uint64_t now = now_ns();
    uint64_t latest = e->ended_ns + DRAIN_MOST_MS * MS;
    if (!outputs_open(e)) {
        finish(e);
    } else if (dry) {
        uint64_t quiet_from = e->last_output_ns > e->ended_ns ? e->last_output_ns : e->ended_ns;
        uint64_t until = quiet_from + DRAIN_IDLE_MS * MS;
        if (now >= until || now >= latest) finish(e);
        else timer_set(&e->drain, until < latest ? until : latest);
    } else if (now >= latest && e->journal.end - e->end_mark > 2 * PIPE_MOST) {
        finish(e);
    }
}

static void drain_fired(struct timer *t)
{
    consider_end((struct execution *)((char *)t - offsetof(struct execution, drain)));
}

static void leader_ended(struct execution *e, const struct report *r)
{
    if (e->leader_ended) return;
    e->leader_ended = true;
    e->end = *r;
    e->ended_ns = now_ns();
    e->end_mark = e->journal.end;
    timer_clear(&e->timeout);
    for (int i = 0; i < 2; i++) e->outputs[i].dry = false;
    pump(e);
    consider_end(e);
}

static void order(struct execution *e, enum order_kind kind, int signal_number)
{
    struct order o = {kind, signal_number};
    ssize_t ignored = e->control.fd < 0 ? 0 : send(e->control.fd, &o, sizeof o, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)ignored; /* the supervisor is gone, and with it everything beneath */
}

static void timeout_fired(struct timer *t)
{
    struct execution *e = (struct execution *)((char *)t - offsetof(struct execution, timeout));
    e->timed_out = true;
    order(e, ORDER_KILL_TREE, 0);
}

/* ---- output ---- */

/* What attached readers still need: nothing before this offset may be thrown away. */
static uint64_t needed_from(const struct execution *e)
{
    uint64_t needed = UINT64_MAX;
    for (const struct attachment *a = e->attachments; a; a = a->next)
        if (!a->lossy && a->offset < needed) needed = a->offset;
    return needed;
}

static bool send_output(struct attachment *a)
{
    struct execution *e = a->execution;
    uint64_t first = journal_first(&e->journal);
    if (a->offset < first) {
        uint8_t gap[16];
        put_u64(gap, a->offset);
        put_u64(gap + 8, first - a->offset);
        stream_post(a->stream, GAP, gap, sizeof gap, NULL, 0);
        a->offset = first;
    }
    const struct piece *p = journal_find(&e->journal, a->offset);
    if (!p) return false;
    size_t sendable = stream_sendable(a->stream);
    if (sendable <= OUTPUT_HEAD) return false;
    size_t skip = (size_t)(a->offset - p->offset);
    size_t length = p->length - skip;
    if (length > sendable - OUTPUT_HEAD) length = sendable - OUTPUT_HEAD;
    uint8_t head[OUTPUT_HEAD];
    head[0] = p->channel;
    put_u64(head + 1, a->offset);
    put_u64(head + 9, p->time_ns);
    stream_post(a->stream, OUTPUT, head, sizeof head, p->data + skip, length);
    a->offset += length;
    return true;
}

/* Asks for more output, or not; a terminal's descriptor also carries what is typed. */
static void watch_output(struct execution *e, struct output *o, uint32_t wanted)
{
    loop_watch(&o->watch, wanted | (e->terminal_fd >= 0 && e->typed.length ? EPOLLOUT : 0));
}

/* Reads once; false when there is nothing to read, or no room for it. */
static bool read_output(struct execution *e, struct output *o)
{
    size_t available;
    uint8_t discarded[4096];
    bool discard = e->finished;
    uint8_t *room = discard ? discarded : journal_room(&e->journal, o->channel, needed_from(e), &available);
    if (discard) available = sizeof discarded;
    if (!room) {
        watch_output(e, o, 0);
        return false;
    }
    ssize_t n = read(o->watch.fd, room, available);
    if (n < 0 && errno == EINTR) return true;
    o->dry = n < 0 && errno == EAGAIN;
    if (o->dry) {
        watch_output(e, o, EPOLLIN);
        return false;
    }
    if (n <= 0) { /* EIO is how a terminal says that nobody has it open any more */
        if (e->terminal_fd >= 0) {
            e->input.fd = -1;
            e->terminal_fd = -1;
            ring_free(&e->typed);
        }
        close_watch(&o->watch);
        return false;
    }
    if (discard) return true;
    if (!o->grown && (size_t)n >= 32768) {
        o->grown = true;    /* it writes much: a larger pipe saves turns */
        fcntl(o->watch.fd, F_SETPIPE_SZ, 256 << 10);
    }
    journal_filled(&e->journal, (size_t)n, unix_ns());
    e->bytes[o->channel - 1] += (size_t)n;
    e->last_output_ns = now_ns();
    return true;
}

static void send_all(struct execution *e)
{
    for (struct attachment *a = e->attachments; a; a = a->next)
        while (send_output(a)) {
        }
}

/* Moves output from the pipes to the journal and on to the readers, as far as it goes without waiting. */
static void pump(struct execution *e)
{
    for (int i = 0; i < 2; i++) {
        struct output *o = &e->outputs[i];
        uint64_t before = e->journal.end;
        while (o->watch.fd >= 0 && e->journal.end - before < READ_PER_TURN) {
            if (!read_output(e, o)) break;
            send_all(e);
            if (e->finished) break;
        }
        if (o->watch.fd >= 0 && e->journal.end - before >= READ_PER_TURN) watch_output(e, o, EPOLLIN);
    }
    send_all(e);
    if (e->finished) end_attachments(e);
}

static void output_ready(struct watch *w, uint32_t what)
{
    (void)what;
    struct output *o = (struct output *)((char *)w - offsetof(struct output, watch));
    struct execution *e = o->execution;
    pump(e);
    consider_end(e);
    if (e->finished && !outputs_open(e)) tidy_due = true;
}

void executions_resume(void)
{
    for (struct execution *e = executions, *next; e; e = next) {
        next = e->next;
        if (!e->attachments) continue;
        pump(e);
        consider_end(e);
    }
}

/* ---- input ---- */

static void write_input(struct execution *e)
{
    while (e->typed.length && e->input.fd >= 0) {
        ssize_t n = write(e->input.fd, ring_head(&e->typed), e->typed.length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) break;
        size_t gone = n < 0 ? e->typed.length : (size_t)n;  /* nobody reads any more: throw it away */
        ring_drop(&e->typed, gone);
        e->typed_ungranted += gone;
        if (n < 0) {
            close_input(e);
            break;
        }
    }
    if (e->typed_credit && e->typed_ungranted >= AGENT_WINDOW / 4) {
        stream_grant(e->typed_credit, e->typed_ungranted);
        e->typed_ungranted = 0;
    }
    if (e->input.fd < 0) return;
    if (e->terminal_fd >= 0) {
        struct output *o = &e->outputs[0];
        if (o->watch.added) watch_output(e, o, o->watch.events & EPOLLIN);
    } else if (e->typed.length) {
        loop_watch(&e->input, EPOLLOUT);
    } else if (e->input_eof) {
        close_input(e);
    } else if (e->input.added) {
        loop_watch(&e->input, 0);
    }
}

static void input_ready(struct watch *w, uint32_t what)
{
    struct execution *e = (struct execution *)((char *)w - offsetof(struct execution, input));
    if (what & EPOLLERR) close_input(e); /* the command closed its standard input */
    else write_input(e);
}

static void terminal_ready(struct watch *w, uint32_t what)
{
    struct output *o = (struct output *)((char *)w - offsetof(struct output, watch));
    if (what & EPOLLOUT) write_input(o->execution);
    if (what & ~(uint32_t)EPOLLOUT) output_ready(w, what);
}

/* ---- attachments as owners of their streams ---- */

static void attachment_data(void *context, const uint8_t *bytes, size_t length)
{
    struct attachment *a = context;
    struct execution *e = a->execution;
    if (e->input.fd < 0 || e->input_eof) {
        stream_grant(a->stream, length); /* nobody reads it; the sender need not wait */
        return;
    }
    if (e->typed_credit != a->stream) {
        if (e->typed_credit) stream_grant(e->typed_credit, e->typed_ungranted);
        e->typed_credit = a->stream;
        e->typed_ungranted = 0;
    }
    if (ring_put(&e->typed, bytes, length, TYPED_MOST)) {
        write_input(e);
    } else {
        struct stream *s = a->stream;
        detach(a);
        stream_error(s, E_LIMIT, 0, "too many writers wait for the command to read its input");
    }
}

static void attachment_eof(void *context)
{
    struct attachment *a = context;
    if (a->execution->terminal_fd >= 0) return;
    a->execution->input_eof = true;
    write_input(a->execution);
}

static void attachment_credit(void *context)
{
    struct attachment *a = context;
    struct execution *e = a->execution;
    pump(e);
    consider_end(e);
}

static void let_go(struct execution *e)
{
    pump(e); /* nobody may be waiting for the journal any more */
    consider_end(e);
    tidy_due = true;
}

static void attachment_cancel(void *context)
{
    struct attachment *a = context;
    struct execution *e = a->execution;
    struct stream *s = a->stream;
    detach(a);
    stream_error(s, E_CANCELLED, 0, "detached");
    let_go(e);
}

static void attachment_dropped(void *context)
{
    struct attachment *a = context;
    struct execution *e = a->execution;
    detach(a);
    let_go(e);
}

static const struct stream_owner attachment_owner = {
    attachment_data, attachment_eof, attachment_credit, attachment_cancel, attachment_dropped};

static struct attachment *attach(struct execution *e, struct stream *s, uint64_t offset, bool lossy)
{
    struct attachment *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    *a = (struct attachment){.stream = s, .execution = e, .offset = offset, .lossy = lossy, .next = e->attachments};
    e->attachments = a;
    stream_own(s, &attachment_owner, a);
    return a;
}

/* ---- the supervisor's word ---- */

static void failed(struct execution *e, const struct report *r)
{
    struct stream *s = e->attachments ? e->attachments->stream : NULL;
    while (e->attachments) detach(e->attachments);
    if (s) launch_error(s, &e->description, r->stage, r->error_number);
    running--;
    forget(e);
}

static void started(struct execution *e, const struct report *r)
{
    e->started = true;
    e->pid = r->pid;
    struct builder b = {0};
    build_u64(&b, T_EXECUTION, e->id);
    build_u64(&b, T_PID, (uint64_t)e->pid);
    build_u64(&b, T_TIME_NS, e->started_unix_ns);
    for (struct attachment *a = e->attachments; a; a = a->next)
        stream_post(a->stream, RESPONSE, b.data, b.length, NULL, 0);
    builder_free(&b);
    if (e->timeout_ms) timer_set(&e->timeout, e->started_ns + e->timeout_ms * MS);
    for (int i = 0; i < 2; i++)
        if (e->outputs[i].watch.fd >= 0) loop_watch(&e->outputs[i].watch, EPOLLIN);
    if (e->typed.length || e->input_eof) write_input(e);
}

/* Whoever murdered a supervisor set its tree free; it came to us, and nothing else of ours is not a supervisor. */
static void kill_strays(void);

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
        case REPORT_STARTED: started(e, &r); break;
        case REPORT_FAILED: failed(e, &r); return;
        case REPORT_ENDED: leader_ended(e, &r); break;
        }
    }
    close_watch(&e->control);
    if (!e->started) {
        struct report r = {.kind = REPORT_FAILED, .stage = STAGE_SETUP, .error_number = ECHILD};
        failed(e, &r);
    } else if (!e->leader_ended) {
        struct report r = {.kind = REPORT_ENDED, .status = SIGKILL};
        leader_ended(e, &r);
        kill_strays();
    } else {
        consider_end(e);
        tidy_due = true;
    }
}

static bool is_supervisor(pid_t pid)
{
    for (struct execution *e = executions; e; e = e->next)
        if (e->supervisor == pid && e->control.fd >= 0) return true;
    return false;
}

static void strays_fired(struct timer *t)
{
    (void)t;
    kill_strays();
}

static void kill_strays(void)
{
    static struct timer again = {.fire = strays_fired};
    if (tree_signal_children(getpid(), SIGKILL, is_supervisor) > 0) timer_set(&again, now_ns() + 20 * MS);
}

void executions_reaped(pid_t pid, int status)
{
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
    if (running >= RUNNING_MAX) {
        stream_error(s, E_LIMIT, EAGAIN, "%d commands are running already; end some first", RUNNING_MAX);
        stream_release(s);
        return;
    }
    struct execution *e = calloc(1, sizeof *e);
    struct prepared p;
    if (!e || !launch_prepare(&p, s, request, defaults)) { /* has answered */
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
    loop_watch(&e->control, EPOLLIN);
}

static void build_item(const struct execution *e, struct builder *b)
{
    build_u64(b, T_EXECUTION, e->id);
    build_u64(b, T_PID, (uint64_t)e->pid);
    build_u64(b, T_TIME_NS, e->started_unix_ns);
    build_u64(b, T_STATE, e->finished ? 1 : 0);
    build_counts(e, b);
    build_u64(b, T_FIRST_OFFSET, journal_first(&e->journal));
    if (e->columns) {
        build_u64(b, T_COLS, e->columns);
        build_u64(b, T_ROWS, e->rows);
    }
    if (e->finished) build_exit(e, b);
    /* The words of the command may be long; an item is not. */
    size_t position = 0;
    struct field f;
    struct fields described = {e->description.data, e->description.length};
    while (fields_next(described, &position, &f)) {
        if (b->length + f.length > 14000) break;
        build_bytes(b, (enum tag)f.tag, f.value, f.length);
    }
}

void execution_attach(struct stream *s, struct fields request)
{
    struct execution *e = find_execution(fields_u64(request, T_EXECUTION, 0));
    uint64_t offset = fields_u64(request, T_OFFSET, 0);
    if (!e || offset > e->journal.end) {
        if (e) stream_error(s, E_INVALID, 0, "the output ends at %llu", (unsigned long long)e->journal.end);
        else stream_error(s, E_NO_SUCH_EXECUTION, 0, "no such execution");
        stream_release(s);
        return;
    }
    if (!attach(e, s, offset, fields_u64(request, T_LOSSY, 0) != 0)) {
        stream_error(s, E_LIMIT, ENOMEM, "the agent is out of memory");
        stream_release(s);
        return;
    }
    struct builder b = {0};
    build_item(e, &b);
    stream_post(s, RESPONSE, b.data, b.length, NULL, 0);
    builder_free(&b);
    pump(e);
    consider_end(e);
}

/* A listing in progress: it goes on whenever there is credit. */
struct listing { struct stream *stream; uint64_t after; };

static void listing_go_on(void *context)
{
    struct listing *l = context;
    for (struct execution *e = executions; e; e = e->next) {
        if (e->id <= l->after || !e->started) continue;
        struct builder b = {0};
        build_item(e, &b);
        bool fits = stream_sendable(l->stream) >= b.length;
        if (fits) stream_post(l->stream, ITEM, b.data, b.length, NULL, 0);
        builder_free(&b);
        if (!fits) return;
        l->after = e->id;
    }
    struct stream *s = l->stream;
    free(l);
    stream_end(s, NULL);
}

static void listing_ignore_data(void *context, const uint8_t *bytes, size_t length)
{
    (void)context, (void)bytes, (void)length;
}

static void listing_ignore(void *context)
{
    (void)context;
}

static void listing_cancel(void *context)
{
    struct listing *l = context;
    struct stream *s = l->stream;
    free(l);
    stream_error(s, E_CANCELLED, 0, "cancelled");
}

static void listing_dropped(void *context)
{
    free(context);
}

void execution_list(struct stream *s, struct fields request)
{
    static const struct stream_owner owner = {
        listing_ignore_data, listing_ignore, listing_go_on, listing_cancel, listing_dropped};
    (void)request;
    struct listing *l = calloc(1, sizeof *l);
    if (!l) {
        stream_error(s, E_LIMIT, ENOMEM, "the agent is out of memory");
        stream_release(s);
        return;
    }
    l->stream = s;
    stream_own(s, &owner, l);
    listing_go_on(l);
}

void execution_signal(struct stream *s, struct fields request)
{
    struct execution *e = find_execution(fields_u64(request, T_EXECUTION, 0));
    uint64_t number = fields_u64(request, T_SIGNAL, 0);
    uint64_t scope = fields_u64(request, T_SCOPE, 0);
    if (!e) {
        stream_error(s, E_NO_SUCH_EXECUTION, 0, "no such execution");
    } else if (number < 1 || number > 64 || scope > 2) {
        stream_error(s, E_INVALID, 0, "a signal is 1 to 64, a scope 0 to 2");
    } else {
        static const enum order_kind kinds[] = {ORDER_SIGNAL_GROUP, ORDER_SIGNAL_TREE, ORDER_SIGNAL_LEADER};
        order(e, scope == 1 && number == SIGKILL ? ORDER_KILL_TREE : kinds[scope], (int)number);
        stream_end(s, NULL);
    }
    stream_release(s);
}

void execution_resize(struct stream *s, struct fields request)
{
    struct execution *e = find_execution(fields_u64(request, T_EXECUTION, 0));
    uint64_t columns = fields_u64(request, T_COLS, 0), rows = fields_u64(request, T_ROWS, 0);
    if (!e) {
        stream_error(s, E_NO_SUCH_EXECUTION, 0, "no such execution");
    } else if (!e->columns || columns < 1 || columns > 65535 || rows < 1 || rows > 65535) {
        stream_error(s, E_INVALID, 0, e->columns ? "a terminal has 1 to 65535 columns and rows"
                                                 : "the execution has no terminal");
    } else {
        struct winsize size = {.ws_col = (uint16_t)columns, .ws_row = (uint16_t)rows};
        if (e->terminal_fd >= 0) ioctl(e->terminal_fd, TIOCSWINSZ, &size);
        e->columns = (uint16_t)columns;
        e->rows = (uint16_t)rows;
        stream_end(s, NULL);
    }
    stream_release(s);
}
