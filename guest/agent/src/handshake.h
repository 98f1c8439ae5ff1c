/* The frames with which both ends prove that they know the secret. Sends and receives nothing itself. */
#ifndef ISOLA_HANDSHAKE_H
#define ISOLA_HANDSHAKE_H

#include "frame.h"

/* `secret` has SECRET_SIZE bytes. */
void handshake_setup(const uint8_t *secret, const char *sandbox);
/* Chooses the agent's nonce for one peer. Returns false when the kernel gives no random bytes. */
bool handshake_nonce(uint8_t nonce[NONCE_SIZE]);
/* Adds the fields of CHALLENGE; `names_sandbox` adds the sandbox's id. */
void handshake_challenge(struct builder *b, const uint8_t nonce[NONCE_SIZE], bool names_sandbox);
/* Returns true when the frame is a HELLO that proves the secret; then adds the fields of WELCOME. */
bool handshake_answer(const struct frame *f, const uint8_t nonce[NONCE_SIZE], struct builder *welcome);

#endif
