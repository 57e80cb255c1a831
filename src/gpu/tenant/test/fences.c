/* SPDX-License-Identifier: Apache-2.0 */

/* A device in virtual time: kernels run one after the other, and an event has passed when all that was launched before it
 * has ended. */
#include "gpu/tenant/compute/fences.h"

#include "gpu/tenant/compute/costs.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "gpu/tenant/tenant.h"

enum { LAUNCH_NS = 5000, LOOK_NS = 20000, FUNCTIONS_MAX = 300 };

static int64_t now;
static int64_t device_end;  // of all that was launched
static int recorded;        // events
static int destroyed;       // likewise
static void *newest;        // of them
static atomic_int is_slow;  // 1: who records an event stays there, 2: somebody does

struct event {
    int64_t passes_at;
};

/* Stands for the C library's: time is what the test says. */
int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    (void)clock;
    *ret_time = (struct timespec){now / 1000000000, now % 1000000000};
    return 0;
}

int nanosleep(const struct timespec *pause, struct timespec *ret_left)
{
    (void)ret_left;
    now += pause->tv_sec * 1000000000 + pause->tv_nsec;
    return 0;
}

static cu_result get_current(void **ret_ctx)
{
    *ret_ctx = &device_end;
    return CU_SUCCESS;
}

static cu_result create(void **ret_event, unsigned flags)
{
    assert_int_equal(flags, CU_EVENT_DEFAULT);
    *ret_event = newest = calloc(1, sizeof(struct event));
    return *ret_event ? CU_SUCCESS : CU_OUT_OF_MEMORY;
}

static cu_result record(void *event, void *stream)
{
    (void)stream;
    int slow = 1;
    atomic_compare_exchange_strong(&is_slow, &slow, 2);
    while (atomic_load(&is_slow) == 2)
        poll(NULL, 0, 1);
    ((struct event *)event)->passes_at = device_end > now ? device_end : now;
    recorded++;
    return CU_SUCCESS;
}

static cu_result query(void *event)
{
    return ((const struct event *)event)->passes_at <= now ? CU_SUCCESS : CU_NOT_READY;
}

static cu_result elapsed(float *ret_ms, void *begin, void *end)
{
    *ret_ms = (float)((double)(((struct event *)end)->passes_at - ((struct event *)begin)->passes_at) / 1e6);
    return CU_SUCCESS;
}

static cu_result destroy(void *event)
{
    free(event);
    destroyed++;
    return CU_SUCCESS;
}

const struct driver_calls *driver_calls(void)
{
    static const struct driver_calls calls = {.ctx_get_current = get_current,
                                              .event_create = create,
                                              .event_record = record,
                                              .event_query = query,
                                              .event_elapsed = elapsed,
                                              .event_destroy = destroy};
    return &calls;
}

bool tenant_may_capture(void)
{
    return false;
}

bool tenant_is_capturing(void *stream)
{
    (void)stream;
    return false;
}

/* Handles as the driver's heap gives them out: nobody follows them. */
static const void *handle_of(int function)
{
    uint64_t number = (uint64_t)function + 1;
    for (int i = 0; i < 3; i++)
        number = (number ^ number >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (const void *)(uintptr_t)(UINT64_C(0x550000000000) + (number >> 40) * 16);
}

static void launch(const void *function, int64_t kernel_ns, uint64_t backlog)
{
    device_end = (device_end > now ? device_end : now) + kernel_ns;
    now += LAUNCH_NS;
    fences_note(0, NULL, function, backlog, now);
}

/* Keeps about `backlog` of work queued for a while, by what the fences say, with so many functions in turn; returns the
 * most that was really queued after the first quarter. */
static int64_t keep_queued(uint64_t backlog, int functions, int64_t kernel_ns)
{
    int launches = 4000;
    int64_t most = 0;
    device_end = now;
    for (int i = 0; i < launches; i++) {
        while (fences_look(0) >= backlog)
            now += LOOK_NS;
        launch(handle_of(i % functions), kernel_ns, backlog);
        if (i > launches / 4 && device_end - now > most)
            most = device_end - now;
    }
    return most;
}

/* Nobody looks until all has ended. */
static void end_all(void)
{
    now = device_end;
    assert_true(fences_are_passed(0));
    assert_int_equal(fences_left(0), 0);
    fences_drop(0, NULL);
    fences_forget();
}

/* Fences are passed long after they were recorded where the queue is long: what is learned from them must not be applied
 * once for each that was under way, or the cost runs away. Nor are many that are found passed at once short ones. */
static void costs_are_learned_whatever_the_queue(void **state)
{
    static const uint64_t backlogs[] = {1500000, 5000000, 10000000, 20000000};
    (void)state;
    for (size_t i = 0; i < sizeof backlogs / sizeof *backlogs; i++) {
        int64_t most = keep_queued(backlogs[i], 1, 125000);
        print_message("# backlog %.1f ms: at most %.2f ms queued\n", (double)backlogs[i] / 1e6, (double)most / 1e6);
        assert_in_range((uint64_t)most, backlogs[i] * 2 / 3, backlogs[i] * 3 / 2 + 1000000);
        end_all();
    }
}

/* Functions whose handles share a place in the table do not make each other unknown: what is unknown is taken for long,
 * and the device would run out of work. */
static void many_functions_are_known(void **state)
{
    (void)state;
    int64_t most = keep_queued(5000000, FUNCTIONS_MAX, 30000);
    print_message("# %d functions, backlog 5 ms: at most %.2f ms queued\n", FUNCTIONS_MAX, (double)most / 1e6);
    assert_in_range((uint64_t)most, 3000000, 8000000);
    end_all();
}

/* A fence costs the device a moment between two kernels: a few are enough to know how full a long queue is. */
static void a_long_queue_needs_few_fences(void **state)
{
    (void)state;
    recorded = 0;
    (void)keep_queued(1500000, 1, 50000);
    assert_in_range(recorded, 4000 * 50 / 600, 4000 * 50 / 400);
    end_all();
    recorded = 0;
    (void)keep_queued(10000000, 1, 50000);
    assert_in_range(recorded, 4000 * 50 / 4000, 4000 * 50 / 3000);
    end_all();
}

/* Kernels take longer beside those of others: that says nothing of what they take. */
static void shared_time_teaches_nothing(void **state)
{
    (void)state;
    (void)keep_queued(1500000, 1, 50000);
    uint64_t alone = cost_of(handle_of(0));
    fences_share(0, true);
    (void)keep_queued(1500000, 1, 200000);
    assert_int_equal(cost_of(handle_of(0)), alone);
    fences_share(0, false);
    (void)keep_queued(1500000, 1, 200000);
    assert_true((uint64_t)cost_of(handle_of(0)) > 3 * alone);
    end_all();
}

/* While an urgent group is about little is queued, and fences come as often as that takes. */
static void a_short_queue_stays_short(void **state)
{
    (void)state;
    int64_t most = keep_queued(200000, 1, 20000);
    assert_in_range((uint64_t)most, 100000, 450000);
    end_all();
}

/* Not from the launch: the device needs a while to turn from one process to another, which is nobody's work. Nor until the
 * end is noticed. */
static void a_lease_is_busy_from_where_its_work_could_begin(void **state)
{
    enum { TURNS_NS = 150000, KERNEL_NS = 1000000, KERNELS = 10, LATE_NS = 70000 };
    (void)state;
    for (int lease = 0; lease < 2; lease++) {
        device_end = now + TURNS_NS;
        fences_begin(0, NULL);
        for (int i = 0; i < KERNELS; i++)
            launch(handle_of(0), KERNEL_NS, 1500000);
        assert_false(fences_are_passed(0));
        now = device_end + LATE_NS;
        assert_true(fences_are_passed(0));
        assert_in_range((uint64_t)fences_busy(0), KERNELS * KERNEL_NS - 100, KERNELS * KERNEL_NS + 100);
    }
    fences_drop(0, NULL);
    assert_int_equal(fences_busy(0), 0);
    fences_forget();
}

/* What is queued after a function of known cost was launched, and its fence recorded. */
static uint64_t queue(const void *function, int64_t kernel_ns)
{
    launch(function, kernel_ns, 1500000);
    assert_false(fences_are_passed(0));
    return fences_left(0);
}

/* The oldest work may wait for what the launching thread does next. */
static void a_full_ring_holds_nobody_for_ever(void **state)
{
    const int64_t day = INT64_C(86400) * 1000000000;
    (void)state;
    device_end = now;
    for (int i = 0; i < 100; i++)
        launch(handle_of(1000 + i), i == 0 ? day : 1000, 1500000);
    assert_true(now < device_end);
    now = device_end;
    for (int i = 0; i < 3; i++)
        (void)fences_are_passed(0);
    end_all();
}

/* Work that waited for something else than the device says nothing about how long its function takes. */
static void doubtful_work_teaches_nothing(void **state)
{
    const void *function = handle_of(2000);
    (void)state;
    for (int i = 0; i < 2; i++) {
        launch(function, 200000, 1500000);
        now = device_end;
        assert_true(fences_are_passed(0));
    }
    uint64_t cost = queue(function, 200000);
    fences_doubt(0);
    assert_int_equal(fences_left(0), 0);
    assert_false(fences_are_passed(0));
    now = device_end + INT64_C(2000000000);
    assert_true(fences_are_passed(0));
    assert_int_equal(queue(function, 200000), cost);
    end_all();
}

/* A context with several holders lives on when one of them lets go, and so does the work in it. */
static void only_a_context_that_is_gone_takes_its_fences_along(void **state)
{
    (void)state;
    uint64_t left = queue(handle_of(3000), 1000000);
    destroyed = 0;
    fences_hold(0);
    assert_int_equal(fences_look(0), left);
    fences_go_on(0, NULL);
    assert_int_equal(fences_left(0), left);
    fences_hold(0);
    fences_go_on(0, &device_end);
    assert_int_equal(fences_left(0), 0);
    /* Its events have died with it: nobody may name them any more. */
    assert_int_equal(destroyed, 0);
    free(newest);
    assert_true(fences_are_passed(0));
    end_all();
}

static void *record_missing(void *unused)
{
    (void)fences_are_passed(0);
    return unused;
}

static void *drop_context(void *is_dropped)
{
    fences_drop(0, &device_end);
    atomic_store((atomic_int *)is_dropped, 1);
    return NULL;
}

/* Our own thread may be about to record in a context that the program destroys. */
static void a_context_waits_for_who_records_in_it(void **state)
{
    pthread_t recorder, dropper;
    atomic_int is_dropped = 0;
    (void)state;
    (void)queue(handle_of(4000), 100000);
    now = device_end;
    assert_true(fences_are_passed(0));
    launch(handle_of(4000), 100000, 1500000);
    destroyed = 0;
    atomic_store(&is_slow, 1);
    assert_int_equal(pthread_create(&recorder, NULL, record_missing, NULL), 0);
    while (atomic_load(&is_slow) != 2)
        poll(NULL, 0, 1);
    assert_int_equal(pthread_create(&dropper, NULL, drop_context, &is_dropped), 0);
    poll(NULL, 0, 50);
    assert_int_equal(atomic_load(&is_dropped), 0);
    atomic_store(&is_slow, 0);
    pthread_join(recorder, NULL);
    pthread_join(dropper, NULL);
    assert_in_range(destroyed, 1, 64);
    assert_int_equal(fences_left(0), 0);
    end_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_learned_whatever_the_queue),
        cmocka_unit_test(many_functions_are_known),
        cmocka_unit_test(a_long_queue_needs_few_fences),
        cmocka_unit_test(shared_time_teaches_nothing),
        cmocka_unit_test(a_short_queue_stays_short),
        cmocka_unit_test(a_lease_is_busy_from_where_its_work_could_begin),
        cmocka_unit_test(a_full_ring_holds_nobody_for_ever),
        cmocka_unit_test(doubtful_work_teaches_nothing),
        cmocka_unit_test(only_a_context_that_is_gone_takes_its_fences_along),
        cmocka_unit_test(a_context_waits_for_who_records_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
