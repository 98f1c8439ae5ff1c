#include "stream_double.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct stream {
    struct script script;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct frame *frames;
    int count, capacity;
    uint8_t *data;
    size_t data_length, data_capacity;
    uint64_t data_bytes;
    size_t input_at;
    size_t arrived; /* bytes of DATA for stream_discard */
    int sent;
    bool over;
    int wake_fd;
    char message[2048];
};

struct stream *double_new(const struct script *script)
{
    struct stream *s = calloc(1, sizeof *s);
    if (script) s->script = *script;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return s;
}

void double_free(struct stream *s)
{
    for (int i = 0; i < s->count; i++) free(s->frames[i].payload);
    free(s->frames);
    free(s->data);
    close(s->wake_fd);
    free(s);
}

static void over_locked(struct stream *s)
{
    uint64_t one = 1;
    s->over = true;
    if (write(s->wake_fd, &one, sizeof one) < 0) abort();
}

void double_cancel(struct stream *s)
{
    pthread_mutex_lock(&s->lock);
    over_locked(s);
    pthread_mutex_unlock(&s->lock);
}

void double_data_arrived(struct stream *s, size_t length)
{
    uint64_t one = 1;
    pthread_mutex_lock(&s->lock);
    s->arrived += length;
    if (write(s->wake_fd, &one, sizeof one) < 0) abort();
    pthread_mutex_unlock(&s->lock);
}

static void record(struct stream *s, enum frame_type type, const void *payload, size_t length)
{
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? s->capacity * 2 : 64;
        s->frames = realloc(s->frames, (size_t)s->capacity * sizeof *s->frames);
    }
    uint8_t *copy = malloc(length + 1);
    if (length) memcpy(copy, payload, length);
    copy[length] = 0;
    s->frames[s->count++] = (struct frame){type, copy, length};
    pthread_cond_broadcast(&s->changed);
}

size_t stream_await_credit(struct stream *s, size_t least, size_t most)
{
    (void)least;
    size_t credit = s->script.credit;
    if (stream_over(s)) return 0;
    return credit && credit < most ? credit : most;
}

bool stream_send(struct stream *s, enum frame_type type, const void *payload, size_t length)
{
    pthread_mutex_lock(&s->lock);
    bool going = !s->over;
    if (length > FRAME_MAX) abort();
    if (going && type == DATA) {
        s->data_bytes += length;
        if (!s->script.discard) {
            if (s->data_length + length > s->data_capacity) {
                s->data_capacity = (s->data_length + length) * 2;
                s->data = realloc(s->data, s->data_capacity);
            }
            memcpy(s->data + s->data_length, payload, length);
            s->data_length += length;
        }
    } else if (going) {
        record(s, type, payload, length);
    }
    if (going && (type == DATA || type == ITEM) && ++s->sent == s->script.cancel_after) over_locked(s);
    pthread_mutex_unlock(&s->lock);
    return going;
}

ssize_t stream_receive(struct stream *s, const uint8_t **data)
{
    if (stream_over(s)) return -1;
    size_t left = s->script.input_length - s->input_at;
    size_t n = left < FRAME_MAX ? left : FRAME_MAX;
    if (s->script.piece && n > s->script.piece) n = s->script.piece;
    if (n == 0 && s->script.input_drops) {
        double_cancel(s);
        return -1;
    }
    *data = (const uint8_t *)s->script.input + s->input_at;
    s->input_at += n;
    return (ssize_t)n;
}

size_t stream_discard(struct stream *s)
{
    uint64_t count;
    pthread_mutex_lock(&s->lock);
    size_t arrived = s->arrived;
    s->arrived = 0;
    if (!s->over && read(s->wake_fd, &count, sizeof count) < 0 && errno != EAGAIN) abort();
    pthread_mutex_unlock(&s->lock);
    return arrived;
}

bool stream_over(struct stream *s)
{
    pthread_mutex_lock(&s->lock);
    bool over = s->over;
    pthread_mutex_unlock(&s->lock);
    return over;
}

int stream_wake_fd(struct stream *s)
{
    return s->wake_fd;
}

void stream_end(struct stream *s, const struct builder *result)
{
    pthread_mutex_lock(&s->lock);
    record(s, END, result ? result->data : NULL, result ? result->length : 0);
    pthread_mutex_unlock(&s->lock);
}

void stream_error(struct stream *s, enum error_code code, int error_number, const char *format, ...)
{
    struct builder b = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->message, sizeof s->message, format, arguments);
    va_end(arguments);
    build_u64(&b, T_CODE, code);
    build_u64(&b, T_ERRNO, (uint64_t)error_number);
    build_text(&b, T_MESSAGE, s->message);
    pthread_mutex_lock(&s->lock);
    record(s, ERROR, b.data, b.length);
    pthread_mutex_unlock(&s->lock);
    builder_free(&b);
}

int double_count(struct stream *s, enum frame_type type)
{
    int n = 0;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->count; i++) n += s->frames[i].type == type;
    pthread_mutex_unlock(&s->lock);
    return n;
}

struct frame double_frame(struct stream *s, enum frame_type type, int n)
{
    struct frame found = {.length = SIZE_MAX};
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->count; i++) {
        if (s->frames[i].type == type && n-- == 0) {
            found = s->frames[i];
            break;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

bool double_await(struct stream *s, enum frame_type type, int count, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    bool enough = false;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        int n = 0;
        for (int i = 0; i < s->count; i++) n += s->frames[i].type == type;
        enough = n >= count;
        if (enough || pthread_cond_timedwait(&s->changed, &s->lock, &until) == ETIMEDOUT) break;
    }
    pthread_mutex_unlock(&s->lock);
    return enough;
}

const uint8_t *double_data(struct stream *s, size_t *length)
{
    *length = s->data_length;
    return s->data;
}

uint64_t double_data_bytes(struct stream *s)
{
    return s->data_bytes;
}

bool double_ended_once(struct stream *s)
{
    return double_count(s, END) + double_count(s, ERROR) == 1;
}

struct fields double_fields(struct stream *s, enum frame_type type, int n)
{
    struct frame f = double_frame(s, type, n);
    return f.length == SIZE_MAX ? (struct fields){0} : (struct fields){f.payload, f.length};
}

int double_code(struct stream *s)
{
    if (double_count(s, END)) return 0;
    if (!double_count(s, ERROR)) return -1;
    return (int)fields_u64(double_fields(s, ERROR, 0), T_CODE, 0);
}

const char *double_message(struct stream *s)
{
    return s->message;
}

struct stream *ask(void (*operate)(const struct request *), struct builder *b, const struct script *script)
{
    struct stream *s = double_new(script);
    struct request r = {.stream = s, .fields = {b->data, b->length}};
    operate(&r);
    if (!double_ended_once(s)) {
        fprintf(stderr, "an operation did not end its stream exactly once\n");
        abort();
    }
    builder_free(b);
    *b = (struct builder){0};
    return s;
}

struct stream *ask_path(void (*operate)(const struct request *), const char *path)
{
    struct builder b = {0};
    build_text(&b, T_PATH, path);
    return ask(operate, &b, NULL);
}

int open_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

bool stream_send_pipe(struct stream *s, int pipe, size_t length)
{
    uint8_t *bytes = malloc(length);
    if (read(pipe, bytes, length) != (ssize_t)length) abort();
    bool going = stream_send(s, DATA, bytes, length);
    free(bytes);
    return going;
}
