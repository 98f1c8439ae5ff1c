#include "handshake.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "agent.h"
#include "loop.h"
#include "sha256.h"

static const char MAGIC[] = "isola-agent";
static const char SERVER_TEXT[] = "isola-server";

static uint8_t secret_key[SECRET_SIZE];
static const char *sandbox_id;

void handshake_setup(const uint8_t *secret, const char *sandbox)
{
    memcpy(secret_key, secret, SECRET_SIZE);
    sandbox_id = sandbox;
}

bool handshake_nonce(uint8_t nonce[NONCE_SIZE])
{
    return getrandom(nonce, NONCE_SIZE, 0) == NONCE_SIZE;
}

void handshake_challenge(struct builder *b, const uint8_t nonce[NONCE_SIZE], bool names_sandbox)
{
    build_bytes(b, T_MAGIC, MAGIC, sizeof MAGIC - 1);
    build_u64(b, T_VERSION_MIN, PROTOCOL_VERSION);
    build_u64(b, T_VERSION_MAX, PROTOCOL_VERSION);
    build_bytes(b, T_NONCE, nonce, NONCE_SIZE);
    if (names_sandbox) build_text(b, T_SANDBOX, sandbox_id);
}

static void prove(const char *word, const uint8_t *first, const uint8_t *second, uint8_t out[PROOF_SIZE])
{
    uint8_t text[32 + 2 * NONCE_SIZE];
    size_t word_length = strlen(word);
    memcpy(text, word, word_length);
    memcpy(text + word_length, first, NONCE_SIZE);
    memcpy(text + word_length + NONCE_SIZE, second, NONCE_SIZE);
    hmac_sha256(secret_key, SECRET_SIZE, text, word_length + 2 * NONCE_SIZE, out);
}

bool handshake_answer(const struct frame *f, const uint8_t nonce[NONCE_SIZE], struct builder *welcome)
{
    struct fields fields = {f->payload, f->length};
    struct field theirs, proof;
    if (f->type != HELLO || f->stream != 0 || !fields_valid(fields)) return false;
    if (fields_u64(fields, T_VERSION, 0) != PROTOCOL_VERSION) return false;
    if (!fields_find(fields, T_NONCE, &theirs) || theirs.length != NONCE_SIZE) return false;
    if (!fields_find(fields, T_PROOF, &proof) || proof.length != PROOF_SIZE) return false;
    uint8_t expected[PROOF_SIZE], ours[PROOF_SIZE];
    prove(SERVER_TEXT, nonce, theirs.value, expected);
    if (!equal_in_constant_time(expected, proof.value, PROOF_SIZE)) return false;

    prove(MAGIC, theirs.value, nonce, ours);
    build_bytes(welcome, T_PROOF, ours, sizeof ours);
    build_u64(welcome, T_VERSION, PROTOCOL_VERSION);
    build_text(welcome, T_BUILD, agent_build);
    build_text(welcome, T_SANDBOX, sandbox_id);
    build_u64(welcome, T_PID, (uint64_t)getpid());
    build_u64(welcome, T_WINDOW, AGENT_WINDOW);
    build_u64(welcome, T_UPTIME_MS, (now_ns() - agent_started_ns) / 1000000);
    build_text(welcome, T_FEATURE, "watch-marks");
    return true;
}
