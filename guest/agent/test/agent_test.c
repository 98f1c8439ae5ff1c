/* The whole agent, as a server meets it: the program named by AGENT is started, greeted and used over its socket. */
#include "agent_test.h"

static void run_all(void)
{
    container_tests();
    greeting_tests();
    commands_tests();
    streams_tests();
    files_tests();
    supervisors_tests();
    life_tests();
    limit_tests();
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("as a subreaper, without namespaces\n");
    namespaces = 0;
    run_all();
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
        NOT_RUN(namespaces, "no pid namespace to be had here");
    }
    builder_free(&b);
    return check_result();
}
