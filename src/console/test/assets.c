/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "console/assets/kinds.h"
#include "console/assets/vault.h"
#include "console/data/db.h"

static char folder[] = "/tmp/muster-vault-XXXXXX";
static char path[sizeof folder + 16];
static char keys[sizeof folder + 16];

static struct db *open_db(void)
{
    struct db *db = NULL;
    struct err err = {0};

    assert_int_equal(db_open(path, DB_WRITE, &db, &err), 0);
    return db;
}

static void expect_secret(struct vault *vault, const char *owner, const char *wanted)
{
    struct err err = {0};
    char *text = NULL;

    assert_int_equal(vault_get(vault, owner, &text, &err), 0);
    assert_string_equal(text, wanted);
    free(text);
}

static void write_keys(const char *text)
{
    FILE *file = fopen(keys, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(keys, 0600), 0);
}

static void secrets_are_bound_to_their_owner_and_a_change_is_noticed(void **state)
{
    struct err err = {0};
    struct db *db = open_db();
    struct vault *vault = NULL;
    char *text = NULL;

    (void)state;
    assert_int_equal(vault_open(keys, db, &vault, &err), 0);
    assert_int_equal(vault_put(vault, "a", "first", &err), 0);
    assert_int_equal(vault_put(vault, "a", "second", &err), 0);
    assert_int_equal(vault_put(vault, "b", "", &err), 0);
    expect_secret(vault, "a", "second");
    expect_secret(vault, "b", "");
    assert_int_equal(vault_get(vault, "c", &text, &err), -ENOENT);
    assert_int_equal(db_run(db, DB_CALL("UPDATE sealed SET owner = 'd' WHERE owner = 'a'"), NULL, &err), 0);
    assert_int_equal(vault_get(vault, "d", &text, &err), -EBADMSG);
    assert_int_equal(db_run(db, DB_CALL("UPDATE sealed SET box = 'AAAA' WHERE owner = 'b'"), NULL, &err), 0);
    assert_int_equal(vault_get(vault, "b", &text, &err), -EBADMSG);
    assert_int_equal(vault_delete(vault, "b", &err), 0);
    assert_int_equal(vault_delete(vault, "d", &err), 0);
    assert_int_equal(vault_get(vault, "b", &text, &err), -ENOENT);
    vault_free(vault);
    db_close(db);
}

#define KEY_1 "1 1111111111111111111111111111111111111111111111111111111111111111\n"
#define KEY_2 "2 2222222222222222222222222222222222222222222222222222222222222222\n"

static void a_new_key_takes_over_and_the_old_one_may_go(void **state)
{
    struct err err = {0};
    struct db *db = open_db();
    struct vault *vault = NULL;

    (void)state;
    write_keys(KEY_1);
    assert_int_equal(db_run(db, DB_CALL("DELETE FROM sealed"), NULL, &err), 0);
    assert_int_equal(vault_open(keys, db, &vault, &err), 0);
    assert_int_equal(vault_put(vault, "a", "kept", &err), 0);
    vault_free(vault);
    write_keys("1 3333333333333333333333333333333333333333333333333333333333333333\n");
    assert_int_equal(db_run(db, DB_CALL("DELETE FROM sealed WHERE owner = 'a'"), NULL, &err), 0);
    assert_int_equal(vault_open(keys, db, &vault, &err), -EBADMSG);
    write_keys(KEY_1);
    assert_int_equal(vault_open(keys, db, &vault, &err), 0);
    assert_int_equal(vault_put(vault, "a", "kept", &err), 0);
    vault_free(vault);
    write_keys(KEY_2);
    assert_int_equal(vault_open(keys, db, &vault, &err), -ENOKEY);
    write_keys(KEY_1 KEY_2);
    assert_int_equal(vault_open(keys, db, &vault, &err), 0);
    assert_int_equal(vault_key_id(vault), 2);
    vault_free(vault);
    write_keys(KEY_2);
    assert_int_equal(vault_open(keys, db, &vault, &err), 0);
    expect_secret(vault, "a", "kept");
    vault_free(vault);
    db_close(db);
}

static void files_that_are_no_keys_are_refused(void **state)
{
    static const char *const wrong[] = {"", "\n", "1\n", "x 11\n", "1 11\n", "-" KEY_1, KEY_1 KEY_1, "1 z" KEY_1};
    struct err err = {0};
    struct db *db = open_db();
    struct vault *vault = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        write_keys(wrong[i]);
        assert_true(vault_open(keys, db, &vault, &err) < 0);
    }
    write_keys(KEY_2);
    assert_int_equal(chmod(keys, 0640), 0);
    assert_int_equal(vault_open(keys, db, &vault, &err), -EPERM);
    assert_int_equal(unlink(keys), 0);
    assert_int_equal(vault_open(keys, db, &vault, &err), -ENOKEY);
    db_close(db);
}

/* Each row of the table has all that the handlers use. */
static void every_kind_is_found_by_its_path_and_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < asset_kind_count; i++) {
        const struct asset_kind *kind = &asset_kinds[i];
        char deeper[256];

        assert_ptr_equal(asset_kind_find(kind->name), kind);
        assert_ptr_equal(asset_kind_at(kind->path), kind);
        (void)snprintf(deeper, sizeof deeper, "%s/123", kind->path);
        assert_ptr_equal(asset_kind_at(deeper), kind);
        assert_non_null(kind->spec);
        assert_int_equal(kind->group == ASSET_PLAIN, kind->group_key == NULL);
    }
    assert_null(asset_kind_at("/api/v1/asset/nothing"));
    assert_null(asset_kind_at("/api/v1/asset/computes"));
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(path, sizeof path, "%s/db", folder);
    (void)snprintf(keys, sizeof keys, "%s/keys", folder);
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"db", "db-wal", "db-shm", "db.lock", "keys"};
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
        cmocka_unit_test(secrets_are_bound_to_their_owner_and_a_change_is_noticed),
        cmocka_unit_test(a_new_key_takes_over_and_the_old_one_may_go),
        cmocka_unit_test(files_that_are_no_keys_are_refused),
        cmocka_unit_test(every_kind_is_found_by_its_path_and_its_name),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
