#include "wire.h"

#include <stdlib.h>
#include <string.h>

uint32_t get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint64_t get_u64(const uint8_t *p)
{
    return (uint64_t)get_u32(p) << 32 | get_u32(p + 4);
}

void put_u32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

void put_u64(uint8_t *p, uint64_t v)
{
    put_u32(p, (uint32_t)(v >> 32));
    put_u32(p + 4, (uint32_t)v);
}

enum { FIELD_HEADER = 5 };

bool fields_next(struct fields f, size_t *position, struct field *out)
{
    size_t left = f.length - *position;
    if (left < FIELD_HEADER) return false;
    const uint8_t *p = f.data + *position;
    size_t length = get_u32(p + 1);
    if (length > left - FIELD_HEADER) return false;
    *out = (struct field){.tag = p[0], .value = p + FIELD_HEADER, .length = length};
    *position += FIELD_HEADER + length;
    return true;
}

bool fields_valid(struct fields f)
{
    size_t position = 0;
    struct field field;
    while (fields_next(f, &position, &field)) {}
    return position == f.length;
}

bool fields_find(struct fields f, enum tag tag, struct field *out)
{
    size_t position = 0;
    while (fields_next(f, &position, out))
        if (out->tag == tag) return true;
    return false;
}

bool fields_has(struct fields f, enum tag tag)
{
    struct field field;
    return fields_find(f, tag, &field);
}

uint64_t fields_u64(struct fields f, enum tag tag, uint64_t otherwise)
{
    struct field field;
    if (!fields_find(f, tag, &field) || field.length != 8) return otherwise;
    return get_u64(field.value);
}

char *fields_text(struct fields f, enum tag tag)
{
    struct field field;
    if (!fields_find(f, tag, &field) || memchr(field.value, 0, field.length)) return NULL;
    char *text = malloc(field.length + 1);
    if (!text) return NULL;
    memcpy(text, field.value, field.length);
    text[field.length] = 0;
    return text;
}

static bool reserve(struct builder *b, size_t more)
{
    if (b->overflow || more > FRAME_MAX - b->length) {
        b->overflow = true;
        return false;
    }
    if (b->capacity - b->length >= more) return true;
    size_t capacity = b->capacity ? b->capacity : 256;
    while (capacity - b->length < more) capacity *= 2;
    uint8_t *data = realloc(b->data, capacity);
    if (!data) {
        b->overflow = true;
        return false;
    }
    b->data = data;
    b->capacity = capacity;
    return true;
}

void build_bytes(struct builder *b, enum tag tag, const void *value, size_t length)
{
    if (length > FRAME_MAX || !reserve(b, FIELD_HEADER + length)) {
        b->overflow = true;
        return;
    }
    uint8_t *p = b->data + b->length;
    p[0] = (uint8_t)tag;
    put_u32(p + 1, (uint32_t)length);
    if (length) memcpy(p + FIELD_HEADER, value, length);
    b->length += FIELD_HEADER + length;
}

void build_text(struct builder *b, enum tag tag, const char *text)
{
    build_bytes(b, tag, text, strlen(text));
}

void build_u64(struct builder *b, enum tag tag, uint64_t value)
{
    uint8_t bytes[8];
    put_u64(bytes, value);
    build_bytes(b, tag, bytes, sizeof bytes);
}

void builder_reset(struct builder *b)
{
    b->length = 0;
    b->overflow = false;
}

void builder_free(struct builder *b)
{
    free(b->data);
    *b = (struct builder){0};
}
