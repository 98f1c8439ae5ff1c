/* What the three parts of executions share: their life (execution.c), their output and input (execution_io.c), and
 * the requests about them (execution_request.c). */
#ifndef ISOLA_EXECUTION_INTERNAL_H
#define ISOLA_EXECUTION_INTERNAL_H

#include "execution.h"
#include "journal.h"
#include "sandbox_limits.h"
#include "loop.h"
#include "supervisor.h"

struct execution;

struct output {
    struct watch watch;
    struct execution *execution;
    uint8_t channel;
    bool grown, dry; /* dry: the last read found nothing */
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
    int terminal_fd;             /* the terminal's master, also outputs[0]; -1 without one */
    struct ring typed;           /* input not yet taken by the command */
    struct stream *typed_credit; /* whose DATA is in `typed` */
    size_t typed_ungranted;
    bool input_eof;
    struct journal journal;
    struct attachment *attachments;
    uint64_t bytes[3]; /* by channel - 1 */
    uint64_t end_mark; /* where the output was when the leader ended */
    bool started, leader_ended, finished, timed_out, to_die;
    struct report end;
    struct limit_counts limits_before, limits_met;
    uint64_t started_ns, started_unix_ns, ended_ns, last_output_ns, timeout_ms;
    struct timer timeout, drain;
    uint16_t columns, rows;
    struct builder description; /* ARG, CWD, USER, TAG as listed */
    struct execution *next;
};

/* All executions, oldest first. */
extern struct execution *executions;
/* One that has started; NULL when there is none with this id. */
struct execution *find_execution(uint64_t id);
/* Ends it when its leader has ended and its output is drained. */
void consider_end(struct execution *e);
/* Tells the supervisor; does nothing when it is gone. */
void order(struct execution *e, enum order_kind kind, int signal_number);
/* There may be old executions to forget at the end of this turn. */
void tidy_later(void);
/* True for a process of the agent's own that starts commands, whether it has one or waits. */
bool is_supervisor(pid_t pid);
/* A supervisor that is killed sets its tree free; it comes to the agent, which has no other child but supervisors. */
void kill_strays(void);
void close_watch(struct watch *w);
bool outputs_open(const struct execution *e);
void build_exit(const struct execution *e, struct builder *b);
void build_counts(const struct execution *e, struct builder *b);
uint64_t unix_ns(void);

/* Moves output from the pipes to the journal and on to the readers, as far as it goes without waiting. */
void pump(struct execution *e);
void output_ready(struct watch *w, uint32_t what);
void terminal_ready(struct watch *w, uint32_t what);
void input_ready(struct watch *w, uint32_t what);
void write_input(struct execution *e);
void close_input(struct execution *e);
/* Makes the stream a reader (and writer) of the execution; NULL when memory is short. */
struct attachment *attach(struct execution *e, struct stream *s, uint64_t offset, bool lossy);
void detach_reader(struct attachment *a);
/* Ends the attachments that have read everything. */
void end_attachments(struct execution *e);

#endif
