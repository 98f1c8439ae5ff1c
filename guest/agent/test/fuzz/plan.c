/* The launcher reads a plan. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../../host/launcher/src/plan.h"
#include "fuzz.h"

static void steps_free(struct plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        for (int k = 0; plan->steps[i].words && k < plan->steps[i].count; k++) free(plan->steps[i].words[k]);
        free(plan->steps[i].words);
        free(plan->steps[i].lengths);
    }
    free(plan->steps);
}

/* The words are those of the plan, in their order, and there is nothing else in it. */
static void verify(const struct plan *plan, const uint8_t *data, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < plan->count; i++) {
        at += 4;
        for (int k = 0; k < plan->steps[i].count; k++) {
            at += 4;
            size_t length = plan->steps[i].lengths[k];
            if (length > size - at || memcmp(data + at, plan->steps[i].words[k], length) != 0
                || plan->steps[i].words[k][length] != 0)
                abort();
            at += length;
        }
        if (plan->steps[i].words[plan->steps[i].count]) abort();
    }
    if (at != size) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("plan", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0) abort();
    struct plan plan = {0};
    const char *problem = plan_read(fd, size & 1 ? size : PLAN_MAX, &plan);
    close(fd);
    if (!problem) verify(&plan, data, size);
    steps_free(&plan);
    return 0;
}
