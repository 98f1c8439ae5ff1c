/* A small blocking client for tests: starts the real agent, completes the handshake, sends requests, reads frames. */
#ifndef ISOLA_CLIENT_H
#define ISOLA_CLIENT_H

#include <sys/types.h>

#include "frame.h"

struct agent {
    char folder[64]; /* of this test; the workspace is its subfolder ws */
    uint8_t secret[SECRET_SIZE];
    pid_t pid; /* as the host sees it */
    bool namespaces;
    char output[256]; /* the line that the first process printed */
};

/*
 * Starts an agent; adds `fields` to a boot record with secret, socket, root and lock. Returns false when it fails to
 * start.
 */
bool agent_start(struct agent *a, const struct builder *fields);
/* The same with one more argument, after `prepare` ran in the process that becomes the agent; either may be NULL. */
bool agent_start_as(struct agent *a, const struct builder *fields, const char *word, void (*prepare)(void));
/* Creates the folder and the secret of an agent that is started by agent_dial. */
bool agent_prepare(struct agent *a);
/* Starts an agent that dials `address`; NULL for the socket that server_listen binds. */
bool agent_dial(struct agent *a, const struct builder *fields, const char *address, void (*prepare)(void));
/* Kills the remaining processes and removes the folder. */
void agent_finish(struct agent *a);
bool agent_alive(const struct agent *a);

struct client {
    int fd;
    struct frame_reader reader;
    uint32_t next_stream;
    uint64_t pings;
};

bool client_connect(struct client *c, const struct agent *a);
/* Connects without a handshake. */
int client_socket(const struct agent *a);
/* Performs the handshake with any secret. Returns true when the agent answered with the right proof. */
bool client_handshake(struct client *c, const uint8_t *secret);
void client_close(struct client *c);

/* Binds a new socket, which takes the place of a previous one. Returns the listening descriptor, or -1. */
int server_listen(const struct agent *a);
/* Accepts a connection of the agent, without a handshake. */
bool server_accept(int listener, struct client *c, int milliseconds);
/* Accepts connections until one completes the handshake. Returns false after 10 s. */
bool server_serve(int listener, struct client *c, const struct agent *a);

bool client_send(struct client *c, enum frame_type type, uint32_t stream, const void *payload, size_t length);
uint32_t client_request(struct client *c, enum operation op, const struct builder *fields);
/* Grants the agent `bytes` more. */
void client_grant(struct client *c, uint32_t stream, size_t bytes);
/* Reads the next frame. Returns false after `milliseconds` or at the end of the connection. */
bool client_next(struct client *c, struct frame *f, int milliseconds);

/* Result of one stream. */
struct outcome {
    bool ended, failed;    /* END, ERROR */
    struct builder result; /* fields of END or ERROR */
    uint8_t *output[3];    /* by channel - 1; NUL-terminated */
    size_t length[3];
    uint64_t bytes;     /* of OUTPUT and DATA, including discarded bytes */
    uint64_t execution; /* from RESPONSE */
    uint64_t gap;       /* bytes lost */
    int items;
};
/* Reads until the stream ends, granting credit; keeps at most 1 MiB of each channel. */
struct outcome client_finish(struct client *c, uint32_t stream, int milliseconds);
void outcome_free(struct outcome *o);
uint64_t outcome_u64(const struct outcome *o, enum tag tag, uint64_t otherwise);

#endif
