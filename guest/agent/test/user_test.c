#include <grp.h>
#include <pthread.h>
#include <pwd.h>

#include "../src/operations.h"
#include "stream_double.h"
#include "sandbox_folder.h"
#include "../src/user.h"
#include "check.h"

#define UNPRIVILEGED "nobody"

static void users_are_found(void)
{
    struct user u;
    CHECK(user_find("root", &u));
    CHECK_INT(0, u.uid);
    CHECK_TEXT("root", u.name);
    CHECK(user_find("0", &u));
    CHECK_TEXT("root", u.name);
    CHECK(user_find(UNPRIVILEGED, &u));
    struct passwd *p = getpwnam(UNPRIVILEGED);
    CHECK(p && p->pw_uid == u.uid && p->pw_gid == u.gid);
    CHECK(user_find("54321", &u));
    CHECK_INT(54321, u.uid);
    CHECK_INT(54321, u.gid);
    CHECK_TEXT("", u.name);
    CHECK_TEXT("/", u.home);
    CHECK_TEXT("/bin/sh", u.shell);
    CHECK(user_is_in(&u, "54321"));
    CHECK(!user_is_in(&u, "root"));
    CHECK(!user_is_in(&u, "no-such-group"));
    CHECK(user_find("root:daemon", &u));
    CHECK(user_is_in(&u, "daemon"));
    CHECK_INT(getgrnam("daemon")->gr_gid, u.gid);
    CHECK_INT(0, u.group_count);
    CHECK(user_find("12:34", &u));
    CHECK_INT(34, u.gid);
    static const char *const none[] = {"",         ":",          ":daemon",        "no-such-name", "root:no-such-group",
                                       "-1",       "4294967295", "99999999999999", "root:",        "0x10",
                                       "root/../x"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        if (user_find(none[i], &u)) printf("  found `%s`\n", none[i]);
        CHECK(!user_find(none[i], &u));
    }
    char name[8];
    user_name(0, name, sizeof name);
    CHECK_TEXT("root", name);
    group_name(0, name, sizeof name);
    CHECK_TEXT("root", name);
    user_name(54321, name, sizeof name);
    CHECK_TEXT("", name);
    user_name(0, name, 3);
    CHECK_TEXT("ro", name);
}

static struct builder b;

static int code_of(struct stream *s)
{
    int code = double_code(s);
    double_free(s);
    return code;
}

static int ask_as(void (*operate)(const struct request *), const char *user, const char *path, const char *input)
{
    struct script script = {.input = input, .input_length = strlen(input)};
    build_text(&b, T_PATH, path);
    build_text(&b, T_USER, user);
    return code_of(ask(operate, &b, &script));
}

static void operations_run_as_the_user(void)
{
    struct stat st;
    put_text(at("secret"), "x");
    chmod(at("secret"), 0600);
    shell("mkdir %s && chmod 777 %s && mkdir %s && chmod 700 %s", at("open"), at("open"), at("closed"), at("closed"));
    CHECK_INT(E_DENIED, ask_as(operate_read, UNPRIVILEGED, "secret", ""));
    CHECK_INT(0, ask_as(operate_read, "root", "secret", ""));
    CHECK_INT(E_DENIED, ask_as(operate_write, UNPRIVILEGED, "secret", "evil"));
    CHECK_INT(E_DENIED, ask_as(operate_write, UNPRIVILEGED, "closed/f", "evil"));
    CHECK_INT(0, ask_as(operate_write, "54321", "open/f", "mine"));
    CHECK(stat(at("open/f"), &st) == 0 && st.st_uid == 54321 && st.st_gid == 54321);
    CHECK_INT(0, ask_as(operate_mkdir, "12:34", "open/d", ""));
    CHECK(stat(at("open/d"), &st) == 0 && st.st_uid == 12 && st.st_gid == 34);
    CHECK_INT(E_NO_SUCH_USER, ask_as(operate_stat, "no-such", "secret", ""));
    CHECK_INT(E_NO_SUCH_USER, ask_as(operate_stat, "", "secret", ""));
    build_text(&b, T_PATH, "open/f");
    build_text(&b, T_USER, "12");
    build_u64(&b, T_MODE, 0777);
    CHECK_INT(E_DENIED, code_of(ask(operate_chmod, &b, NULL)));
    /* the owner may, although the descriptor is reached through /proc */
    build_text(&b, T_PATH, "open/f");
    build_text(&b, T_USER, "54321");
    build_u64(&b, T_MODE, 0200);
    CHECK_INT(0, code_of(ask(operate_chmod, &b, NULL)));
    /* and afterwards the thread is root again */
    CHECK_INT(0, code_of(ask_path(operate_read, "secret")));
    file_view.user = UNPRIVILEGED;
    CHECK_INT(E_DENIED, code_of(ask_path(operate_read, "secret")));
    file_view.user = NULL;
    CHECK_INT(0, code_of(ask_path(operate_read, "secret")));
}

static void *hammer(void *argument)
{
    bool unprivileged = argument != NULL;
    for (int i = 0; i < 300; i++) {
        struct builder f = {0};
        build_text(&f, T_PATH, "secret");
        if (unprivileged) build_text(&f, T_USER, UNPRIVILEGED);
        struct stream *s = ask(operate_read, &f, NULL);
        bool right = double_code(s) == (unprivileged ? E_DENIED : 0);
        double_free(s);
        if (!right) return "wrong rights";
    }
    return NULL;
}

/* Rights belong to the thread: two threads with different users never get each other's. */
static void threads_have_separate_rights(void)
{
    pthread_t threads[4];
    void *wrong;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, hammer, i % 2 ? UNPRIVILEGED : NULL);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &wrong);
        CHECK(!wrong);
    }
}

static void not_root(void)
{
    char self[32];
    snprintf(self, sizeof self, "%u:%u", geteuid(), getegid());
    put_text(at("own"), "x");
    CHECK_INT(0, ask_as(operate_read, self, "own", ""));
    CHECK_INT(E_DENIED, ask_as(operate_read, "root", "own", ""));
}

int main(void)
{
    sandbox_make();
    RUN(users_are_found);
    if (geteuid() == 0) {
        RUN(operations_run_as_the_user);
        RUN(threads_have_separate_rights);
        NOT_RUN(not_root, "runs as root");
    } else {
        RUN(not_root);
        NOT_RUN(operations_run_as_the_user, "needs root");
        NOT_RUN(threads_have_separate_rights, "needs root");
    }
    sandbox_remove();
    return check_result();
}
