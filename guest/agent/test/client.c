#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sha256.h"

enum { KEPT = 1 << 20 };

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool agent_start(struct agent *a, const struct builder *more)
{
    return agent_start_as(a, more, NULL, NULL);
}

bool agent_prepare(struct agent *a)
{
    memset(a, 0, sizeof *a);
    strcpy(a->folder, "/tmp/isola-test-XXXXXX");
    if (!mkdtemp(a->folder) || getrandom(a->secret, sizeof a->secret, 0) != (ssize_t)sizeof a->secret) return false;
    chmod(a->folder, 0711);
    char path[128];
    snprintf(path, sizeof path, "%s/ws", a->folder);
    return mkdir(path, 0777) == 0 && chmod(path, 0777) == 0;
}

static bool launch(struct agent *a, const struct builder *more, const char *word, const char *value,
                   void (*prepare)(void))
{
    const char *program = getenv("AGENT");
    if (!program) {
        fprintf(stderr, "AGENT names no agent\n");
        exit(2);
    }
    char path[128];
    snprintf(path, sizeof path, "%s/ws", a->folder);
    struct builder b = {0};
    build_bytes(&b, T_SECRET, a->secret, sizeof a->secret);
    build_text(&b, T_SANDBOX, "test");
    build_text(&b, T_ROOT, path);
    build_text(&b, T_MOUNT, "/workspace");
    snprintf(path, sizeof path, "%s/lock", a->folder);
    build_text(&b, T_LOCK, path);
    snprintf(path, sizeof path, "%s/s", a->folder);
    build_text(&b, T_SOCKET, path);
    uint8_t length[4];
    put_u32(length, (uint32_t)(b.length + (more ? more->length : 0)));

    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) return false;
    pid_t launcher = fork();
    if (launcher == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        if (prepare) prepare();
        execl(program, program, "--detach", "--instance", "ctest", "--sandbox", "test", word, value, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    bool ok = write(in[1], length, 4) == 4 && write(in[1], b.data, b.length) == (ssize_t)b.length;
    if (more && more->length) ok = ok && write(in[1], more->data, more->length) == (ssize_t)more->length;
    close(in[1]);
    size_t at = 0;
    ssize_t n;
    while (at < sizeof a->output - 1 && (n = read(out[0], a->output + at, sizeof a->output - 1 - at)) > 0)
        at += (size_t)n;
    close(out[0]);
    waitpid(launcher, NULL, 0);
    builder_free(&b);
    int pid = 0;
    char spaces[32] = "";
    if (!ok || sscanf(a->output, "ready pid=%d start=%*u namespaces=%31s", &pid, spaces) != 2) return false;
    a->pid = pid;
    a->namespaces = strcmp(spaces, "none") != 0;
    return true;
}

bool agent_start_as(struct agent *a, const struct builder *more, const char *word, void (*prepare)(void))
{
    return agent_prepare(a) && launch(a, more, word, NULL, prepare);
}

bool agent_dial(struct agent *a, const struct builder *more, const char *address, void (*prepare)(void))
{
    char path[128];
    snprintf(path, sizeof path, "unix:%s/s", a->folder);
    return launch(a, more, "--dial", address ? address : path, prepare);
}

bool agent_alive(const struct agent *a)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)a->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    char *end = strrchr(text, ')');
    return end && end[1] && end[2] != 'Z' && end[2] != 'X';
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *where)
{
    (void)s, (void)kind, (void)where;
    (void)remove(path);
    return 0;
}

void agent_finish(struct agent *a)
{
    if (a->pid > 1 && agent_alive(a)) kill(a->pid, SIGKILL);
    long long until = now_ms() + 5000;
    while (a->pid > 1 && agent_alive(a) && now_ms() < until) usleep(1000);
    // Processes that end with the agent may still write.
    do nftw(a->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    while (!access(a->folder, F_OK) && now_ms() < until && !usleep(1000));
}

int client_socket(const struct agent *a)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/s", a->folder);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

bool client_send(struct client *c, enum frame_type type, uint32_t stream, const void *payload, size_t length)
{
    uint8_t header[FRAME_HEADER];
    put_u32(header, (uint32_t)length);
    header[4] = (uint8_t)type;
    put_u32(header + 5, stream);
    if (send(c->fd, header, sizeof header, MSG_NOSIGNAL | (length ? MSG_MORE : 0)) != (ssize_t)sizeof header)
        return false;
    const uint8_t *at = payload;
    while (length) {
        ssize_t n = send(c->fd, at, length, MSG_NOSIGNAL);
        if (n <= 0) return false;
        at += n;
        length -= (size_t)n;
    }
    return true;
}

bool client_next(struct client *c, struct frame *f, int milliseconds)
{
    long long until = now_ms() + milliseconds;
    for (;;) {
        enum frame_result result = frame_next(&c->reader, f);
        if (result == FRAME_READY) return true;
        if (result == FRAME_BROKEN) return false;
        struct pollfd ready = {.fd = c->fd, .events = POLLIN};
        long long left = until - now_ms();
        if (left <= 0 || poll(&ready, 1, (int)left) <= 0) return false;
        size_t available;
        uint8_t *room = frame_room(&c->reader, &available);
        ssize_t n = room ? read(c->fd, room, available) : -1;
        if (n <= 0) return false;
        frame_filled(&c->reader, (size_t)n);
    }
}

static void prove(const uint8_t *secret, const char *word, const uint8_t *first, const uint8_t *second, uint8_t *out)
{
    uint8_t text[128];
    size_t n = strlen(word);
    memcpy(text, word, n);
    memcpy(text + n, first, NONCE_SIZE);
    memcpy(text + n + NONCE_SIZE, second, NONCE_SIZE);
    hmac_sha256(secret, SECRET_SIZE, text, n + 2 * NONCE_SIZE, out);
}

bool client_handshake(struct client *c, const uint8_t *secret)
{
    struct frame f;
    struct field nonce, proof;
    if (!client_next(c, &f, 5000) || f.type != CHALLENGE) return false;
    struct fields fields = {f.payload, f.length};
    if (!fields_find(fields, T_NONCE, &nonce) || nonce.length != NONCE_SIZE) return false;
    uint8_t theirs[NONCE_SIZE], ours[NONCE_SIZE], expected[PROOF_SIZE];
    memcpy(theirs, nonce.value, NONCE_SIZE);
    if (getrandom(ours, sizeof ours, 0) != (ssize_t)sizeof ours) return false;
    struct builder b = {0};
    prove(secret, "isola-server", theirs, ours, expected);
    build_u64(&b, T_VERSION, PROTOCOL_VERSION);
    build_bytes(&b, T_NONCE, ours, sizeof ours);
    build_bytes(&b, T_PROOF, expected, sizeof expected);
    client_send(c, HELLO, 0, b.data, b.length);
    builder_free(&b);
    if (!client_next(c, &f, 5000) || f.type != WELCOME) return false;
    prove(secret, "isola-agent", ours, theirs, expected);
    fields = (struct fields){f.payload, f.length};
    return fields_find(fields, T_PROOF, &proof) && proof.length == PROOF_SIZE
           && memcmp(proof.value, expected, PROOF_SIZE) == 0;
}

int server_listen(const struct agent *a)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[128];
    snprintf(path, sizeof path, "%s/s", a->folder);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/s.new", a->folder);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 16) == 0
        && rename(address.sun_path, path) == 0)
        return fd;
    if (fd >= 0) close(fd);
    return -1;
}

bool server_accept(int listener, struct client *c, int milliseconds)
{
    *c = (struct client){.fd = -1, .reader = {.limit = FRAME_MAX}, .next_stream = 1};
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    if (poll(&ready, 1, milliseconds) <= 0) return false;
    c->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    return c->fd >= 0;
}

bool server_serve(int listener, struct client *c, const struct agent *a)
{
    for (long long until = now_ms() + 10000, left; (left = until - now_ms()) > 0;) {
        if (server_accept(listener, c, (int)left) && client_handshake(c, a->secret)) return true;
        client_close(c);
    }
    return false;
}

bool client_connect(struct client *c, const struct agent *a)
{
    *c = (struct client){.fd = client_socket(a), .reader = {.limit = FRAME_MAX}, .next_stream = 1};
    if (c->fd >= 0 && client_handshake(c, a->secret)) return true;
    client_close(c);
    return false;
}

void client_close(struct client *c)
{
    if (c->fd >= 0) close(c->fd);
    c->fd = -1;
    frame_reader_free(&c->reader);
}

uint32_t client_request(struct client *c, enum operation op, const struct builder *fields)
{
    uint8_t *payload = malloc(1 + (fields ? fields->length : 0));
    payload[0] = (uint8_t)op;
    if (fields && fields->length) memcpy(payload + 1, fields->data, fields->length);
    uint32_t stream = c->next_stream++;
    client_send(c, REQUEST, stream, payload, 1 + (fields ? fields->length : 0));
    free(payload);
    return stream;
}

static void keep(struct outcome *o, int channel, const uint8_t *bytes, size_t length)
{
    o->bytes += length;
    size_t n = o->length[channel] + length > KEPT ? KEPT - o->length[channel] : length;
    if (!o->output[channel]) o->output[channel] = malloc(KEPT + 1); /* once: growing is slow under a sanitizer */
    memcpy(o->output[channel] + o->length[channel], bytes, n);
    o->length[channel] += n;
    o->output[channel][o->length[channel]] = 0;
}

void client_grant(struct client *c, uint32_t stream, size_t bytes)
{
    uint8_t credit[4];
    put_u32(credit, (uint32_t)bytes);
    client_send(c, CREDIT, stream, credit, sizeof credit);
}

struct outcome client_finish(struct client *c, uint32_t stream, int milliseconds)
{
    struct outcome o = {0};
    long long until = now_ms() + milliseconds;
    struct frame f;
    for (int i = 0; i < 3; i++) keep(&o, i, (const uint8_t *)"", 0);
    while (!o.ended && !o.failed && client_next(c, &f, (int)(until - now_ms()))) {
        if (f.stream != stream) continue;
        switch (f.type) {
        case RESPONSE:
            o.execution = fields_u64((struct fields){f.payload, f.length}, T_EXECUTION, 0);
            break;
        case OUTPUT:
            keep(&o, f.payload[0] - 1, f.payload + 17, f.length - 17);
            client_grant(c, stream, f.length);
            break;
        case DATA:
            keep(&o, 0, f.payload, f.length);
            client_grant(c, stream, f.length);
            break;
        case ITEM:
            o.items++;
            client_grant(c, stream, f.length);
            break;
        case GAP:
            o.gap += get_u64(f.payload + 8);
            break;
        case END:
        case ERROR: {
            size_t position = 0;
            struct field field;
            struct fields all = {f.payload, f.length};
            while (fields_next(all, &position, &field))
                build_bytes(&o.result, (enum tag)field.tag, field.value, field.length);
            o.ended = f.type == END;
            o.failed = f.type == ERROR;
            break;
        }
        default:
            break;
        }
    }
    return o;
}

uint64_t outcome_u64(const struct outcome *o, enum tag tag, uint64_t otherwise)
{
    return fields_u64((struct fields){o->result.data, o->result.length}, tag, otherwise);
}

void outcome_free(struct outcome *o)
{
    for (int i = 0; i < 3; i++) free(o->output[i]);
    builder_free(&o->result);
}
