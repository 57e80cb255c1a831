/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Both back ends, by the same tests. MUSTER_TEST_POSTGRES has the URL of an empty database; where it is not set, the program runs
 * itself again with a server that is started for it. An empty one leaves PostgreSQL out.
 */
#include "console/data/db.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"

static char folder[] = "/tmp/muster-db-XXXXXX";
static char path[sizeof folder + 16];

static const char *const urls[2] = {path, NULL};

static const char *postgres_url(void)
{
    const char *url = getenv("MUSTER_TEST_POSTGRES");

    return url && *url ? url : NULL;
}

static const char *url_at(int i)
{
    return i == 0 ? urls[0] : postgres_url();
}

#define EACH_BACKEND(url)                            \
    for (int backend_ = 0; backend_ < 2; backend_++) \
        for (const char *url = url_at(backend_); url; url = NULL)

static struct db *open_fresh(const char *url)
{
    static const char *const tables[] = {"items", "secrets", "grants", "audit", "sealed", "changes", "notices", "meta"};
    struct db *db = NULL;
    struct err err = {0};

    if (db_open(url, DB_WRITE, &db, &err) == 0) {
        for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
            char sql[64];

            (void)snprintf(sql, sizeof sql, "DROP TABLE IF EXISTS %s", tables[i]);
            assert_int_equal(db_run(db, (struct db_call){.sql = sql}, NULL, &err), 0);
        }
        db_close(db);
    }
    assert_int_equal(db_open(url, DB_WRITE, &db, &err), 0);
    return db;
}

static int add_item(struct db *db, const char *id, const char *name, struct err *err)
{
    return db_run(
        db, DB_CALL("INSERT INTO items VALUES('thing', $1, '', $2, $3)", db_text(id), db_text(name), db_text("{}")),
        NULL, err);
}

static int64_t count_items(struct db *db)
{
    struct err err = {0};
    int64_t count = -1;

    assert_int_equal(db_query_number(db, DB_CALL("SELECT count(*) FROM items"), &count, &err), 0);
    return count;
}

static void a_committed_transaction_stays_and_a_rolled_back_one_leaves_nothing(void **state)
{
    (void)state;
    EACH_BACKEND(url)
    {
        struct err err = {0};
        struct db *db = open_fresh(url);

        assert_int_equal(db_begin(db, &err), 0);
        assert_int_equal(add_item(db, "1", "a", &err), 0);
        db_rollback(db);
        assert_int_equal(count_items(db), 0);
        assert_int_equal(db_begin(db, &err), 0);
        assert_int_equal(add_item(db, "1", "a", &err), 0);
        assert_int_equal(db_commit(db, &err), 0);
        db_close(db);
        assert_int_equal(db_open(url, DB_WRITE, &db, &err), 0);
        assert_int_equal(count_items(db), 1);
        db_close(db);
    }
}

static void a_second_row_of_one_name_is_refused_and_spoils_its_transaction_alone(void **state)
{
    (void)state;
    EACH_BACKEND(url)
    {
        struct err err = {0};
        struct db *db = open_fresh(url);

        assert_int_equal(add_item(db, "1", "a", &err), 0);
        assert_int_equal(db_begin(db, &err), 0);
        assert_int_equal(add_item(db, "2", "b", &err), 0);
        assert_int_equal(add_item(db, "3", "a", &err), -EEXIST);
        db_rollback(db);
        assert_int_equal(count_items(db), 1);
        assert_int_equal(add_item(db, "2", "b", &err), 0);
        db_close(db);
    }
}

static int collect(void *arg, const struct db_value *columns, size_t count)
{
    char *text = arg;

    assert_int_equal(count, 3);
    assert_int_equal(columns[1].type, DB_NUMBER);
    assert_int_equal(columns[2].type, DB_NULL);
    (void)snprintf(text + strlen(text), 64, "%s=%lld;", columns[0].text, (long long)columns[1].number);
    return 0;
}

static void texts_numbers_and_nulls_come_back_as_they_were(void **state)
{
    (void)state;
    EACH_BACKEND(url)
    {
        struct err err = {0};
        struct db *db = open_fresh(url);
        char text[256] = "";
        int64_t changed = 0;

        for (int i = 0; i < 2; i++) {
            assert_int_equal(db_run(db,
                                    DB_CALL("INSERT INTO audit VALUES($2, $2, $1, '')",
                                            db_text(i ? "o'ne \xc3\xa9" : ""), db_number(INT64_MAX - i)),
                                    &changed, &err),
                             0);
            assert_int_equal(changed, 1);
        }
        assert_int_equal(db_query(db, DB_CALL("SELECT entry, seq, NULL FROM audit ORDER BY seq"), collect, text, &err),
                         0);
        assert_string_equal(text, "o'ne \xc3\xa9=9223372036854775806;=9223372036854775807;");
        db_close(db);
    }
}

static void a_file_has_one_writer_and_more_readers(void **state)
{
    (void)state;
    EACH_BACKEND(url)
    {
        struct err err = {0};
        struct db *db = open_fresh(url);
        struct db *other = NULL;

        if (url == urls[0])
            assert_int_equal(db_open(url, DB_WRITE, &other, &err), -EBUSY);
        assert_int_equal(db_open(url, DB_READ, &other, &err), 0);
        assert_int_equal(count_items(other), 0);
        db_close(other);
        db_close(db);
        assert_int_equal(db_open(url, DB_WRITE, &db, &err), 0);
        db_close(db);
    }
}

static void transactions_of_two_writers_come_one_after_the_other(void **state)
{
    const char *url = postgres_url();
    struct err err = {0};
    struct db *other = NULL;

    (void)state;
    if (!url)
        return;
    struct db *db = open_fresh(url);
    assert_int_equal(db_open(url, DB_WRITE, &other, &err), 0);
    assert_int_equal(db_begin(db, &err), 0);
    assert_int_equal(add_item(db, "1", "a", &err), 0);
    assert_int_equal(db_begin(other, &err), -ESHUTDOWN);
    assert_false(db_in_transaction(other));
    assert_int_equal(db_commit(db, &err), 0);
    assert_int_equal(db_begin(other, &err), 0);
    assert_int_equal(count_items(other), 1);
    db_rollback(other);
    db_close(other);
    db_close(db);
}

static void one_writer_leads_until_it_has_gone(void **state)
{
    (void)state;
    EACH_BACKEND(url)
    {
        struct err err = {0};
        struct db *db = open_fresh(url);
        struct db *other = NULL;
        int64_t number = 0;
        bool leads = false;

        assert_int_equal(db_lead(db, &leads, &err), 0);
        assert_true(leads);
        assert_int_equal(db_lead(db, &leads, &err), 0);
        assert_true(leads);
        if (url != urls[0]) {
            assert_int_equal(db_open(url, DB_WRITE, &other, &err), 0);
            assert_int_equal(db_lead(other, &leads, &err), 0);
            assert_false(leads);
            assert_true(
                db_query_number(db, DB_CALL("SELECT pg_terminate_backend(pg_backend_pid())::int"), &number, &err) < 0);
            do
                assert_int_equal(db_lead(other, &leads, &err), 0);
            while (!leads);
            assert_int_equal(db_lead(db, &leads, &err), 0);
            assert_false(leads);
            db_close(other);
        }
        db_close(db);
    }
}

static void tables_of_a_newer_release_are_refused(void **state)
{
    (void)state;
    EACH_BACKEND(url)
    {
        struct err err = {0};
        struct db *db = open_fresh(url);
        struct db *reader = NULL;
        int64_t taken = 0;

        assert_int_equal(db_schema_taken(db, &taken, &err), 0);
        assert_int_equal(taken, db_schema_known());
        assert_int_equal(db_open(url, DB_READ, &reader, &err), 0);
        assert_int_equal(db_run(db, DB_CALL("UPDATE meta SET value = '999' WHERE key = 'schema'"), NULL, &err), 0);
        db_close(db);
        assert_int_equal(db_open(url, DB_WRITE, &db, &err), -ENOTSUP);
        assert_non_null(strstr(err.text, "newer release"));
        /* For whoever comes next; SQLite holds a reader to its word. */
        if (url == urls[0])
            (void)unlink(path);
        else
            assert_int_equal(
                db_run(reader, DB_CALL("UPDATE meta SET value = CAST($1 AS TEXT)", db_number(taken)), NULL, &err), 0);
        db_close(reader);
    }
}

static void a_lost_connection_is_made_again(void **state)
{
    const char *url = postgres_url();
    struct err err = {0};
    int64_t number = 0;

    (void)state;
    if (!url)
        return;
    struct db *db = open_fresh(url);
    assert_true(db_query_number(db, DB_CALL("SELECT pg_terminate_backend(pg_backend_pid())::int"), &number, &err) < 0);
    assert_int_equal(err.code, -ESHUTDOWN);
    assert_int_equal(count_items(db), 0);
    db_close(db);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(path, sizeof path, "%s/console.db", folder);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"console.db", "console.db-wal", "console.db-shm", "console.db.lock"};
    char name[sizeof path + 16];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        (void)snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        (void)unlink(name);
    }
    return rmdir(folder);
}

/* The folder of a test is the root of the sources. */
#define WITH_POSTGRES "tests/console/with-postgres"

int main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_committed_transaction_stays_and_a_rolled_back_one_leaves_nothing),
        cmocka_unit_test(a_second_row_of_one_name_is_refused_and_spoils_its_transaction_alone),
        cmocka_unit_test(texts_numbers_and_nulls_come_back_as_they_were),
        cmocka_unit_test(a_file_has_one_writer_and_more_readers),
        cmocka_unit_test(transactions_of_two_writers_come_one_after_the_other),
        cmocka_unit_test(one_writer_leads_until_it_has_gone),
        cmocka_unit_test(a_lost_connection_is_made_again),
        cmocka_unit_test(tables_of_a_newer_release_are_refused),
    };

    (void)argc;
    if (!getenv("MUSTER_TEST_POSTGRES") && access(WITH_POSTGRES, X_OK) == 0)
        (void)execl(WITH_POSTGRES, WITH_POSTGRES, argv[0], (char *)NULL);
    if (!postgres_url())
        (void)printf("# PostgreSQL is left out: no server is installed\n");
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
