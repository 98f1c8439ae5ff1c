#include "link_text.h"

#include <unistd.h>

bool link_text(int folder, const char *name, char *out, size_t capacity)
{
    ssize_t length = readlinkat(folder, name, out, capacity - 1);
    if (length < 0) return false;
    out[length] = 0;
    return true;
}
