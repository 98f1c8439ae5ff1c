/* An in-memory stream: records what an operation sends, and supplies what a server would send. */
#ifndef ISOLA_STREAM_DOUBLE_H
#define ISOLA_STREAM_DOUBLE_H

#include "../src/operations.h"

struct frame {
    enum frame_type type;
    uint8_t *payload;
    size_t length;
};

/* Set by a test before the operation. */
struct script {
    const void *input; /* DATA from the server, then EOF */
    size_t input_length;
    size_t piece;     /* at most this much per receive; 0: any */
    bool input_drops; /* the connection drops instead of EOF */
    size_t credit;    /* maximum granted at a time; 0: all */
    int cancel_after; /* over after this many credit-using frames; 0: never */
    bool discard;     /* count DATA, do not keep it */
};

struct stream *double_new(const struct script *script);
void double_free(struct stream *s);
void double_cancel(struct stream *s);
/* Supplies DATA for stream_discard while the operation runs. */
void double_data_arrived(struct stream *s, size_t length);

int double_count(struct stream *s, enum frame_type type);
/* Returns the n-th frame of that type (a copy; the payload lives with the stream). Length SIZE_MAX when absent. */
struct frame double_frame(struct stream *s, enum frame_type type, int n);
/* Waits until there are `count` frames of that type. Returns false after `ms`. */
bool double_await(struct stream *s, enum frame_type type, int count, int ms);
/* Returns all DATA, concatenated. */
const uint8_t *double_data(struct stream *s, size_t *length);
uint64_t double_data_bytes(struct stream *s);
/* Returns whether exactly one terminal frame was sent. */
bool double_ended_once(struct stream *s);
/* Returns the code of ERROR, 0 after END, -1 when the stream has not ended. */
int double_code(struct stream *s);
const char *double_message(struct stream *s);
struct fields double_fields(struct stream *s, enum frame_type type, int n);

/* Runs an operation to its end on this thread. Frees `b`, the request's fields. */
struct stream *ask(void (*operate)(const struct request *), struct builder *b, const struct script *script);
/* The same with PATH only. */
struct stream *ask_path(void (*operate)(const struct request *), const char *path);

/* Returns the number of open descriptors of this process. */
int open_descriptors(void);

#endif
