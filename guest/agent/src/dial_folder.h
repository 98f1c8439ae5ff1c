/*
 * Folder of a unix socket that the agent dials. It is opened before the agent enters its namespaces, which may hide it,
 * and it reports when a new socket appears.
 */
#ifndef ISOLA_DIAL_FOLDER_H
#define ISOLA_DIAL_FOLDER_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/un.h>

/* A socket file. While a socket is open its inode is not reused: one bound anew at the same path has another. */
struct socket_file {
    dev_t device;
    ino_t inode; /* 0 for none */
    struct timespec changed;
};

/* Opens the folder if it exists, in the namespace of the process that starts the agent. */
void dial_folder_open(const char *path);
/*
 * Opens the folder if that was not possible before, or if it was replaced. Returns true when SIGIO announces each new
 * socket in it; otherwise the caller must look for itself.
 */
bool dial_folder_watch(void);
/* Sets the address under which the agent reaches the socket. */
void dial_folder_address(struct sockaddr_un *out);
/* Returns true when the agent dials a unix socket. */
bool dial_folder_is_used(void);
/* Connects to another socket in the folder, of type SOCK_SEQPACKET. Returns -1 with errno; does not wait. */
int dial_folder_connect(const char *name);
/* Returns the socket that is there now. */
struct socket_file dial_folder_socket(void);
/*
 * Returns true when the file `sandbox` in the folder has this content. A restored copy of the agent finds another
 * content there.
 */
bool dial_folder_names_sandbox(const char *id);
/* Compares device and inode. */
bool socket_file_equals(struct socket_file a, struct socket_file b);
/* Compares also the time of the last change, for sockets that may be closed. */
bool socket_file_unchanged(struct socket_file a, struct socket_file b);

#endif
