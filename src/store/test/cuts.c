/* SPDX-License-Identifier: Apache-2.0 */
/* What is on the disk after a power cut, after a failed write, and when it is full. */
#include <errno.h>

#include "store/test/memory_disk.h"
#include "store/test/world.h"

enum { CHANGES = 60, CUTS = 1000, OBJECTS = 7 };

/* What each change does, so that the state after any number of them can be told: change i (from 1) writes "i" to object
 * i % OBJECTS, and every fifth removes it. */
static bool is_removal(int change)
{
    return change % 5 == 0;
}

struct writer {
    struct world *world;
    int started;
    int done;  // without a gap, because changes end in order
    int failed;
};

static void write_next(struct writer *writer);

static void written(void *arg, int result, const struct store_object *object, const struct err *err)
{
    struct writer *writer = arg;

    (void)object;
    (void)err;
    if (result == 0) {
        writer->done++;
        memory_disk_note(writer->done);
    } else {
        writer->failed++;
    }
    write_next(writer);
    if (writer->done + writer->failed == writer->started)
        loop_stop(writer->world->loop);
}

static void write_next(struct writer *writer)
{
    struct world *world = writer->world;
    char name[16], body[2000];

    if (writer->started == CHANGES || writer->failed)
        return;
    int change = ++writer->started;
    (void)snprintf(name, sizeof name, "%d", change % OBJECTS);
    memset(body, 'x', sizeof body - 1);
    body[sizeof body - 1] = '\0';
    body[snprintf(body, sizeof body, "%d", change)] = ' ';
    store_change(world->store,
                 &(struct store_change_request){
                     .kind = change % 3 ? world->pods : world->jobs,
                     .namespace = "a",
                     .name = name,
                     .body = body,
                     .body_len = sizeof body - 1,
                     .is_removal = is_removal(change),
                 },
                 written, writer);
}

/* Makes all changes, three under way at a time. */
static void write_all(struct writer *writer)
{
    for (int i = 0; i < 3; i++)
        write_next(writer);
    loop_run(writer->world->loop);
}

/* Whether the store is as it was after exactly `changes` changes. */
static bool is_as_after(const struct world *world, int changes)
{
    int newest[2][OBJECTS] = {{0}};

    for (int i = 1; i <= changes; i++)
        newest[i % 3 ? 0 : 1][i % OBJECTS] = is_removal(i) ? 0 : i;
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < OBJECTS; i++) {
            const struct store_object *object =
                store_get(world->store, kind ? world->jobs : world->pods, "a", (char[]){(char)('0' + i), 0});
            if ((object ? atoi(object->body) : 0) != newest[kind][i])
                return false;
            if (object && (object->body_len != 1999 || object->body[1998] != 'x'))
                return false;
        }
    }
    return true;
}

/* Opens what is there and looks for a number of changes, not fewer than were acknowledged, after which it looks so. */
static void expect_whole(struct world *world, int acknowledged)
{
    world_open(world, 0);
    int changes = (int)store_version(world->store);
    if (changes < acknowledged || !is_as_after(world, changes))
        fail_msg("%d changes were acknowledged, and the store is at version %d%s", acknowledged, changes,
                 is_as_after(world, changes) ? "" : ", not as it was then");
    world_close(world);
}

static void nothing_acknowledged_is_lost_in_a_power_cut(void **state)
{
    (void)state;
    struct world world;
    struct writer writer = {.world = &world};
    uint64_t seed = 88172645463325252ULL;

    world_init(&world);
    memory_disk.is_recording = true;
    world_open(&world, 0);
    write_all(&writer);
    assert_int_equal(writer.done, CHANGES);
    /* A checkpoint in the middle of things, and more changes into the log that begins anew. */
    world_close(&world);
    world_open(&world, 0);
    world_close(&world);
    memory_disk.is_recording = false;
    uint32_t steps = memory_disk.steps.len;
    assert_true(steps > 100);
    for (int i = 0; i < CUTS; i++)
        expect_whole(&world, memory_disk_cut((uint32_t)(roll(&seed) % (steps + 1)), &seed));
    world_done(&world);
    memory_disk_clear();
}

/* Fails the n-th write or sync, for every n there is; gives how many there are. */
static int fail_each(int result)
{
    int n = 0;

    for (bool has_failed = true; has_failed; n++) {
        struct world world;
        struct writer writer = {.world = &world};
        struct err err = {0};
        world_init(&world);
        memory_disk.fail_after = n + 1;
        memory_disk.fail_result = result;
        int r = world_try_open(&world, 0, &err);
        if (r == 0) {
            write_all(&writer);
            assert_true((world.broken[0] != '\0') == (writer.failed && result != SQLITE_FULL));
            world_close(&world);
        }
        has_failed = memory_disk.fail_after == 0;
        memory_disk.fail_after = 0;
        expect_whole(&world, writer.done);
        world_done(&world);
        memory_disk_clear();
    }
    return n;
}

static void nothing_acknowledged_is_lost_when_the_disk_fails(void **state)
{
    (void)state;
    assert_true(fail_each(SQLITE_IOERR) > 50);
}

static void nothing_acknowledged_is_lost_when_the_disk_is_full(void **state)
{
    (void)state;
    assert_true(fail_each(SQLITE_FULL) > 50);
}

static void a_full_disk_is_used_again_when_there_is_room(void **state)
{
    (void)state;
    struct world world;

    world_begin(&world);
    assert_int_equal(world_put(&world, "a", "x", "one"), 0);
    memory_disk.room = 1;
    world_start_put(&world, world.pods, "a", "x", "two");
    world_start_put(&world, world.pods, "a", "x", "three");
    assert_int_equal(world_wait(&world), -ENOSPC);
    assert_string_equal(world_body(&world, "a", "x"), "one");
    assert_string_equal(store_latest(world.store, world.pods, "a", "x")->body, "one");
    assert_string_equal(world.broken, "");
    memory_disk.room = 0;
    assert_int_equal(world_put(&world, "a", "x", "four"), 0);
    assert_string_equal(world_body(&world, "a", "x"), "four");
    assert_int_equal(store_version(world.store), 4);
    world_done(&world);
    memory_disk_clear();
}

/* Without room for the log nothing could be removed. */
static void a_full_disk_makes_room_by_shortening_its_log(void **state)
{
    (void)state;
    struct world world;

    world_init(&world);
    world_open(&world, 0);
    assert_int_equal(world_put(&world, "a", "x", "one"), 0);
    /* Closing moves the log into the file, which has its size from then on. */
    world_close(&world);
    world_open(&world, 0);
    assert_int_equal(world_put(&world, "a", "x", "two"), 0);
    memory_disk.room = memory_disk_bytes();
    for (int i = 0; i < 20; i++)
        assert_int_equal(world_put(&world, "a", "x", i % 2 ? "three" : "four"), 0);
    assert_string_equal(world_body(&world, "a", "x"), "three");
    memory_disk.room = 0;
    world_done(&world);
    memory_disk_clear();
}

static void after_a_failed_sync_nothing_is_taken_any_more(void **state)
{
    (void)state;
    struct world world;

    world_begin(&world);
    assert_int_equal(world_put(&world, "a", "x", "one"), 0);
    memory_disk.fail_after = 1;
    memory_disk.fail_result = SQLITE_IOERR;
    assert_int_equal(world_put(&world, "a", "x", "two"), -EIO);
    assert_non_null(strstr(world.broken, "I/O error"));
    assert_int_equal(world_put(&world, "a", "x", "three"), -EIO);
    assert_string_equal(world_body(&world, "a", "x"), "one");
    world_done(&world);
    memory_disk_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_acknowledged_is_lost_in_a_power_cut),
        cmocka_unit_test(nothing_acknowledged_is_lost_when_the_disk_fails),
        cmocka_unit_test(nothing_acknowledged_is_lost_when_the_disk_is_full),
        cmocka_unit_test(a_full_disk_is_used_again_when_there_is_room),
        cmocka_unit_test(a_full_disk_makes_room_by_shortening_its_log),
        cmocka_unit_test(after_a_failed_sync_nothing_is_taken_any_more),
    };

    memory_disk_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
