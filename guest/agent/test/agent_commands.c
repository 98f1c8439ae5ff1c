/* Commands: start, output, exit. */
#include <stdlib.h>
#include <sys/wait.h>

#include "agent_test.h"

static void output_and_exit_code_arrive(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct outcome o = run(&c, shell("echo out; echo err >&2; exit 7"), 5000);
    CHECK(o.ended);
    CHECK_TEXT("out\n", (char *)o.output[0]);
    CHECK_TEXT("err\n", (char *)o.output[1]);
    CHECK_INT(EXIT_EXITED, outcome_u64(&o, T_EXIT_KIND, 99));
    CHECK_INT(7, outcome_u64(&o, T_EXIT_CODE, 99));
    CHECK_INT(4, outcome_u64(&o, T_STDOUT_BYTES, 99));
    CHECK_INT(4, outcome_u64(&o, T_STDERR_BYTES, 99));
    outcome_free(&o);
    o = run(&c, shell("kill -SEGV $$"), 5000);
    CHECK_INT(EXIT_SIGNALED, outcome_u64(&o, T_EXIT_KIND, 99));
    CHECK_INT(SIGSEGV, outcome_u64(&o, T_SIGNAL, 99));
    outcome_free(&o);
    finish(&a, &c);
}

static void failed_start_reports_the_reason(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    char long_name[300] = "";
    memset(long_name, 'x', sizeof long_name - 1);
    struct {
        const char *program, *cwd, *user;
        enum error_code code;
    } cases[] = {
        {"no-such-program", NULL, NULL, E_EXEC_NOT_FOUND},
        {"/no/such/program", NULL, NULL, E_EXEC_NOT_FOUND},
        {"/etc/passwd", NULL, NULL, E_EXEC_DENIED},
        {"true", "/no/such/folder", NULL, E_NOT_FOUND},
        {"true", "/etc/passwd", NULL, E_NOT_A_FOLDER},
        {"true", NULL, "no-such-user", E_NO_SUCH_USER},
        {long_name, NULL, NULL, E_INVALID},
        {"true", long_name, NULL, E_INVALID},
        {"/etc", NULL, NULL, E_EXEC_DENIED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct builder b = {0};
        build_text(&b, T_ARG, cases[i].program);
        if (cases[i].cwd) build_text(&b, T_CWD, cases[i].cwd);
        if (cases[i].user) build_text(&b, T_USER, cases[i].user);
        struct outcome o = run(&c, b, 5000);
        CHECK(o.failed);
        CHECK_INT(cases[i].code, outcome_u64(&o, T_CODE, 0));
        outcome_free(&o);
    }
    struct outcome none = run(&c, (struct builder){0}, 5000);
    CHECK_INT(E_INVALID, outcome_u64(&none, T_CODE, 0));
    outcome_free(&none);
    finish(&a, &c);
}

static void input_is_passed_and_closed(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct builder b = shell("cat; echo end");
    uint32_t stream = client_request(&c, OP_EXEC, &b);
    builder_free(&b);
    CHECK(client_send(&c, DATA, stream, "typed\n", 6));
    CHECK(client_send(&c, STREAM_EOF, stream, NULL, 0));
    struct outcome o = client_finish(&c, stream, 5000);
    CHECK_TEXT("typed\nend\n", (char *)o.output[0]);
    outcome_free(&o);
    finish(&a, &c);
}

static void a_timeout_kills_the_whole_tree(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct builder b = shell("setsid sleep 300 & (setsid sh -c 'trap \"\" TERM HUP; sleep 301 & sleep 302' &)\n"
                             "nohup sleep 303 >/dev/null 2>&1 & sleep 0.1; echo up; sleep 304");
    build_u64(&b, T_TIMEOUT_MS, 700);
    struct outcome o = run(&c, b, 10000);
    CHECK_INT(EXIT_TIMED_OUT, outcome_u64(&o, T_EXIT_KIND, 99));
    CHECK_TEXT("up\n", (char *)o.output[0]);
    outcome_free(&o);
    uint64_t left = 99; /* without the agent; a supervisor may have reported the end but not exited yet */
    for (int i = 0; i < 100 && left > 0; i++) {
        struct builder u = {0};
        uint32_t stream = client_request(&c, OP_USAGE, &u);
        o = client_finish(&c, stream, 5000);
        left = outcome_u64(&o, T_PROCESSES, 99);
        outcome_free(&o);
        if (left) usleep(20000);
    }
    CHECK_INT(0, left);
    finish(&a, &c);
}

static void a_start_cancelled_before_its_response_leaves_nothing(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    for (int i = 0; i < 20; i++) {
        struct builder b = shell("sleep 300");
        kill(a.pid, SIGSTOP); /* so that it finds both requests */
        uint32_t stream = client_request(&c, OP_EXEC, &b);
        builder_free(&b);
        client_send(&c, CANCEL, stream, NULL, 0);
        kill(a.pid, SIGCONT);
        struct outcome o = client_finish(&c, stream, 5000);
        CHECK(o.failed);
        bool answered = o.execution != 0;
        outcome_free(&o);
        CHECK(!answered);
    }
    uint64_t left = 99;
    for (int i = 0; i < 100 && left; i++) {
        struct builder u = {0};
        uint32_t stream = client_request(&c, OP_USAGE, &u);
        struct outcome o = client_finish(&c, stream, 5000);
        left = outcome_u64(&o, T_PROCESSES, 99);
        outcome_free(&o);
        usleep(20000);
    }
    CHECK_INT(0, left);
    finish(&a, &c);
}

static void a_background_process_outlives_its_command(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct outcome o = run(&c, shell("sleep 300 & echo $!"), 5000);
    CHECK(o.ended);
    char script[64];
    snprintf(script, sizeof script, "kill -0 %d && echo alive", atoi((char *)o.output[0]));
    outcome_free(&o);
    o = run(&c, shell(script), 5000);
    CHECK_TEXT("alive\n", (char *)o.output[0]);
    outcome_free(&o);
    uint32_t stream = client_request(&c, OP_KILL_ALL, NULL);
    o = client_finish(&c, stream, 10000);
    CHECK(o.ended);
    outcome_free(&o);
    o = run(&c, shell(script), 5000);
    CHECK_TEXT("", (char *)o.output[0]);
    outcome_free(&o);
    finish(&a, &c);
}

static void a_terminal_has_a_size_and_is_resized(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct builder b = shell("stty size; read x; stty size; [ -t 0 ] && echo tty");
    build_u64(&b, T_COLS, 91);
    build_u64(&b, T_ROWS, 17);
    uint32_t stream = client_request(&c, OP_EXEC, &b);
    builder_free(&b);
    struct frame f;
    CHECK(client_next(&c, &f, 5000) && f.type == RESPONSE);
    uint64_t execution = fields_u64((struct fields){f.payload, f.length}, T_EXECUTION, 0);
    struct builder size = {0};
    build_u64(&size, T_EXECUTION, execution);
    build_u64(&size, T_COLS, 120);
    build_u64(&size, T_ROWS, 40);
    CHECK(client_next(&c, &f, 5000) && f.type == OUTPUT);
    CHECK(f.length >= 17 + 5 && memcmp(f.payload + 17, "17 91", 5) == 0);
    client_request(&c, OP_RESIZE, &size);
    builder_free(&size);
    client_send(&c, DATA, stream, "\n", 1);
    struct outcome o = client_finish(&c, stream, 5000);
    CHECK(strstr((char *)o.output[2], "40 120") != NULL);
    CHECK(strstr((char *)o.output[2], "tty") != NULL);
    outcome_free(&o);
    finish(&a, &c);
}

static void arguments_of_any_length_arrive(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    static char text[100001];
    static const int lengths[] = {1, 4000, 16000, 16300, 16384, 17000, 100000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(text, 'x', (size_t)lengths[i]);
        text[lengths[i]] = 0;
        struct builder b = shell("printf '%s %s %s' ${#1} $LONG \"$2\"");
        build_text(&b, T_ARG, "sh");
        build_text(&b, T_ARG, text);
        build_text(&b, T_ARG, "last");
        build_text(&b, T_ENV, "LONG=value");
        struct outcome o = run(&c, b, 10000);
        char expected[64];
        snprintf(expected, sizeof expected, "%d value last", lengths[i]);
        CHECK_TEXT(expected, (char *)o.output[0]);
        outcome_free(&o);
    }
    finish(&a, &c);
}

static void signals_ignored_by_the_parent_are_reset_for_commands(void)
{
    struct agent a;
    struct client c;
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    bool up = start(&a, &c, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    CHECK(up);
    static const int numbers[] = {SIGINT, SIGPIPE};
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 2; i++) {
            char script[64];
            snprintf(script, sizeof script, "kill -%d $$; echo survived", numbers[i]);
            struct outcome o = run(&c, shell(script), 5000);
            CHECK_INT(numbers[i], outcome_u64(&o, T_SIGNAL, 0));
            CHECK_TEXT("", (char *)o.output[0]);
            outcome_free(&o);
        }
    finish(&a, &c);
}

void commands_tests(void)
{
    RUN(output_and_exit_code_arrive);
    RUN(failed_start_reports_the_reason);
    RUN(input_is_passed_and_closed);
    RUN(a_timeout_kills_the_whole_tree);
    RUN(a_start_cancelled_before_its_response_leaves_nothing);
    RUN(a_background_process_outlives_its_command);
    RUN(a_terminal_has_a_size_and_is_resized);
    RUN(arguments_of_any_length_arrive);
    RUN(signals_ignored_by_the_parent_are_reset_for_commands);
}
