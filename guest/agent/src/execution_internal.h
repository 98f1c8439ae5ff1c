/*
 * Shared by the three parts of executions: lifecycle (execution.c), input and output (execution_io.c), and requests
 * about existing executions (execution_request.c).
 */
#ifndef ISOLA_EXECUTION_INTERNAL_H
#define ISOLA_EXECUTION_INTERNAL_H

#include "execution.h"
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
/* Returns a started execution, or NULL when there is none with this id. */
struct execution *find_execution(uint64_t id);
/* Ends the execution when its leader has ended and its output is drained. */
void finish_if_drained(struct execution *e);
/* Sends an order to the supervisor; does nothing when the supervisor is gone. */
void order(struct execution *e, enum order_kind kind, int signal_number);
/* Schedules an eviction of old executions at the end of this loop iteration. */
void evict_later(void);
/* Returns true for a supervisor, busy or idle, and for a sudo helper. */
bool is_supervisor(pid_t pid);
/* Kills processes reparented to the agent by a killed supervisor. All other children of the agent are supervisors. */
void kill_strays(void);
void close_watch(struct watch *w);
bool outputs_open(const struct execution *e);
void build_exit(const struct execution *e, struct builder *b);
void build_counts(const struct execution *e, struct builder *b);
uint64_t unix_ns(void);

/* Moves output from the pipes to the journal and on to the attached streams, as far as possible without blocking. */
void pump(struct execution *e);
void output_ready(struct watch *w, uint32_t what);
void terminal_ready(struct watch *w, uint32_t what);
void input_ready(struct watch *w, uint32_t what);
void write_input(struct execution *e);
void close_input(struct execution *e);
/* Attaches a stream, for output and input. Returns NULL when out of memory. */
struct attachment *attach(struct execution *e, struct stream *s, uint64_t offset, bool lossy);
void detach_reader(struct attachment *a);
/* Ends the attachments that have received all output. */
void end_attachments(struct execution *e);

#endif
