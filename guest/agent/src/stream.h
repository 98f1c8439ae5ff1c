/*
 * A stream as an operation sees it. Operations that may block (files, tar, watch, usage) run on worker
 * threads as straight-line code over this interface; every call returns at once when the server cancels
 * the stream or the connection drops, so an operation only has to look at what it gets back and unwind.
 */
#ifndef ISOLA_STREAM_H
#define ISOLA_STREAM_H

#include <sys/types.h>

#include "wire.h"

struct stream;

/* What a worker is given. `fields` are valid (fields_valid) and live until the operation returns. */
struct request {
    struct stream *stream;
    enum operation operation;
    struct fields fields;
};

/* Waits until the server has granted at least `least` bytes; returns how many (at most `most`), 0 when over. */
size_t stream_await_credit(struct stream *s, size_t least, size_t most);

/* Sends DATA or ITEM (waits for credit for all of it) or RESPONSE or EOF. False when the stream is over. */
bool stream_send(struct stream *s, enum frame_type type, const void *payload, size_t length);

/* Sends `length` bytes that are waiting in a pipe as one frame of DATA. False when the stream is over. */
bool stream_send_pipe(struct stream *s, int pipe, size_t length);

/*
 * DATA from the server: the number of bytes, 0 at its EOF, -1 when the stream is over. They are good until the
 * next call, which grants credit for them.
 */
ssize_t stream_receive(struct stream *s, const uint8_t **data);

/* True once the server cancelled or the connection dropped. Look at it in long loops that do not send. */
bool stream_over(struct stream *s);

/* Readable once stream_over is true: for operations that wait on other descriptors too. */
int stream_over_fd(struct stream *s);

/* The one terminal frame. `result` may be NULL. After a drop or a cancel both are still called, once. */
void stream_end(struct stream *s, const struct builder *result);
void stream_error(struct stream *s, enum error_code code, int error_number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
