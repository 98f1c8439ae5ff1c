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

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("as a subreaper, without namespaces\n");
    namespaces = 0;
    run_all();
    boot_tests();
    dial_address_tests();
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
    return check_result();
}
