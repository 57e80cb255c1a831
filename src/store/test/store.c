/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/strbuf.h"
#include "store/test/world.h"

/* The names of a kind in order, "ns/name ". */
static void expect_list(struct world *world, uint32_t kind, const char *expected)
{
    struct strbuf names;
    struct store_cursor cursor;
    const struct store_object *object;

    strbuf_init(&names, 10000);
    store_cursor_init(&cursor, world->store, kind, "", "");
    while ((object = store_cursor_next(&cursor)))
        strbuf_addf(&names, "%s/%s ", object->namespace, object->name);
    store_cursor_done(&cursor);
    assert_string_equal(names.text, expected);
    strbuf_done(&names);
}

static void objects_are_read_in_the_order_of_their_names(void **state)
{
    (void)state;
    struct world world;

    world_begin(&world);
    assert_int_equal(world_put(&world, "b", "1", "x"), 0);
    assert_int_equal(world_put(&world, "a", "2", "x"), 0);
    assert_int_equal(world_put(&world, "", "z", "x"), 0);
    assert_int_equal(world_put(&world, "a", "10", "x"), 0);
    expect_list(&world, world.pods, "/z a/10 a/2 b/1 ");
    expect_list(&world, world.jobs, "");
    assert_int_equal(world_remove(&world, "a", "10"), 0);
    expect_list(&world, world.pods, "/z a/2 b/1 ");
    assert_int_equal(store_count(world.store, world.pods), 3);
    world_done(&world);
}

static void a_walk_goes_on_behind_what_it_gave_whatever_happens(void **state)
{
    (void)state;
    struct world world;
    struct store_cursor cursor;

    world_begin(&world);
    for (int i = 0; i < 9; i++)
        world_put(&world, "a", (char[]){(char)('0' + i), 0}, "x");
    store_cursor_init(&cursor, world.store, world.pods, "a", "1");
    assert_string_equal(store_cursor_next(&cursor)->name, "2");
    world_remove(&world, "a", "2");
    world_remove(&world, "a", "3");
    world_put(&world, "a", "35", "x");
    world_put(&world, "a", "15", "x");
    assert_string_equal(store_cursor_next(&cursor)->name, "35");
    assert_string_equal(store_cursor_next(&cursor)->name, "4");
    store_cursor_done(&cursor);
    world_done(&world);
}

static void thousands_of_names_stay_in_order(void **state)
{
    (void)state;
    struct world world;
    struct store_cursor cursor;
    const struct store_object *object;
    char name[16], last[16] = "";
    int count = 0;

    world_begin(&world);
    for (unsigned i = 0; i < 3000; i++) {
        (void)snprintf(name, sizeof name, "%u", i * 7919 % 3001);
        world_start_put(&world, world.pods, "a", name, "x");
    }
    assert_int_equal(world_wait(&world), 0);
    for (unsigned i = 0; i < 3000; i += 2) {
        (void)snprintf(name, sizeof name, "%u", i * 7919 % 3001);
        world_start_put(&world, world.pods, "a", name, NULL);
    }
    assert_int_equal(world_wait(&world), 0);
    store_cursor_init(&cursor, world.store, world.pods, "", "");
    for (; (object = store_cursor_next(&cursor)); count++) {
        assert_true(strcmp(last, object->name) < 0);
        strcpy(last, object->name);
    }
    store_cursor_done(&cursor);
    assert_int_equal(count, 1500);
    world_done(&world);
}

static void what_is_not_on_the_disk_is_not_seen(void **state)
{
    (void)state;
    struct world world;

    world_begin(&world);
    world_start_put(&world, world.pods, "a", "x", "one");
    world_start_put(&world, world.pods, "a", "x", "two");
    assert_null(store_get(world.store, world.pods, "a", "x"));
    assert_string_equal(store_latest(world.store, world.pods, "a", "x")->body, "two");
    assert_int_equal(store_version(world.store), 0);
    assert_int_equal(store_next_version(world.store), 3);
    world_start_put(&world, world.pods, "a", "x", NULL);
    assert_null(store_latest(world.store, world.pods, "a", "x"));
    world_wait(&world);
    assert_null(store_get(world.store, world.pods, "a", "x"));
    assert_int_equal(store_version(world.store), 3);
    world_done(&world);
}

static void everything_is_there_again_after_a_restart(void **state)
{
    (void)state;
    struct world world;

    world_begin(&world);
    world_put(&world, "a", "x", "app=web one");
    world_put(&world, "a", "y", "two");
    world_remove(&world, "a", "y");
    world_close(&world);
    world_open(&world, 0);
    expect_list(&world, world.pods, "a/x ");
    assert_string_equal(world_body(&world, "a", "x"), "app=web one");
    assert_int_equal(store_get(world.store, world.pods, "a", "x")->version, 1);
    assert_string_equal(store_object_tag(store_get(world.store, world.pods, "a", "x"), "app"), "web");
    /* The version of a removal is used up although it left no row. */
    assert_int_equal(store_version(world.store), 3);
    assert_int_equal(store_next_version(world.store), 4);
    world_done(&world);
}

static void kinds_without_objects_leave_no_gap(void **state)
{
    (void)state;
    struct world world;

    world_begin(&world);
    /* Pods were asked for first, and there are none. */
    assert_true(world.jobs > world.pods);
    world_start_put(&world, world.jobs, "a", "x", "one");
    world_wait(&world);
    world_close(&world);
    world_open(&world, 0);
    expect_list(&world, world.jobs, "a/x ");
    world_done(&world);
}

static void add_name(void *arg, const struct store_object *object)
{
    strbuf_addf(arg, "%s ", object->name);
}

static void expect_tagged(struct world *world, const char *value, const char *expected)
{
    struct strbuf names;

    strbuf_init(&names, 1000);
    store_tagged(world->store, world->pods, "app", value, add_name, &names);
    assert_string_equal(names.text, expected);
    strbuf_done(&names);
}

static void objects_are_found_by_their_tags(void **state)
{
    (void)state;
    struct world world;

    world_begin(&world);
    world_put(&world, "a", "x", "app=web");
    world_put(&world, "a", "y", "app=web color=red");
    world_put(&world, "a", "z", "app=db");
    expect_tagged(&world, "web", "x y ");
    world_put(&world, "a", "x", "app=db");
    world_remove(&world, "a", "z");
    expect_tagged(&world, "web", "y ");
    expect_tagged(&world, "db", "x ");
    expect_tagged(&world, "none", "");
    assert_string_equal(store_object_tag(store_get(world.store, world.pods, "a", "y"), "color"), "red");
    assert_null(store_object_tag(store_get(world.store, world.pods, "a", "y"), "size"));
    world_done(&world);
}

struct follower {
    struct store_follower follower;
    int wakes;
};

static void wake(void *arg)
{
    ((struct follower *)arg)->wakes++;
}

/* Reads what has come: "+x ~x -x" with versions. */
static int read_changes(struct world *world, uint32_t kind, uint64_t *position, struct strbuf *text)
{
    const struct store_change *change;
    int r;

    strbuf_clear(text);
    while ((r = store_next_change(world->store, kind, position, &change)) > 0)
        strbuf_addf(text, "%c%s@%u ",
                    change->is_removal ? '-'
                    : change->before   ? '~'
                                       : '+',
                    change->after->name, (unsigned)change->version);
    return r;
}

static void followers_read_the_changes_of_their_kind(void **state)
{
    (void)state;
    struct world world;
    struct follower follower = {0};
    struct strbuf text;
    uint64_t position = 0;

    world_begin(&world);
    strbuf_init(&text, 1000);
    world_put(&world, "a", "x", "1");
    assert_int_equal(store_position(world.store, 1, &position), 0);
    store_follow(world.store, &follower.follower, world.pods, wake, &follower);
    world_start_put(&world, world.jobs, "a", "j", "1");
    world_start_put(&world, world.pods, "a", "x", "2");
    world_start_put(&world, world.pods, "a", "y", "1");
    world_start_put(&world, world.pods, "a", "x", NULL);
    world_wait(&world);
    assert_true(follower.wakes > 0);
    assert_int_equal(read_changes(&world, world.pods, &position, &text), 0);
    assert_string_equal(text.text, "~x@3 +y@4 -x@5 ");
    assert_int_equal(read_changes(&world, world.pods, &position, &text), 0);
    assert_string_equal(text.text, "");
    world_put(&world, "a", "z", "1");
    assert_int_equal(read_changes(&world, world.pods, &position, &text), 0);
    assert_string_equal(text.text, "+z@6 ");
    store_unfollow(world.store, &follower.follower);
    follower.wakes = 0;
    world_put(&world, "a", "z", "2");
    assert_int_equal(follower.wakes, 0);
    strbuf_done(&text);
    world_done(&world);
}

static void whoever_is_too_far_behind_is_told(void **state)
{
    (void)state;
    struct world world;
    struct strbuf text;
    uint64_t position = 0;

    world_init(&world);
    world_open(&world, 4);
    strbuf_init(&text, 1000);
    assert_int_equal(store_position(world.store, 0, &position), 0);
    for (int i = 0; i < 6; i++)
        world_put(&world, "a", "x", "1");
    assert_int_equal(read_changes(&world, world.pods, &position, &text), -ESTALE);
    assert_int_equal(store_position(world.store, 1, &position), -ESTALE);
    assert_int_equal(store_position(world.store, 2, &position), 0);
    assert_int_equal(read_changes(&world, world.pods, &position, &text), 0);
    assert_string_equal(text.text, "~x@3 ~x@4 ~x@5 ~x@6 ");
    assert_int_equal(store_position(world.store, 6, &position), 0);
    assert_int_equal(store_position(world.store, 7, &position), -ERANGE);

    /* After a restart only what comes is known. */
    world_close(&world);
    world_open(&world, 4);
    assert_int_equal(store_position(world.store, 5, &position), -ESTALE);
    assert_int_equal(store_position(world.store, 6, &position), 0);
    strbuf_done(&text);
    world_done(&world);
}

static void what_is_too_large_is_refused_alone(void **state)
{
    (void)state;
    struct world world;
    char name[STORE_NAME_MAX + 2];

    world_begin(&world);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(world_put(&world, "a", name, "1"), -E2BIG);
    assert_int_equal(world_put(&world, name, "a", "1"), -E2BIG);
    assert_int_equal(world_put(&world, "a", "x", "1"), 0);
    assert_int_equal(store_version(world.store), 1);
    world_done(&world);
}

static void a_store_that_closes_finishes_and_takes_no_more(void **state)
{
    (void)state;
    struct world world;

    world_begin(&world);
    world_start_put(&world, world.pods, "a", "x", "1");
    store_close(world.store, NULL, NULL);
    world_start_put(&world, world.pods, "a", "y", "1");
    assert_int_equal(world_wait(&world), 0);
    loop_run(world.loop);
    world_open(&world, 0);
    expect_list(&world, world.pods, "a/x ");
    store_close(world.store, world_stop, &world);
    world_start_put(&world, world.pods, "a", "y", "1");
    assert_int_equal(world_wait(&world), -ECANCELED);
    loop_run(world.loop);
    world.store = NULL;
    world_done(&world);
}

static mode_t mode_of(const struct world *world, const char *file)
{
    char path[128];
    struct stat found;

    (void)snprintf(path, sizeof path, "%s/%s", world->folder, file);
    assert_int_equal(stat(path, &found), 0);
    return found.st_mode & 0777;
}

static void only_the_owner_may_read_it(void **state)
{
    (void)state;
    struct world world;
    struct world second;
    struct err err = {0};

    world_init(&world);
    assert_int_equal(rmdir(world.folder), 0);
    world_open(&world, 0);
    world_put(&world, "a", "x", "1");
    assert_int_equal(mode_of(&world, "."), 0700);
    assert_int_equal(mode_of(&world, "objects.db"), 0600);
    assert_int_equal(mode_of(&world, "objects.db-wal"), 0600);
    assert_int_equal(mode_of(&world, "lock"), 0600);
    second = world;
    assert_int_equal(world_try_open(&second, 0, &err), -EBUSY);
    assert_non_null(strstr(err.text, "is used by another process"));
    world_done(&world);
}

static void backed_up(void *arg, int result, const struct err *err)
{
    struct world *world = arg;

    assert_true(result < 0 ? err != NULL : err == NULL);
    world->result = result;
    loop_stop(world->loop);
}

static int back_up(struct world *world, const char *path)
{
    store_backup(world->store, path, backed_up, world);
    loop_run(world->loop);
    return world->result;
}

static void a_backup_is_restored(void **state)
{
    (void)state;
    struct world world;
    struct err err = {0};
    char path[128];

    world_begin(&world);
    world_put(&world, "a", "x", "one");
    (void)snprintf(path, sizeof path, "%s/backup", world.folder);
    assert_int_equal(back_up(&world, path), 0);
    assert_int_equal(mode_of(&world, "backup"), 0600);
    assert_int_equal(back_up(&world, path), -EEXIST);
    world_put(&world, "a", "x", "two");
    assert_int_equal(store_restore(world.folder, path, &err), -EBUSY);
    uint64_t seen = store_version(world.store);
    world_close(&world);

    assert_int_equal(store_restore(world.folder, path, &err), 0);
    world_open(&world, 0);
    /* Whoever has seen the newest version has to read everything again. */
    uint64_t position = 0;
    assert_true(store_version(world.store) > seen);
    assert_int_equal(store_position(world.store, seen, &position), -ESTALE);
    assert_string_equal(world_body(&world, "a", "x"), "one");
    world_close(&world);

    /* What was there before is kept, and is a backup itself. */
    (void)snprintf(path, sizeof path, "%s/objects.db.before-restore", world.folder);
    assert_int_equal(store_restore(world.folder, path, &err), 0);
    world_open(&world, 0);
    assert_string_equal(world_body(&world, "a", "x"), "two");
    world_done(&world);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void foreign_and_newer_files_are_refused(void **state)
{
    (void)state;
    struct world world;
    struct err err = {0};
    char path[128];

    world_init(&world);
    (void)snprintf(path, sizeof path, "%s/objects.db", world.folder);
    run_sql(path, "CREATE TABLE recipes(name)");
    assert_int_equal(world_try_open(&world, 0, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "database of another program"));
    assert_int_equal(unlink(path), 0);

    world_open(&world, 0);
    world_close(&world);
    run_sql(path, "PRAGMA user_version = 99");
    assert_int_equal(world_try_open(&world, 0, &err), -ENOTSUP);
    assert_non_null(strstr(err.text, "newer release"));

    /* A file of text, and a backup that is none: what is there stays. */
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("not a database\n", file);
    fclose(file);
    assert_int_equal(world_try_open(&world, 0, &err), -EBADMSG);
    char backup[128];
    (void)snprintf(backup, sizeof backup, "%s/copy", world.folder);
    assert_int_equal(rename(path, backup), 0);
    world_open(&world, 0);
    world_put(&world, "a", "x", "one");
    world_close(&world);
    assert_int_equal(store_restore(world.folder, backup, &err), -EBADMSG);
    world_open(&world, 0);
    assert_string_equal(world_body(&world, "a", "x"), "one");
    world_done(&world);
}

static void damaged_rows_are_found(void **state)
{
    (void)state;
    struct world world;
    struct err err = {0};
    char path[128];

    world_init(&world);
    (void)snprintf(path, sizeof path, "%s/objects.db", world.folder);
    world_open(&world, 0);
    world_put(&world, "a", "x", "one");
    world_close(&world);
    run_sql(path, "UPDATE objects SET version = -1");
    assert_int_equal(world_try_open(&world, 0, &err), -EBADMSG);
    run_sql(path, "UPDATE objects SET version = 1, kind = 77");
    assert_int_equal(world_try_open(&world, 0, &err), -EBADMSG);
    run_sql(path, "UPDATE kinds SET id = 77");
    assert_int_equal(world_try_open(&world, 0, &err), -EBADMSG);
    world_done(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_read_in_the_order_of_their_names),
        cmocka_unit_test(a_walk_goes_on_behind_what_it_gave_whatever_happens),
        cmocka_unit_test(thousands_of_names_stay_in_order),
        cmocka_unit_test(what_is_not_on_the_disk_is_not_seen),
        cmocka_unit_test(everything_is_there_again_after_a_restart),
        cmocka_unit_test(kinds_without_objects_leave_no_gap),
        cmocka_unit_test(objects_are_found_by_their_tags),
        cmocka_unit_test(followers_read_the_changes_of_their_kind),
        cmocka_unit_test(whoever_is_too_far_behind_is_told),
        cmocka_unit_test(what_is_too_large_is_refused_alone),
        cmocka_unit_test(a_store_that_closes_finishes_and_takes_no_more),
        cmocka_unit_test(only_the_owner_may_read_it),
        cmocka_unit_test(a_backup_is_restored),
        cmocka_unit_test(foreign_and_newer_files_are_refused),
        cmocka_unit_test(damaged_rows_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
