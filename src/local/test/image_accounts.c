/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/pod/accounts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "local/server/files.h"

struct root {
    char folder[64];
};

static void write_file(const struct root *root, const char *name, const char *text)
{
    char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", root->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static struct root make_root(void)
{
    struct root root = {"/tmp/muster-accounts-XXXXXX"};
    char path[128];

    assert_non_null(mkdtemp(root.folder));
    (void)snprintf(path, sizeof path, "%s/etc", root.folder);
    assert_int_equal(mkdir(path, 0755), 0);
    write_file(&root, "etc/passwd",
               "root:x:0:0::/root:/bin/sh\njo:x:1000:100::/jo:/bin/sh\nbroken\nbad:x:y:z\n7:x:70:71::/:");
    write_file(&root, "etc/group", "users:x:100:\nextra:x:500:jo\n");
    return root;
}

static void users_and_groups_are_found_by_name_and_number(void **state)
{
    static const struct {
        const char *text;
        int64_t uid, gid;
    } rows[] = {{"root", 0, 0},      {"jo", 1000, 100},       {"1000", 1000, 100},
                {"4242", 4242, -1},  {"jo:extra", 1000, 500}, {"jo:7", 1000, 7},
                {"5:users", 5, 100}, {"1:2", 1, 2},           {"7", 70, 71}};
    struct root root = make_root();

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t uid = 0, gid = 0;

        assert_int_equal(account_find(root.folder, rows[i].text, &uid, &gid, NULL), 0);
        assert_int_equal(uid, rows[i].uid);
        assert_int_equal(gid, rows[i].gid);
    }
    (void)folder_remove(root.folder);
}

static void accounts_that_are_not_there_are_refused(void **state)
{
    static const char *const bad[] = {"ghost", "bad", "broken", "jo:ghost", "jo:", ":", "-1", "99999999999999999999",
                                      "1x"};
    struct root root = make_root();
    int64_t uid = 0, gid = 0;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_true(account_find(root.folder, bad[i], &uid, &gid, NULL) < 0);
    (void)folder_remove(root.folder);
}

static void files_outside_the_folder_are_never_read(void **state)
{
    struct root root = make_root(), other = make_root();
    int64_t uid = 0, gid = 0;
    char target[128], link[128];

    (void)state;
    (void)snprintf(target, sizeof target, "%s/etc/passwd", other.folder);
    (void)snprintf(link, sizeof link, "%s/etc/passwd", root.folder);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink(target, link), 0);
    assert_true(account_find(root.folder, "jo", &uid, &gid, NULL) < 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(mkfifo(link, 0600), 0);
    assert_true(account_find(root.folder, "jo", &uid, &gid, NULL) < 0);
    (void)folder_remove(root.folder);
    (void)folder_remove(other.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_and_groups_are_found_by_name_and_number),
        cmocka_unit_test(accounts_that_are_not_there_are_refused),
        cmocka_unit_test(files_outside_the_folder_are_never_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
