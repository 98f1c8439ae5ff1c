#include "init_state.h"

static bool active;
static int console = 2;

bool init_is_active(void)
{
    return active;
}

void init_set_active(void)
{
    active = true;
}

int init_console(void)
{
    return console;
}

void init_set_console(int fd)
{
    console = fd;
}
