/* Tests the parts of init that need no virtual machine: what it parses, and how it waits for its boot record. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "boot_wait.h"
#include "check.h"
#include "init_parse.h"

static void channel_is_found_among_other_words(void)
{
    struct init_channel c;
    CHECK(init_parse_channel("console=ttyS0 quiet isola.channel=port:isola.agent panic=-1\n", &c));
    CHECK_INT(CHANNEL_PORT, c.kind);
    CHECK_TEXT("isola.agent", c.name);
    CHECK(init_parse_channel("isola.channel=vsock:1024", &c));
    CHECK_INT(CHANNEL_VSOCK, c.kind);
    CHECK_TEXT("vsock:2:1024", c.name);
}

static void invalid_channel_is_rejected(void)
{
    static const char *const lines[] = {
        "",
        "quiet",
        "isola.channel=",
        "isola.channel=port:",
        "isola.channel=tcp:1",
        "isola.channel=vsock:",
        "isola.channel=vsock:-1",
        "isola.channel=vsock:4294967295",
        "isola.channel=vsock:99999999999999999999",
        "xisola.channel=port:a",
        "isola.channelport:a",
        "isola.channel=port:0123456789012345678901234567890123456789012345678901234567890"};
    struct init_channel c;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) CHECK(!init_parse_channel(lines[i], &c));
}

static void early_root_has_a_folder(void)
{
    char folder[16];
    CHECK(init_parse_early_root("quiet isola.root=early:/workspace isola.channel=port:a\n", folder, sizeof folder));
    CHECK_TEXT("/workspace", folder);
    static const char *const lines[] = {"",
                                        "isola.root=early",
                                        "isola.root=early:",
                                        "isola.root=early:a",
                                        "xisola.root=early:/a",
                                        "isola.root=early:/0123456789abcde"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK(!init_parse_early_root(lines[i], folder, sizeof folder));
}

static void check_network(const char *text, const char *address, const char *mask, const char *gateway)
{
    struct init_network n;
    char got[INET_ADDRSTRLEN];
    CHECK(init_parse_network(text, &n));
    CHECK_TEXT(address, inet_ntop(AF_INET, &n.address, got, sizeof got));
    CHECK_TEXT(mask, inet_ntop(AF_INET, &n.mask, got, sizeof got));
    CHECK_TEXT(gateway, inet_ntop(AF_INET, &n.gateway, got, sizeof got));
}

static void network_has_address_mask_and_gateway(void)
{
    check_network("10.0.2.15/24 10.0.2.2", "10.0.2.15", "255.255.255.0", "10.0.2.2");
    check_network("172.16.0.2/30 172.16.0.1", "172.16.0.2", "255.255.255.252", "172.16.0.1");
    check_network("1.2.3.4/32 1.2.3.4", "1.2.3.4", "255.255.255.255", "1.2.3.4");
    check_network("1.2.3.4/0 1.2.3.4", "1.2.3.4", "0.0.0.0", "1.2.3.4");
    static const char *const invalid[] = {"",
                                          "10.0.2.15",
                                          "10.0.2.15/24",
                                          "10.0.2.15/33 10.0.2.2",
                                          "10.0.2.15/ 10.0.2.2",
                                          "10.0.2/24 10.0.2.2",
                                          "10.0.2.15/24 gateway",
                                          "10.0.2.15/24 10.0.2.2 more",
                                          "::1/64 ::2",
                                          "10.0.2.15/00000000000000000000000000000000000000000000024 10.0.2.2"};
    struct init_network n;
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) CHECK(!init_parse_network(invalid[i], &n));
}

static void tmpfs_has_path_and_size(void)
{
    uint64_t size = 0;
    char plain[] = "/tmp 65536", blanks[] = "/a b 1";
    CHECK(init_parse_tmpfs(plain, &size));
    CHECK_TEXT("/tmp", plain);
    CHECK_INT(65536, size);
    CHECK(init_parse_tmpfs(blanks, &size));
    CHECK_TEXT("/a b", blanks);
    char invalid[][24] = {"", "/tmp", "/tmp ", "/tmp 0", "/tmp 4k", "tmp 5", "/t 99999999999999999999"};
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) CHECK(!init_parse_tmpfs(invalid[i], &size));
}

static void modules_are_loaded_in_the_order_of_their_names(void)
{
    const char *names[] = {"10-a.ko", "02-z.ko", "1-b.ko", "02-b.ko"};
    qsort(names, 4, sizeof *names, init_compare_names);
    CHECK_TEXT("02-b.ko", names[0]);
    CHECK_TEXT("02-z.ko", names[1]);
    CHECK_TEXT("1-b.ko", names[2]);
    CHECK_TEXT("10-a.ko", names[3]);
    CHECK(init_is_module("a.ko") && init_is_module("00-virtio.ko"));
    CHECK(!init_is_module(".ko") && !init_is_module("a.ko.xz") && !init_is_module("..") && !init_is_module("ko"));
}

/* Returns the length of a record with a secret and the fields of a virtual machine. */
static size_t record(uint8_t *out, size_t capacity)
{
    uint8_t secret[SECRET_SIZE];
    struct builder b = {0};
    memset(secret, 7, sizeof secret);
    build_bytes(&b, T_SECRET, secret, sizeof secret);
    build_text(&b, T_SANDBOX, "box");
    build_text(&b, T_HOST_NAME, "name");
    build_text(&b, T_TMPFS, "/tmp 4096");
    size_t length = 4 + b.length;
    if (length > capacity) abort();
    put_u32(out, (uint32_t)b.length);
    memcpy(out + 4, b.data, b.length);
    builder_free(&b);
    return length;
}

static void check_record(const struct boot *b)
{
    char *name = fields_text(b->fields, T_HOST_NAME);
    CHECK_TEXT("box", b->sandbox);
    CHECK_TEXT("name", name);
    CHECK_INT(7, b->secret[31]);
    free(name);
}

static void record_arrives_in_pieces_after_other_bytes(void)
{
    uint8_t bytes[256], reset[9];
    size_t length = record(bytes, sizeof bytes);
    struct boot_buffer b = {0};
    memset(reset, 255, sizeof reset);
    CHECK(!boot_buffer_add(&b, reset, sizeof reset)); /* what a server sends to an agent that serves */
    for (size_t i = 0; i + 1 < length; i++) CHECK(!boot_buffer_add(&b, bytes + i, 1));
    CHECK(boot_buffer_add(&b, bytes + length - 1, 1));
    CHECK_INT(length, b.length);
    CHECK(memcmp(bytes, b.bytes, length) == 0);
    CHECK(boot_buffer_add(&b, (const uint8_t *)"more", 4)); /* ignored */
    CHECK_INT(length, b.length);
    boot_buffer_clear(&b);
    static const uint8_t too_long[] = {0, 255, 255, 255, 0, 0, 0, 0};
    CHECK(boot_buffer_add(&b, too_long, sizeof too_long)); /* skipped; an empty record follows */
    CHECK_INT(4, b.length);
    boot_buffer_clear(&b);
}

struct waiting {
    int fd;
    struct dial_address address;
    struct boot boot;
    const char *problem;
    bool ok;
};

static void *wait_on_port(void *argument)
{
    struct waiting *w = argument;
    w->ok = boot_wait_port(w->fd, &w->boot, &w->problem);
    return NULL;
}

static void *wait_dialling(void *argument)
{
    struct waiting *w = argument;
    w->ok = boot_wait_dial(&w->address, &w->boot, &w->problem);
    return NULL;
}

static void check_line(int fd)
{
    char line[17] = "";
    size_t have = 0;
    for (ssize_t n = 1; have < 16 && n > 0; have += n > 0 ? (size_t)n : 0) n = read(fd, line + have, 16 - have);
    CHECK_TEXT(boot_waiting, line);
}

static void line_is_repeated_until_the_record_arrives(void)
{
    int ends[2];
    pthread_t thread;
    uint8_t bytes[256];
    size_t length = record(bytes, sizeof bytes);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    fcntl(ends[0], F_SETFL, 0);
    static struct waiting w;
    w.fd = ends[1];
    CHECK(pthread_create(&thread, NULL, wait_on_port, &w) == 0);
    for (int i = 0; i < 3; i++) check_line(ends[0]);
    CHECK_INT(10, write(ends[0], bytes, 10));
    check_line(ends[0]);
    CHECK_INT(length - 10, write(ends[0], bytes + 10, length - 10));
    pthread_join(thread, NULL);
    CHECK(w.ok);
    check_record(&w.boot);
    close(ends[0]);
    close(ends[1]);
}

static int accept_within(int listener, int milliseconds)
{
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    return poll(&ready, 1, milliseconds) == 1 ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
}

static void partial_record_of_a_lost_connection_is_discarded(void)
{
    char folder[] = "/tmp/init-test-XXXXXX", text[64];
    uint8_t bytes[256];
    size_t length = record(bytes, sizeof bytes);
    static struct waiting w;
    pthread_t thread;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(text, sizeof text, "unix:%s/s", folder);
    CHECK(dial_address_parse(text, &w.address) == NULL);
    CHECK(pthread_create(&thread, NULL, wait_dialling, &w) == 0); /* before any server listens */
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(listener, &w.address.socket.any, w.address.size) == 0 && listen(listener, 4) == 0);
    int first = accept_within(listener, 5000);
    CHECK(first >= 0);
    check_line(first);
    CHECK_INT(20, write(first, bytes, 20));
    close(first);
    int second = accept_within(listener, 5000);
    CHECK(second >= 0);
    check_line(second);
    CHECK_INT(length, write(second, bytes, length));
    pthread_join(thread, NULL);
    CHECK(w.ok);
    check_record(&w.boot);
    char end;
    CHECK_INT(0, read(second, &end, 1)); /* the agent dials again to serve */
    close(second);
    close(listener);
    unlink(text + 5);
    rmdir(folder);
}

static void invalid_record_is_a_problem(void)
{
    int ends[2];
    static struct waiting w;
    static const uint8_t empty[] = {0, 0, 0, 0};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    CHECK_INT(4, write(ends[0], empty, sizeof empty));
    w.fd = ends[1];
    wait_on_port(&w);
    CHECK(!w.ok);
    CHECK(w.problem && strstr(w.problem, "secret"));
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    RUN(channel_is_found_among_other_words);
    RUN(invalid_channel_is_rejected);
    RUN(early_root_has_a_folder);
    RUN(network_has_address_mask_and_gateway);
    RUN(tmpfs_has_path_and_size);
    RUN(modules_are_loaded_in_the_order_of_their_names);
    RUN(record_arrives_in_pieces_after_other_bytes);
    RUN(line_is_repeated_until_the_record_arrives);
    RUN(partial_record_of_a_lost_connection_is_discarded);
    RUN(invalid_record_is_a_problem);
    return check_result();
}
