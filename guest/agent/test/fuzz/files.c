/*
 * A server sends requests for files: each is an operation, the length of its fields and of its content, and both.
 * Where the agent is confined to a folder, nothing outside of it changes. The first byte says whether it is.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/operations.h"
#include "../stream_double.h"
#include "fuzz.h"
#include "jail.h"

enum { REQUESTS_MAX = 8 };

static void (*const operations[])(const struct request *) = {
    operate_stat,  operate_list, operate_read,    operate_write, operate_mkdir,   operate_move,   operate_remove,
    operate_chmod, operate_glob, operate_symlink, operate_xattr, operate_tar_out, operate_tar_in, operate_chown,
};

static size_t take_length(const uint8_t **data, size_t *size)
{
    if (*size < 2) return *size = 0;
    size_t length = (size_t)(*data)[0] << 8 | (*data)[1];
    *data += 2;
    *size -= 2;
    return length < *size ? length : *size;
}

static void run(const uint8_t *data, size_t size)
{
    jail_reset();
    bool confined = data[0] & 1;
    file_view = (struct file_view){.root_fd = -1, .cwd = "/root", .user = data[0] & 2 ? "u" : NULL};
    if (confined) {
        file_view.root_fd = open("/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
        file_view.root = "/root/";
        file_view.mount = "/workspace";
    }
    data++;
    size--;
    for (int i = 0; size && i < REQUESTS_MAX; i++) {
        void (*operate)(const struct request *) = operations[data[0] % (sizeof operations / sizeof *operations)];
        data++;
        size--;
        size_t length = take_length(&data, &size);
        struct fields fields = {data, length};
        data += length;
        size -= length;
        length = take_length(&data, &size);
        struct script script = {.input = data, .input_length = length};
        data += length;
        size -= length;
        if (!fields_valid(fields)) break; /* of which the dispatcher drops the connection */
        struct stream *s = double_new(&script);
        operate(&(struct request){.stream = s, .fields = fields});
        if (!double_ended_once(s)) abort();
        double_free(s);
    }
    if (confined) {
        close(file_view.root_fd);
        jail_verify();
    }
}

int LLVMFuzzerInitialize(int *count, char ***words)
{
    jail_open(*count, *words);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size) run(data, size);
    return 0;
}
