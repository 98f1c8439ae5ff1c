/* What every part of the launcher needs. */
#ifndef ISOLA_BASICS_H
#define ISOLA_BASICS_H

#include <stdbool.h>

/* Descriptors below this one are given out by a plan; our own lie above. */
enum { OUT_OF_THE_WAY = 100 };

/* From now on what is wrong is the answer: no sandbox is booted whose words would be in front of it. */
void answer_failures(void);
/* Says what is wrong, and why by errno unless that is 0, and ends the process. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Moves a descriptor out of the way; -1 stays -1. */
int high(int fd);
/* False with errno. */
bool write_text(const char *path, const char *text);
/* A socket that only we can connect to. */
int listening(const char *path);

#endif
