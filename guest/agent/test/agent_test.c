/* Tests the whole agent as a server uses it: starts the program named by AGENT and connects over its socket. */
#include "agent_test.h"

static void run_all(void)
{
    container_tests();
    handshake_tests();
    commands_tests();
    streams_tests();
    files_tests();
    supervisors_tests();
    lifetime_tests();
    limit_tests();
    dial_tests();
    hold_tests();
    egress_tests();
}

static void as_subreaper(void)
{
    printf("as a subreaper, without namespaces\n");
    namespaces = 0;
    run_all();
    boot_tests();
    dial_address_tests();
}

static void in_namespace(void)
{
    struct builder b = {0};
    struct agent a;
    build_u64(&b, T_NAMESPACES, 2);
    if (agent_start(&a, &b)) {
        agent_finish(&a);
        printf("as PID 1 of its own namespace\n");
        namespaces = 2;
        run_all();
    } else {
        agent_finish(&a);
        NOT_RUN(namespaces, "pid namespaces are not available here");
    }
    builder_free(&b);
}

/* Without an argument runs both passes, otherwise the one it names: subreaper or namespace. */
int main(int argc, char **argv)
{
    const char *pass = argc > 1 ? argv[1] : NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!pass || strcmp(pass, "subreaper") == 0) as_subreaper();
    if (!pass || strcmp(pass, "namespace") == 0) in_namespace();
    return check_result();
}
