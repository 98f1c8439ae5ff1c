/* Supervisors, and what commands can do to them. */
#include <stdlib.h>
#include <unistd.h>

#include "agent_test.h"

static void the_tree_of_a_killed_supervisor_is_killed(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct outcome o =
        run(&c, shell("setsid sleep 300 & setsid sleep 301 & sleep 0.1; kill -9 $PPID; sleep 302"), 10000);
    CHECK(o.ended);
    outcome_free(&o);
    uint64_t left = 99;
    for (int i = 0; i < 100 && left; i++) {
        struct builder u = {0};
        uint32_t stream = client_request(&c, OP_USAGE, &u);
        o = client_finish(&c, stream, 5000);
        left = outcome_u64(&o, T_PROCESSES, 99);
        outcome_free(&o);
        usleep(20000);
    }
    CHECK_INT(0, left);
    finish(&a, &c);
}

static void an_idle_supervisor_runs_the_next_command(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    char first[32] = "", now[32] = "";
    for (int i = 0; i < 5; i++) {
        struct outcome o = run(&c, shell("echo $PPID"), 10000);
        sscanf((char *)o.output[0], "%31s", i == 0 ? first : now);
        outcome_free(&o);
        if (i) CHECK_TEXT(first, now);
    }
    struct builder u = {0};
    uint32_t stream = client_request(&c, OP_USAGE, &u);
    struct outcome o = client_finish(&c, stream, 5000);
    CHECK_INT(0, outcome_u64(&o, T_PROCESSES, 99));
    outcome_free(&o);

    /* A supervisor with a remaining process is not idle until that process has ended. */
    o = run(&c, shell("echo $PPID; sleep 0.5 >/dev/null 2>&1 &"), 10000);
    CHECK_TEXT(first, strtok((char *)o.output[0], "\n"));
    outcome_free(&o);
    o = run(&c, shell("echo $PPID"), 10000);
    CHECK(strcmp(first, strtok((char *)o.output[0], "\n")) != 0);
    outcome_free(&o);
    /* Two are idle then: two concurrent commands, one of them under the first again. */
    usleep(900000);
    for (int i = 0; i < 2; i++) {
        struct builder b = shell("echo $PPID >>supervisors; sleep 0.2");
        client_request(&c, OP_EXEC, &b);
        builder_free(&b);
    }
    bool again = false;
    for (int i = 0; i < 50 && !again; i++) {
        o = run(&c, shell("sleep 0.1; cat supervisors"), 10000);
        again = strstr((char *)o.output[0], first) != NULL;
        outcome_free(&o);
    }
    CHECK(again);
    finish(&a, &c);
}

/* CPU time of ended commands stays counted, whether their supervisor is idle, busy or gone. */
static void usage_includes_ended_commands(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    static const char burn[] = "i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done";
    uint64_t before = 0;
    for (int i = 0; i < 3; i++) {
        struct outcome o =
            run(&c, shell(i == 1 ? "sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done'; true" : burn), 20000);
        CHECK(outcome_u64(&o, T_CPU_NS, 0) > 0);
        outcome_free(&o);
        struct builder u = {0};
        uint32_t stream = client_request(&c, OP_USAGE, &u);
        o = client_finish(&c, stream, 5000);
        uint64_t now = outcome_u64(&o, T_CPU_NS, 0);
        CHECK(now > before);
        before = now;
        outcome_free(&o);
    }
    finish(&a, &c);
}

static void concurrent_then_sequential_commands(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 12; i++) {
            struct builder b = shell("sleep 0.1; echo $N >>out.$0");
            char text[32];
            snprintf(text, sizeof text, "%d", i);
            build_text(&b, T_ARG, text);
            snprintf(text, sizeof text, "N=%d", round);
            build_text(&b, T_ENV, text);
            uint32_t stream = client_request(&c, OP_EXEC, &b);
            builder_free(&b);
            if (round == 2) client_send(&c, CANCEL, stream, NULL, 0); /* some before, some after the response */
        }
        for (int i = 0; i < 100; i++) {
            struct outcome o =
                run(&c,
                    shell(round == 0 ? "grep -l 0 out.* | wc -l; sleep 0.02" : "grep -l 1 out.* | wc -l; sleep 0.02"),
                    10000);
            bool all = atoi((char *)o.output[0]) == 12;
            outcome_free(&o);
            if (all) break;
        }
    }
    struct outcome counted = run(&c, shell("cat out.* | sort | uniq -c | head -n 2 | tr -s ' \\n' ' '"), 10000);
    CHECK_TEXT(" 12 0 12 1 ", (char *)counted.output[0]);
    outcome_free(&counted);
    for (int i = 0; i < 20; i++) {
        struct outcome o = run(&c, shell("exit 3"), 10000);
        CHECK_INT(3, outcome_u64(&o, T_EXIT_CODE, 99));
        outcome_free(&o);
    }
    finish(&a, &c);
}

/* Killing an idle supervisor has no effect on the next command. */
static void a_killed_idle_supervisor_is_replaced(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    for (int i = 0; i < 3; i++) {
        struct outcome o = run(&c, shell("echo $PPID; (sleep 0.3; kill -9 $PPID) >/dev/null 2>&1 & exit 0"), 10000);
        CHECK_INT(0, outcome_u64(&o, T_EXIT_CODE, 99));
        outcome_free(&o);
        usleep(400000);
        o = run(&c, shell("echo done"), 10000);
        CHECK_TEXT("done\n", (char *)o.output[0]);
        outcome_free(&o);
    }
    /* The same for an idle supervisor. */
    struct outcome o = run(&c, shell("echo $PPID"), 10000);
    char script[128];
    snprintf(script, sizeof script, "sleep 0.3; kill -9 %s; echo killed", strtok((char *)o.output[0], "\n"));
    outcome_free(&o);
    uint32_t streams[2];
    for (int i = 0; i < 2; i++) {
        struct builder b = shell(i ? script : "sleep 0.1");
        streams[i] = client_request(&c, OP_EXEC, &b);
        builder_free(&b);
    }
    for (int i = 0; i < 2; i++) {
        o = client_finish(&c, streams[i], 10000);
        CHECK(o.ended);
        if (i) CHECK_TEXT("killed\n", (char *)o.output[0]);
        outcome_free(&o);
    }
    for (int i = 0; i < 3; i++) {
        o = run(&c, shell("echo done"), 10000);
        CHECK_TEXT("done\n", (char *)o.output[0]);
        outcome_free(&o);
    }
    finish(&a, &c);
}

/* A command that stops its supervisor is still killed, and so are the next ones. */
static void a_stopped_supervisor_is_continued(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct builder b;
    struct outcome o;
    static const char *const scripts[] = {"kill -STOP $PPID; sleep 300", "while :; do kill -STOP $PPID; done"};
    for (int i = 0; i < 2; i++) {
        b = shell(scripts[i]);
        build_u64(&b, T_TIMEOUT_MS, 500);
        o = run(&c, b, 20000);
        CHECK_INT(EXIT_TIMED_OUT, outcome_u64(&o, T_EXIT_KIND, 99));
        outcome_free(&o);
    }
    uint64_t left = 99;
    for (int i = 0; i < 250 && left; i++) {
        struct builder u = {0};
        uint32_t stream = client_request(&c, OP_USAGE, &u);
        o = client_finish(&c, stream, 5000);
        left = outcome_u64(&o, T_PROCESSES, 99);
        outcome_free(&o);
        usleep(20000);
    }
    CHECK_INT(0, left);
    o = run(&c, shell("echo $PPID"), 10000);
    int free_one = atoi((char *)o.output[0]);
    outcome_free(&o);
    char script[64];
    snprintf(script, sizeof script, "sleep 0.3; kill -STOP %d; echo stopped", free_one);
    uint32_t stopper = 0;
    for (int i = 0; i < 2; i++) {
        b = shell(i ? script : "sleep 0.1");
        stopper = client_request(&c, OP_EXEC, &b);
        builder_free(&b);
    }
    o = client_finish(&c, stopper, 10000);
    CHECK_TEXT("stopped\n", (char *)o.output[0]);
    outcome_free(&o);
    for (int i = 0; i < 4; i++) {
        o = run(&c, shell("echo works; sleep 0.05"), 10000);
        CHECK_TEXT("works\n", (char *)o.output[0]);
        outcome_free(&o);
    }
    finish(&a, &c);
}

void supervisors_tests(void)
{
    RUN(the_tree_of_a_killed_supervisor_is_killed);
    RUN(an_idle_supervisor_runs_the_next_command);
    RUN(usage_includes_ended_commands);
    RUN(concurrent_then_sequential_commands);
    RUN(a_killed_idle_supervisor_is_replaced);
    RUN(a_stopped_supervisor_is_continued);
}
