/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is killed at any moment: what it acknowledged is there when the next one opens the store. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "store/test/world.h"

enum { KILLS = 50, OBJECTS = 20 };

/* Writes ever larger numbers to objects in turn, and tells each through the pipe when it is on the disk. */
struct writer {
    struct world *world;
    uint64_t next;
    int pipe;
};

static void write_next(struct writer *writer);

static void written(void *arg, int result, const struct store_object *object, const struct err *err)
{
    struct writer *writer = arg;

    (void)err;
    if (result < 0 || write(writer->pipe, &object->version, sizeof object->version) != sizeof object->version)
        _exit(1);
    write_next(writer);
}

static void write_next(struct writer *writer)
{
    char name[24], body[64];
    uint64_t version = store_next_version(writer->world->store);

    (void)snprintf(name, sizeof name, "%u", (unsigned)(version % OBJECTS));
    (void)snprintf(body, sizeof body, "%llu app=web", (unsigned long long)version);
    store_change(writer->world->store,
                 &(struct store_change_request){
                     .kind = writer->world->pods,
                     .namespace = "a",
                     .name = name,
                     .body = body,
                     .body_len = strlen(body),
                 },
                 written, writer);
}

static _Noreturn void run_child(struct world *world, int pipe)
{
    struct writer writer = {.world = world, .pipe = pipe};

    world->loop = loop_new();
    world_open(world, 0);
    for (int i = 0; i < 5; i++)
        write_next(&writer);
    loop_run(world->loop);
    _exit(1);
}

/* Every object holds the newest version that belongs to it, up to the version of the store. */
static void expect_whole(struct world *world, uint64_t acknowledged)
{
    world_open(world, 0);
    uint64_t version = store_version(world->store);
    assert_true(version >= acknowledged);
    for (uint64_t i = version; i > 0 && i + OBJECTS > version; i--) {
        char name[24];
        (void)snprintf(name, sizeof name, "%u", (unsigned)(i % OBJECTS));
        const struct store_object *object = store_get(world->store, world->pods, "a", name);
        assert_non_null(object);
        assert_int_equal(object->version, i);
        assert_int_equal(strtoull(object->body, NULL, 10), i);
    }
    world_close(world);
}

static void nothing_acknowledged_is_lost_when_the_process_is_killed(void **state)
{
    (void)state;
    struct world world;
    uint64_t acknowledged = 0;

    world_init(&world);
    srand(7);
    for (int i = 0; i < KILLS; i++) {
        int ends[2];
        uint64_t version;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            run_child(&world, ends[1]);
        }
        close(ends[1]);
        /* Killed some changes and a fraction of one after the first. */
        for (int left = rand() % 40; left >= 0 && read(ends[0], &version, sizeof version) == sizeof version; left--)
            acknowledged = version;
        nanosleep(&(struct timespec){.tv_nsec = rand() % 2000000}, NULL);
        kill(child, SIGKILL);
        while (read(ends[0], &version, sizeof version) == sizeof version)
            acknowledged = version;
        close(ends[0]);
        assert_int_equal(waitpid(child, NULL, 0), child);
        expect_whole(&world, acknowledged);
    }
    assert_true(acknowledged > KILLS);
    world_done(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_acknowledged_is_lost_when_the_process_is_killed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
