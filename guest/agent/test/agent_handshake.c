/* Authentication: which peers the agent serves, and how it rejects others. */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent_test.h"

static void a_wrong_secret_is_refused(void)
{
    struct agent a;
    CHECK(start(&a, NULL, NULL));
    uint8_t wrong[SECRET_SIZE] = {1};
    struct client c = {.fd = client_socket(&a), .reader = {.limit = FRAME_MAX}, .next_stream = 1};
    CHECK(c.fd >= 0);
    CHECK(!client_handshake(&c, wrong));
    struct frame f;
    CHECK(!client_next(&c, &f, 100)); /* disconnected */
    client_close(&c);
    struct client good;
    CHECK(client_connect(&good, &a)); /* and an authenticated peer is still served */
    finish(&a, &good);
}

static void garbage_in_the_handshake_is_disconnected(void)
{
    struct agent a;
    struct client good;
    CHECK(start(&a, &good, NULL));
    for (int i = 0; i < 50; i++) {
        int fd = client_socket(&a);
        CHECK(fd >= 0);
        uint8_t noise[600];
        srand((unsigned)i);
        for (size_t n = 0; n < sizeof noise; n++) noise[n] = (uint8_t)rand();
        ssize_t ignored = send(fd, noise, sizeof noise, MSG_NOSIGNAL);
        (void)ignored;
        close(fd);
    }
    struct outcome o = run(&good, shell("echo still here"), 5000);
    CHECK_TEXT("still here\n", (char *)o.output[0]);
    outcome_free(&o);
    finish(&a, &good);
}

static void requests_before_the_handshake_do_nothing(void)
{
    struct agent a;
    CHECK(start(&a, NULL, NULL));
    struct client c = {.fd = client_socket(&a), .reader = {.limit = FRAME_MAX}, .next_stream = 1};
    struct builder b = shell("touch evil");
    client_request(&c, OP_EXEC, &b);
    builder_free(&b);
    struct frame f;
    CHECK(client_next(&c, &f, 2000) && f.type == CHALLENGE);
    CHECK(!client_next(&c, &f, 500));
    client_close(&c);
    char path[128];
    snprintf(path, sizeof path, "%s/ws/evil", a.folder);
    CHECK(access(path, F_OK) != 0);
    finish(&a, NULL);
}

static void a_new_server_replaces_the_old_one(void)
{
    struct agent a;
    struct client first, second;
    CHECK(start(&a, &first, NULL));
    CHECK(client_connect(&second, &a));
    struct frame f;
    CHECK(client_next(&first, &f, 2000) && f.type == BYE);
    CHECK(!client_next(&first, &f, 500));
    struct outcome o = run(&second, shell("echo new"), 5000);
    CHECK_TEXT("new\n", (char *)o.output[0]);
    outcome_free(&o);
    client_close(&first);
    finish(&a, &second);
}

static void hostile_frames_close_only_the_connection(void)
{
    struct agent a;
    struct client c;
    CHECK(start(&a, &c, NULL));
    struct outcome o = {0};
    struct builder keep = shell("exec sleep 30");
    client_request(&c, OP_EXEC, &keep);
    builder_free(&keep);
    struct frame f;
    CHECK(client_next(&c, &f, 2000) && f.type == RESPONSE);
    srand(7);
    for (int round = 0; round < 300; round++) {
        uint8_t payload[200];
        size_t length = (size_t)rand() % sizeof payload;
        for (size_t n = 0; n < length; n++) payload[n] = (uint8_t)rand();
        if (length && rand() % 2) payload[0] = (uint8_t)(1 + rand() % 30); /* a known operation */
        if (length && (payload[0] == OP_SHUTDOWN || payload[0] == OP_KILL_ALL)) payload[0] = OP_STAT;
        static const enum frame_type types[] = {REQUEST, DATA, STREAM_EOF, CREDIT, CANCEL, HELLO, PING, 99};
        client_send(&c, types[rand() % 8], (uint32_t)rand() % 40, payload, length);
        if (round % 10 == 9) {
            client_close(&c);
            CHECK(client_connect(&c, &a));
        }
    }
    client_close(&c);
    CHECK(client_connect(&c, &a));
    o = run(&c, shell("echo alive"), 5000);
    CHECK_TEXT("alive\n", (char *)o.output[0]);
    outcome_free(&o);
    finish(&a, &c);
}

void handshake_tests(void)
{
    RUN(a_wrong_secret_is_refused);
    RUN(garbage_in_the_handshake_is_disconnected);
    RUN(requests_before_the_handshake_do_nothing);
    RUN(a_new_server_replaces_the_old_one);
    RUN(hostile_frames_close_only_the_connection);
}
