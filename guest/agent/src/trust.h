/*
 * A certificate authority that programs in the sandbox trust in addition to those of the image: files with it, and
 * variables that name the files.
 */
#ifndef ISOLA_TRUST_H
#define ISOLA_TRUST_H

#include <stdbool.h>
#include <stddef.h>

#define TRUST_FOLDER "/run/isola"

/* Writes the files, replacing those of an earlier call. `pem` is the certificate. False with errno. */
bool trust_add(const void *pem, size_t length);
/* Finds out whether the agent that started this process has written the files. */
void trust_detect(void);
/* Returns variables, NAME=VALUE, for commands that do not set them; none before trust_add. */
const char *const *trust_variables(void);
enum { TRUST_VARIABLES = 12 };

#endif
