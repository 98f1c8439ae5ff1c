/* An agent that dials: which peers it serves, and that it keeps dialling. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent_test.h"

static const uint8_t WRONG[SECRET_SIZE] = {1};

static long long milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void check_challenge_names_sandbox(struct client *c, const char *expected)
{
    struct frame f;
    CHECK(client_next(c, &f, 5000) && f.type == CHALLENGE);
    char *found = fields_text((struct fields){f.payload, f.length}, T_SANDBOX);
    if (expected)
        CHECK_TEXT(expected, found);
    else
        CHECK(!found);
    free(found);
}

static void an_agent_dials_and_serves(void)
{
    struct agent a;
    struct client c;
    CHECK(agent_prepare(&a));
    int listener = server_listen(&a);
    CHECK(listener >= 0);
    CHECK(start_dialling(&a, NULL, NULL));
    CHECK(server_serve(listener, &c, &a));
    check_command(&c, "dialled");
    struct outcome o = run(&c, shell("ls /proc/self/fd | wc -l"), 5000);
    CHECK_TEXT("4\n", (char *)o.output[0]); /* 0, 1, 2 and the listed folder: no command inherits another */
    outcome_free(&o);
    close(listener);
    finish(&a, &c);
}

static void only_a_dialling_agent_names_its_sandbox_first(void)
{
    struct agent a;
    struct client c;
    CHECK(agent_prepare(&a));
    int listener = server_listen(&a);
    CHECK(start_dialling(&a, NULL, NULL));
    CHECK(server_accept(listener, &c, 5000));
    check_challenge_names_sandbox(&c, "test");
    close(listener);
    finish(&a, &c);
    CHECK(start(&a, NULL, NULL));
    c = (struct client){.fd = client_socket(&a), .reader = {.limit = FRAME_MAX}, .next_stream = 1};
    check_challenge_names_sandbox(&c, NULL); /* control */
    finish(&a, &c);
}

/* Also with the filter that the agent installs before it serves. */
static void commands_continue_while_the_agent_dials_again(void)
{
    struct agent a;
    struct client c;
    struct frame f;
    struct builder b = {0};
    CHECK(agent_prepare(&a));
    int listener = server_listen(&a);
    build_u64(&b, T_SECCOMP, 1);
    CHECK(start_dialling(&a, &b, NULL));
    CHECK(server_serve(listener, &c, &a));
    struct builder command = shell("read x; echo got $x; touch ran");
    client_request(&c, OP_EXEC, &command);
    builder_free(&command);
    CHECK(client_next(&c, &f, 5000) && f.type == RESPONSE);
    uint64_t execution = fields_u64((struct fields){f.payload, f.length}, T_EXECUTION, 0);
    for (int i = 0; i < 5; i++) {
        client_close(&c);
        CHECK(server_serve(listener, &c, &a));
    }
    builder_reset(&b);
    build_u64(&b, T_EXECUTION, execution);
    build_u64(&b, T_CREDIT, 1 << 20);
    uint32_t stream = client_request(&c, OP_ATTACH, &b);
    builder_free(&b);
    client_send(&c, DATA, stream, "input\n", 6);
    struct outcome o = client_finish(&c, stream, 10000);
    CHECK(o.ended);
    CHECK_TEXT("got input\n", (char *)o.output[0]);
    outcome_free(&o);
    close(listener);
    finish(&a, &c);
}

static void an_agent_waits_for_its_server(void)
{
    struct agent a;
    struct client c;
    CHECK(agent_prepare(&a));
    CHECK(start_dialling(&a, NULL, NULL)); /* ready without a server */
    CHECK(agent_alive(&a));
    int listener = server_listen(&a);
    CHECK(server_serve(listener, &c, &a));
    check_command(&c, "late");

    /* Removed: the connection lasts. Created again: it is found after the connection has ended. */
    char path[128];
    snprintf(path, sizeof path, "%s/s", a.folder);
    CHECK(unlink(path) == 0);
    close(listener);
    check_command(&c, "connected");
    client_close(&c);
    listener = server_listen(&a);
    CHECK(server_serve(listener, &c, &a));
    check_command(&c, "again");

    uint32_t stream = client_request(&c, OP_SHUTDOWN, NULL);
    struct outcome o = client_finish(&c, stream, 10000);
    CHECK(o.ended);
    outcome_free(&o);
    struct frame f;
    while (client_next(&c, &f, 5000)) CHECK(f.type == BYE);
    CHECK(access(path, F_OK) == 0); /* the socket is the server's, although the boot record names it */
    close(listener);
    finish(&a, &c);
}

static void an_agent_waits_for_the_folder_of_its_socket(void)
{
    struct agent a;
    struct client c;
    CHECK(agent_prepare(&a));
    char address[128];
    snprintf(address, sizeof address, "unix:%s/later/s", a.folder);
    CHECK(start_dialling(&a, NULL, address));
    struct agent later = a; /* the same agent as the server finds it */
    CHECK(snprintf(later.folder, sizeof later.folder, "%.50s/later", a.folder) > 0);
    for (int i = 0; i < 2; i++) { /* the second time in another folder of the same name */
        CHECK(mkdir(later.folder, 0777) == 0);
        int listener = server_listen(&later);
        CHECK(server_serve(listener, &c, &a));
        check_command(&c, "found");
        client_close(&c);
        close(listener);
        char path[128];
        snprintf(path, sizeof path, "%s/s", later.folder);
        CHECK(unlink(path) == 0 && rmdir(later.folder) == 0);
    }
    finish(&a, NULL);
}

/* Peers without the secret, one after the other; after each the agent dials again. */
static void peers_without_the_secret_are_not_served(void)
{
    struct agent a;
    struct client c;
    struct frame f;
    CHECK(agent_prepare(&a));
    int listener = server_listen(&a);
    CHECK(start_dialling(&a, NULL, NULL));
    for (int i = 0; i < 6; i++) {
        CHECK(server_accept(listener, &c, 5000));
        if (i % 3 == 0) {
            CHECK(!client_handshake(&c, WRONG));
        } else if (i % 3 == 1) {
            uint8_t noise[600];
            srand((unsigned)i);
            for (size_t n = 0; n < sizeof noise; n++) noise[n] = (uint8_t)rand();
            ssize_t ignored = send(c.fd, noise, sizeof noise, MSG_NOSIGNAL);
            (void)ignored;
        } else {
            struct builder b = shell("touch evil");
            client_request(&c, OP_EXEC, &b);
            builder_free(&b);
        }
        while (client_next(&c, &f, 5000)) CHECK(f.type == CHALLENGE);
        client_close(&c);
    }
    CHECK(server_serve(listener, &c, &a));
    struct outcome o = run(&c, shell("ls"), 5000);
    CHECK_TEXT("", (char *)o.output[0]);
    outcome_free(&o);
    close(listener);
    finish(&a, &c);
}

static void a_silent_peer_is_given_up(void)
{
    struct agent a;
    struct client silent, c;
    CHECK(agent_prepare(&a));
    int listener = server_listen(&a);
    CHECK(start_dialling(&a, NULL, NULL));
    CHECK(server_accept(listener, &silent, 5000));
    CHECK(server_serve(listener, &c, &a));
    struct frame f;
    CHECK(client_next(&silent, &f, 1000) && f.type == CHALLENGE);
    CHECK(!client_next(&silent, &f, 1000)); /* disconnected */
    check_command(&c, "served");
    client_close(&silent);
    close(listener);
    finish(&a, &c);
}

static void check_silent_server_is_replaced(struct agent *a, int first)
{
    struct client silent, c;
    CHECK(server_accept(first, &silent, 5000));
    long long began = milliseconds();
    int second = server_listen(a);
    CHECK(server_serve(second, &c, a));
    CHECK(milliseconds() - began < 4500); /* the silent peer was not waited for: that takes 5 s */
    struct frame f;
    CHECK(client_next(&silent, &f, 1000) && f.type == CHALLENGE);
    CHECK(!client_next(&silent, &f, 1000)); /* one attempt at a time */
    check_command(&c, "served");
    client_close(&silent);
    client_close(&c);
    close(first);
    close(second);
}

static void a_new_server_is_served_while_another_is_silent(void)
{
    struct agent a;
    CHECK(agent_prepare(&a));
    int first = server_listen(&a);
    CHECK(start_dialling(&a, NULL, NULL));
    check_silent_server_is_replaced(&a, first);
    finish(&a, NULL);
}

static int open_descriptors(const struct agent *a)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)a->pid);
    DIR *folder = opendir(path);
    int count = 0;
    while (folder && readdir(folder)) count++;
    if (folder) closedir(folder);
    return count;
}

/* Closes every connection of the agent for a while. Returns how many there were. */
static int refuse_for(int listener, int duration)
{
    struct client c;
    int count = 0;
    for (long long end = milliseconds() + duration, left; (left = end - milliseconds()) > 0;)
        if (server_accept(listener, &c, (int)left)) {
            count++;
            client_close(&c);
        }
    return count;
}

static void a_server_that_hangs_up_is_not_flooded(void)
{
    struct agent a;
    struct client c;
    CHECK(agent_prepare(&a));
    int listener = server_listen(&a);
    CHECK(start_dialling(&a, NULL, NULL));
    CHECK(server_serve(listener, &c, &a));
    check_command(&c, "before");
    int before = open_descriptors(&a);
    client_close(&c);
    int count = refuse_for(listener, 1200);
    if (count < 3 || count > 13) printf("  %d connections in 1.2 s\n", count);
    CHECK(count >= 3);  /* it keeps dialling */
    CHECK(count <= 13); /* 7 with waits below 250 ms, then at least 250 ms each */
    CHECK(server_serve(listener, &c, &a));
    check_command(&c, "after");
    CHECK_INT(before, open_descriptors(&a)); /* both 0 where the agent may not be inspected */
    close(listener);
    finish(&a, &c);
}

static void files_beside_the_socket_do_not_hasten_dialling(void)
{
    struct agent a;
    struct client c;
    CHECK(agent_prepare(&a));
    int listener = server_listen(&a);
    CHECK(start_dialling(&a, NULL, NULL));
    refuse_for(listener, 700); /* until the backoff has grown */
    char path[128];
    snprintf(path, sizeof path, "%s/other", a.folder);
    int count = 0;
    for (long long end = milliseconds() + 1000; milliseconds() < end;) {
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        unlink(path);
        while (server_accept(listener, &c, 1)) {
            count++;
            client_close(&c);
        }
    }
    if (count > 6) printf("  %d connections in 1 s\n", count);
    CHECK(count <= 6);
    close(listener);
    finish(&a, NULL);
}

static void check_takeover(struct agent *a)
{
    struct client old, impostor, c;
    struct frame f;
    int first = server_listen(a);
    CHECK(server_serve(first, &old, a));
    check_command(&old, "first");

    int second = server_listen(a); /* without the secret */
    for (int i = 0; i < 3; i++) {
        CHECK(server_accept(second, &impostor, 10000));
        CHECK(!client_handshake(&impostor, WRONG));
        client_close(&impostor);
        check_command(&old, "still"); /* no BYE, no interruption */
    }
    int third = server_listen(a);
    CHECK(server_serve(third, &c, a));
    CHECK(client_next(&old, &f, 5000) && f.type == BYE);
    CHECK(!client_next(&old, &f, 5000));
    check_command(&c, "third");

    /* The socket to which it is connected is not dialled again. */
    struct pollfd again = {.fd = third, .events = POLLIN};
    CHECK_INT(0, poll(&again, 1, 300));
    client_close(&old);
    client_close(&c);
    CHECK(server_serve(third, &c, a));
    check_command(&c, "end");
    client_close(&c);
    close(first);
    close(second);
    close(third);
}

static void a_second_server_takes_over_with_the_secret_only(void)
{
    struct agent a;
    CHECK(agent_prepare(&a));
    CHECK(start_dialling(&a, NULL, NULL));
    check_takeover(&a);
    finish(&a, NULL);
}

/* A kernel without notification for folders, as in gVisor. */
static void refuse_notification(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_NOTIFY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(126);
}

static void a_second_server_takes_over_without_notification(void)
{
    struct agent a;
    struct builder b = {0};
    build_u64(&b, T_NAMESPACES, namespaces);
    CHECK(agent_prepare(&a));
    int first = server_listen(&a);
    CHECK(agent_dial(&a, &b, NULL, refuse_notification));
    builder_free(&b);
    check_silent_server_is_replaced(&a, first);
    check_takeover(&a);
    finish(&a, NULL);
}

static void a_hidden_socket_is_dialled_and_not_shown(void)
{
    if (!namespaces) {
        check_now_not_run = true; /* nothing can be hidden without them */
        return;
    }
    struct agent a;
    struct client c;
    struct builder b = {0};
    CHECK(agent_prepare(&a));
    int listener = server_listen(&a);
    build_text(&b, T_HIDE, a.folder);
    CHECK(start_dialling(&a, &b, NULL));
    builder_free(&b);
    for (int i = 0; i < 2; i++) {
        CHECK(server_serve(listener, &c, &a));
        struct outcome o = run(&c, shell("ls .."), 5000);
        CHECK_TEXT("ws\n", (char *)o.output[0]);
        outcome_free(&o);
        if (i == 0) client_close(&c);
    }
    close(listener);
    finish(&a, &c);
}

void dial_tests(void)
{
    RUN(an_agent_dials_and_serves);
    RUN(only_a_dialling_agent_names_its_sandbox_first);
    RUN(commands_continue_while_the_agent_dials_again);
    RUN(an_agent_waits_for_its_server);
    RUN(an_agent_waits_for_the_folder_of_its_socket);
    RUN(peers_without_the_secret_are_not_served);
    RUN(a_new_server_is_served_while_another_is_silent);
    RUN(a_second_server_takes_over_with_the_secret_only);
    RUN(a_hidden_socket_is_dialled_and_not_shown);
    if (namespaces) return; /* the rest takes long and does not depend on them */
    RUN(a_silent_peer_is_given_up);
    RUN(a_server_that_hangs_up_is_not_flooded);
    RUN(files_beside_the_socket_do_not_hasten_dialling);
    RUN(a_second_server_takes_over_without_notification);
}
