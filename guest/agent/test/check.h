/* Minimal test harness: named tests, checks that report where they failed, and a count at the end. */
#ifndef ISOLA_CHECK_H
#define ISOLA_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Weak: shared by the files of one test program. */
__attribute__((weak)) int check_passed, check_failed;
__attribute__((weak)) bool check_now_failed, check_now_not_run;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            check_now_failed = true;                                                                                   \
            printf("  %s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                         \
        }                                                                                                              \
    } while (0)

#define CHECK_INT(expected, actual)                                                                                    \
    do {                                                                                                               \
        long long check_e = (long long)(expected), check_a = (long long)(actual);                                      \
        if (check_e != check_a) {                                                                                      \
            check_now_failed = true;                                                                                   \
            printf("  %s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #actual, check_a, check_e);             \
        }                                                                                                              \
    } while (0)

#define CHECK_TEXT(expected, actual)                                                                                   \
    do {                                                                                                               \
        const char *check_e = (expected), *check_a = (actual);                                                         \
        if (!check_a || strcmp(check_e, check_a) != 0) {                                                               \
            check_now_failed = true;                                                                                   \
            printf("  %s:%d: %s is `%s`, expected `%s`\n", __FILE__, __LINE__, #actual, check_a ? check_a : "(null)",  \
                   check_e);                                                                                           \
        }                                                                                                              \
    } while (0)

#define RUN(test)                                                                                                      \
    do {                                                                                                               \
        check_now_failed = check_now_not_run = false;                                                                  \
        if (!check_left_out(#test)) test();                                                                            \
        if (!check_now_not_run) printf("%s %s\n", check_now_failed ? "FAILED" : "ok", #test);                          \
        fflush(stdout);                                                                                                \
        check_failed += check_now_failed;                                                                              \
        check_passed += !check_now_failed && !check_now_not_run;                                                       \
    } while (0)

#define NOT_RUN(test, why) (check_now_not_run = true, printf("NOT RUN %s: %s\n", #test, why))

/*
 * CHECK_LEFT_OUT names a file of tests that an emulator cannot run: name, tab, reason. CHECK_ONLY names the only test to
 * run.
 */
static inline bool check_left_out(const char *test)
{
    const char *path = getenv("CHECK_LEFT_OUT"), *only = getenv("CHECK_ONLY");
    if (only) return check_now_not_run = strcmp(only, test) != 0;
    FILE *list = path ? fopen(path, "re") : NULL;
    size_t length = strlen(test);
    char line[256];
    while (list && !check_now_not_run && fgets(line, sizeof line, list))
        if (strncmp(line, test, length) == 0 && line[length] == '\t') {
            printf("NOT RUN %s: %s", test, line + length + 1);
            check_now_not_run = true;
        }
    if (list) fclose(list);
    return check_now_not_run;
}

static inline int check_result(void)
{
    printf("%d passed, %d failed\n", check_passed, check_failed);
    return check_failed ? 1 : 0;
}

#endif
