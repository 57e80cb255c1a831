/* SPDX-License-Identifier: Apache-2.0 */

/* The gate in virtual time, with fences that say what a test wants. */
#include "gpu/tenant/compute/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

#include "gpu/tenant/compute/control.h"
#include "gpu/tenant/compute/costs.h"
#include "gpu/tenant/compute/fences.h"
#include "gpu/tenant/compute/gate_internal.h"
#include "gpu/tenant/link/client.h"
#include "gpu/tenant/tenant.h"

enum { BACKLOG_NS = 1500000, FIRST_WORD = 2 * GPU_GATE_GENERATION | GPU_GATE_OPEN };

static int64_t now = INT64_C(1000000000000);
static int64_t next_end, last_end;
static uint64_t queued;
static int doubts, tries, next_at;
static uint32_t next_word;  // of the gate, at that try; 0: it stays
static bool was_shared;
static struct gpu_control_line control;
static struct gpu_tenant_line line;

/* Stand for the C library's: time is what the test says. */
int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    (void)clock;
    now += 100;
    *ret_time = (struct timespec){now / 1000000000, now % 1000000000};
    return 0;
}

int nanosleep(const struct timespec *pause, struct timespec *ret_left)
{
    (void)ret_left;
    now += pause->tv_sec * 1000000000 + pause->tv_nsec;
    return 0;
}

/* The next lease, and a launch under it by another thread. */
static void begin_elsewhere(void)
{
    atomic_store(&control.word, next_word);
    atomic_store(&line.active_word, next_word);
    atomic_store(&gates[0].active_word, next_word);
    atomic_store(&gates[0].allowed, next_word);
}

/* Asked at every try to pass. */
uint64_t fences_left(int slot)
{
    (void)slot;
    if (next_word && tries++ == next_at)
        begin_elsewhere();
    return queued;
}

/* What is queued ends when it is expected to, if it ends at all. */
uint64_t fences_look(int slot)
{
    (void)slot;
    if (last_end < next_end && now >= next_end) {
        last_end = now;
        queued = 0;
    }
    return queued;
}

void fences_share(int slot, bool is_shared)
{
    (void)slot;
    was_shared = is_shared;
}

int64_t fences_next_end(int slot)
{
    (void)slot;
    return next_end;
}

int64_t fences_last_end(int slot)
{
    (void)slot;
    return last_end;
}

void fences_doubt(int slot)
{
    (void)slot;
    doubts++;
}

void fences_begin(int slot, void *stream)
{
    (void)slot, (void)stream;
}

void fences_note(int slot, void *stream, const void *what, uint64_t limit_ns, int64_t at)
{
    (void)slot, (void)stream, (void)what, (void)limit_ns, (void)at;
}

void fences_await_looks(void)
{
}

void fences_finish_stream(void *stream)
{
    (void)stream;
}

void fences_drop(int slot, void *ctx)
{
    (void)slot, (void)ctx;
}

void fences_hold(int slot)
{
    (void)slot;
}

void fences_go_on(int slot, const void *gone_ctx)
{
    (void)slot, (void)gone_ctx;
}

void fences_forget(void)
{
}

void control_start(void)
{
}

void control_wake(void)
{
}

void control_forget(void)
{
}

const struct gpu_control_line *client_control(int slot)
{
    (void)slot;
    return &control;
}

struct gpu_tenant_line *client_line(int slot)
{
    (void)slot;
    return &line;
}

int client_gpu_count(void)
{
    return 1;
}

unsigned client_epoch(void)
{
    return 1;
}

bool client_ask(const struct gpu_message *request, struct gpu_message *ret_answer)
{
    (void)request, (void)ret_answer;
    return false;
}

void client_tell_event(const struct gpu_message *message)
{
    (void)message;
}

int tenant_current_slot(void **ret_ctx)
{
    (void)ret_ctx;
    return 0;
}

bool tenant_is_capturing(void *stream)
{
    (void)stream;
    return false;
}

const struct driver_calls *driver_calls(void)
{
    static const struct driver_calls calls = {0};
    return &calls;
}

/* A new lease. */
static void open_gate(uint32_t word)
{
    atomic_store(&control.backlog_ns, BACKLOG_NS);
    atomic_store(&control.word, word);
}

/* Launches, and says how long that waited. */
static int64_t launch(void)
{
    struct gate_pass pass;
    int64_t begin = now;
    gate_enter(&pass, NULL, NULL);
    assert_int_equal(pass.slot, 0);
    gate_leave(&pass, CU_SUCCESS);
    return now - begin;
}

/* Kernels may take long: who has queued enough waits for them, as long as they take as long as they did before. */
static void launches_wait_for_work_that_ends(void **state)
{
    (void)state;
    open_gate(FIRST_WORD);
    queued = UINT64_C(5000000000);
    next_end = now + (int64_t)queued;
    assert_in_range((uint64_t)launch(), 4999000000, 5001000000);
    assert_int_equal(doubts, 0);
}

/* A kernel that waits for a word in memory, or for one on another GPU, ends after what the thread does next. */
static void launches_pass_work_that_waits_for_them(void **state)
{
    (void)state;
    open_gate(FIRST_WORD);
    queued = BACKLOG_NS;
    last_end = next_end = now;
    assert_in_range((uint64_t)launch(), 900000000, 1100000000);
    assert_int_equal(doubts, 1);
    assert_in_range((uint64_t)launch(), 0, 100000);
    /* The next lease is bounded like any other. */
    open_gate(FIRST_WORD + GPU_GATE_GENERATION);
    assert_in_range((uint64_t)launch(), 900000000, 1100000000);
    assert_int_equal(doubts, 2);
}

/* Threads are stopped anywhere: this one saw the gate open under a word, and another has begun the next lease since. */
static void a_launch_that_comes_late_does_not_bring_its_lease_back(void **state)
{
    (void)state;
    queued = 0;
    open_gate(FIRST_WORD + 2 * GPU_GATE_GENERATION);
    next_word = FIRST_WORD + 4 * GPU_GATE_GENERATION;
    tries = 0;
    next_at = 1;
    atomic_store(&gates[0].active_word, next_word);
    (void)launch();
    assert_int_equal(tries, 3);
    assert_int_equal(atomic_load(&gates[0].active_word), next_word);
    assert_int_equal(atomic_load(&gates[0].inside), 0);
}

/* The same while it waited for the queues: the daemon has to see the lease that is in use. */
static void a_launch_that_comes_late_does_not_hide_the_lease_in_use(void **state)
{
    (void)state;
    open_gate(FIRST_WORD + 6 * GPU_GATE_GENERATION);
    next_word = FIRST_WORD + 8 * GPU_GATE_GENERATION;
    tries = 0;
    next_at = 0;
    (void)launch();
    assert_int_equal(tries, 2);
    assert_int_equal(atomic_load(&line.active_word), next_word);
    assert_int_equal(atomic_load(&gates[0].active_word), next_word);
}

/* The daemon compares what a group gets done beside others with what it does alone. */
static void launches_count_for_what_they_take_alone(void **state)
{
    static const int known, unknown;
    struct gate_pass pass;
    (void)state;
    cost_learn(&known, 70000);
    next_word = 0;
    queued = 0;
    open_gate(FIRST_WORD + 10 * GPU_GATE_GENERATION);
    atomic_store(&control.is_shared, 1);
    uint64_t before = atomic_load(&line.work_ns);
    gate_enter(&pass, &known, NULL);
    gate_leave(&pass, CU_SUCCESS);
    assert_int_equal(atomic_load(&line.work_ns) - before, 70000);
    assert_true(was_shared);
    atomic_store(&control.is_shared, 0);
    gate_enter(&pass, &unknown, NULL);
    gate_leave(&pass, CU_SUCCESS);
    assert_int_equal(atomic_load(&line.work_ns) - before, 70000 + COST_LEAST_NS);
    assert_false(was_shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_wait_for_work_that_ends),
        cmocka_unit_test(launches_pass_work_that_waits_for_them),
        cmocka_unit_test(a_launch_that_comes_late_does_not_bring_its_lease_back),
        cmocka_unit_test(a_launch_that_comes_late_does_not_hide_the_lease_in_use),
        cmocka_unit_test(launches_count_for_what_they_take_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
