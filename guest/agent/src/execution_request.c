#include "execution_request.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "execution_io.h"

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
    if (e->input.fd < 0 || e->input_eof) build_u64(b, T_NO_STDIN, 1);
    if (e->finished) build_exit(e, b);
    /* Arguments can be longer than an ITEM may be. */
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
        if (e)
            stream_error(s, E_INVALID, 0, "OFFSET is past the end of the output, %llu",
                         (unsigned long long)e->journal.end);
        else
            stream_error(s, E_NO_SUCH_EXECUTION, 0, "no such execution");
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
    finish_if_drained(e);
}

/* EXEC_LIST in progress; continues whenever the stream has credit and the send queue has room. */
struct listing {
    struct stream *stream;
    uint64_t after;
    struct listing *next;
};
static struct listing *listings;

static void remove_listing(struct listing *l)
{
    struct listing **at = &listings;
    while (*at != l) at = &(*at)->next;
    *at = l->next;
    free(l);
}

static void listing_continue(void *context)
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
    remove_listing(l);
    stream_end(s, NULL);
}

void listings_resume(void)
{
    for (struct listing *l = listings, *next; l; l = next) {
        next = l->next;
        listing_continue(l);
    }
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
    remove_listing(l);
    stream_error(s, E_CANCELLED, 0, "cancelled");
}

static void listing_dropped(void *context)
{
    remove_listing(context);
}

void execution_list(struct stream *s, struct fields request)
{
    static const struct stream_owner owner = {listing_ignore_data, listing_ignore, listing_continue, listing_cancel,
                                              listing_dropped};
    (void)request;
    struct listing *l = calloc(1, sizeof *l);
    if (!l) {
        stream_error(s, E_LIMIT, ENOMEM, "the agent is out of memory");
        stream_release(s);
        return;
    }
    *l = (struct listing){.stream = s, .next = listings};
    listings = l;
    stream_set_owner(s, &owner, l);
    listing_continue(l);
}

void execution_signal(struct stream *s, struct fields request)
{
    struct execution *e = find_execution(fields_u64(request, T_EXECUTION, 0));
    uint64_t number = fields_u64(request, T_SIGNAL, 0);
    uint64_t scope = fields_u64(request, T_SCOPE, 0);
    if (!e) {
        stream_error(s, E_NO_SUCH_EXECUTION, 0, "no such execution");
    } else if (number < 1 || number > 64 || scope > 2) {
        stream_error(s, E_INVALID, 0, "SIGNAL must be 1 to 64 and SCOPE 0 to 2");
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
        stream_error(s, E_INVALID, 0,
                     e->columns ? "COLS and ROWS must be 1 to 65535" : "the execution has no terminal");
    } else {
        struct winsize size = {.ws_col = (uint16_t)columns, .ws_row = (uint16_t)rows};
        if (e->terminal_fd >= 0) ioctl(e->terminal_fd, TIOCSWINSZ, &size);
        e->columns = (uint16_t)columns;
        e->rows = (uint16_t)rows;
        stream_end(s, NULL);
    }
    stream_release(s);
}
