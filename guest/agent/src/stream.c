#include "stream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "connection.h"
#include "stream_table.h"

enum {
    BUCKETS = 256,
    STREAMS_MAX = 8192,
    UPLOAD_WINDOW = 2 * AGENT_WINDOW, /* for a large upload: receiving overlaps with writing */
};

static pthread_cond_t room = PTHREAD_COND_INITIALIZER; /* signalled when the send queue may have room */
static struct stream *table[BUCKETS];
static struct stream *dropped_owners; /* to be notified, linked by next */
static int count;
static uint32_t next_own = 0x80000000u;

static struct stream *find(uint32_t id)
{
    struct stream *s = table[id % BUCKETS];
    while (s && s->id != id) s = s->next;
    return s;
}

static void unlink_stream(struct stream *s)
{
    for (struct stream **at = &table[s->id % BUCKETS]; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            s->next = NULL;
            count--;
            return;
        }
}

static void stream_free(struct stream *s)
{
    pthread_cond_destroy(&s->changed);
    if (s->reading) blocks_recycle(&s->input, s->reading);
    blocks_free(&s->input);
    if (s->wake_fd >= 0) close(s->wake_fd);
    free(s);
}

struct stream *stream_open(uint32_t id, uint64_t credit)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->id = id;
    s->credit = credit > INT32_MAX ? INT32_MAX : (int64_t)credit;
    s->allowance = AGENT_WINDOW;
    s->wake_fd = -1;
    pthread_cond_init(&s->changed, NULL);
    pthread_mutex_lock(&connection_lock);
    if (count >= STREAMS_MAX || find(id)) {
        pthread_mutex_unlock(&connection_lock);
        stream_free(s);
        return NULL;
    }
    s->next = table[id % BUCKETS];
    table[id % BUCKETS] = s;
    count++;
    pthread_mutex_unlock(&connection_lock);
    return s;
}

struct stream *stream_open_own(uint64_t credit)
{
    uint32_t id = next_own++;
    if (next_own == 0) next_own = 0x80000000u;
    return stream_open(id, credit);
}

void stream_set_owner(struct stream *s, const struct stream_owner *owner, void *context)
{
    s->owner = owner;
    s->context = context;
}

static void wake(struct stream *s)
{
    pthread_cond_broadcast(&s->changed);
    if (s->wake_fd >= 0) {
        uint64_t one = 1;
        ssize_t ignored = write(s->wake_fd, &one, sizeof one);
        (void)ignored;
    }
}

static void mark_over(struct stream *s)
{
    s->over = true;
    wake(s);
}

bool streams_dispatch(const struct frame *f)
{
    pthread_mutex_lock(&connection_lock);
    struct stream *s = find(f->stream);
    const struct stream_owner *owner = s ? s->owner : NULL;
    void *context = s ? s->context : NULL;
    bool ok = true;
    if (s) switch (f->type) {
        case DATA:
            s->allowance -= (int64_t)f->length;
            ok = s->allowance >= 0 && !s->input_eof;
            if (ok && !owner && !s->over) {
                ok = f->length == 0 || blocks_put(&s->input, f);
                wake(s);
            }
            break;
        case STREAM_EOF:
            s->input_eof = true;
            pthread_cond_broadcast(&s->changed);
            break;
        case CREDIT:
            ok = f->length == 4;
            if (ok) s->credit += get_u32(f->payload);
            if (s->credit > INT32_MAX) s->credit = INT32_MAX;
            pthread_cond_broadcast(&s->changed);
            break;
        case CANCEL:
            mark_over(s);
            pthread_cond_broadcast(&room);
            break;
        default:
            ok = false;
        }
    pthread_mutex_unlock(&connection_lock);
    if (!ok) return false;
    if (owner) switch (f->type) {
        case DATA:
            owner->data(context, f->payload, f->length);
            break;
        case STREAM_EOF:
            owner->eof(context);
            break;
        case CREDIT:
            owner->credit(context);
            break;
        case CANCEL:
            owner->cancel(context);
            break;
        default:
            break;
        }
    return true;
}

size_t stream_sendable(struct stream *s)
{
    pthread_mutex_lock(&connection_lock);
    int64_t credit = !s->ended && connection_has_room() ? s->credit : 0;
    pthread_mutex_unlock(&connection_lock);
    return credit <= 0 ? 0 : credit > FRAME_MAX ? FRAME_MAX : (size_t)credit;
}

static bool uses_credit(enum frame_type type)
{
    return type == DATA || type == OUTPUT || type == ITEM;
}

void stream_post(struct stream *s, enum frame_type type, const void *head, size_t head_length, const void *payload,
                 size_t length)
{
    pthread_mutex_lock(&connection_lock);
    if (!s->ended) {
        if (uses_credit(type)) s->credit -= (int64_t)(head_length + length);
        connection_send(type, s->id, head, head_length, payload, length);
    }
    pthread_mutex_unlock(&connection_lock);
}

static void grant_locked(struct stream *s, size_t bytes)
{
    uint8_t payload[4];
    put_u32(payload, (uint32_t)bytes);
    s->allowance += (int64_t)bytes;
    if (!s->ended && !s->over) connection_send(CREDIT, s->id, payload, sizeof payload, NULL, 0);
}

void stream_grant(struct stream *s, size_t bytes)
{
    pthread_mutex_lock(&connection_lock);
    grant_locked(s, bytes);
    pthread_mutex_unlock(&connection_lock);
}

/* ---- workers ---- */

static size_t await_credit_locked(struct stream *s, size_t least)
{
    for (;;) {
        if (s->over) return 0;
        if (s->credit < (int64_t)least) {
            pthread_cond_wait(&s->changed, &connection_lock);
        } else if (!connection_has_room()) {
            pthread_cond_wait(&room, &connection_lock);
        } else {
            return (size_t)s->credit;
        }
    }
}

size_t stream_await_credit(struct stream *s, size_t least, size_t most)
{
    pthread_mutex_lock(&connection_lock);
    size_t credit = await_credit_locked(s, least);
    pthread_mutex_unlock(&connection_lock);
    return credit < most ? credit : most;
}

bool stream_send(struct stream *s, enum frame_type type, const void *payload, size_t length)
{
    pthread_mutex_lock(&connection_lock);
    bool ok = !s->over;
    if (ok && uses_credit(type)) {
        ok = await_credit_locked(s, length) > 0 || length == 0;
        if (ok) s->credit -= (int64_t)length;
    }
    ok = ok && connection_send(type, s->id, NULL, 0, payload, length);
    pthread_mutex_unlock(&connection_lock);
    return ok;
}

bool stream_send_pipe(struct stream *s, int pipe, size_t length)
{
    pthread_mutex_lock(&connection_lock);
    bool ok = await_credit_locked(s, length) > 0;
    if (ok) {
        s->credit -= (int64_t)length;
        ok = connection_send_pipe(DATA, s->id, pipe, length);
    }
    pthread_mutex_unlock(&connection_lock);
    return ok;
}

/* Recycles the block just read and grants credit for it once that is worth a frame. */
static void read_done_locked(struct stream *s)
{
    if (!s->reading) return;
    s->ungranted += s->reading->length;
    blocks_recycle(&s->input, s->reading);
    s->reading = NULL;
    if (s->ungranted >= AGENT_WINDOW / 4 && !s->input_eof) {
        grant_locked(s, s->ungranted + (s->widened ? 0 : UPLOAD_WINDOW - AGENT_WINDOW));
        s->widened = true;
        s->ungranted = 0;
    }
}

ssize_t stream_receive(struct stream *s, const uint8_t **data)
{
    pthread_mutex_lock(&connection_lock);
    read_done_locked(s);
    while (!s->over && !s->input.first && !s->input_eof) pthread_cond_wait(&s->changed, &connection_lock);
    ssize_t taken = -1;
    if (!s->over) {
        s->reading = blocks_take(&s->input);
        taken = s->reading ? (ssize_t)s->reading->length : 0;
        *data = s->reading ? s->reading->memory + s->reading->start : NULL;
    }
    pthread_mutex_unlock(&connection_lock);
    return taken;
}

size_t stream_discard(struct stream *s)
{
    size_t discarded = 0;
    pthread_mutex_lock(&connection_lock);
    read_done_locked(s);
    while (!s->over && (s->reading = blocks_take(&s->input))) {
        discarded += s->reading->length;
        read_done_locked(s);
    }
    if (!s->over && s->wake_fd >= 0) {
        uint64_t wakes;
        ssize_t ignored = read(s->wake_fd, &wakes, sizeof wakes);
        (void)ignored;
    }
    pthread_mutex_unlock(&connection_lock);
    return discarded;
}

bool stream_over(struct stream *s)
{
    pthread_mutex_lock(&connection_lock);
    bool over = s->over;
    pthread_mutex_unlock(&connection_lock);
    return over;
}

int stream_wake_fd(struct stream *s)
{
    pthread_mutex_lock(&connection_lock);
    if (s->wake_fd < 0) s->wake_fd = eventfd(s->over || s->input.first ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK);
    int fd = s->wake_fd;
    pthread_mutex_unlock(&connection_lock);
    return fd;
}

void stream_release(struct stream *s)
{
    pthread_mutex_lock(&connection_lock);
    unlink_stream(s);
    pthread_mutex_unlock(&connection_lock);
    stream_free(s);
}

/* ---- both ---- */

static void finish(struct stream *s, enum frame_type type, const uint8_t *payload, size_t length)
{
    pthread_mutex_lock(&connection_lock);
    bool first = !s->ended;
    if (first) {
        s->ended = true;
        unlink_stream(s);
        connection_send(type, s->id, NULL, 0, payload, length);
    }
    bool owned = s->owner != NULL;
    pthread_mutex_unlock(&connection_lock);
    if (owned && first) stream_free(s); /* a worker's stream is freed by stream_release */
}

void stream_end(struct stream *s, const struct builder *result)
{
    finish(s, END, result ? result->data : NULL, result ? result->length : 0);
}

void stream_error(struct stream *s, enum error_code code, int error_number, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct builder b = {0};
    build_u64(&b, T_CODE, (uint64_t)code);
    build_u64(&b, T_ERRNO, (uint64_t)error_number);
    build_text(&b, T_MESSAGE, text);
    finish(s, ERROR, b.data, b.length);
    builder_free(&b);
}

void streams_drop_all(void)
{
    for (int i = 0; i < BUCKETS; i++) {
        while (table[i]) {
            struct stream *s = table[i];
            table[i] = s->next;
            s->next = NULL;
            count--;
            s->ended = true;
            mark_over(s);
            if (s->owner) {
                s->next = dropped_owners;
                dropped_owners = s;
            }
        }
    }
    pthread_cond_broadcast(&room);
}

void streams_notify_dropped(void)
{
    while (dropped_owners) {
        struct stream *s = dropped_owners;
        dropped_owners = s->next;
        s->owner->dropped(s->context);
        stream_free(s);
    }
}

void streams_wake_senders(void)
{
    pthread_cond_broadcast(&room);
}
