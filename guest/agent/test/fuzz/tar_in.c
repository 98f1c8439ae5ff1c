/*
 * A server unpacks the input as an archive into a folder. Nothing outside of the folder changes; what was unpacked is
 * packed again, and that archive is unpacked without an error. The first byte has the flags.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/operations.h"
#include "../stream_double.h"
#include "fuzz.h"
#include "jail.h"

static struct stream *unpack(const char *path, const void *archive, size_t length, uint64_t flags, size_t piece)
{
    struct builder b = {0};
    struct script script = {.input = archive, .input_length = length, .piece = piece};
    build_text(&b, T_PATH, path);
    build_u64(&b, T_FLAGS, flags);
    build_u64(&b, T_MAX_BYTES, 1 << 20);
    build_u64(&b, T_MAX_ENTRIES, 256);
    return ask(operate_tar_in, &b, &script);
}

static void run(const uint8_t *data, size_t size)
{
    jail_reset();
    file_view = (struct file_view){.root_fd = -1, .cwd = "/root"};
    /* Not as a layer, whose entries are applied to an overlay. */
    struct stream *in = unpack("/root/in", data + 1, size - 1, data[0] & 3, data[0] & 0x80 ? 7 : 0);
    int code = double_code(in);
    double_free(in);
    jail_verify();
    if (code) return;
    struct stream *out = ask_path(operate_tar_out, "/root/in");
    size_t length;
    const uint8_t *archive = double_data(out, &length);
    if (double_code(out) == 0) {
        struct stream *again = unpack("/root/again", archive, length, 0, 0);
        int second = double_code(again);
        if (second && second != E_LIMIT && second != E_NO_SPACE) abort();
        double_free(again);
    }
    double_free(out);
    jail_verify();
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
