/*
 * A stream as seen by an operation. Operations that may block (files, tar, watch, usage) run on worker threads as
 * straight-line code over this interface. Every call returns at once when the server cancels the stream or the
 * connection drops, so an operation only checks the result and unwinds.
 */
#ifndef ISOLA_STREAM_H
#define ISOLA_STREAM_H

#include <sys/types.h>

#include "wire.h"

struct stream;

/* Argument of a worker. `fields` are valid (fields_valid) and live until the operation returns. */
struct request {
    struct stream *stream;
    enum operation operation;
    struct fields fields;
};

/*
 * Waits until the server has granted at least `least` bytes. Returns how many, at most `most`; 0 when the stream is
 * over.
 */
size_t stream_await_credit(struct stream *s, size_t least, size_t most);

/* Sends DATA or ITEM, waiting for credit for all of it, or RESPONSE or EOF. Returns false when the stream is over. */
bool stream_send(struct stream *s, enum frame_type type, const void *payload, size_t length);

/* Sends `length` bytes that are in a pipe as one DATA frame. Returns false when the stream is over. */
bool stream_send_pipe(struct stream *s, int pipe, size_t length);

/*
 * Receives DATA from the server. Returns the number of bytes, 0 at EOF, -1 when the stream is over. The bytes are valid
 * until the next call, which grants credit for them.
 */
ssize_t stream_receive(struct stream *s, const uint8_t **data);

/* Returns true once the server has cancelled or the connection has dropped. Check it in long loops that do not send. */
bool stream_over(struct stream *s);

/* Discards the DATA that has arrived. Returns how many bytes it was; does not wait. */
size_t stream_discard(struct stream *s);

/*
 * Descriptor that becomes readable once stream_over is true or DATA has arrived, for operations that also wait on other
 * descriptors. stream_discard resets it.
 */
int stream_wake_fd(struct stream *s);

/* Sends the terminal frame. `result` may be NULL. Called exactly once, also after a drop or a cancel. */
void stream_end(struct stream *s, const struct builder *result);
void stream_error(struct stream *s, enum error_code code, int error_number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
