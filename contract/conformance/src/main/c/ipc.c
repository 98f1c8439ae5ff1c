/* Shared memory and message queues of the host: System V by key, POSIX by name. */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#include "probe.h"

static key_t key_of(const char *text)
{
    return (key_t)strtol(text, NULL, 10);
}

/* shared-memory KEY ID */
static void shared_memory(int count, char **arguments)
{
    (void)count;
    int segment = shmget(key_of(arguments[0]), 0, 0);
    if (segment < 0) failed(errno, "shmget");
    const char *bytes = shmat(segment, NULL, SHM_RDONLY);
    if (bytes == (void *)-1) failed(errno, "shmat");
    if (holds(bytes, 64, mark_of(arguments[1]))) got("read the host's shared memory");
    refused(0, "that segment is a different one");
}

/* messages KEY ID: peeks at the first message and leaves it in the queue */
static void messages(int count, char **arguments)
{
    (void)count;
    struct {
        long type;
        char text[128];
    } message;
    int queue = msgget(key_of(arguments[0]), 0);
    if (queue < 0) failed(errno, "msgget");
    ssize_t n = msgrcv(queue, &message, sizeof message.text, 0, IPC_NOWAIT | MSG_COPY);
    if (n < 0 && errno == ENOSYS) n = msgrcv(queue, &message, sizeof message.text, 0, IPC_NOWAIT);
    if (n < 0) failed(errno, "msgrcv");
    if (holds(message.text, (size_t)n, mark_of(arguments[1]))) got("read the host's message queue");
    refused(0, "that queue is a different one");
}

/* semaphores KEY VALUE */
static void semaphores(int count, char **arguments)
{
    (void)count;
    int set = semget(key_of(arguments[0]), 0, 0);
    if (set < 0) failed(errno, "semget");
    int value = semctl(set, 0, GETVAL);
    if (value < 0) failed(errno, "semctl");
    if (value == atoi(arguments[1])) got("read the host's semaphore");
    refused(0, "that semaphore is a different one");
}

/* posix-memory ID */
static void posix_memory(int count, char **arguments)
{
    (void)count;
    char name[160], bytes[128];
    snprintf(name, sizeof name, "/%s", mark_of(arguments[0]));
    int fd = shm_open(name, O_RDONLY, 0);
    if (fd < 0) failed(errno, "shm_open");
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n > 0 && holds(bytes, (size_t)n, mark_of(arguments[0]))) got("read the host's POSIX shared memory");
    refused(0, "that object is a different one");
}

/* posix-queue ID */
static void posix_queue(int count, char **arguments)
{
    (void)count;
    char name[160];
    struct mq_attr attributes;
    snprintf(name, sizeof name, "/%s", mark_of(arguments[0]));
    mqd_t queue = mq_open(name, O_RDONLY | O_NONBLOCK);
    if (queue == (mqd_t)-1) failed(errno, "mq_open");
    if (mq_getattr(queue, &attributes) == 0 && attributes.mq_curmsgs > 0) got("opened the host's POSIX queue");
    refused(0, "that queue is a different one");
}

const struct probe ipc_probes[] = {{"shared-memory", 2, shared_memory}, {"messages", 2, messages},
                                   {"semaphores", 2, semaphores},       {"posix-memory", 1, posix_memory},
                                   {"posix-queue", 1, posix_queue},     {0}};
