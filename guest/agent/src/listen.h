/* The ways a server can reach the agent. Each returns a descriptor, or -1 with errno. */
#ifndef ISOLA_LISTEN_H
#define ISOLA_LISTEN_H

/* Binds and listens on a unix socket only its owner may use. */
int listen_unix(const char *path);
int listen_vsock(unsigned port);
/* Opens the virtio port with this name. */
int open_virtio_port(const char *name);
/* Holds an exclusive lock on the file for as long as the process (or what it forks) lives. */
int hold_lock(const char *path);

#endif
