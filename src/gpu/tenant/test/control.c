/* SPDX-License-Identifier: Apache-2.0 */

/* The thread that gives leases back, with launching threads that do the unlikely at the worst moment. */
#include "gpu/tenant/compute/control.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/tenant/compute/fences.h"
#include "gpu/tenant/compute/gate_internal.h"
#include "gpu/tenant/link/client.h"
#include "gpu/tenant/memory/frameworks.h"
#include "gpu/tenant/park/park.h"
#include "gpu/tenant/tenant.h"

enum {
    OLD_WORD = 2 * GPU_GATE_GENERATION | GPU_GATE_OPEN,
    NEW_WORD = OLD_WORD + GPU_GATE_GENERATION,
    OURS_FIRST = 40,  // descriptors that the thread may have
    OURS_END = 60,
};

enum when { NEVER, WHILE_ENDING, WHILE_TOLD };

struct gate gates[GPU_MAX];

static struct gpu_control_line line;
static struct gpu_tenant_line own;
static _Atomic enum when begins_anew;
static atomic_int told_old, told_new, looks, rounds, endings;

/* A launch under the next word: the gate has been opened again. */
static void begin_anew(void)
{
    atomic_store(&line.idle_ns, 0);
    atomic_store(&gates[0].active_word, NEW_WORD);
    atomic_store(&gates[0].allowed, NEW_WORD);
    atomic_store(&begins_anew, NEVER);
}

int64_t gate_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void frameworks_trim(void)
{
}

uint64_t fences_look(int slot)
{
    (void)slot;
    atomic_fetch_add(&looks, 1);
    return 0;
}

/* Asked when a lease is idle, and again when it is being given back. */
bool fences_are_passed(int slot)
{
    (void)slot;
    if (atomic_load(&gates[0].drain_ns) != 0 && atomic_load(&begins_anew) == WHILE_ENDING)
        begin_anew();
    atomic_fetch_add(&endings, 1);
    return true;
}

int64_t fences_next_end(int slot)
{
    (void)slot;
    return 0;
}

int64_t fences_last_end(int slot)
{
    (void)slot;
    return 0;
}

int64_t fences_busy(int slot)
{
    (void)slot;
    return 0;
}

void client_tell_event(const struct gpu_message *message)
{
    if (atomic_load(&begins_anew) == WHILE_TOLD)
        begin_anew();
    atomic_fetch_add(message->lease.word == OLD_WORD ? &told_old : &told_new, 1);
}

int client_events(void)
{
    atomic_fetch_add(&rounds, 1);
    return -1;
}

int client_read_event(struct gpu_message *ret_message, int *ret_file)
{
    (void)ret_message;
    (void)ret_file;
    return -1;
}

unsigned client_epoch(void)
{
    return 1;
}

void park_hear(const struct gpu_message *message, int file)
{
    (void)message;
    (void)file;
}

void park_report(void)
{
}

bool client_is_ready(void)
{
    return true;
}

int client_gpu_count(void)
{
    return 1;
}

const struct gpu_control_line *client_control(int slot)
{
    (void)slot;
    return &line;
}

struct gpu_tenant_line *client_line(int slot)
{
    (void)slot;
    return &own;
}

bool pools_trim(int slot)
{
    (void)slot;
    return false;
}

bool graphs_trim(int slot)
{
    (void)slot;
    return false;
}

/* A process may have as many threads as it may have, for a while. */
static int create_second_time(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
    static int tries;
    return tries++ == 0 ? EAGAIN : pthread_create(thread, attributes, run, arg);
}

void *driver_find_common(const char *name)
{
    assert_string_equal(name, "pthread_create");
    return (void *)create_second_time;
}

static bool await(const atomic_int *counter, int value)
{
    for (int i = 0; i < 5000 && atomic_load(counter) < value; i++)
        poll(NULL, 0, 1);
    return atomic_load(counter) >= value;
}

/* A lease without work, which goes back at once; what happens meanwhile is the test's. */
static void idle_lease(enum when when)
{
    atomic_store(&told_old, 0);
    atomic_store(&told_new, 0);
    atomic_store(&begins_anew, when);
    atomic_store(&gates[0].active_word, OLD_WORD);
    atomic_store(&gates[0].allowed, OLD_WORD);
    atomic_store(&line.idle_ns, 1000);
    control_wake();
}

static void end_lease(void)
{
    atomic_store(&line.idle_ns, 1000);
    assert_true(await(&told_new, 1));
    poll(NULL, 0, 10);
    assert_int_equal(atomic_load(&gates[0].active_word), 0);
    assert_int_equal(atomic_load(&told_new), 1);
}

static void idle_leases_go_back(void **state)
{
    (void)state;
    idle_lease(NEVER);
    assert_true(await(&told_old, 1));
    poll(NULL, 0, 10);
    assert_int_equal(atomic_load(&told_old), 1);
    assert_int_equal(atomic_load(&gates[0].active_word), 0);
    assert_int_equal(atomic_load(&gates[0].allowed), GPU_GATE_NEVER);
}

/* The daemon opens the gate as soon as it hears: the next lease may begin before this thread runs on. */
static void a_lease_that_begins_while_the_last_is_told_is_watched(void **state)
{
    (void)state;
    idle_lease(WHILE_TOLD);
    assert_true(await(&told_old, 1));
    assert_true(await(&looks, atomic_load(&looks) + 3));
    assert_int_equal(atomic_load(&gates[0].active_word), NEW_WORD);
    assert_int_equal(atomic_load(&told_new), 0);
    end_lease();
}

/* Somebody asked, while the lease was being given back, and was let in: that lease is not the one that ends. */
static void a_lease_that_begins_while_the_last_ends_is_not_given_back(void **state)
{
    (void)state;
    int before = atomic_load(&endings);
    idle_lease(WHILE_ENDING);
    assert_true(await(&endings, before + 2));
    assert_true(await(&looks, atomic_load(&looks) + 3));
    assert_int_equal(atomic_load(&gates[0].active_word), NEW_WORD);
    assert_int_equal(atomic_load(&told_old) + atomic_load(&told_new), 0);
    end_lease();
}

/* Programs close what they do not know, and may use the numbers for something else. */
static void closed_descriptors_are_replaced(void **state)
{
    (void)state;
    for (int fd = OURS_FIRST; fd < OURS_END; fd++)
        (void)close(fd);
    int other = dup2(STDIN_FILENO, OURS_FIRST);
    assert_true(await(&rounds, atomic_load(&rounds) + 2));
    int before = atomic_load(&rounds);
    poll(NULL, 0, 500);
    /* Asleep, but for the search for a daemon. */
    assert_in_range(atomic_load(&rounds) - before, 0, 20);
    idle_lease(NEVER);
    assert_true(await(&told_old, 1));
    assert_int_equal(dup2(STDIN_FILENO, other), other);
}

static int start(void **state)
{
    (void)state;
    for (int context = 0; context < 3; context++)
        control_start();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_leases_go_back),
        cmocka_unit_test(a_lease_that_begins_while_the_last_is_told_is_watched),
        cmocka_unit_test(a_lease_that_begins_while_the_last_ends_is_not_given_back),
        cmocka_unit_test(closed_descriptors_are_replaced),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
