/* Limits enforced by the agent itself. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent_test.h"

static const char SLEEPERS[] =
    "i=0; while test $i -lt %d; do sleep 1000 >/dev/null 2>&1 & p=\"$p $!\"; i=$((i+1)); done; %s";

/* Starts an agent that is PID 1 of a pid namespace. Returns false in the pass without namespaces. */
static bool limited(struct agent *a, struct client *c, enum tag tag, uint64_t value)
{
    if (!namespaces) {
        check_now_not_run = true;
        return false;
    }
    struct builder b = {0};
    build_u64(&b, tag, value);
    bool ok = start(a, c, &b);
    builder_free(&b);
    CHECK(ok);
    return ok;
}

static struct outcome start_sleepers(struct client *c, int count, const char *then)
{
    char script[256];
    snprintf(script, sizeof script, SLEEPERS, count, then);
    return run(c, shell(script), 60000);
}

static struct fields ending(const struct outcome *o)
{
    return (struct fields){o->result.data, o->result.length};
}

static void exceeding_the_process_limit_kills_the_execution(void)
{
    struct agent a;
    struct client c;
    if (!limited(&a, &c, T_PROCESS_LIMIT, 20)) return;
    struct outcome o = start_sleepers(&c, 15, "sleep 0.3; kill $p");
    CHECK_INT(EXIT_EXITED, outcome_u64(&o, T_EXIT_KIND, 99));
    CHECK(!fields_has(ending(&o), T_LIMIT));
    outcome_free(&o);
    o = start_sleepers(&c, 60, "sleep 50");
    CHECK_INT(EXIT_SIGNALED, outcome_u64(&o, T_EXIT_KIND, 99));
    char *met = fields_text(ending(&o), T_LIMIT);
    CHECK_TEXT("processes", met);
    free(met);
    outcome_free(&o);
    o = run(&c, shell("cat /proc/[0-9]*/comm | grep -c sleep"), 20000);
    CHECK_TEXT("0\n", (char *)o.output[0]); /* no process of either is left */
    outcome_free(&o);
    finish(&a, &c);
}

static void background_processes_count_too(void)
{
    struct agent a;
    struct client c;
    if (!limited(&a, &c, T_PROCESS_LIMIT, 20)) return;
    struct outcome o = start_sleepers(&c, 60, "exit 0");
    outcome_free(&o);
    for (int i = 0, left = 60; i < 100 && left >= 20; i++) {
        o = run(&c, shell("ls -d /proc/[0-9]* | wc -l"), 20000);
        left = atoi((char *)o.output[0]);
        outcome_free(&o);
        CHECK(i < 99);
        usleep(20000);
    }
    finish(&a, &c);
}

static void a_command_runs_on_its_processors(void)
{
    struct agent a;
    struct client c;
    if (!limited(&a, &c, T_PROCESSORS, 1)) return;
    struct outcome o = run(&c, shell("grep Cpus_allowed_list /proc/self/status | tr -d '0-9:\\t\\n'"), 20000);
    CHECK_TEXT("Cpus_allowed_list", (char *)o.output[0]); /* a single number: no range and no list */
    outcome_free(&o);
    finish(&a, &c);
}

void limit_tests(void)
{
    RUN(exceeding_the_process_limit_kills_the_execution);
    RUN(background_processes_count_too);
    RUN(a_command_runs_on_its_processors);
}
