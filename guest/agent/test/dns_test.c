/* The name server of network mode filtered: messages of hostile clients, and the table of names. */
#include <stdlib.h>

#include "check.h"
#include "dns_message.h"
#include "name_table.h"

enum { A = 1, PTR = 12, AAAA = 28, HTTPS = 65 };

static uint8_t query[1024], reply[DNS_REPLY_MAX];

/* Builds a question; a label of the name ends at each dot. */
static size_t ask(const char *name, int type)
{
    static const uint8_t head[12] = {0xab, 0xcd, 1, 0, 0, 1};
    memcpy(query, head, sizeof head);
    size_t at = sizeof head;
    while (*name) {
        size_t label = strcspn(name, ".");
        query[at++] = (uint8_t)label;
        memcpy(query + at, name, label);
        at += label;
        name += label + (name[label] == '.');
    }
    memcpy(query + at, (uint8_t[]){0, 0, (uint8_t)type, 0, 1}, 5);
    return at + 5;
}

static int code(void)
{
    return reply[3] & 15;
}

static int answers(void)
{
    return reply[6] << 8 | reply[7];
}

/* Returns the address of a name, or 0. */
static uint32_t address(const char *name)
{
    size_t length = dns_reply(query, ask(name, A), reply);
    if (length < 4 || answers() != 1) return 0;
    const uint8_t *p = reply + length - 4;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void a_name_has_one_address_in_any_case(void)
{
    uint32_t first = address("one.example");
    CHECK_INT(0xc612, first >> 16);
    CHECK((first & 0xffff) >= 2);
    CHECK_INT(first, address("One.EXAMPLE"));
    CHECK(address("two.example") != first);
    CHECK_TEXT("one.example", name_table_name(first));
    CHECK(!name_table_name(0xc6120000));
    CHECK(!name_table_name(0xc6120001));
    CHECK(!name_table_name(0xc612ffff));
    CHECK(!name_table_name(0x08080808));
}

static void a_reply_repeats_the_question_as_it_was(void)
{
    size_t length = ask("CaSe.example", A);
    size_t n = dns_reply(query, length, reply);
    CHECK_INT(length + 16, n);
    CHECK(memcmp(query, reply, 2) == 0);
    CHECK(memcmp(query + 12, reply + 12, length - 12) == 0);
    CHECK(reply[2] & 0x80);
}

static void other_types_have_no_answer(void)
{
    for (int type = 2; type <= 255; type++) {
        if (type == 255) break; /* any: an address */
        CHECK(dns_reply(query, ask("one.example", type), reply) > 0);
        CHECK_INT(0, code());
        CHECK_INT(0, answers());
    }
    CHECK(dns_reply(query, ask("one.example", 255), reply) > 0);
    CHECK_INT(1, answers());
}

static void localhost_is_the_loopback_interface(void)
{
    CHECK_INT(0x7f000001, address("localhost"));
    CHECK_INT(0x7f000001, address("app.localhost"));
    CHECK(dns_reply(query, ask("localhost", AAAA), reply) > 0);
    CHECK_INT(0, answers());
    CHECK_INT(0xc612, address("localhost.example") >> 16);
}

static void a_reverse_lookup_returns_the_name(void)
{
    char name[64];
    uint32_t of = address("back.example");
    snprintf(name, sizeof name, "%u.%u.18.198.in-addr.arpa", of & 255, of >> 8 & 255);
    size_t n = dns_reply(query, ask(name, PTR), reply);
    CHECK_INT(1, answers());
    CHECK(n > 14 && memcmp(reply + n - 14, "\4back\7example", 14) == 0);
    CHECK(dns_reply(query, ask("1.2.3.4.in-addr.arpa", PTR), reply) > 0);
    CHECK_INT(3, code());
}

static void names_that_are_numbers_do_not_exist(void)
{
    static const char *const numbers[] = {"127.0.0.1", "2130706433", "0x7f000001", "0177.1", "a.1", "a.0x", "a.0xff"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        CHECK_INT(0, address(numbers[i]));
        CHECK_INT(3, code());
    }
    CHECK(address("1.2.3.4.example") != 0);
}

static void names_with_other_characters_do_not_exist(void)
{
    static const char *const wrong[] = {"a b.example", "a/b.example", "a\nb.example", "\xc3\xa4.example",
                                        "a:1.example"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_INT(0, address(wrong[i]));
        CHECK_INT(3, code());
    }
    size_t length = ask("a-b.example", A);
    query[14] = 0; /* a NUL inside a label */
    CHECK(dns_reply(query, length, reply) > 0);
    CHECK_INT(3, code());
    CHECK(address("_service.a-1.example") != 0);
}

static void names_have_a_longest_length(void)
{
    char name[400];
    memset(name, 'a', sizeof name);
    for (int i = 63; i < 400; i += 64) name[i] = '.';
    name[253] = 0;
    CHECK(address(name) != 0);
    name[253] = 'a';
    name[254] = 0;
    CHECK_INT(0, address(name));
    CHECK_INT(1, code());
}

static void damaged_questions_are_errors(void)
{
    size_t length = ask("one.example", A);
    for (size_t i = 0; i < 12; i++) CHECK_INT(0, dns_reply(query, i, reply));
    for (size_t i = 12; i < length; i++) {
        CHECK_INT(12, dns_reply(query, i, reply));
        CHECK_INT(1, code());
    }
    query[12] = 0xc0; /* a pointer */
    CHECK_INT(12, dns_reply(query, length, reply));
    CHECK_INT(1, code());
    length = ask("one.example", A);
    query[5] = 2; /* two questions */
    CHECK_INT(12, dns_reply(query, length, reply));
    CHECK_INT(1, code());
    length = ask("one.example", A);
    query[2] = 0x28; /* an update */
    CHECK_INT(12, dns_reply(query, length, reply));
    CHECK_INT(4, code());
    length = ask("one.example", A);
    query[2] = 0x81; /* a reply */
    CHECK_INT(0, dns_reply(query, length, reply));
}

static void random_bytes_are_survived(void)
{
    srand(7);
    for (int round = 0; round < 200000; round++) {
        size_t length = (size_t)rand() % 80;
        for (size_t i = 0; i < length; i++) query[i] = (uint8_t)rand();
        if (round % 2 && length > 12) {
            memcpy(query, (uint8_t[12]){1, 1, 1, 0, 0, 1}, 12);
            for (size_t i = 12; i < length; i++) query[i] %= 70;
        }
        CHECK(dns_reply(query, length, reply) <= DNS_REPLY_MAX);
    }
}

static void the_least_recently_used_address_is_reused(void)
{
    char name[64];
    uint32_t kept = address("kept.example"), lost = address("lost.example");
    for (int i = 0; i < NAME_TABLE_MAX + 1000; i++) {
        snprintf(name, sizeof name, "n%d.example", i);
        uint32_t one = address(name);
        CHECK_INT(0xc612, one >> 16);
        CHECK(one != kept);
        if (i % 1000 == 0) CHECK_INT(kept, address("kept.example")); /* a use */
    }
    const char *now = name_table_name(lost);
    CHECK(now && strcmp(now, "lost.example") != 0);
    CHECK_TEXT("kept.example", name_table_name(kept));
    snprintf(name, sizeof name, "n%d.example", NAME_TABLE_MAX + 999);
    CHECK_TEXT(name, name_table_name(address(name)));
}

int main(void)
{
    RUN(a_name_has_one_address_in_any_case);
    RUN(a_reply_repeats_the_question_as_it_was);
    RUN(other_types_have_no_answer);
    RUN(localhost_is_the_loopback_interface);
    RUN(a_reverse_lookup_returns_the_name);
    RUN(names_that_are_numbers_do_not_exist);
    RUN(names_with_other_characters_do_not_exist);
    RUN(names_have_a_longest_length);
    RUN(damaged_questions_are_errors);
    RUN(random_bytes_are_survived);
    RUN(the_least_recently_used_address_is_reused);
    return check_result();
}
