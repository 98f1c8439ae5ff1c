/*
 * Runs file operations where they cannot harm: in namespaces, with a small file system as the root and few
 * capabilities. The folders to which libFuzzer writes are mounted in it.
 */
#ifndef ISOLA_JAIL_H
#define ISOLA_JAIL_H

/* Enters the jail. Exits with NOT RUN and status 0 without root. The words are those of the program. */
void jail_open(int count, char **words);
/* Empties it, and creates what every input finds. */
void jail_reset(void);
/* Aborts unless everything outside of /root is as jail_reset created it. */
void jail_verify(void);

#endif
