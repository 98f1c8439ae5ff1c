#include "worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stream_table.h"

/* A watch occupies its thread as long as it lasts, hence the number. */
enum { THREADS_MAX = 128, QUEUE_MAX = 1024, IDLE_SECONDS = 5, STACK_SIZE = 256 * 1024 };

struct job {
    void (*work)(const struct request *);
    struct request request;
    struct job *next;
    uint8_t fields[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER;
static struct job *first, **last = &first;
static int queue_length, threads, idle;

static void *serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        if (!first) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec += IDLE_SECONDS;
            idle++;
            int result = pthread_cond_timedwait(&queued, &lock, &until);
            idle--;
            if (result == ETIMEDOUT && !first) break;
            continue;
        }
        struct job *job = first;
        first = job->next;
        if (!first) last = &first;
        queue_length--;
        pthread_mutex_unlock(&lock);
        job->work(&job->request);
        stream_release(job->request.stream);
        free(job);
        pthread_mutex_lock(&lock);
    }
    threads--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static bool start_thread(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_t thread;
    bool ok = pthread_create(&thread, &attributes, serve, NULL) == 0;
    pthread_attr_destroy(&attributes);
    return ok;
}

void worker_run(void (*work)(const struct request *), struct stream *stream, enum operation operation,
                struct fields fields)
{
    struct job *job = malloc(sizeof *job + fields.length);
    if (!job) {
        stream_error(stream, E_LIMIT, ENOMEM, "the agent is out of memory");
        stream_release(stream);
        return;
    }
    if (fields.length) memcpy(job->fields, fields.data, fields.length);
    job->work = work;
    job->next = NULL;
    job->request = (struct request){stream, operation, {job->fields, fields.length}};

    pthread_mutex_lock(&lock);
    bool accepted = queue_length < QUEUE_MAX;
    if (accepted && idle <= queue_length && threads < THREADS_MAX) {
        if (start_thread())
            threads++;
        else
            accepted = threads > 0;
    }
    if (accepted) {
        *last = job;
        last = &job->next;
        queue_length++;
        pthread_cond_signal(&queued);
    }
    pthread_mutex_unlock(&lock);
    if (!accepted) {
        stream_error(stream, E_LIMIT, EAGAIN, "more than %d file operations are waiting; try again later", QUEUE_MAX);
        stream_release(stream);
        free(job);
    }
}
