#include "process_limit.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include "execution.h"
#include "execution_table.h"
#include "init_state.h"
#include "process_tree.h"
#include "sandbox_limits.h"
#include "sudo_listen.h"

#define MS 1000000ull

enum {
    INTERVAL_MS = 10,          /* interval while the number changes or is near the limit */
    INTERVAL_MAX_MS = 1000,    /* interval otherwise */
    STARVED_MS = 1000,         /* how long commands fail to start before an execution is killed */
    KERNEL_THREADS_ENDED = 16, /* how many of its own threads the kernel may have ended since the agent started */
    STARVED_THREADS_MIN = 16,  /* minimum number of threads of an execution killed for that */
};

static uint64_t limit;
static uint64_t threads_before; /* in a virtual machine, without commands; 0 where the kernel's count is not used */
static uint64_t pause_ms, starved_since;
static int last_count;

static void check_processes(struct timer *t);
static struct timer next_look = {.fire = check_processes};

static uint64_t thread_count(void)
{
    struct sysinfo about;
    return sysinfo(&about) == 0 ? about.procs : 0;
}

void process_limit_setup(uint64_t processes, uint64_t threads)
{
    if (getpid() == 1) limit = processes;
    if (init_is_active() && threads && threads <= UINT16_MAX) threads_before = thread_count();
}

static void schedule_check(uint64_t milliseconds)
{
    pause_ms = milliseconds;
    timer_set(&next_look, now_ns() + milliseconds * MS);
}

void process_limit_started(void)
{
    starved_since = 0;
    if (limit && (next_look.at_ns == 0 || pause_ms > INTERVAL_MS)) schedule_check(INTERVAL_MS);
}

static bool is_busy(const struct execution *e)
{
    return e->supervisor > 0 && e->control.fd >= 0;
}

/* Kills the execution with the most processes, or threads, unless one is already ending; sudo helpers go first. */
static void end_largest(bool by_threads, int least)
{
    struct execution *largest = NULL;
    int most = least - 1;
    if (!tree_read()) return;
    for (struct execution *e = executions; e; e = e->next) {
        if (!is_busy(e)) continue;
        if (e->kill_pending) return;
        struct tree_size size = tree_size(e->supervisor);
        int count = by_threads ? size.threads : size.processes;
        if (count > most) {
            most = count;
            largest = e;
        }
    }
    const pid_t *helpers;
    pid_t helper = 0;
    for (int i = sudo_helpers(&helpers); i-- > 0;) {
        struct tree_size size = tree_size(helpers[i]);
        int count = by_threads ? size.threads : size.processes;
        if (count > most) {
            most = count;
            helper = helpers[i];
        }
    }
    if (!largest && !helper) return;
    limits_processes_met();
    if (helper)
        sudo_kill(helper);
    else
        order(largest, ORDER_KILL_TREE, 0);
}

void process_limit_starved(void)
{
    uint64_t now = now_ns();
    if (getpid() != 1) return;
    if (!starved_since) starved_since = now;
    if (now - starved_since < STARVED_MS * MS) return;
    starved_since = now;
    end_largest(true, STARVED_THREADS_MIN);
}

/*
 * Returns how many processes commands have started, or, while they are few, at least their threads: the kernel of a
 * virtual machine counts its threads, so that there is no need to list processes. It may end some of its own.
 */
static int count_processes(int expected)
{
    uint64_t threads = threads_before ? thread_count() : 0;
    if (threads && threads + KERNEL_THREADS_ENDED < threads_before + limit / 2)
        return (int)threads - (int)threads_before;
    return tree_count_others() - expected;
}

static void check_processes(struct timer *t)
{
    (void)t;
    const pid_t *helpers;
    int supervisors = sudo_helpers(&helpers), leaders = 0;
    for (struct execution *e = executions; e; e = e->next) {
        if (!is_busy(e)) continue;
        supervisors++;
        leaders += e->started && !e->leader_ended;
    }
    if (!supervisors) return; /* the next command starts it again */
    int count = count_processes(supervisors + leaders);
    if (count > 0 && (uint64_t)count > limit) {
        kill_strays();
        end_largest(false, 2);
    }
    bool calm = count == last_count && (uint64_t)(count < 0 ? 0 : count) * 2 < limit;
    last_count = count;
    schedule_check(!calm ? INTERVAL_MS : pause_ms * 2 > INTERVAL_MAX_MS ? INTERVAL_MAX_MS : pause_ms * 2);
}
