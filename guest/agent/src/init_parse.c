#include "init_parse.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses a whole decimal number from 0 to `most`. */
static bool parse_number(const char *text, uint64_t most, uint64_t *out)
{
    if (!*text || strlen(text) > 19) return false;
    *out = 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        *out = *out * 10 + (uint64_t)(*text - '0');
    }
    return *out <= most;
}

bool init_parse_channel(const char *command_line, struct init_channel *out)
{
    static const char key[] = "isola.channel=";
    uint64_t port;
    for (const char *word = command_line; *(word += strspn(word, " \n"));) {
        size_t length = strcspn(word, " \n");
        char value[64];
        if (length >= sizeof key && strncmp(word, key, sizeof key - 1) == 0) {
            length -= sizeof key - 1;
            if (length >= sizeof value) return false;
            memcpy(value, word + sizeof key - 1, length);
            value[length] = 0;
            if (strncmp(value, "port:", 5) == 0 && value[5]) {
                out->kind = CHANNEL_PORT;
                snprintf(out->name, sizeof out->name, "%s", value + 5);
                return true;
            }
            out->kind = CHANNEL_VSOCK;
            if (strncmp(value, "vsock:", 6) != 0 || !parse_number(value + 6, UINT32_MAX - 1, &port)) return false;
            snprintf(out->name, sizeof out->name, "vsock:2:%u", (unsigned)port);
            return true;
        }
        word += length;
    }
    return false;
}

bool init_parse_early_root(const char *command_line, char *folder, size_t capacity)
{
    static const char key[] = "isola.root=early:";
    for (const char *word = command_line; *(word += strspn(word, " \n"));) {
        size_t length = strcspn(word, " \n"), prefix = sizeof key - 1;
        if (length > prefix && strncmp(word, key, prefix) == 0 && word[prefix] == '/' && length - prefix < capacity) {
            memcpy(folder, word + prefix, length - prefix);
            folder[length - prefix] = 0;
            return true;
        }
        word += length;
    }
    return false;
}

bool init_parse_network(const char *text, struct init_network *out)
{
    char copy[64];
    uint64_t prefix;
    if (strlen(text) >= sizeof copy) return false;
    strcpy(copy, text);
    char *slash = strchr(copy, '/'), *blank = slash ? strchr(slash, ' ') : NULL;
    if (!blank) return false;
    *slash = *blank = 0;
    if (inet_pton(AF_INET, copy, &out->address) != 1 || inet_pton(AF_INET, blank + 1, &out->gateway) != 1
        || !parse_number(slash + 1, 32, &prefix))
        return false;
    out->mask.s_addr = prefix ? htonl(UINT32_MAX << (32 - prefix)) : 0;
    return true;
}

bool init_parse_tmpfs(char *text, uint64_t *size)
{
    char *blank = strrchr(text, ' ');
    if (text[0] != '/' || !blank || !parse_number(blank + 1, INT64_MAX, size) || *size == 0) return false;
    *blank = 0;
    return true;
}

int init_compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool init_is_module(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".ko") == 0;
}
