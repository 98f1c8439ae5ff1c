#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CERTIFICATE TRUST_FOLDER "/ca.pem"
#define BUNDLE TRUST_FOLDER "/ca-bundle.pem"
#define JAVA_STORE TRUST_FOLDER "/cacerts.jks"

enum { BUNDLE_MAX = 4 << 20, DIGEST_SIZE = 20 };

static const char BEGIN[] = "-----BEGIN CERTIFICATE-----", END[] = "-----END CERTIFICATE-----";

/* Where distributions keep the certificates that they trust; the first that exists is used. */
static const char *const BUNDLES[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                      "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

static const char *const VARIABLES[TRUST_VARIABLES + 1] = {
    "SSL_CERT_FILE=" BUNDLE,
    "CURL_CA_BUNDLE=" BUNDLE,
    "GIT_SSL_CAINFO=" BUNDLE,
    "REQUESTS_CA_BUNDLE=" BUNDLE,
    "PIP_CERT=" BUNDLE,
    "NPM_CONFIG_CAFILE=" BUNDLE,
    "NODE_EXTRA_CA_CERTS=" CERTIFICATE,
    "CARGO_HTTP_CAINFO=" BUNDLE,
    "AWS_CA_BUNDLE=" BUNDLE,
    "DENO_CERT=" CERTIFICATE,
    "NIX_SSL_CERT_FILE=" BUNDLE,
    "JAVA_TOOL_OPTIONS=-Djavax.net.ssl.trustStore=" JAVA_STORE,
};
static bool active;

const char *const *trust_variables(void)
{
    static const char *const none[] = {NULL};
    return active ? VARIABLES : none;
}

void trust_detect(void)
{
    active = access(JAVA_STORE, R_OK) == 0; /* the last that is written */
}

struct text {
    char *data;
    size_t length, capacity;
};

static bool append(struct text *t, const void *bytes, size_t length)
{
    if (length > t->capacity - t->length) {
        size_t capacity = 2 * (t->length + length);
        char *data = realloc(t->data, capacity);
        if (!data) return false;
        t->data = data;
        t->capacity = capacity;
    }
    memcpy(t->data + t->length, bytes, length);
    t->length += length;
    return true;
}

/* Finds the next certificate from `*at` on. Returns its first byte and sets `*at` to its end; NULL if none is left. */
static const char *next_certificate(const char *text, size_t length, size_t *at)
{
    const char *from = memmem(text + *at, length - *at, BEGIN, sizeof BEGIN - 1);
    size_t left = from ? length - (size_t)(from - text) : 0;
    const char *to = from ? memmem(from, left, END, sizeof END - 1) : NULL;
    if (!to) return NULL;
    *at = (size_t)(to - text) + sizeof END - 1;
    return from;
}

/* Copies only certificates: a link in the place of a bundle must not publish another file. */
static bool append_certificates(struct text *t, const char *text, size_t length)
{
    size_t at = 0;
    const char *from;
    while ((from = next_certificate(text, length, &at)))
        if (!append(t, from, (size_t)(text + at - from)) || !append(t, "\n", 1)) return false;
    return true;
}

static bool append_file(struct text *t, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > BUNDLE_MAX) return true;
    size_t size = (size_t)st.st_size, length = 0;
    char *content = malloc(size + 1);
    ssize_t n = 1;
    while (content && length < size && (n = read(fd, content + length, size - length)) > 0) length += (size_t)n;
    bool ok = content && append_certificates(t, content, length);
    free(content);
    return ok;
}

static bool append_image_bundle(struct text *t)
{
    for (size_t i = 0; i < sizeof BUNDLES / sizeof *BUNDLES; i++) {
        int fd = open(BUNDLES[i], O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0) continue;
        bool ok = append_file(t, fd);
        close(fd);
        return ok;
    }
    return true;
}

/* ---- the trust store of a JVM, in the format JKS ---- */

static bool append_number(struct text *t, uint64_t value, int bytes)
{
    uint8_t wire[8];
    for (int i = 0; i < bytes; i++) wire[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
    return append(t, wire, (size_t)bytes);
}

static bool append_name(struct text *t, const char *name)
{
    return append_number(t, strlen(name), 2) && append(t, name, strlen(name));
}

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes the lines between BEGIN and END. */
static bool append_decoded(struct text *t, const char *from, const char *to)
{
    uint32_t bits = 0;
    int count = 0;
    for (; from < to; from++) {
        int value = base64_value(*from);
        if (value < 0) continue; /* line ends and padding */
        bits = bits << 6 | (uint32_t)value;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        uint8_t byte = (uint8_t)(bits >> count);
        if (!append(t, &byte, 1)) return false;
    }
    return true;
}

static bool append_entry(struct text *t, int number, const char *from, const char *to)
{
    char alias[24];
    snprintf(alias, sizeof alias, "isola-%d", number);
    bool ok = append_number(t, 2, 4) && append_name(t, alias) && append_number(t, 0, 8) && append_name(t, "X.509");
    size_t length_at = t->length;
    ok = ok && append_number(t, 0, 4) && append_decoded(t, from + sizeof BEGIN - 1, to - (sizeof END - 1));
    if (!ok) return false;
    uint32_t length = (uint32_t)(t->length - length_at - 4);
    for (int i = 0; i < 4; i++) t->data[length_at + (size_t)i] = (char)(length >> 8 * (3 - i));
    return true;
}

/* A JVM checks the digest at the end only if it is given a password. */
static bool append_store(struct text *t, const struct text *bundle)
{
    static const char no_digest[DIGEST_SIZE];
    int count = 0;
    size_t at = 0;
    const char *from;
    bool ok = append_number(t, 0xfeedfeed, 4) && append_number(t, 2, 4) && append_number(t, 0, 4);
    while (ok && (from = next_certificate(bundle->data, bundle->length, &at)))
        ok = append_entry(t, count++, from, bundle->data + at);
    for (int i = 0; ok && i < 4; i++) t->data[8 + i] = (char)(count >> 8 * (3 - i));
    return ok && append(t, no_digest, sizeof no_digest);
}

/* Replaces a file without following a link in its place. A reader sees either the old or the new content. */
static bool replace(const char *path, const struct text *t)
{
    static const char temporary[] = TRUST_FOLDER "/.new";
    unlink(temporary);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) return false;
    bool ok =
        write(fd, t->data, t->length) == (ssize_t)t->length && fchmod(fd, 0644) == 0 && rename(temporary, path) == 0;
    int error = errno;
    close(fd);
    if (!ok) unlink(temporary);
    errno = error;
    return ok;
}

static bool make_folder(void)
{
    struct stat st;
    if (mkdir("/run", 0755) != 0 && errno != EEXIST) return false;
    if (mkdir(TRUST_FOLDER, 0755) != 0 && errno != EEXIST) return false;
    if (lstat(TRUST_FOLDER, &st) != 0) return false;
    if (S_ISDIR(st.st_mode) && st.st_uid == geteuid()) return true;
    errno = ENOTDIR;
    return false;
}

bool trust_add(const void *pem, size_t length)
{
    struct text certificate = {0}, bundle = {0}, store = {0};
    bool ok = append_certificates(&certificate, pem, length);
    if (ok && !certificate.length) {
        errno = EINVAL;
        ok = false;
    }
    ok = ok && make_folder() && append_image_bundle(&bundle) && append(&bundle, certificate.data, certificate.length)
         && append_store(&store, &bundle) && replace(CERTIFICATE, &certificate) && replace(BUNDLE, &bundle)
         && replace(JAVA_STORE, &store);
    int error = errno;
    free(certificate.data);
    free(bundle.data);
    free(store.data);
    errno = error;
    active = active || ok;
    return ok;
}
