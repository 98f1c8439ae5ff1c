#include "identity.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <linux/random.h>

enum { SEED_MAX = 256 };

static int generator = -1;

void identity_prepare(void)
{
    if (generator < 0) generator = open("/dev/urandom", O_WRONLY | O_CLOEXEC);
}

void identity_seed(const uint8_t *bytes, size_t length)
{
    struct {
        struct rand_pool_info info;
        uint8_t bytes[SEED_MAX];
    } pool;
    identity_prepare();
    if (generator < 0) return;
    if (length > SEED_MAX) length = SEED_MAX;
    pool.info.entropy_count = (int)length * 8;
    pool.info.buf_size = (int)length;
    memcpy(pool.bytes, bytes, length);
    if (ioctl(generator, RNDADDENTROPY, &pool) != 0 || ioctl(generator, RNDRESEEDCRNG) != 0) {
        ssize_t ignored = write(generator, bytes, length); /* not permitted in a container */
        (void)ignored;
    }
}

bool identity_apply(struct fields record)
{
    struct field seed;
    uint64_t time = fields_u64(record, T_TIME_NS, 0);
    struct timespec now = {(time_t)(time / 1000000000u), (long)(time % 1000000000u)};
    if (time && clock_settime(CLOCK_REALTIME, &now) != 0) return false;
    if (fields_find(record, T_NONCE, &seed)) identity_seed(seed.value, seed.length);
    char *name = fields_text(record, T_HOST_NAME);
    bool ok = !name || sethostname(name, strlen(name)) == 0;
    free(name);
    return ok;
}
