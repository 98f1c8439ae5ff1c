/* Shared by the tests of the whole agent. */
#include <unistd.h>

#include "agent_test.h"

uint64_t namespaces;

static struct builder boot_fields(const struct builder *more)
{
    struct builder b = {0};
    build_u64(&b, T_NAMESPACES, namespaces);
    if (more && more->length) {
        size_t position = 0;
        struct field f;
        while (fields_next((struct fields){more->data, more->length}, &position, &f))
            build_bytes(&b, (enum tag)f.tag, f.value, f.length);
    }
    return b;
}

bool start(struct agent *a, struct client *c, struct builder *more)
{
    struct builder b = boot_fields(more);
    bool ok = agent_start(a, &b) && (!c || client_connect(c, a));
    if (!ok) printf("  the agent output: %s\n", a->output);
    builder_free(&b);
    return ok;
}

bool start_dialling(struct agent *a, const struct builder *more, const char *address)
{
    struct builder b = boot_fields(more);
    bool ok = agent_dial(a, &b, address, NULL);
    if (!ok) printf("  the agent output: %s\n", a->output);
    builder_free(&b);
    return ok;
}

void finish(struct agent *a, struct client *c)
{
    if (c) client_close(c);
    agent_finish(a);
}

struct builder shell(const char *script)
{
    struct builder b = {0};
    build_text(&b, T_ARG, "/bin/sh");
    build_text(&b, T_ARG, "-c");
    build_text(&b, T_ARG, script);
    build_u64(&b, T_CREDIT, 1 << 20);
    return b;
}

struct outcome run(struct client *c, struct builder b, int milliseconds)
{
    uint32_t stream = client_request(c, OP_EXEC, &b);
    builder_free(&b);
    return client_finish(c, stream, milliseconds);
}

bool wait_for(bool (*condition)(void *), void *context, int milliseconds)
{
    for (int i = 0; i < milliseconds / 5; i++) {
        if (condition(context)) return true;
        usleep(5000);
    }
    return condition(context);
}

void check_command(struct client *c, const char *word)
{
    char script[64], line[64];
    snprintf(script, sizeof script, "echo %s", word);
    snprintf(line, sizeof line, "%s\n", word);
    struct outcome o = run(c, shell(script), 10000);
    CHECK(o.ended);
    CHECK_TEXT(line, (char *)o.output[0]);
    outcome_free(&o);
}
