/* SPDX-License-Identifier: Apache-2.0 */
#include "console/audit/audit.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "console/data/db.h"

static char folder[] = "/tmp/muster-audit-XXXXXX";
static char path[sizeof folder + 16];
static char head[sizeof folder + 16];

enum { ENTRIES = 20 };

static struct db *fill(void)
{
    struct db *db = NULL;
    struct err err = {0};

    (void)unlink(path);
    assert_int_equal(db_open(path, DB_WRITE, &db, &err), 0);
    for (int i = 1; i <= ENTRIES; i++) {
        char entry[64];

        (void)snprintf(entry, sizeof entry, "{\"action\":\"create\",\"n\":%d}", i);
        assert_int_equal(audit_add(db, i * NSEC_PER_SEC, entry, &err), i);
    }
    assert_int_equal(audit_write_head(db, head, &err), 0);
    return db;
}

static void damage(struct db *db, const char *sql)
{
    struct err err = {0};

    assert_int_equal(db_run(db, (struct db_call){.sql = sql}, NULL, &err), 0);
}

static void a_whole_chain_is_verified_and_an_empty_one_too(void **state)
{
    struct err err = {0};
    struct db *db = fill();

    (void)state;
    assert_int_equal(audit_verify(db, head, &err), ENTRIES);
    assert_int_equal(audit_add(db, 0, "{}", &err), ENTRIES + 1);
    /* The process may have ended before the head was written. */
    assert_int_equal(audit_verify(db, head, &err), ENTRIES + 1);
    damage(db, "DELETE FROM audit");
    assert_int_equal(audit_verify(db, NULL, &err), 0);
    db_close(db);
}

static void a_changed_a_removed_and_a_moved_entry_are_found(void **state)
{
    static const struct {
        const char *sql;
        const char *finding;
    } cases[] = {
        {"UPDATE audit SET entry = '{}' WHERE seq = 7", "entry 7 was changed"},
        {"UPDATE audit SET time = 1 WHERE seq = 7", "entry 7 was changed"},
        {"UPDATE audit SET hash = 'x' WHERE seq = 20", "entry 20 was changed"},
        {"DELETE FROM audit WHERE seq = 7", "entry 7 is missing"},
        {"DELETE FROM audit WHERE seq > 18", "its end was cut"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        struct db *db = fill();

        damage(db, cases[i].sql);
        assert_int_equal(audit_verify(db, head, &err), -EBADMSG);
        assert_non_null(strstr(err.text, cases[i].finding));
        db_close(db);
    }
}

static void a_log_that_was_written_anew_is_not_the_one_of_the_head(void **state)
{
    struct err err = {0};
    struct db *db = fill();

    (void)state;
    damage(db, "DELETE FROM audit");
    for (int i = 1; i <= ENTRIES; i++)
        assert_int_equal(audit_add(db, 0, "{}", &err), i);
    assert_int_equal(audit_verify(db, NULL, &err), ENTRIES);
    assert_int_equal(audit_verify(db, head, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "rewritten"));
    db_close(db);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(path, sizeof path, "%s/console.db", folder);
    (void)snprintf(head, sizeof head, "%s/head", folder);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"console.db", "console.db-wal", "console.db-shm", "console.db.lock", "head"};
    char name[sizeof path + 16];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        (void)snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        (void)unlink(name);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_chain_is_verified_and_an_empty_one_too),
        cmocka_unit_test(a_changed_a_removed_and_a_moved_entry_are_found),
        cmocka_unit_test(a_log_that_was_written_anew_is_not_the_one_of_the_head),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
