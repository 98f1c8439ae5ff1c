#include "dispatch.h"

#include "connection.h"
#include "egress.h"
#include "execution.h"
#include "execution_request.h"
#include "hold.h"
#include "lifetime.h"
#include "operations.h"
#include "relay.h"
#include "stream_table.h"
#include "worker.h"

/* Operations that may block and therefore run on a worker thread. */
static void (*const blocking[])(const struct request *) = {
    [OP_STAT] = operate_stat,       [OP_LIST] = operate_list,       [OP_READ] = operate_read,
    [OP_WRITE] = operate_write,     [OP_MKDIR] = operate_mkdir,     [OP_MOVE] = operate_move,
    [OP_REMOVE] = operate_remove,   [OP_CHMOD] = operate_chmod,     [OP_CHOWN] = operate_chown,
    [OP_GLOB] = operate_glob,       [OP_SYMLINK] = operate_symlink, [OP_XATTR] = operate_xattr,
    [OP_TAR_OUT] = operate_tar_out, [OP_TAR_IN] = operate_tar_in,   [OP_WATCH] = operate_watch,
    [OP_USAGE] = operate_usage,     [OP_HOLD] = operate_hold,
};
enum { BLOCKING_COUNT = sizeof blocking / sizeof *blocking };

static void request(struct stream *s, unsigned operation, struct fields fields)
{
    switch (operation) {
    case OP_EXEC:
        execution_start(s, fields);
        return;
    case OP_ATTACH:
        execution_attach(s, fields);
        return;
    case OP_EXEC_LIST:
        execution_list(s, fields);
        return;
    case OP_SIGNAL:
        execution_signal(s, fields);
        return;
    case OP_RESIZE:
        execution_resize(s, fields);
        return;
    case OP_DIAL:
        relay_dial(s, fields);
        return;
    case OP_RELAY:
        relay_listen(s, fields);
        return;
    case OP_EGRESS:
        egress_serve(s, fields);
        return;
    case OP_HANDOVER:
        relay_hand_over(s, fields);
        return;
    case OP_DEADLINE:
        lifetime_renew(s, fields);
        return;
    case OP_SHUTDOWN:
        lifetime_shutdown(s);
        return;
    case OP_KILL_ALL:
        lifetime_kill_all(s);
        return;
    case OP_RELEASE:
        hold_release(s, fields);
        return;
    case OP_IDENTIFY:
        hold_identify(s, fields);
        return;
    default:
        break;
    }
    if (operation < BLOCKING_COUNT && blocking[operation]) {
        worker_run(blocking[operation], s, (enum operation)operation, fields);
    } else {
        stream_error(s, E_UNSUPPORTED, 0, "unknown operation %u", operation);
        stream_release(s);
    }
}

void dispatch_frame(const struct frame *f)
{
    bool ok;
    if (f->type == REQUEST) {
        struct fields fields = {f->payload + 1, f->length ? f->length - 1 : 0};
        ok = f->length >= 1 && f->stream >= 1 && f->stream < 0x80000000u && fields_valid(fields);
        struct stream *s = ok ? stream_open(f->stream, fields_u64(fields, T_CREDIT, 0)) : NULL;
        if (s)
            request(s, f->payload[0], fields);
        else
            ok = false;
    } else {
        ok = f->stream != 0 && streams_dispatch(f);
    }
    if (!ok) connection_drop();
}
