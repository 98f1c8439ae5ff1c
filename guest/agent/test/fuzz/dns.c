/* A guest process asks the name server of the agent. */
#include <stdlib.h>
#include <string.h>

#include "../../src/dns_message.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t reply[DNS_REPLY_MAX];
    size_t length = dns_reply(data, size, reply);
    if (!length) return 0;
    if (length < 12 || length > sizeof reply || memcmp(reply, data, 2) != 0 || !(reply[2] & 0x80)) abort();
    unsigned questions = (unsigned)reply[4] << 8 | reply[5], answers = (unsigned)reply[6] << 8 | reply[7];
    if (questions > 1 || answers > questions || (answers && (reply[3] & 15))) abort();
    if (!questions && length != 12) abort();
    /* The question is that of the query; an answer ends with the reply. */
    size_t at = 12;
    if (questions) {
        while (reply[at]) at += 1 + (size_t)reply[at];
        at += 5;
        if (at > length || at > size || memcmp(reply + 12, data + 12, at - 12) != 0) abort();
    }
    if (answers) at += 12 + ((size_t)reply[at + 10] << 8 | reply[at + 11]);
    if (at != length) abort();
    return 0;
}
