#include "lifetime.h"

#include <stdlib.h>
#include <unistd.h>

#include "connection.h"
#include "execution.h"
#include "init.h"
#include "init_state.h"
#include "loop.h"
#include "process_tree.h"
#include "stream_table.h"

#define MS 1000000ull

enum { FIRST_CONNECTION_MS = 10000, KILL_MS = 5000 };

static const struct boot *boot;

static void deadline_fired(struct timer *t)
{
    (void)t;
    lifetime_end("deadline");
}

static void linger_fired(struct timer *t)
{
    (void)t;
    lifetime_end("abandoned");
}

static struct timer deadline = {.fire = deadline_fired};
static struct timer linger = {.fire = linger_fired};

static void set_deadline(uint64_t milliseconds)
{
    /* A value that would overflow means no deadline. */
    if (milliseconds == 0 || milliseconds > UINT64_MAX / (4 * MS))
        timer_clear(&deadline);
    else
        timer_set(&deadline, now_ns() + milliseconds * MS);
}

void lifetime_begin(const struct boot *b)
{
    boot = b;
    set_deadline(b->deadline_ms);
    if (!b->has_linger) return;
    uint64_t first = b->linger_ms > FIRST_CONNECTION_MS ? b->linger_ms : FIRST_CONNECTION_MS;
    timer_set(&linger, now_ns() + first * MS);
}

void lifetime_connected(void)
{
    timer_clear(&linger);
}

void lifetime_disconnected(void)
{
    if (boot->has_linger) timer_set(&linger, now_ns() + boot->linger_ms * MS);
}

void lifetime_renew(struct stream *s, struct fields request)
{
    set_deadline(fields_u64(request, T_TIMEOUT_MS, 0));
    stream_end(s, NULL);
    stream_release(s);
}

void lifetime_kill_all(struct stream *s)
{
    if (tree_kill_own(KILL_MS, executions_reaped))
        stream_end(s, NULL);
    else
        stream_error(s, E_LIMIT, 0, "processes are still running after %d ms", KILL_MS);
    stream_release(s);
}

void lifetime_shutdown(struct stream *s)
{
    tree_kill_own(KILL_MS, NULL);
    stream_end(s, NULL);
    stream_release(s);
    lifetime_end("shutdown");
}

void lifetime_end(const char *reason)
{
    tree_kill_own(KILL_MS, NULL);
    connection_send_bye(reason);
    if (boot && boot->socket) unlink(boot->socket);
    if (init_is_active()) init_reset();
    _exit(0);
}
