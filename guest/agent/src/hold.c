#include "hold.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"
#include "dial_folder.h"
#include "freeze.h"
#include "handshake.h"
#include "etc_files.h"
#include "execution_io.h"
#include "identity.h"
#include "init_state.h"
#include "lifetime.h"
#include "loop.h"
#include "operations.h"
#include "stream_table.h"

#define MS 1000000ull
#define TIMEOUT_DEFAULT (30000 * MS)
#define RETRY_INTERVAL (1000 * MS)
#define FLUSH_TIMEOUT (2000 * MS)

static void timeout_fired(struct timer *t);
static void unread_fired(struct timer *t);

static struct boot *boot;
static struct execution_defaults *defaults;
static struct freeze frozen;
static uint64_t timeout_ns;
static bool held; /* main thread */
/* How a worker tells the main thread that it has frozen all commands. */
static atomic_bool pending, begun;
static bool hangs_up; /* the reply has been sent, but perhaps not written */
static struct timer timeout = {.fire = timeout_fired}, unread = {.fire = unread_fired};

/* The init of a virtual machine has no folder, and does not need one: it continues only when a server says so. */
static bool is_sandbox(const char *id)
{
    return init_is_active() || dial_folder_names_sandbox(id);
}

void hold_setup(struct boot *b, struct execution_defaults *d)
{
    boot = b;
    defaults = d;
}

void operate_hold(const struct request *r)
{
    bool expected = false;
    if (!is_sandbox(boot->sandbox)) {
        stream_error(r->stream, E_UNSUPPORTED, 0, "the folder of the socket does not name the sandbox");
        return;
    }
    if (!atomic_compare_exchange_strong(&pending, &expected, true)) {
        stream_error(r->stream, E_EXISTS, 0, "the sandbox is held already");
        return;
    }
    if (!freeze_begin(&frozen)) {
        int error = errno;
        atomic_store(&pending, false);
        stream_error(r->stream, E_UNSUPPORTED, error, "not all processes stopped: %s", strerror(error));
        return;
    }
    timeout_ns = fields_u64(r->fields, T_TIMEOUT_MS, TIMEOUT_DEFAULT / MS) * MS;
    stream_end(r->stream, NULL);
    atomic_store(&begun, true);
    loop_wake();
}

/* The reply follows the output that is on its way. A server that does not read it must not delay the hold for long. */
void hold_poll(void)
{
    if (!held && atomic_load(&begun)) {
        held = hangs_up = true;
        executions_held(true);
        if (!init_is_active()) timer_set(&timeout, now_ns() + timeout_ns);
        timer_set(&unread, now_ns() + FLUSH_TIMEOUT);
    }
    if (!hangs_up || !(connection_is_flushed() || !unread.at_ns)) return;
    hangs_up = false;
    timer_clear(&unread);
    connection_drop();
}

static void unread_fired(struct timer *t)
{
    (void)t; /* the next hold_poll finds it cleared */
}

bool hold_is_active(void)
{
    return held;
}

static uint64_t thaw(void)
{
    timer_clear(&timeout);
    held = false;
    executions_held(false);
    atomic_store(&begun, false);
    uint64_t frozen_ns = freeze_end(&frozen);
    atomic_store(&pending, false);
    return frozen_ns;
}

/* A restored copy of the agent has the folder of another sandbox, where its own timeout means nothing. */
static void timeout_fired(struct timer *t)
{
    if (!is_sandbox(boot->sandbox)) {
        timer_set(t, now_ns() + RETRY_INTERVAL);
        return;
    }
    executions_released(false);
    thaw();
    if (!connection_is_open()) lifetime_disconnected();
}

/* Adds what a server compares: a copy of a sandbox must have the right time and other random bytes. */
static bool build_evidence(struct builder *b)
{
    struct timespec now;
    uint8_t random[NONCE_SIZE];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
    clock_gettime(CLOCK_REALTIME, &now);
    build_u64(b, T_TIME_NS, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    build_bytes(b, T_NONCE, random, sizeof random);
    return true;
}

void hold_release(struct stream *s, struct fields request)
{
    struct builder b = {0};
    if (!held) {
        stream_error(s, E_NOT_FOUND, 0, "the sandbox is not held, or its timeout has passed");
    } else if (init_is_active() && !identity_apply(request)) { /* the clock stood still while the machine did */
        stream_error(s, E_IO, errno, "cannot set the clock: %s", strerror(errno));
    } else if (!build_evidence(&b)) {
        stream_error(s, E_IO, errno, "no random bytes: %s", strerror(errno));
    } else {
        executions_released(true);
        build_u64(&b, T_DURATION_NS, thaw());
        stream_end(s, &b);
    }
    builder_free(&b);
    stream_release(s);
}

/* A failure to seed shows in the bytes that the server compares. */
static bool apply_identity(const struct boot *identity, struct fields request)
{
    struct field seed;
    if (fields_find(request, T_NONCE, &seed)) identity_seed(seed.value, seed.length);
    if (!init_is_active()) return true;
    return identity_apply(identity->fields) && identity_apply(request) && etc_files_write(identity->fields);
}

void hold_identify(struct stream *s, struct fields request)
{
    struct builder b = {0};
    struct field record;
    struct boot identity;
    const char *problem = "the boot record is missing";
    if (!held) {
        stream_error(s, E_NOT_FOUND, 0, "the sandbox is not held");
    } else if (!fields_find(request, T_VALUE, &record)
               || !boot_parse(record.value, record.length, &identity, &problem)) {
        stream_error(s, E_INVALID, 0, "%s", problem);
    } else if (!identity.sandbox || !is_sandbox(identity.sandbox)) {
        stream_error(s, E_DENIED, 0, "the folder of the socket does not name that sandbox");
    } else if (!apply_identity(&identity, request)) {
        stream_error(s, E_IO, errno, "the identity cannot be applied: %s", strerror(errno));
    } else {
        if (build_evidence(&b)) {
            timer_clear(&timeout);
            executions_released(false);
            *boot = identity; /* what the old one points to is still in use elsewhere */
            defaults->environment = boot->environment;
            defaults->boot = boot->fields;
            handshake_setup(boot->secret, boot->sandbox);
            lifetime_begin(boot);
            lifetime_connected();
            stream_end(s, &b);
        } else {
            stream_error(s, E_IO, errno, "no random bytes: %s", strerror(errno));
        }
    }
    builder_free(&b);
    stream_release(s);
}
