/* Wire format: frames, fields, numbers. A transcription of PROTOCOL.md; change both together. */
#ifndef ISOLA_WIRE_H
#define ISOLA_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRAME_HEADER = 9, FRAME_MAX = 262144, AGENT_WINDOW = 1048576 };
enum { PROTOCOL_VERSION = 1, NONCE_SIZE = 32, PROOF_SIZE = 32, SECRET_SIZE = 32, HANDOVER_TOKEN = 16 };

/* Tables in the order of PROTOCOL.md. */
/* clang-format off */
enum frame_type {
    CHALLENGE = 1, HELLO = 2, WELCOME = 3, PING = 4, PONG = 5, BYE = 6,
    REQUEST = 16, RESPONSE = 17, DATA = 18, STREAM_EOF = 19, CREDIT = 20, END = 21, ERROR = 22,
    CANCEL = 23, OUTPUT = 24, ITEM = 25, INCOMING = 26, GAP = 27,
};

enum operation {
    OP_EXEC = 1, OP_ATTACH, OP_EXEC_LIST, OP_SIGNAL, OP_RESIZE, OP_STAT, OP_LIST, OP_READ, OP_WRITE,
    OP_MKDIR, OP_MOVE, OP_REMOVE, OP_CHMOD, OP_CHOWN, OP_GLOB, OP_SYMLINK, OP_XATTR, OP_TAR_OUT,
    OP_TAR_IN, OP_WATCH, OP_DIAL, OP_RELAY, OP_USAGE, OP_DEADLINE, OP_SHUTDOWN, OP_KILL_ALL,
    OP_HOLD, OP_RELEASE, OP_IDENTIFY, OP_EGRESS, OP_HANDOVER,
};

enum error_code {
    E_INVALID = 1, E_NOT_FOUND, E_EXISTS, E_NOT_A_FOLDER, E_IS_A_FOLDER, E_NOT_EMPTY, E_DENIED,
    E_OUTSIDE, E_NOT_A_FILE, E_NO_SPACE, E_LIMIT, E_UNSUPPORTED, E_CANCELLED, E_IO,
    E_EXEC_NOT_FOUND, E_EXEC_DENIED, E_NO_SUCH_USER, E_NO_SUCH_EXECUTION, E_REFUSED,
    E_BAD_ARCHIVE, E_TOO_MANY_LINKS, E_READ_ONLY,
};

enum tag {
    T_MAGIC = 1, T_VERSION_MIN, T_VERSION_MAX, T_VERSION, T_NONCE, T_PROOF, T_BUILD, T_SANDBOX, T_PID,
    T_WINDOW, T_UPTIME_MS, T_FEATURE, T_REASON, T_CODE, T_ERRNO, T_MESSAGE, T_RELAY, T_ARG, T_ENV,
    T_CWD, T_USER, T_TAG, T_TIMEOUT_MS, T_COLS, T_ROWS, T_NO_STDIN, T_TIME_NS,
    T_JOURNAL = 29, T_RLIMIT, T_CREDIT, T_EXECUTION, T_OFFSET, T_FIRST_OFFSET, T_LOSSY, T_STATE,
    T_STDOUT_BYTES, T_STDERR_BYTES, T_SIGNAL, T_SCOPE, T_EXIT_KIND, T_EXIT_CODE, T_DURATION_NS,
    T_PATH, T_FOLLOW, T_DEPTH, T_LENGTH, T_MODE, T_FLAGS, T_SIZE, T_TARGET, T_TYPE, T_UID, T_GID,
    T_MTIME_NS,
    T_INODE = 57, T_LINKS, T_EVENT, T_PORT, T_HOST, T_CPU_NS, T_MEMORY, T_MEMORY_PEAK, T_DISK,
    T_DISK_PARTIAL, T_RX, T_TX, T_PROCESSES, T_COUNT, T_ACTION, T_NAME, T_VALUE, T_EXCLUDE,
    T_MAX_BYTES, T_MAX_ENTRIES, T_RECURSIVE, T_PATTERN, T_OWNER, T_GROUP, T_SECRET, T_ROOT, T_MOUNT,
    T_SOCKET, T_LINGER_MS, T_NAMESPACES, T_BIND, T_LOCK, T_HIDE, T_KEEP, T_SECCOMP, T_DISK_LIMIT, T_LIMIT,
    T_DISK_SINCE_NS, T_INCLUDE, T_FILE_OWNER, T_WORKSPACE,
    T_LAYER = 110, T_IMAGE, T_FOLDER, T_CHANGED_NS,
    T_PROCESS_LIMIT = 120, T_PROCESSORS, T_SUDO, T_HOST_NAME, T_NETWORK, T_RESOLV_CONF, T_THREAD_LIMIT, T_TMPFS,
    T_EGRESS, T_TRUST, T_ISOLATE, T_INHERIT,
};
/* clang-format on */

enum { TYPE_FILE = 1, TYPE_FOLDER = 2, TYPE_LINK = 3, TYPE_OTHER = 4 };
enum { WRITE_ATOMIC = 1, WRITE_PARENTS = 2, WRITE_NEW = 4, WRITE_APPEND = 8, WRITE_SYNC = 16 };
enum { CHANNEL_STDOUT = 1, CHANNEL_STDERR = 2, CHANNEL_TERMINAL = 3 };
enum exit_kind { EXIT_EXITED = 0, EXIT_SIGNALED = 1, EXIT_TIMED_OUT = 2, EXIT_OUT_OF_MEMORY = 3 };

uint32_t get_u32(const uint8_t *p);
uint64_t get_u64(const uint8_t *p);
void put_u32(uint8_t *p, uint32_t v);
void put_u64(uint8_t *p, uint64_t v);

/* View of received fields; the owner of the payload owns the bytes. */
struct fields {
    const uint8_t *data;
    size_t length;
};
struct field {
    uint8_t tag;
    const uint8_t *value;
    size_t length;
};

/* Returns true when every field lies within the payload. Checked once, before any of the readers below. */
bool fields_valid(struct fields f);
/* Iterates over all fields; start with *position = 0. */
bool fields_next(struct fields f, size_t *position, struct field *out);
bool fields_find(struct fields f, enum tag tag, struct field *out);
bool fields_has(struct fields f, enum tag tag);
/* Returns the integer, or `otherwise` when absent or not 8 bytes long. */
uint64_t fields_u64(struct fields f, enum tag tag, uint64_t otherwise);
/* Returns a NUL-terminated copy, or NULL when absent or when it contains NUL. The caller frees it. */
char *fields_text(struct fields f, enum tag tag);

/* Builds a list of fields. Grows up to FRAME_MAX; beyond that sets `overflow` and adds nothing. */
struct builder {
    uint8_t *data;
    size_t length, capacity;
    bool overflow;
};
void build_bytes(struct builder *b, enum tag tag, const void *value, size_t length);
void build_text(struct builder *b, enum tag tag, const char *text);
void build_u64(struct builder *b, enum tag tag, uint64_t value);
void builder_reset(struct builder *b);
void builder_free(struct builder *b);

#endif
