/* Answers DNS queries of guest processes from the table of names; RFC 1035. Nothing leaves the sandbox. */
#ifndef ISOLA_DNS_MESSAGE_H
#define ISOLA_DNS_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

enum { DNS_REPLY_MAX = 1024 };

/* Writes the reply to a query. Returns its length; 0 if the query is to be dropped. */
size_t dns_reply(const uint8_t *query, size_t length, uint8_t reply[DNS_REPLY_MAX]);

#endif
