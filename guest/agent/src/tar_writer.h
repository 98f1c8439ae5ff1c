/* The bytes of a tar archive, into DATA frames. It knows the format and nothing of trees. */
#ifndef ISOLA_TAR_WRITER_H
#define ISOLA_TAR_WRITER_H

#include <sys/stat.h>

#include "stream.h"
#include "tar.h"

struct tar_writer {
    struct stream *s;
    bool over;          /* cancelled or dropped */
    bool exact_times;   /* to the nanosecond, which takes a pax header for nearly every entry */
    bool marks;         /* each file has a mark by which it is known as the same file, unchanged */
    bool unchanged;     /* the next entry is told by its mark alone, with its size but without content */
    const char *prefix; /* of all names, without a slash at its end; NULL for none */
    int number;         /* errno of the first failure */
    uint8_t *buffer;    /* small files travel together in one frame */
    size_t used;
    uint64_t count, size; /* entries and bytes */
    char *pax;
    size_t pax_length;
    uint8_t *kept; /* headers that are only wanted if something follows in their folder */
    size_t kept_length, kept_capacity;
    uint64_t kept_count;
    bool keeping;
};

bool tar_writer_start(struct tar_writer *w, struct stream *s);
bool tar_going(const struct tar_writer *w);

/* The header of an entry, with a pax header before it where ustar is too small. `fd` is the entry itself where
   it can have attributes, or -1; `target` the text of a link, or NULL. A file's content must follow. */
void tar_put_entry(struct tar_writer *w, const char *name, char type, const struct stat *st, const char *target,
                   int fd);
/* From here on headers are put aside; what is written after `tar_keep(w, false)` brings them along. */
void tar_keep(struct tar_writer *w, bool keep);
/* Forgets the last entry that was put aside, back to the `length` from before it, if it still is. */
void tar_forget(struct tar_writer *w, size_t length);
/* Reads straight into the frame. A file that shrank is filled up with zeros, one that grew is cut. */
void tar_put_content(struct tar_writer *w, int fd, uint64_t size);
/* The end of the archive, and all that is still in the buffer. */
void tar_finish(struct tar_writer *w);
void tar_writer_stop(struct tar_writer *w);

#endif
