/* Which files with several links an archive holds already, and under which name. */
#ifndef ISOLA_INODE_TABLE_H
#define ISOLA_INODE_TABLE_H

#include <stddef.h>
#include <sys/types.h>

struct inode_entry;
struct inode_table {
    struct inode_entry *slots;
    size_t capacity, count, bytes;
};

/*
 * The name this inode was first seen under, or NULL when this is the first time (it is remembered then).
 * Bounded to 100,000 files and 16 MiB of names: past that, further files simply travel as copies.
 */
const char *inode_table_seen(struct inode_table *t, dev_t device, ino_t inode, const char *name);
void inode_table_free(struct inode_table *t);

#endif
