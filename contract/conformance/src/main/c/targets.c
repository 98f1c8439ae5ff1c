/*
 * isola-probe targets ID [unix=PATH] [channel=PATH] [file=PATH] ...: creates a target of every kind and holds them
 * until standard input ends. Prints the location of each on a line, then `ready`. Omits targets that cannot be
 * created here.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/vm_sockets.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "probe.h"

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum { LIFE_SECONDS = 120, SEMAPHORE_VALUE = 12345, PULSE_MILLISECONDS = 50, SERVERS_MAX = 8 };

static char mark[128];
static char remembered[128]; /* the text that probes look for in the memory of this process */
static char posix_name[160];
static int servers[SERVERS_MAX], server_count, channel = -1, datagrams = -1, terminal = -1;
static struct sockaddr_in datagram_address;
static int segment = -1, queue = -1, semaphore = -1;
static long session_key = -1;
static int victim = -1; /* a pidfd, because the pid may be reused once the process was killed */
static const char *paths[2];

static void serve(int fd)
{
    if (server_count < SERVERS_MAX) servers[server_count++] = fd;
}

static int listening(int family, const void *address, socklen_t size)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (bind(fd, address, size) == 0 && listen(fd, 16) == 0) {
        serve(fd);
        return fd;
    }
    close(fd);
    return -1;
}

static unsigned port_of(int fd)
{
    struct sockaddr_in6 address;
    socklen_t size = sizeof address;
    return getsockname(fd, (struct sockaddr *)&address, &size) == 0 ? ntohs(address.sin6_port) : 0;
}

static void create_servers(void)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_vm vm = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_LOCAL, .svm_port = VMADDR_PORT_ANY};
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = listening(AF_INET, &four, sizeof four);
    if (fd >= 0) printf("tcp=%u\n", port_of(fd));
    fd = listening(AF_INET6, &six, sizeof six);
    if (fd >= 0) printf("tcp6=%u\n", port_of(fd));
    fd = listening(AF_VSOCK, &vm, sizeof vm);
    socklen_t size = sizeof vm;
    if (fd >= 0 && getsockname(fd, (struct sockaddr *)&vm, &size) == 0) printf("vsock=%u\n", vm.svm_port);
    memcpy(name.sun_path + 1, mark, strlen(mark));
    if (listening(AF_UNIX, &name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(mark))) >= 0)
        printf("abstract=yes\n");
}

static int listen_on_path(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    int fd = listening(AF_UNIX, &address, sizeof address);
    if (fd >= 0) chmod(path, 0777);
    return fd;
}

static void create_datagram_socket(void)
{
    socklen_t size = sizeof datagram_address;
    datagram_address.sin_family = AF_INET;
    datagram_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    datagrams = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (datagrams >= 0 && bind(datagrams, (struct sockaddr *)&datagram_address, size) == 0
        && getsockname(datagrams, (struct sockaddr *)&datagram_address, &size) == 0)
        printf("udp=%u\n", ntohs(datagram_address.sin_port));
}

static void create_ipc(void)
{
    struct {
        long type;
        char text[128];
    } message = {.type = 1};
    key_t key = (key_t)(digest_of(mark, strlen(mark)) & 0x7fffffff);
    if (key == IPC_PRIVATE) key = 1;
    strcpy(message.text, mark);
    segment = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666);
    char *bytes = segment < 0 ? (char *)-1 : shmat(segment, NULL, 0);
    if (bytes != (char *)-1) strcpy(bytes, mark);
    queue = msgget(key, IPC_CREAT | IPC_EXCL | 0666);
    if (queue >= 0) msgsnd(queue, &message, strlen(mark), IPC_NOWAIT);
    semaphore = semget(key, 1, IPC_CREAT | IPC_EXCL | 0666);
    if (semaphore >= 0) semctl(semaphore, 0, SETVAL, SEMAPHORE_VALUE);
    if (segment >= 0 && queue >= 0 && semaphore >= 0) printf("ipc=%d\nsemaphore=%d\n", (int)key, SEMAPHORE_VALUE);

    snprintf(posix_name, sizeof posix_name, "/%s", mark);
    umask(0);
    int fd = shm_open(posix_name, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (fd >= 0 && write(fd, mark, strlen(mark)) > 0) printf("posix-memory=yes\n");
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 128};
    mqd_t posix = mq_open(posix_name, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK, 0666, &attributes);
    if (posix != (mqd_t)-1 && mq_send(posix, mark, strlen(mark), 0) == 0) printf("posix-queue=yes\n");
}

/* A world-readable key in the own keyring, and one in the session keyring, which children inherit. */
static void create_keys(void)
{
    long own = syscall(SYS_add_key, "user", mark, mark, strlen(mark), KEY_SPEC_PROCESS_KEYRING);
    if (own > 0 && syscall(SYS_keyctl, KEYCTL_SETPERM, own, 0x3f3f3f3f) == 0) printf("key=%ld\n", own);
    session_key = syscall(SYS_add_key, "user", mark, mark, strlen(mark), KEY_SPEC_SESSION_KEYRING);
    if (session_key > 0) syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, session_key, LIFE_SECONDS);
}

/*
 * A process to attack, with the environment and command line of this one. It may be killed, so its parent does the
 * cleanup.
 */
static void create_process(void)
{
    strcpy(remembered, mark);
    int fd = memfd_create(mark, MFD_CLOEXEC);
    if (fd >= 0 && write(fd, mark, strlen(mark)) > 0) printf("descriptor=%d\n", fd);
    fflush(stdout);
    signal(SIGCHLD, SIG_IGN); /* nothing of it remains when it is killed */
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
        signal(SIGALRM, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
        while (getppid() == parent) pause();
        _exit(0);
    }
    if (child < 0) return;
    victim = (int)syscall(SYS_pidfd_open, child, 0);
    printf("pid=%d\naddress=%lx\n", (int)child, (unsigned long)(uintptr_t)remembered);
}

/* Types the mark into the terminal repeatedly. */
static void create_terminal(void)
{
    terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0) {
        chmod(ptsname(terminal), 0666);
        printf("terminal=%s\n", ptsname(terminal));
    }
}

static void type(void)
{
    char line[160];
    while (read(terminal, line, sizeof line) > 0) {}
    int length = snprintf(line, sizeof line, "%s\n", mark);
    ssize_t ignored = write(terminal, line, (size_t)length);
    (void)ignored;
}

static void print_handle(const char *path)
{
    static char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    struct file_handle *handle = (struct file_handle *)room;
    int mount_id;
    handle->handle_bytes = MAX_HANDLE_SZ;
    if (name_to_handle_at(AT_FDCWD, path, handle, &mount_id, 0) != 0) return;
    printf("handle-type=%d\nhandle=", handle->handle_type);
    for (unsigned i = 0; i < handle->handle_bytes; i++) printf("%02x", handle->f_handle[i]);
    printf("\n");
}

static void remove_targets(void)
{
    if (victim >= 0) {
        syscall(SYS_pidfd_send_signal, victim, SIGKILL, NULL, 0);
        readable(victim); /* until it is gone */
    }
    if (segment >= 0) shmctl(segment, IPC_RMID, NULL);
    if (queue >= 0) msgctl(queue, IPC_RMID, NULL);
    if (semaphore >= 0) semctl(semaphore, 0, IPC_RMID);
    if (session_key > 0) syscall(SYS_keyctl, KEYCTL_UNLINK, session_key, KEY_SPEC_SESSION_KEYRING);
    shm_unlink(posix_name);
    mq_unlink(posix_name);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (paths[i]) unlink(paths[i]);
}

/* An agent without authentication, the control for the probe that looks for one. */
static void answer_as_agent(int fd)
{
    static const unsigned char challenge[] = {0, 0, 0, 0, 1, 0, 0, 0, 0}, welcome[] = {0, 0, 0, 0, 3, 0, 0, 0, 0};
    char bytes[256];
    if (send(fd, challenge, sizeof challenge, MSG_NOSIGNAL) < 0 || !readable(fd)) return;
    if (recv(fd, bytes, sizeof bytes, 0) > 0) send(fd, welcome, sizeof welcome, MSG_NOSIGNAL);
}

static void answer(int server)
{
    int fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    if (server == channel)
        answer_as_agent(fd);
    else
        send(fd, mark, strlen(mark), MSG_NOSIGNAL);
    close(fd);
}

static void answer_datagram(void)
{
    char bytes[256];
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    if (recvfrom(datagrams, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &size) > 0
        && from.sin_port != datagram_address.sin_port)
        sendto(datagrams, mark, strlen(mark), 0, (struct sockaddr *)&from, size);
}

static void attend(void)
{
    struct pollfd fds[SERVERS_MAX + 2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = datagrams, .events = POLLIN}};
    for (int i = 0; i < server_count; i++) fds[i + 2] = (struct pollfd){.fd = servers[i], .events = POLLIN};
    for (;;) {
        if (poll(fds, (nfds_t)server_count + 2, PULSE_MILLISECONDS) < 0 && errno != EINTR) return;
        char byte;
        if (fds[0].revents && read(STDIN_FILENO, &byte, 1) <= 0) return;
        if (fds[1].revents) answer_datagram();
        for (int i = 0; i < server_count; i++)
            if (fds[i + 2].revents) answer(servers[i]);
        if (terminal >= 0) type();
        /* Sends traffic for the probes that capture packets. */
        if (datagrams >= 0)
            sendto(datagrams, mark, strlen(mark), 0, (struct sockaddr *)&datagram_address, sizeof datagram_address);
    }
}

static void end(int number)
{
    (void)number;
    remove_targets();
    _exit(0);
}

int hold_targets(int count, char **arguments)
{
    snprintf(mark, sizeof mark, "%s", mark_of(arguments[0]));
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    alarm(LIFE_SECONDS);
    for (int i = 1; i < count; i++) {
        if (strncmp(arguments[i], "file=", 5) == 0) print_handle(arguments[i] + 5);
        if (strncmp(arguments[i], "unix=", 5) == 0 && listen_on_path(arguments[i] + 5) >= 0) {
            paths[0] = arguments[i] + 5;
            printf("unix=%s\n", paths[0]);
        }
        if (strncmp(arguments[i], "channel=", 8) == 0 && (channel = listen_on_path(arguments[i] + 8)) >= 0) {
            paths[1] = arguments[i] + 8;
            printf("channel=%s\n", paths[1]);
        }
    }
    create_servers();
    create_datagram_socket();
    create_ipc();
    create_keys();
    create_terminal();
    create_process();
    printf("ready\n");
    fflush(stdout);
    attend();
    remove_targets();
    return 0;
}
