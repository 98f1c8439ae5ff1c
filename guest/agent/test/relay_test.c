/* Tests the relay of a sandbox: starts the program named by AGENT with --relay, as a server does. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { TOKEN = 16 };
static const char HEX[] = "000102030405060708090a0b0c0d0e0f";
static const unsigned char RIGHT[TOKEN] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const unsigned char WRONG[TOKEN] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16};

static pid_t relay;
static int to_relay;
static FILE *from_relay;
static char folder[] = "/tmp/isola-relay.XXXXXX";
static char socket_path[64], line[256];
static int host, host_port; /* a listener that stands for another host */

static int listen_tcp(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 16) != 0) return -1;
    getsockname(fd, (struct sockaddr *)&at, &size);
    *port = ntohs(at.sin_port);
    return fd;
}

static void tell(const char *text)
{
    CHECK_INT(strlen(text), write(to_relay, text, strlen(text)));
}

/* Waits for a report, and tells whether one came that is not about bytes. */
static bool reported(int milliseconds)
{
    struct pollfd p = {fileno(from_relay), POLLIN, 0};
    return poll(&p, 1, milliseconds) == 1 && fgets(line, sizeof line, from_relay) && strncmp(line, "BYTES", 5) != 0;
}

/* Reads the next report that is not about bytes. */
static const char *report(void)
{
    do {
        struct pollfd p = {fileno(from_relay), POLLIN, 0};
        if (poll(&p, 1, 10000) != 1 || !fgets(line, sizeof line, from_relay)) return "nothing";
    } while (strncmp(line, "BYTES", 5) == 0);
    line[strcspn(line, "\n")] = 0;
    return line;
}

static void start_relay(void)
{
    int in[2], out[2];
    unlink(socket_path);
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) abort();
    relay = fork();
    if (relay == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(getenv("AGENT"), "isola-agent", "--relay", socket_path, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_relay = in[1];
    from_relay = fdopen(out[0], "r");
    setvbuf(from_relay, NULL, _IONBF, 0);
    host = listen_tcp(&host_port);
    CHECK_TEXT("LISTENING", report());
}

static void stop_relay(void)
{
    int status;
    close(to_relay);
    close(host);
    CHECK_INT(relay, waitpid(relay, &status, 0));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    fclose(from_relay);
}

/* Makes the relay connect to the other host; returns the other host's end. */
static int open_connection(int id)
{
    char text[128], expected[32];
    snprintf(text, sizeof text, "OPEN %d %s 127.0.0.1 %d 5000\n", id, HEX, host_port);
    tell(text);
    snprintf(expected, sizeof expected, "CONNECTED %d", id);
    CHECK_TEXT(expected, report());
    return accept4(host, NULL, NULL, SOCK_CLOEXEC);
}

static int connect_tcp(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(0, connect(fd, (struct sockaddr *)&to, sizeof to));
    return fd;
}

/* A connection of a guest process: its own end, and the one that the agent accepted. */
static void guest_connection(int ends[2])
{
    int port, listener = listen_tcp(&port);
    ends[0] = connect_tcp(port);
    ends[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    close(listener);
}

static int connect_to_relay(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strcpy(to.sun_path, socket_path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK_INT(0, connect(fd, (struct sockaddr *)&to, sizeof to));
    return fd;
}

/* Sends `count` copies of a descriptor. */
static void send_descriptors(const void *token, size_t length, int fd, int count)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(253 * sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {(void *)(size_t)token, length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        for (int i = 0; i < count; i++) memcpy(CMSG_DATA(&control.header) + (size_t)i * sizeof fd, &fd, sizeof fd);
    }
    int to = connect_to_relay();
    CHECK_INT(length, sendmsg(to, &message, 0));
    /* The relay hangs up after it has looked at the message. */
    char byte;
    CHECK(recv(to, &byte, 1, 0) <= 0);
    close(to);
}

static void hand_over(int id, int ends[2])
{
    char expected[32];
    guest_connection(ends);
    send_descriptors(RIGHT, TOKEN, ends[1], 1);
    close(ends[1]);
    snprintf(expected, sizeof expected, "STARTED %d", id);
    CHECK_TEXT(expected, report());
}

static void check_received(int fd, const char *expected)
{
    char text[64] = {0};
    struct pollfd p = {fd, POLLIN, 0};
    CHECK_INT(1, poll(&p, 1, 5000));
    CHECK_INT(strlen(expected), recv(fd, text, sizeof text - 1, 0));
    CHECK_TEXT(expected, text);
}

static void check_reset(int fd)
{
    char byte;
    struct pollfd p = {fd, POLLIN, 0};
    CHECK_INT(1, poll(&p, 1, 5000));
    CHECK_INT(-1, recv(fd, &byte, 1, 0));
    CHECK_INT(ECONNRESET, errno);
}

static int descriptors_of_relay(void)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", relay);
    DIR *all = opendir(path);
    while (all && readdir(all)) count++;
    if (all) closedir(all);
    return count;
}

static void bytes_travel_both_ways_and_each_side_ends_alone(void)
{
    int guest[2];
    start_relay();
    int other = open_connection(3);
    guest_connection(guest);
    CHECK_INT(5, send(guest[0], "early", 5, 0)); /* before it is handed over */
    send_descriptors(RIGHT, TOKEN, guest[1], 1);
    close(guest[1]);
    CHECK_TEXT("STARTED 3", report());
    check_received(other, "early");
    CHECK_INT(6, send(other, "answer", 6, 0));
    shutdown(other, SHUT_WR);
    check_received(guest[0], "answer");
    check_received(guest[0], "");
    CHECK_INT(4, send(guest[0], "more", 4, 0));
    check_received(other, "more");
    close(guest[0]);
    check_received(other, "");
    CHECK_TEXT("ENDED 3 9 6 0", report());
    close(other);
    stop_relay();
}

/* A side that does not read makes the other wait, and no byte is lost. */
static void a_slow_reader_gets_everything(void)
{
    enum { ALL = 64 << 20 };
    static unsigned char buffer[1 << 20];
    int guest[2];
    start_relay();
    int other = open_connection(0);
    hand_over(0, guest);
    if (fork() == 0) {
        for (size_t sent = 0; sent < ALL; sent += sizeof buffer) {
            for (size_t i = 0; i < sizeof buffer; i++) buffer[i] = (unsigned char)((sent + i) * 31 >> 7);
            if (send(guest[0], buffer, sizeof buffer, 0) != sizeof buffer) _exit(1);
        }
        _exit(0);
    }
    close(guest[0]);
    usleep(200000); /* all buffers on the way are full */
    size_t received = 0, wrong = 0;
    for (ssize_t n; (n = recv(other, buffer, sizeof buffer, 0)) > 0; received += (size_t)n)
        for (ssize_t i = 0; i < n; i++) wrong += buffer[i] != (unsigned char)((received + (size_t)i) * 31 >> 7);
    CHECK_INT(ALL, received);
    CHECK_INT(0, wrong);
    close(other);
    CHECK_TEXT("ENDED 0 67108864 0 0", report());
    wait(NULL);
    stop_relay();
}

static void a_reset_is_passed_on(void)
{
    static const struct linger at_once = {1, 0};
    int guest[2];
    start_relay();
    int other = open_connection(1);
    hand_over(1, guest);
    setsockopt(other, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(other);
    check_reset(guest[0]);
    CHECK_TEXT("ENDED 1 0 0 0", report());
    close(guest[0]);
    /* Also while the guest process has nothing more to say. */
    other = open_connection(1);
    hand_over(1, guest);
    shutdown(guest[0], SHUT_WR);
    check_received(other, "");
    setsockopt(guest[0], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(guest[0]);
    CHECK_TEXT("ENDED 1 0 0 0", report());
    CHECK(send(other, "x", 1, 0) < 0 && errno == EPIPE);
    close(other);
    stop_relay();
}

static void a_request_closes_a_connection(void)
{
    int guest[2];
    start_relay();
    int other = open_connection(1023);
    hand_over(1023, guest);
    tell("CLOSE 1023\nCLOSE 1023\n");
    CHECK_TEXT("ENDED 1023 0 0 125", report());
    check_reset(guest[0]);
    check_reset(other);
    close(guest[0]);
    close(other);
    stop_relay();
}

static void a_host_that_refuses_is_reported(void)
{
    char text[128];
    int port, closed = listen_tcp(&port);
    close(closed);
    start_relay();
    snprintf(text, sizeof text, "OPEN 0 %s 127.0.0.1 %d 5000\n", HEX, port);
    tell(text);
    CHECK_TEXT("ENDED 0 0 0 111", report());
    snprintf(text, sizeof text, "OPEN 1 %s nowhere 1 5000\n", HEX);
    tell(text);
    CHECK_TEXT("ENDED 1 0 0 22", report());
    stop_relay();
}

/* None of this is a connection of a guest process with the right token. */
static void strangers_are_dropped(void)
{
    int guest[2], pair[2], port;
    start_relay();
    int other = open_connection(0);
    int before = descriptors_of_relay();
    guest_connection(guest);
    send_descriptors(WRONG, TOKEN, guest[1], 1);
    send_descriptors(RIGHT, TOKEN - 1, guest[1], 1);
    send_descriptors("00000000000000000", TOKEN + 1, guest[1], 1);
    send_descriptors(RIGHT, TOKEN, -1, 0);
    send_descriptors(RIGHT, TOKEN, guest[1], 2);
    send_descriptors(RIGHT, TOKEN, guest[1], 253);
    int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC), listener = listen_tcp(&port);
    int datagrams = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int unconnected = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
    int wrong[] = {file, listener, datagrams, unconnected, pair[0]};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        send_descriptors(RIGHT, TOKEN, wrong[i], 1);
        close(wrong[i]);
    }
    close(pair[1]);
    CHECK_INT(before, descriptors_of_relay());
    /* The control: after all that the right one is taken, and only once. */
    send_descriptors(RIGHT, TOKEN, guest[1], 1);
    CHECK_TEXT("STARTED 0", report());
    int second[2];
    guest_connection(second);
    send_descriptors(RIGHT, TOKEN, second[1], 1);
    close(second[1]);
    check_reset(second[0]);
    close(second[0]);
    close(guest[0]);
    close(guest[1]);
    close(other);
    stop_relay();
}

static void nothing_waits_forever(void)
{
    start_relay();
    int other = open_connection(0), silent = connect_to_relay();
    CHECK_TEXT("ENDED 0 0 0 110", report()); /* no agent handed anything over */
    check_reset(other);
    struct pollfd p = {silent, POLLIN, 0};
    CHECK_INT(1, poll(&p, 1, 5000)); /* hung up */
    close(silent);
    close(other);
    /* Those that say nothing do not keep out the agent for long. */
    int crowd[200], guest[2];
    for (int i = 0; i < 200; i++) crowd[i] = connect_to_relay();
    other = open_connection(0);
    close(crowd[0]);
    for (int i = 1; i < 200; i++) close(crowd[i]);
    hand_over(0, guest);
    close(guest[0]);
    close(other);
    stop_relay();
}

/* Fills a connection whose other end does not read, until nothing moves. Returns how many bytes were accepted. */
static size_t fill(int fd)
{
    static char bytes[1 << 18];
    size_t all = 0;
    for (int idle = 0; idle < 5;) {
        ssize_t n = send(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n > 0) all += (size_t)n;
        idle = n > 0 ? 0 : idle + 1;
        if (n < 0) usleep(20000);
    }
    return all;
}

/*
 * A sender that kept its descriptor can change the flags of the connection, which the relay shares, so that moving
 * pages waits. That ends this connection, and no other, whichever side sends.
 */
static void a_connection_that_was_made_to_wait_ends(void)
{
    for (int from_guest = 0; from_guest < 2; from_guest++) {
        int first[2], second[2];
        start_relay();
        int one = open_connection(0), two = open_connection(1);
        guest_connection(first);
        send_descriptors(RIGHT, TOKEN, first[1], 1);
        CHECK_TEXT("STARTED 0", report()); /* the first of the two with this token */
        hand_over(1, second);
        int sends = from_guest ? first[0] : one, reads = from_guest ? one : first[0];
        CHECK(fill(sends) > 1 << 20);
        fcntl(first[1], F_SETFL, fcntl(first[1], F_GETFL) & ~O_NONBLOCK);
        /* It is read in steps, until the relay waits for the guest process to send or to read more. */
        static char bytes[1 << 18];
        bool ended = false;
        for (int steps = 2000, attempts = 60; steps > 0 && attempts > 0; steps--) {
            /* Whether the relay waits after the last bytes depends on how many came at once: more are sent. */
            bool attempt = recv(reads, bytes, sizeof bytes, MSG_DONTWAIT) < 0 || !from_guest;
            if ((ended = reported(attempt ? 150 : 5))) break;
            attempts -= attempt;
            if (attempt) send(sends, bytes, sizeof bytes - (size_t)attempts % 10 * 20000, MSG_DONTWAIT);
        }
        CHECK_INT(6, send(second[0], "second", 6, 0));
        check_received(two, "second");
        CHECK(strncmp(ended ? line : report(), "ENDED 0 ", 8) == 0);
        CHECK_INT(1, send(second[0], "2", 1, 0));
        check_received(two, "2");
        close(first[0]), close(first[1]), close(second[0]), close(one), close(two);
        stop_relay();
    }
}

static void bulk_arrives_whole_in_both_directions_at_once(void)
{
    enum { ALL = 32 << 20 };
    static unsigned char buffer[1 << 18];
    int guest[2];
    start_relay();
    int other = open_connection(0);
    hand_over(0, guest);
    pid_t writers[2];
    int ends[2] = {guest[0], other};
    for (int side = 0; side < 2; side++) {
        if ((writers[side] = fork()) != 0) continue;
        for (size_t sent = 0; sent < ALL; sent += sizeof buffer) {
            for (size_t i = 0; i < sizeof buffer; i++) buffer[i] = (unsigned char)((sent + i) * 37 >> (7 + side));
            if (send(ends[side], buffer, sizeof buffer, 0) != sizeof buffer) _exit(1);
        }
        shutdown(ends[side], SHUT_WR);
        _exit(0);
    }
    size_t received[2] = {0, 0}, wrong = 0;
    for (int open = 2; open;) {
        struct pollfd both[2] = {{ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}};
        if (poll(both, 2, 10000) < 1) break;
        for (int side = 0; side < 2; side++) {
            if (!both[side].revents) continue;
            ssize_t n = recv(ends[side], buffer, 77777, MSG_DONTWAIT);
            for (ssize_t i = 0; i < n; i++)
                wrong += buffer[i] != (unsigned char)((received[side] + (size_t)i) * 37 >> (7 + !side));
            if (n > 0) received[side] += (size_t)n;
            if (n <= 0) open--, ends[side] = -1;
        }
    }
    CHECK_INT(ALL, received[0]);
    CHECK_INT(ALL, received[1]);
    CHECK_INT(0, wrong);
    CHECK_TEXT("ENDED 0 33554432 33554432 0", report());
    for (int side = 0; side < 2; side++) waitpid(writers[side], NULL, 0);
    int before = descriptors_of_relay();
    usleep(1200000); /* pipes without a flow are closed */
    CHECK(descriptors_of_relay() <= before);
    close(guest[0]), close(other);
    stop_relay();
}

/* What was cut off must not look complete. */
static void the_end_of_the_relay_resets_its_connections(void)
{
    int guest[2], status;
    start_relay();
    int other = open_connection(0);
    hand_over(0, guest);
    CHECK_INT(4, send(guest[0], "half", 4, 0));
    check_received(other, "half");
    kill(relay, SIGKILL);
    check_reset(other);
    check_reset(guest[0]);
    close(guest[0]), close(other), close(to_relay), close(host);
    waitpid(relay, &status, 0);
    fclose(from_relay);
}

static void the_end_of_the_server_ends_all(void)
{
    int guest[2];
    start_relay();
    int other = open_connection(0);
    hand_over(0, guest);
    stop_relay();
    check_reset(other);
    check_reset(guest[0]);
    close(guest[0]);
    close(other);
}

/* Returns the words after a name in the status of the relay. */
static const char *status_of(const char *name)
{
    static char found[256];
    char path[64], status[256];
    snprintf(path, sizeof path, "/proc/%d/status", relay);
    FILE *file = fopen(path, "r");
    found[0] = 0;
    while (file && fgets(status, sizeof status, file)) {
        size_t length = strlen(name);
        if (strncmp(status, name, length) != 0 || status[length] != ':') continue;
        status[strcspn(status, "\n")] = 0;
        snprintf(found, sizeof found, "%s", status + length + 1 + strspn(status + length + 1, "\t "));
    }
    if (file) fclose(file);
    return found;
}

static void the_relay_has_no_privileges(void)
{
    static const char none[] = "0000000000000000";
    start_relay();
    CHECK_TEXT(none, status_of("CapEff"));
    CHECK_TEXT(none, status_of("CapPrm"));
    CHECK_TEXT(none, status_of("CapInh"));
    CHECK_TEXT("1", status_of("NoNewPrivs"));
    if (!getenv("SANITIZED")) CHECK_TEXT("2", status_of("Seccomp"));
    if (geteuid() == 0) {
        CHECK_TEXT("65534\t65534\t65534\t65534", status_of("Uid"));
        CHECK_TEXT("65534\t65534\t65534\t65534", status_of("Gid"));
        CHECK_TEXT("", status_of("Groups"));
    }
    int guest[2], other = open_connection(0);
    hand_over(0, guest);
    CHECK_INT(4, write(guest[0], "word", 4));
    check_received(other, "word");
    close(guest[0]);
    close(other);
    stop_relay();
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Returns how long bytes take from one end to the other. */
static double transfer(int from, int to, size_t bytes)
{
    static char buffer[65536];
    double begin = seconds();
    pid_t sender = fork();
    if (sender == 0) {
        for (size_t left = bytes; left;) {
            ssize_t n = write(from, buffer, left < sizeof buffer ? left : sizeof buffer);
            if (n < 0) _exit(1);
            left -= (size_t)n;
        }
        _exit(0);
    }
    size_t got = 0;
    for (ssize_t n; got < bytes && (n = read(to, buffer, sizeof buffer)) > 0;) got += (size_t)n;
    CHECK_INT(bytes, got);
    int status;
    CHECK_INT(sender, waitpid(sender, &status, 0));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return seconds() - begin;
}

static void a_limit_is_held_in_both_directions(void)
{
    int guest[2][2], other[2];
    start_relay();
    tell("LIMIT 2000000\n");
    for (int i = 0; i < 2; i++) {
        other[i] = open_connection(i);
        hand_over(i, guest[i]);
    }
    /* A twentieth of a second is there at once. */
    CHECK(transfer(guest[0][0], other[0], 1000000) > 0.4);
    CHECK(transfer(other[0], guest[0][0], 1000000) > 0.4);
    /* Two connections share it, and both go on. */
    double begin = seconds();
    pid_t second = fork();
    if (second == 0) _exit(transfer(guest[1][0], other[1], 500000) > 0 ? 0 : 1);
    transfer(guest[0][0], other[0], 500000);
    int status;
    CHECK_INT(second, waitpid(second, &status, 0));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(seconds() - begin > 0.4);
    /* Without it, everything arrives. */
    tell("LIMIT 0\n");
    transfer(guest[0][0], other[0], 20000000);
    transfer(other[0], guest[0][0], 20000000);
    for (int i = 0; i < 2; i++) {
        close(guest[i][0]);
        close(other[i]);
    }
    stop_relay();
}

static void nonsense_ends_the_relay(void)
{
    static const char *const all[] = {"HELLO\n", "OPEN 9999 x y 1 1\n", "OPEN 0 x y 1 1\n", "LISTEN 5\n", "LIMIT\n",
                                      "\n"};
    char text[4096];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        start_relay();
        tell(all[i]);
        CHECK_TEXT("nothing", report());
        stop_relay();
    }
    start_relay();
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    tell(text);
    CHECK_TEXT("nothing", report());
    stop_relay();
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    if (!mkdtemp(folder)) return 1;
    snprintf(socket_path, sizeof socket_path, "%s/egress", folder);
    RUN(bytes_travel_both_ways_and_each_side_ends_alone);
    RUN(a_slow_reader_gets_everything);
    RUN(a_reset_is_passed_on);
    RUN(a_request_closes_a_connection);
    RUN(a_host_that_refuses_is_reported);
    RUN(strangers_are_dropped);
    RUN(nothing_waits_forever);
    RUN(a_connection_that_was_made_to_wait_ends);
    RUN(bulk_arrives_whole_in_both_directions_at_once);
    RUN(the_end_of_the_relay_resets_its_connections);
    RUN(the_end_of_the_server_ends_all);
    RUN(the_relay_has_no_privileges);
    RUN(a_limit_is_held_in_both_directions);
    RUN(nonsense_ends_the_relay);
    unlink(socket_path);
    rmdir(folder);
    return check_result();
}
