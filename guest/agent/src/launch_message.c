#include "launch_message.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

enum { MESSAGE_MAX = 16 << 10, DESCRIPTORS = 3 };

static struct message_buffer {
    struct launch launch;
    _Alignas(max_align_t) char room[MESSAGE_MAX];
} message_buffer;

static size_t used;

/* Returns NULL when the message is full, which is checked once at the end. */
static void *take(size_t length, size_t alignment)
{
    used = (used + alignment - 1) / alignment * alignment;
    char *start = length <= sizeof message_buffer.room && used <= sizeof message_buffer.room - length
                      ? message_buffer.room + used
                      : NULL;
    used = start ? used + length : sizeof message_buffer.room + 1;
    return start;
}

static char *copy_text(const char *text)
{
    if (!text) return NULL;
    size_t length = strlen(text) + 1;
    char *copy = take(length, 1);
    return copy ? memcpy(copy, text, length) : NULL;
}

static char **copy_list(char **list)
{
    size_t count = 0;
    while (list[count]) count++;
    char **copy = take((count + 1) * sizeof *copy, _Alignof(char *));
    if (!copy) return NULL;
    for (size_t i = 0; i < count; i++) copy[i] = copy_text(list[i]);
    copy[count] = NULL;
    return copy;
}

static struct user *copy_user(const struct user *user)
{
    if (!user) return NULL;
    struct user *copy = take(sizeof *copy, _Alignof(struct user));
    return copy ? memcpy(copy, user, sizeof *copy) : NULL;
}

/* Returns the size of the message; 0 when the launch does not fit. */
static size_t pack(const struct launch *launch)
{
    used = 0;
    message_buffer.launch = *launch;
    message_buffer.launch.user = copy_user(launch->user);
    message_buffer.launch.arguments = copy_list(launch->arguments);
    message_buffer.launch.environment = copy_list(launch->environment);
    message_buffer.launch.search_path = copy_text(launch->search_path);
    message_buffer.launch.cwd = copy_text(launch->cwd);
    message_buffer.launch.mark = copy_text(launch->mark);
    return used <= sizeof message_buffer.room ? offsetof(struct message_buffer, room) + used : 0;
}

union control {
    struct cmsghdr header;
    char space[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
};

bool launch_message_send(int control_fd, const struct launch *launch)
{
    size_t length = pack(launch);
    if (!length) return false;
    union control control = {0};
    struct iovec part = {&message_buffer, length};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = sizeof control.space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(DESCRIPTORS * sizeof(int));
    int descriptors[DESCRIPTORS] = {launch->input, launch->output, launch->error};
    memcpy(CMSG_DATA(header), descriptors, sizeof descriptors);
    ssize_t n;
    do n = sendmsg(control_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)length;
}

const struct launch *launch_message_receive(int control_fd)
{
    union control control;
    struct iovec part = {&message_buffer, sizeof message_buffer};
    struct msghdr message;
    ssize_t n;
    do {
        message = (struct msghdr){.msg_iov = &part,
                                  .msg_iovlen = 1,
                                  .msg_control = control.space,
                                  .msg_controllen = sizeof control.space};
        n = recvmsg(control_fd, &message, 0);
    } while (n == (ssize_t)sizeof(struct order) || (n < 0 && errno == EINTR));
    if (n < (ssize_t)offsetof(struct message_buffer, room)) return NULL;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    static const int expected[DESCRIPTORS] = {0, 1, 2};
    bool whole = header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof expected)
                 && memcmp(CMSG_DATA(header), expected, sizeof expected) == 0;
    return whole ? &message_buffer.launch : NULL;
}
