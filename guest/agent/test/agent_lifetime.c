/* How an agent ends, and what ends with it. */
#include <stdlib.h>
#include <sys/wait.h>

#include "agent_test.h"

static bool is_dead(void *a)
{
    return !agent_alive(a);
}

static void the_deadline_ends_everything(void)
{
    struct agent a;
    struct client c;
    struct builder b = {0};
    build_u64(&b, T_TIMEOUT_MS, 600);
    CHECK(start(&a, &c, &b));
    builder_free(&b);
    CHECK(!is_dead(&a));
    struct builder sleeper = shell("sleep 300");
    client_request(&c, OP_EXEC, &sleeper);
    builder_free(&sleeper);
    struct frame f;
    bool bye = false;
    while (client_next(&c, &f, 5000)) bye = bye || f.type == BYE;
    CHECK(bye);
    CHECK(wait_for(is_dead, &a, 3000));
    finish(&a, &c);
}

static void the_deadline_can_be_renewed(void)
{
    struct agent a;
    struct client c;
    struct builder b = {0};
    build_u64(&b, T_TIMEOUT_MS, 500);
    CHECK(start(&a, &c, &b));
    builder_reset(&b);
    build_u64(&b, T_TIMEOUT_MS, 60000);
    uint32_t stream = client_request(&c, OP_DEADLINE, &b);
    struct outcome o = client_finish(&c, stream, 5000);
    CHECK(o.ended);
    outcome_free(&o);
    builder_free(&b);
    usleep(800000);
    CHECK(!is_dead(&a));
    finish(&a, &c);
}

static void an_abandoned_agent_ends_when_it_may_not_linger(void)
{
    struct agent a;
    struct client c;
    struct builder b = {0};
    build_u64(&b, T_LINGER_MS, 0);
    CHECK(start(&a, &c, &b));
    builder_free(&b);
    client_close(&c);
    CHECK(wait_for(is_dead, &a, 3000));
    finish(&a, NULL);
}

static void processes_end_with_agent(const char *before)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    char script[96], look[64]; /* a number that no other run of this test uses */
    snprintf(script, sizeof script, "%s setsid sleep 7%d & sleep 7%d", before, (int)getpid(), (int)getpid());
    snprintf(look, sizeof look, "pgrep -x sleep -a | grep -qw 7%d", (int)getpid());
    struct builder b = shell(script);
    client_request(&c, OP_EXEC, &b);
    builder_free(&b);
    struct frame f;
    CHECK(client_next(&c, &f, 5000) && f.type == RESPONSE);
    int found = 1;
    for (int i = 0; i < 100 && found != 0; i++) {
        usleep(20000);
        found = system(look);
    }
    CHECK_INT(0, found); /* control: it was running */
    kill(a.pid, SIGKILL);
    for (int i = 0; i < 100 && found == 0; i++) {
        usleep(20000);
        found = system(look);
    }
    CHECK(found != 0);
    finish(&a, &c);
}

static void processes_end_with_a_killed_agent(void)
{
    processes_end_with_agent("");
}

static void a_stopped_supervisor_does_not_outlive_its_agent(void)
{
    processes_end_with_agent("sleep 0.1; kill -STOP $PPID;"); /* after the start was reported */
}

static void a_sandboxed_process_cannot_read_the_agent(void)
{
    if (geteuid() == 0) {
        NOT_RUN(a_sandboxed_process_cannot_read_the_agent, "root may read everything");
        return;
    }
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct outcome o =
        run(&c, shell("cat /proc/$(cat /proc/$PPID/stat | cut -d' ' -f4)/environ /proc/$PPID/maps"), 5000);
    CHECK(outcome_u64(&o, T_EXIT_CODE, 0) != 0);
    CHECK_TEXT("", (char *)o.output[0]);
    outcome_free(&o);
    finish(&a, &c);
}

void lifetime_tests(void)
{
    RUN(the_deadline_ends_everything);
    RUN(the_deadline_can_be_renewed);
    RUN(an_abandoned_agent_ends_when_it_may_not_linger);
    RUN(processes_end_with_a_killed_agent);
    RUN(a_stopped_supervisor_does_not_outlive_its_agent);
    RUN(a_sandboxed_process_cannot_read_the_agent);
}
