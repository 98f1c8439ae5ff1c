/* The tar format: ustar blocks, pax records. Shared by tar_out.c and tar_in.c. */
#ifndef ISOLA_TAR_H
#define ISOLA_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAR_BLOCK = 512, TAR_PAX_MAX = 1 << 20 };

struct tar_header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, linkname[100];
    char magic[6], version[2], uname[32], gname[32], devmajor[8], devminor[8], prefix[155], padding[12];
};
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a header is one block");

enum {
    TAR_FILE = '0',
    TAR_FILE_OLD = 0,
    TAR_FILE_DENSE = '7',
    TAR_HARD_LINK = '1',
    TAR_LINK = '2',
    TAR_FOLDER = '5',
    TAR_FIFO = '6',
    TAR_REMOVED = 'W' /* an extension: removed entry */,
    TAR_SPARSE = 'S', /* an extension: a file of which only some ranges are in the archive */
    TAR_PAX = 'x',
    TAR_PAX_GLOBAL = 'g',
    TAR_GNU_NAME = 'L',
    TAR_GNU_LINK = 'K',
};

#define TAR_XATTR "SCHILY.xattr."

/* Size of a sparse file, then offset and length of each range in the archive, separated by blanks. */
#define TAR_RANGES "ISOLA.sparse"

/* Sum of all bytes with the checksum field read as blanks. Some old programs summed signed bytes. */
uint32_t tar_sum(const struct tar_header *h);
int32_t tar_sum_signed(const struct tar_header *h);

static inline uint64_t tar_padding(uint64_t size)
{
    return (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
}

#endif
