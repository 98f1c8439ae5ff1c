/*
 * The names that guest processes have resolved, each with an address of its own in 198.18.0.0/16. When the table is
 * full, the address of the name that was used least recently is reused.
 */
#ifndef ISOLA_NAME_TABLE_H
#define ISOLA_NAME_TABLE_H

#include <stdint.h>

#define NAME_TABLE_NETWORK 0xc6120000u /* 198.18.0.0 */

enum { HOST_NAME_MAX_LENGTH = 253, NAME_TABLE_MAX = 16384 };

/* Returns the address of a name, in host byte order; 0 when out of memory. */
uint32_t name_table_address(const char *name);
/* Returns the name that has this address; NULL if none has. Valid until the next call of name_table_address. */
const char *name_table_name(uint32_t address);

#endif
