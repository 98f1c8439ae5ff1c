/* Files with several hard links that an archive already contains, and their first names. */
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
 * Returns the name under which this inode was first seen, or records `name` and returns NULL. Bounded to 100,000 files
 * and 16 MiB of names; further files are archived as copies.
 */
const char *inode_table_seen(struct inode_table *t, dev_t device, ino_t inode, const char *name);
void inode_table_free(struct inode_table *t);

#endif
