/* The agent reads a boot record, and parses what an init finds in it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/boot.h"
#include "../../src/init_parse.h"
#include "fuzz.h"

static void parse_text(char *text)
{
    struct init_channel channel;
    struct init_network network;
    char early[32];
    uint64_t size;
    if (init_parse_channel(text, &channel) && strlen(channel.name) >= sizeof channel.name) abort();
    if (init_parse_early_root(text, early, sizeof early) && strlen(early) >= sizeof early) abort();
    init_parse_network(text, &network);
    if (init_parse_tmpfs(text, &size) && !size) abort();
    init_is_module(text);
}

static bool is_inherited(const char *entry)
{
    for (char **own = environ; *own; own++)
        if (*own == entry) return true;
    return false;
}

static void list_free(char **list)
{
    for (char **one = list; one && *one; one++)
        if (!is_inherited(*one)) free(*one);
    free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct boot boot;
    const char *problem;
    if (!boot_parse(data, size, &boot, &problem)) {
        if (!problem) abort();
        return 0;
    }
    if (boot.fields.length != size) abort();
    size_t position = 0;
    struct field field;
    while (fields_next(boot.fields, &position, &field)) {
        char *text = strndup((const char *)field.value, field.length);
        parse_text(text);
        free(text);
    }
    char *texts[] = {boot.sandbox, boot.socket, boot.root, boot.mount, boot.cwd, boot.user, boot.lock};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free(texts[i]);
    list_free(boot.environment);
    free((void *)boot.fields.data);
    return 0;
}
