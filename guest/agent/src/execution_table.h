/* All executions, and what the files that deal with them share. Main thread only. */
#ifndef ISOLA_EXECUTION_TABLE_H
#define ISOLA_EXECUTION_TABLE_H

#include "journal.h"
#include "launch.h"
#include "sandbox_limits.h"
#include "loop.h"
#include "stream_table.h"

struct execution;

struct output {
    struct watch watch;
    struct execution *execution;
    uint8_t channel;
    bool grown, drained; /* drained: the last read found nothing */
};

struct attachment {
    struct stream *stream;
    struct execution *execution;
    uint64_t offset;
    bool lossy;
    struct attachment *next;
};

struct execution {
    uint64_t id;
    pid_t pid, supervisor;
    struct watch control, input;
    struct output outputs[2];
    int terminal_fd;             /* the terminal's master, also outputs[0]; -1 without a terminal */
    struct ring pending_input;   /* input the command has not read yet */
    struct stream *input_stream; /* the stream whose DATA is in `pending_input` */
    size_t input_ungranted;
    bool input_eof;
    struct journal journal;
    struct attachment *attachments;
    uint64_t awaited_from;   /* lowest offset needed by readers that return after a hold; UINT64_MAX without any */
    uint64_t bytes[3];       /* by channel - 1 */
    uint64_t offset_at_exit; /* journal offset when the leader ended */
    bool started, leader_ended, finished, timed_out, kill_pending;
    struct report end;
    struct limit_counts limits_before, limits_met;
    uint64_t started_ns, started_unix_ns, ended_ns, last_output_ns, timeout_ms;
    struct timer timeout, drain;
    uint16_t columns, rows;
    struct builder description; /* ARG, CWD, USER and TAG as EXEC_LIST returns them */
    struct execution *next;
};

/* All executions, oldest first. */
extern struct execution *executions;
/* How many have begun to start and have not finished. */
extern int executions_running;
void execution_add(struct execution *e);
void execution_remove(struct execution *e);
/* Returns a started execution, or NULL when there is none with this id. */
struct execution *find_execution(uint64_t id);
/* Schedules an eviction of old executions at the end of this loop iteration. */
void evict_later(void);
/* Returns true once after evict_later. */
bool is_eviction_due(void);

void close_watch(struct watch *w);
bool outputs_open(const struct execution *e);
uint64_t unix_ns(void);
/* Returns true for an end by the signal itself, or with the exit code that a shell reports for it. */
bool ended_by(int status, int signal_number);
void build_exit(const struct execution *e, struct builder *b);
void build_counts(const struct execution *e, struct builder *b);

/* A process of the sandbox may have stopped the supervisor, which could then neither report nor receive an order. */
void ensure_running(const struct execution *e);
/* Sends an order to the supervisor; does nothing when the supervisor is gone. */
void order(struct execution *e, enum order_kind kind, int signal_number);

#endif
