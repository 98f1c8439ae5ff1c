/* A sandbox that is held while it is saved, and its copy, which gets another identity. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent_test.h"

static const uint8_t OTHER[SECRET_SIZE] = {7};

struct held {
    struct agent a;
    struct client c;
    int listener;
};

static void name_sandbox(const struct agent *a, const char *id)
{
    char path[160];
    snprintf(path, sizeof path, "%s/sandbox", a->folder);
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    CHECK(fd >= 0 && write(fd, id, strlen(id)) == (ssize_t)strlen(id));
    if (fd >= 0) close(fd);
}

static void begin(struct held *h, const struct builder *more)
{
    CHECK(agent_prepare(&h->a));
    name_sandbox(&h->a, "test");
    h->listener = server_listen(&h->a);
    CHECK(start_dialling(&h->a, more, NULL));
    CHECK(server_serve(h->listener, &h->c, &h->a));
}

static void end(struct held *h)
{
    close(h->listener);
    finish(&h->a, &h->c);
}

static struct outcome request(struct held *h, enum operation operation, struct builder *b)
{
    uint32_t stream = client_request(&h->c, operation, b);
    struct outcome o = client_finish(&h->c, stream, 10000);
    if (b) builder_free(b);
    return o;
}

/* Returns true when the operation succeeds. */
static bool succeeds(struct held *h, enum operation operation, struct builder *b)
{
    struct outcome o = request(h, operation, b);
    bool ended = o.ended;
    outcome_free(&o);
    return ended;
}

static bool hold(struct held *h, uint64_t milliseconds)
{
    struct builder b = {0};
    struct frame f;
    build_u64(&b, T_TIMEOUT_MS, milliseconds);
    if (!succeeds(h, OP_HOLD, &b)) return false;
    while (client_next(&h->c, &f, 5000)) CHECK(f.type != BYE); /* until the agent has hung up */
    client_close(&h->c);
    return true;
}

/* Starts a command that appends a line to a file every 10 ms. */
static void start_ticking(struct held *h)
{
    struct builder b = shell("while :; do echo >> ticks; sleep 0.01; done");
    struct frame f;
    client_request(&h->c, OP_EXEC, &b);
    builder_free(&b);
    CHECK(client_next(&h->c, &f, 5000) && f.type == RESPONSE);
    usleep(100000);
}

static off_t ticks(const struct held *h)
{
    char path[160];
    struct stat st = {0};
    snprintf(path, sizeof path, "%s/ws/ticks", h->a.folder);
    stat(path, &st);
    return st.st_size;
}

static bool has_ticked(void *context)
{
    struct held *h = context;
    off_t before = ticks(h);
    usleep(100000);
    return ticks(h) > before;
}

static void commands_are_frozen_until_they_are_released(void)
{
    struct held h;
    begin(&h, NULL);
    start_ticking(&h);
    CHECK(wait_for(has_ticked, &h, 10000)); /* control */
    CHECK(hold(&h, 30000));
    CHECK(!has_ticked(&h));
    CHECK(server_serve(h.listener, &h.c, &h.a));
    CHECK(!has_ticked(&h));
    struct outcome o = request(&h, OP_RELEASE, NULL);
    CHECK(o.ended);
    CHECK(outcome_u64(&o, T_DURATION_NS, 0) >= 200000000);
    uint64_t now = (uint64_t)time(NULL), theirs = outcome_u64(&o, T_TIME_NS, 0) / 1000000000;
    CHECK(theirs + 2 > now && now + 2 > theirs);
    struct field random;
    CHECK(fields_find((struct fields){o.result.data, o.result.length}, T_NONCE, &random)
          && random.length == NONCE_SIZE);
    outcome_free(&o);
    CHECK(wait_for(has_ticked, &h, 10000));
    CHECK(!succeeds(&h, OP_RELEASE, NULL));
    check_command(&h.c, "after");
    end(&h);
}

static void commands_continue_when_no_server_returns(void)
{
    struct held h;
    begin(&h, NULL);
    start_ticking(&h);
    CHECK(hold(&h, 2000));
    CHECK(!has_ticked(&h));
    CHECK(wait_for(has_ticked, &h, 20000));
    CHECK(server_serve(h.listener, &h.c, &h.a));
    CHECK(!succeeds(&h, OP_RELEASE, NULL)); /* what was saved is older than the files now */
    end(&h);
}

/* The folder tells a copy that it is one: its commands must not run before it has an identity. */
static void a_copy_stays_frozen_after_the_timeout(void)
{
    struct held h;
    begin(&h, NULL);
    start_ticking(&h);
    CHECK(hold(&h, 300));
    name_sandbox(&h.a, "copy");
    usleep(1700000);
    CHECK(!has_ticked(&h));
    CHECK(server_serve(h.listener, &h.c, &h.a)); /* with the secret of the source */
    end(&h);
}

static struct builder identity(const char *sandbox)
{
    struct builder record = {0}, b = {0};
    build_bytes(&record, T_SECRET, OTHER, SECRET_SIZE);
    build_text(&record, T_SANDBOX, sandbox);
    build_text(&record, T_ENV, "WHO=copy");
    build_bytes(&b, T_VALUE, record.data, record.length);
    build_bytes(&b, T_NONCE, OTHER, SECRET_SIZE);
    builder_free(&record);
    return b;
}

static void a_copy_gets_another_identity(void)
{
    struct held h;
    struct builder b;
    begin(&h, NULL);
    start_ticking(&h);
    b = identity("copy");
    CHECK(!succeeds(&h, OP_IDENTIFY, &b)); /* it is not held */
    CHECK(hold(&h, 30000));
    CHECK(server_serve(h.listener, &h.c, &h.a));
    b = identity("copy");
    CHECK(!succeeds(&h, OP_IDENTIFY, &b)); /* the folder is that of the source */
    name_sandbox(&h.a, "copy");
    b = (struct builder){0};
    build_bytes(&b, T_VALUE, "\x01", 1);
    CHECK(!succeeds(&h, OP_IDENTIFY, &b)); /* damaged */
    CHECK(!succeeds(&h, OP_IDENTIFY, NULL));
    b = identity("copy");
    CHECK(succeeds(&h, OP_IDENTIFY, &b));
    CHECK(!has_ticked(&h)); /* the server has not verified it yet */
    client_close(&h.c);
    CHECK(server_accept(h.listener, &h.c, 5000));
    CHECK(!client_handshake(&h.c, h.a.secret)); /* the secret of the source is worth nothing now */
    client_close(&h.c);
    memcpy(h.a.secret, OTHER, SECRET_SIZE);
    CHECK(server_serve(h.listener, &h.c, &h.a));
    CHECK(succeeds(&h, OP_RELEASE, NULL));
    CHECK(wait_for(has_ticked, &h, 10000));
    struct outcome o = run(&h.c, shell("echo $WHO"), 5000);
    CHECK_TEXT("copy\n", (char *)o.output[0]);
    outcome_free(&o);
    end(&h);
}

/* More output than the journal holds: it must wait for its reader, who comes back a little later. */
static void output_is_kept_for_a_reader_that_returns(void)
{
    struct held h;
    struct frame f;
    begin(&h, NULL);
    struct builder b = shell("head -c 5000000 /dev/zero");
    client_request(&h.c, OP_EXEC, &b);
    CHECK(client_next(&h.c, &f, 5000) && f.type == RESPONSE);
    uint64_t execution = fields_u64((struct fields){f.payload, f.length}, T_EXECUTION, 0), received = 0;
    while (client_next(&h.c, &f, 300))
        if (f.type == OUTPUT) received += f.length - 17;
    CHECK(received > 0 && received < 2000000);
    CHECK(hold(&h, 30000));
    CHECK(server_serve(h.listener, &h.c, &h.a));
    CHECK(succeeds(&h, OP_RELEASE, NULL));
    usleep(300000);
    builder_reset(&b);
    build_u64(&b, T_EXECUTION, execution);
    build_u64(&b, T_OFFSET, received);
    build_u64(&b, T_CREDIT, 1 << 20);
    struct outcome o = request(&h, OP_ATTACH, &b);
    CHECK(o.ended);
    CHECK(o.gap == 0);
    CHECK(received + o.bytes == 5000000);
    outcome_free(&o);
    end(&h);
}

/* A reader that does not return must not block the command for long. */
static void output_is_not_kept_forever(void)
{
    struct held h;
    struct frame f;
    begin(&h, NULL);
    struct builder b = shell("head -c 5000000 /dev/zero; touch written");
    client_request(&h.c, OP_EXEC, &b);
    builder_free(&b);
    CHECK(client_next(&h.c, &f, 5000) && f.type == RESPONSE);
    usleep(300000);
    CHECK(hold(&h, 30000));
    CHECK(server_serve(h.listener, &h.c, &h.a));
    CHECK(succeeds(&h, OP_RELEASE, NULL));
    char path[160];
    snprintf(path, sizeof path, "%s/ws/written", h.a.folder);
    usleep(300000);
    CHECK(access(path, F_OK) != 0);
    for (int i = 0; i < 100 && access(path, F_OK) != 0; i++) usleep(100000);
    CHECK(access(path, F_OK) == 0);
    end(&h);
}

static void a_held_agent_does_not_count_as_abandoned(void)
{
    struct held h;
    struct builder b = {0};
    build_u64(&b, T_LINGER_MS, 0);
    begin(&h, &b);
    builder_free(&b);
    CHECK(hold(&h, 30000));
    usleep(300000);
    CHECK(agent_alive(&h.a));
    CHECK(server_serve(h.listener, &h.c, &h.a));
    CHECK(succeeds(&h, OP_RELEASE, NULL));
    end(&h);
}

/* An agent whose folder does not name its sandbox could not be told from its copy. */
static void an_agent_without_a_named_folder_refuses(void)
{
    struct held h;
    begin(&h, NULL);
    name_sandbox(&h.a, "other");
    CHECK(!succeeds(&h, OP_HOLD, NULL));
    check_command(&h.c, "unheld");
    end(&h);
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL)); /* it listens */
    uint32_t stream = client_request(&c, OP_HOLD, NULL);
    struct outcome o = client_finish(&c, stream, 5000);
    CHECK(!o.ended);
    outcome_free(&o);
    finish(&a, &c);
}

void hold_tests(void)
{
    RUN(commands_are_frozen_until_they_are_released);
    RUN(commands_continue_when_no_server_returns);
    RUN(a_copy_stays_frozen_after_the_timeout);
    RUN(a_copy_gets_another_identity);
    RUN(output_is_kept_for_a_reader_that_returns);
    RUN(output_is_not_kept_forever);
    RUN(a_held_agent_does_not_count_as_abandoned);
    RUN(an_agent_without_a_named_folder_refuses);
}
