#include "loop.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 64 };

static int epoll_fd = -1;
static int wake_fd = -1;
static bool stopping;
static struct timer *timers;
static struct epoll_event batch[BATCH];
static int batch_size;

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool loop_open(void)
{
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    return epoll_fd >= 0 && wake_fd >= 0 && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wake_fd, &e) == 0;
}

void loop_watch(struct watch *w, uint32_t events)
{
    if (w->added && w->events == events) return;
    struct epoll_event e = {.events = events, .data.ptr = w};
    if (epoll_ctl(epoll_fd, w->added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, w->fd, &e) == 0) w->added = true;
    w->events = events;
}

void loop_forget(struct watch *w)
{
    if (!w->added) return;
    epoll_ctl(epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
    w->added = false;
    w->events = 0;
    /* An event of this iteration may still be in the batch while its owner is freed. */
    for (int i = 0; i < batch_size; i++)
        if (batch[i].data.ptr == w) batch[i].events = 0;
}

void timer_clear(struct timer *t)
{
    if (!t->at_ns) return;
    *t->link = t->next;
    if (t->next) t->next->link = t->link;
    t->at_ns = 0;
}

void timer_set(struct timer *t, uint64_t at_ns)
{
    timer_clear(t);
    t->at_ns = at_ns ? at_ns : 1;
    t->next = timers;
    t->link = &timers;
    if (timers) timers->link = &t->next;
    timers = t;
}

static int milliseconds_to_next_timer(void)
{
    uint64_t first = UINT64_MAX;
    for (struct timer *t = timers; t; t = t->next)
        if (t->at_ns < first) first = t->at_ns;
    if (first == UINT64_MAX) return -1;
    uint64_t now = now_ns();
    if (first <= now) return 0;
    uint64_t wait = (first - now + 999999) / 1000000;
    return wait > 60000 ? 60000 : (int)wait;
}

static void fire_timers(void)
{
    uint64_t now = now_ns();
    for (;;) {
        struct timer *due = NULL;
        for (struct timer *t = timers; t; t = t->next)
            if (t->at_ns <= now && (!due || t->at_ns < due->at_ns)) due = t;
        if (!due) return;
        timer_clear(due);
        due->fire(due);
    }
}

void loop_wake(void)
{
    uint64_t one = 1;
    ssize_t ignored = write(wake_fd, &one, sizeof one); /* EAGAIN means that a wake-up is pending already */
    (void)ignored;
}

void loop_run(void (*woken)(void))
{
    while (!stopping) {
        batch_size = epoll_wait(epoll_fd, batch, BATCH, milliseconds_to_next_timer());
        if (batch_size < 0) {
            batch_size = 0;
            if (errno != EINTR) return;
        }
        for (int i = 0; i < batch_size && !stopping; i++) {
            struct watch *w = batch[i].data.ptr;
            if (!w) {
                uint64_t count;
                ssize_t ignored = read(wake_fd, &count, sizeof count);
                (void)ignored;
            } else if (batch[i].events) {
                w->ready(w, batch[i].events);
            }
        }
        batch_size = 0;
        if (stopping) return;
        woken();
        if (timers) fire_timers();
    }
}

void loop_stop(void)
{
    stopping = true;
}
