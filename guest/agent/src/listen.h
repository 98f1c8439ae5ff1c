/* Channels on which a server can reach the agent. Each function returns a descriptor, or -1 with errno. */
#ifndef ISOLA_LISTEN_H
#define ISOLA_LISTEN_H

/* Binds and listens on a unix socket accessible only to its owner. */
int listen_unix(const char *path);
int listen_vsock(unsigned port);
/* Opens the virtio port with this name. */
int open_virtio_port(const char *name);
/* Takes an exclusive lock on the file, held while this process or one it forks lives. */
int lock_file(const char *path);

#endif
