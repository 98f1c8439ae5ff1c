#include "execution_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "loop.h"
#include "stream.h"

#define MS 1000000ull
#define READERS_RETURN_NS (5000 * MS)

enum {
    READ_PER_TURN = 256 << 10,
    OUTPUT_HEAD = 17,
    PENDING_INPUT_MAX = 16 * AGENT_WINDOW,
    DRAIN_IDLE_MS = 100, /* how long to wait for output while another process holds the pipe open */
    DRAIN_MAX_MS = 2000,
    PIPE_CAPACITY_MAX = 1 << 20, /* what a pipe can hold that was written before the leader ended */
};

/* The readers that leave are expected to return. */
static bool held;

/* Returns the lowest offset that attached streams still need; the journal must keep everything from there on. */
static uint64_t needed_from(const struct execution *e)
{
    uint64_t needed = e->awaited_from;
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

/* Enables or disables reading. A terminal's descriptor carries the input too. */
static void watch_output(struct execution *e, struct output *o, uint32_t wanted)
{
    loop_watch(&o->watch, wanted | (e->terminal_fd >= 0 && e->pending_input.length ? EPOLLOUT : 0));
}

/* Reads once. Returns false when there is nothing to read or no room in the journal. */
static bool read_output(struct execution *e, struct output *o)
{
    size_t available;
    uint8_t discarded[4096];
    bool discard = e->finished;
    uint64_t time = unix_ns();
    uint8_t *room = discard ? discarded : journal_room(&e->journal, o->channel, needed_from(e), time, &available);
    if (discard) available = sizeof discarded;
    if (!room) {
        watch_output(e, o, 0);
        return false;
    }
    ssize_t n = read(o->watch.fd, room, available);
    if (n < 0 && errno == EINTR) return true;
    o->drained = n < 0 && errno == EAGAIN;
    if (o->drained) {
        watch_output(e, o, EPOLLIN);
        return false;
    }
    if (n <= 0) { /* a terminal reports EIO once no process has it open */
        if (e->terminal_fd >= 0) {
            e->input.fd = -1;
            e->terminal_fd = -1;
            ring_free(&e->pending_input);
        }
        close_watch(&o->watch);
        return false;
    }
    if (discard) return true;
    if (!o->grown && (size_t)n >= 32768) {
        o->grown = true; /* busy output: a larger pipe saves wake-ups */
        fcntl(o->watch.fd, F_SETPIPE_SZ, 256 << 10);
    }
    journal_filled(&e->journal, (size_t)n, time);
    e->bytes[o->channel - 1] += (size_t)n;
    e->last_output_ns = now_ns();
    return true;
}

static void send_all(struct execution *e)
{
    for (struct attachment *a = e->attachments; a; a = a->next)
        while (send_output(a)) {}
}

/* ---- end ---- */

void detach_reader(struct attachment *a)
{
    struct execution *e = a->execution;
    for (struct attachment **at = &e->attachments; *at; at = &(*at)->next)
        if (*at == a) {
            *at = a->next;
            break;
        }
    if (e->input_stream == a->stream) e->input_stream = NULL;
    free(a);
}

/* Ends the attachments that have received all output. */
static void end_attachments(struct execution *e)
{
    for (struct attachment *a = e->attachments, *next; a; a = next) {
        next = a->next;
        if (a->offset < e->journal.end) continue;
        struct builder b = {0};
        build_exit(e, &b);
        build_counts(e, &b);
        struct stream *s = a->stream;
        detach_reader(a);
        stream_end(s, &b);
        builder_free(&b);
    }
}

static void finish(struct execution *e)
{
    if (e->finished) return;
    e->finished = true;
    executions_running--;
    timer_clear(&e->timeout);
    timer_clear(&e->drain);
    close_input(e);
    if (e->terminal_fd >= 0) { /* processes still on the terminal get SIGHUP */
        e->terminal_fd = e->input.fd = -1;
        close_watch(&e->outputs[0].watch);
    }
    end_attachments(e);
    evict_later();
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

/* ---- output ---- */

void pump(struct execution *e)
{
    if (!e->started) return; /* RESPONSE precedes the output */
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

void output_ready(struct watch *w, uint32_t what)
{
    (void)what;
    struct output *o = (struct output *)((char *)w - offsetof(struct output, watch));
    struct execution *e = o->execution;
    pump(e);
    finish_if_drained(e);
    if (e->finished && !outputs_open(e)) evict_later();
}

void executions_resume(void)
{
    for (struct execution *e = executions, *next; e; e = next) {
        next = e->next;
        if (!e->attachments) continue;
        pump(e);
        finish_if_drained(e);
    }
}

/* ---- input ---- */

void close_input(struct execution *e)
{
    if (e->terminal_fd < 0) close_watch(&e->input);
    ring_free(&e->pending_input);
}

void write_input(struct execution *e)
{
    while (e->pending_input.length && e->input.fd >= 0) {
        ssize_t n = write(e->input.fd, ring_head(&e->pending_input), e->pending_input.length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) break;
        size_t gone = n < 0 ? e->pending_input.length : (size_t)n; /* the reader is gone: discard all of it */
        ring_drop(&e->pending_input, gone);
        e->input_ungranted += gone;
        if (n < 0) {
            close_input(e);
            break;
        }
    }
    if (e->input_stream && e->input_ungranted >= AGENT_WINDOW / 4) {
        stream_grant(e->input_stream, e->input_ungranted);
        e->input_ungranted = 0;
    }
    if (e->input.fd < 0) return;
    if (e->terminal_fd >= 0) {
        struct output *o = &e->outputs[0];
        if (o->watch.added) watch_output(e, o, o->watch.events & EPOLLIN);
    } else if (e->pending_input.length) {
        loop_watch(&e->input, EPOLLOUT);
    } else if (e->input_eof) {
        close_input(e);
    } else if (e->input.added) {
        loop_watch(&e->input, 0);
    }
}

void input_ready(struct watch *w, uint32_t what)
{
    struct execution *e = (struct execution *)((char *)w - offsetof(struct execution, input));
    if (what & EPOLLERR)
        close_input(e); /* the command closed its standard input */
    else
        write_input(e);
}

void terminal_ready(struct watch *w, uint32_t what)
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
        stream_grant(a->stream, length); /* discarded, so the sender gets its credit back */
        return;
    }
    if (e->input_stream != a->stream) {
        if (e->input_stream) stream_grant(e->input_stream, e->input_ungranted);
        e->input_stream = a->stream;
        e->input_ungranted = 0;
    }
    if (ring_put(&e->pending_input, bytes, length, PENDING_INPUT_MAX)) {
        write_input(e);
    } else {
        struct stream *s = a->stream;
        detach_reader(a);
        stream_error(s, E_LIMIT, 0, "too much pending input: the command does not read its standard input");
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
    finish_if_drained(e);
}

static void reader_gone(struct execution *e)
{
    pump(e); /* the journal may no longer have to wait for this reader */
    finish_if_drained(e);
    evict_later();
}

static void attachment_cancel(void *context)
{
    struct attachment *a = context;
    struct execution *e = a->execution;
    struct stream *s = a->stream;
    if (!e->started) order(e, ORDER_KILL_TREE, 0); /* the server has no execution id with which to end it */
    detach_reader(a);
    stream_error(s, E_CANCELLED, 0, "detached");
    reader_gone(e);
}

static void attachment_dropped(void *context)
{
    struct attachment *a = context;
    struct execution *e = a->execution;
    if (held && !a->lossy && a->offset < e->awaited_from) e->awaited_from = a->offset;
    detach_reader(a);
    reader_gone(e);
}

static const struct stream_owner attachment_owner = {attachment_data, attachment_eof, attachment_credit,
                                                     attachment_cancel, attachment_dropped};

static void readers_are_late(struct timer *t)
{
    (void)t;
    executions_released(false);
}

static struct timer late = {.fire = readers_are_late};

void executions_held(bool now)
{
    held = now;
}

void executions_released(bool readers_return)
{
    if (readers_return) {
        timer_set(&late, now_ns() + READERS_RETURN_NS);
        return;
    }
    timer_clear(&late);
    for (struct execution *e = executions, *next; e; e = next) {
        next = e->next;
        if (e->awaited_from == UINT64_MAX) continue;
        e->awaited_from = UINT64_MAX;
        reader_gone(e);
    }
}

struct attachment *attach(struct execution *e, struct stream *s, uint64_t offset, bool lossy)
{
    struct attachment *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    *a = (struct attachment){.stream = s, .execution = e, .offset = offset, .lossy = lossy, .next = e->attachments};
    e->attachments = a;
    if (offset <= e->awaited_from && !held) e->awaited_from = UINT64_MAX;
    stream_set_owner(s, &attachment_owner, a);
    return a;
}
