#include "dns_message.h"

#include <stdbool.h>
#include <string.h>

#include "name_table.h"

enum { HEADER = 12, LABEL_MAX = 63, NAME_WIRE_MAX = 255, TTL_SECONDS = 10 };
enum { TYPE_A = 1, TYPE_PTR = 12, TYPE_ANY = 255, CLASS_IN = 1, CLASS_ANY = 255 };
enum { NO_ERROR = 0, FORMAT_ERROR = 1, SERVER_FAILURE = 2, NO_SUCH_NAME = 3, NOT_IMPLEMENTED = 4 };

struct question {
    char name[HOST_NAME_MAX_LENGTH + 1]; /* lower case, without the last dot */
    bool usable;                         /* letters, digits, '-' and '_' only */
    unsigned type, class;
    size_t end; /* where it ends in the query */
};

static unsigned get_u16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static uint8_t *put_u16(uint8_t *p, unsigned value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
    return p + 2;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Adds a label to the name. Sets `usable` to false if it has characters that no host name has. */
static void add_label(struct question *q, size_t *at, const uint8_t *label, size_t length)
{
    if (*at) q->name[(*at)++] = '.';
    for (size_t i = 0; i < length; i++) {
        char c = (char)label[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c + 'a' - 'A');
        if (!((c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_')) q->usable = false;
        q->name[(*at)++] = c;
    }
}

/* Returns false if the question is damaged. */
static bool parse_question(const uint8_t *query, size_t length, struct question *q)
{
    size_t from = HEADER, at = 0;
    q->usable = true;
    for (;;) {
        if (from >= length) return false;
        size_t label = query[from++];
        if (!label) break;
        /* The lengths of a pointer are above LABEL_MAX: a question has nothing to point to. */
        if (label > LABEL_MAX || label > length - from || at + 1 + label > HOST_NAME_MAX_LENGTH) return false;
        add_label(q, &at, query + from, label);
        from += label;
    }
    q->name[at] = 0;
    if (length - from < 4) return false;
    q->type = get_u16(query + from);
    q->class = get_u16(query + from + 2);
    q->end = from + 4;
    return true;
}

/* Programs that read names as addresses accept numbers in several bases; such a name is not one of a host. */
static bool ends_in_number(const char *name)
{
    const char *dot = strrchr(name, '.'), *label = dot ? dot + 1 : name;
    if (label[0] == '0' && label[1] == 'x') return strspn(label + 2, "0123456789abcdef") == strlen(label + 2);
    return strspn(label, "0123456789") == strlen(label);
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && !strcmp(name + length - tail, end);
}

static bool is_localhost(const char *name)
{
    return !strcmp(name, "localhost") || ends_with(name, ".localhost");
}

/* Parses the name of a reverse lookup, "4.3.2.1.in-addr.arpa". Returns 0 if it is none. */
static uint32_t reverse_address(const char *name)
{
    uint32_t address = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t byte = 0;
        if (!is_digit(*name)) return 0;
        while (is_digit(*name) && byte < 256) byte = byte * 10 + (uint32_t)(*name++ - '0');
        if (byte > 255 || *name++ != '.') return 0;
        address |= byte << 8 * i;
    }
    return strcmp(name, "in-addr.arpa") ? 0 : address;
}

/* Writes the record's head; its name is that of the question. */
static uint8_t *put_record(uint8_t *p, unsigned type, size_t length)
{
    p = put_u16(p, 0xc000 | HEADER);
    p = put_u16(p, type);
    p = put_u16(p, CLASS_IN);
    p = put_u16(p, 0);
    p = put_u16(p, TTL_SECONDS);
    return put_u16(p, (unsigned)length);
}

static uint8_t *put_address(uint8_t *p, uint32_t address)
{
    p = put_record(p, TYPE_A, 4);
    p = put_u16(p, address >> 16);
    return put_u16(p, address & 0xffff);
}

static uint8_t *put_pointer(uint8_t *p, const char *name)
{
    p = put_record(p, TYPE_PTR, strlen(name) + 2);
    while (*name) {
        size_t label = strcspn(name, ".");
        *p++ = (uint8_t)label;
        memcpy(p, name, label);
        p += label;
        name += label + (name[label] == '.');
    }
    *p++ = 0;
    return p;
}

/* Adds the answer, if there is one, and returns the response code. */
static int answer(const struct question *q, uint8_t **p)
{
    bool address = q->type == TYPE_A || q->type == TYPE_ANY;
    if ((q->class != CLASS_IN && q->class != CLASS_ANY) || !q->name[0]) return NO_ERROR;
    if (!q->usable) return NO_SUCH_NAME;
    if (is_localhost(q->name)) {
        if (address) *p = put_address(*p, 0x7f000001);
        return NO_ERROR;
    }
    uint32_t reverse = reverse_address(q->name);
    if (reverse) {
        const char *name = name_table_name(reverse);
        if (name && q->type == TYPE_PTR) *p = put_pointer(*p, name);
        return name ? NO_ERROR : NO_SUCH_NAME;
    }
    if (ends_in_number(q->name) || ends_with(q->name, ".arpa")) return NO_SUCH_NAME;
    if (!address) return NO_ERROR;
    uint32_t found = name_table_address(q->name);
    if (!found) return SERVER_FAILURE;
    *p = put_address(*p, found);
    return NO_ERROR;
}

size_t dns_reply(const uint8_t *query, size_t length, uint8_t reply[DNS_REPLY_MAX])
{
    if (length < HEADER || query[2] & 0x80) return 0; /* a reply is never answered */
    struct question q = {.end = HEADER};
    unsigned opcode = query[2] >> 3 & 15;
    int code = opcode                               ? NOT_IMPLEMENTED
               : get_u16(query + 4) != 1            ? FORMAT_ERROR
               : !parse_question(query, length, &q) ? FORMAT_ERROR
                                                    : NO_ERROR;
    bool parsed = code == NO_ERROR;
    memset(reply, 0, HEADER);
    memcpy(reply, query, 2);
    uint8_t *end = reply + HEADER;
    if (parsed) {
        memcpy(end, query + HEADER,
               q.end - HEADER); /* with its letters in the case of the query, which clients compare */
        end += q.end - HEADER;
        uint8_t *before = end;
        code = answer(&q, &end);
        put_u16(reply + 4, 1);
        put_u16(reply + 6, end > before);
    }
    reply[2] = (uint8_t)(0x84 | (query[2] & 0x79)); /* a reply with authority; opcode and RD as in the query */
    reply[3] = (uint8_t)(0x80 | code);              /* recursion is available */
    return (size_t)(end - reply);
}
