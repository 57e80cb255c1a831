/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Groups side by side, in virtual time, on a GPU that a driver switches between processes by itself: kernels of a length,
 * with a gap before each in which the program prepares it, slices that the driver gives to whoever has a kernel, and tenants
 * that the driver treats badly. What each gets done is held against the same tenants under the driver alone.
 */
#include "gpu/daemon/arbiter/arbiter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"

#define USEC NSEC_PER_USEC
#define MSEC NSEC_PER_MSEC
#define SEC NSEC_PER_SEC
#define STEP (50 * USEC)
#define SLICE (2 * MSEC)

enum { TENANTS_MAX = 3 };

struct tenant {
    nsec_t kernel, gap;
    double share;
    bool is_strict;
    bool is_urgent;
    uint32_t handicap;  // gets one slice of so many while others have kernels; 0: like everyone
    nsec_t period;      // begins anew so often and rests after; 0: always works
    uint32_t requests;  // launches in a period

    int group;
    bool is_open, is_draining, is_asking;
    nsec_t gap_left, kernel_left;  // one of them
    uint32_t left;                 // launches of the period
    nsec_t begun_at;               // of the request
    nsec_t longest;                // of requests
    nsec_t quiet;
    uint64_t work, launches;
};

struct gpu {
    struct arbiter arbiter;
    struct tenant *tenants;
    uint32_t count;
    bool is_free;  // without any gates
    nsec_t now;
    nsec_t longest_slice;
    nsec_t slice;
    uint32_t turn;
    uint64_t slices;
    nsec_t shared;  // while several were open
};

static void gpu_init(struct gpu *gpu, struct tenant *tenants, uint32_t count, bool is_free, nsec_t together)
{
    memset(gpu, 0, sizeof *gpu);
    struct arbiter_options options = {.together = together};
    arbiter_init(&gpu->arbiter, &options);
    gpu->tenants = tenants;
    gpu->count = count;
    gpu->is_free = is_free;
    gpu->longest_slice = SLICE;
    for (uint32_t i = 0; i < count; i++) {
        struct tenant *t = &tenants[i];
        uint32_t weight = (uint32_t)(t->share * ARBITER_WHOLE + 0.5);

        t->gap_left = t->gap;
        t->left = t->requests;
        t->group = arbiter_add(&gpu->arbiter, 1, weight, t->is_strict ? weight : ARBITER_WHOLE, 0);
        arbiter_set_urgent(&gpu->arbiter, (uint32_t)t->group, t->is_urgent, 0);
    }
}

static void carry_out(struct gpu *gpu)
{
    struct arbiter_action action;

    while ((action = arbiter_next_action(&gpu->arbiter)).verb != ARBITER_NOTHING) {
        for (uint32_t i = 0; i < gpu->count; i++) {
            struct tenant *t = &gpu->tenants[i];

            if (t->group != (int)action.group)
                continue;
            if (action.verb == ARBITER_OPEN) {
                t->is_open = true;
                t->is_asking = false;
                t->quiet = 0;
            } else if (action.verb == ARBITER_CLOSE) {
                t->is_open = false;
                t->is_draining = true;
            }
        }
    }
}

static bool wants_gpu(const struct tenant *t)
{
    return t->kernel_left > 0;
}

/* Whose slice it is: who has kernels, one after the other. */
static struct tenant *next_to_run(struct gpu *gpu)
{
    if (wants_gpu(&gpu->tenants[gpu->turn]) && gpu->slice > 0)
        return &gpu->tenants[gpu->turn];
    gpu->slices++;
    struct tenant *fallback = NULL;
    for (uint32_t i = 1; i <= gpu->count; i++) {
        uint32_t at = (gpu->turn + i) % gpu->count;
        struct tenant *t = &gpu->tenants[at];

        if (!wants_gpu(t))
            continue;
        if (t->handicap && gpu->slices % t->handicap != 0) {
            fallback = t;
            continue;
        }
        gpu->turn = at;
        gpu->slice = gpu->longest_slice;
        return t;
    }
    if (fallback) {
        gpu->turn = (uint32_t)(fallback - gpu->tenants);
        gpu->slice = gpu->longest_slice;
    }
    return fallback;
}

static void launch(struct gpu *gpu, struct tenant *t)
{
    if (t->requests && t->left == t->requests && t->begun_at == 0)
        t->begun_at = gpu->now;
    if (!gpu->is_free && !t->is_open) {
        if (!t->is_asking && !t->is_draining) {
            t->is_asking = true;
            arbiter_ask(&gpu->arbiter, (uint32_t)t->group, gpu->now);
            carry_out(gpu);
        }
        if (!t->is_open)
            return;
    }
    t->kernel_left = t->kernel;
    t->quiet = 0;
    /* In the tenant's own measure, whatever that is: here, as it is learned from launches with their gaps. */
    t->work += (uint64_t)(t->kernel + t->gap);
    t->launches++;
}

static void end_kernel(struct gpu *gpu, struct tenant *t)
{
    t->gap_left = t->gap;
    if (t->requests && --t->left == 0) {
        t->longest = MAX(t->longest, gpu->now - t->begun_at);
        t->begun_at = 0;
        t->left = t->requests;
        t->gap_left = t->period - gpu->now % t->period;
    }
}

static void tell(struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->count; i++)
        arbiter_note_work(&gpu->arbiter, (uint32_t)gpu->tenants[i].group, gpu->tenants[i].work,
                          gpu->tenants[i].launches);
}

static void step(struct gpu *gpu)
{
    uint32_t open = 0;

    for (uint32_t i = 0; i < gpu->count; i++) {
        struct tenant *t = &gpu->tenants[i];

        if (!wants_gpu(t) && (t->gap_left -= MIN(t->gap_left, STEP)) == 0)
            launch(gpu, t);
        t->quiet += wants_gpu(t) ? 0 : STEP;
        open += t->is_open || t->is_draining;
    }
    struct tenant *running = next_to_run(gpu);
    gpu->now += STEP;
    gpu->shared += open > 1 ? STEP : 0;
    gpu->slice -= MIN(gpu->slice, STEP);
    if (running && (running->kernel_left -= STEP) <= 0) {
        running->kernel_left = 0;
        end_kernel(gpu, running);
    }
    tell(gpu);
    for (uint32_t i = 0; i < gpu->count && !gpu->is_free; i++) {
        struct tenant *t = &gpu->tenants[i];

        if (t->is_draining && !wants_gpu(t)) {
            t->is_draining = false;
            t->is_asking = t->gap_left == 0;
            arbiter_drained(&gpu->arbiter, (uint32_t)t->group, SEC, t->is_asking, gpu->now);
        } else if (t->is_open && t->quiet >= MSEC) {
            t->is_open = false;
            arbiter_yield(&gpu->arbiter, (uint32_t)t->group, SEC, gpu->now);
        }
        carry_out(gpu);
    }
    if (!gpu->is_free && arbiter_deadline(&gpu->arbiter) <= gpu->now) {
        arbiter_tick(&gpu->arbiter, gpu->now);
        carry_out(gpu);
    }
}

static void run(struct gpu *gpu, nsec_t duration)
{
    for (nsec_t end = gpu->now + duration; gpu->now < end;)
        step(gpu);
}

/* Launches in a nanosecond, without others and without gates. */
static double speed_alone(const struct tenant *t)
{
    struct tenant alone = {.kernel = t->kernel, .gap = t->gap, .share = t->share};
    struct gpu gpu;

    gpu_init(&gpu, &alone, 1, true, 0);
    run(&gpu, 4 * SEC);
    return (double)alone.launches / (double)gpu.now;
}

/* Launches in relation to what the tenant does alone. */
static double part_of(const struct gpu *gpu, uint32_t tenant)
{
    const struct tenant *t = &gpu->tenants[tenant];

    return (double)t->launches / (speed_alone(t) * (double)gpu->now);
}

static const struct tenant with_gaps = {.kernel = 100 * USEC, .gap = 150 * USEC, .share = 0.5};
static const struct tenant full = {.kernel = 1 * MSEC, .share = 0.5};

static void who_leaves_gaps_does_not_keep_others_out_of_them(void **state)
{
    struct tenant short_one = {.kernel = 100 * USEC, .share = 0.5};
    struct tenant a[] = {with_gaps, short_one}, b[] = {with_gaps, short_one}, c[] = {with_gaps, short_one};
    struct gpu by_driver, ours, in_turns;

    (void)state;
    gpu_init(&by_driver, a, 2, true, 0);
    by_driver.longest_slice = 100 * USEC;
    run(&by_driver, 20 * SEC);
    gpu_init(&ours, b, 2, false, 2 * SEC);
    ours.longest_slice = 100 * USEC;
    run(&ours, 20 * SEC);
    gpu_init(&in_turns, c, 2, false, 0);
    run(&in_turns, 20 * SEC);
    double theirs = part_of(&by_driver, 0) + part_of(&by_driver, 1);
    assert_true(theirs > 1.15);
    assert_true(part_of(&in_turns, 0) + part_of(&in_turns, 1) < 1.02);
    if (part_of(&ours, 0) + part_of(&ours, 1) < 0.95 * theirs)
        fail_msg("%.3f and %.3f, the driver alone %.3f together", part_of(&ours, 0), part_of(&ours, 1), theirs);
}

static void two_with_gaps_run_side_by_side_as_under_the_driver(void **state)
{
    struct gpu by_driver, ours;
    struct tenant a[] = {with_gaps, with_gaps}, b[] = {with_gaps, with_gaps};

    (void)state;
    gpu_init(&by_driver, a, 2, true, 0);
    run(&by_driver, 20 * SEC);
    gpu_init(&ours, b, 2, false, 2 * SEC);
    run(&ours, 20 * SEC);
    double sum = part_of(&ours, 0) + part_of(&ours, 1), theirs = part_of(&by_driver, 0) + part_of(&by_driver, 1);
    if (sum < 0.95 * theirs)
        fail_msg("%.3f together, the driver alone %.3f", sum, theirs);
    assert_true(theirs > 1.4);
    assert_true(ours.shared > 15 * SEC);
    assert_int_equal(ours.arbiter.together[0].failures, 0);
}

static void assert_promises(const struct gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->count; i++) {
        if (part_of(gpu, i) < 0.98 * gpu->tenants[i].share)
            fail_msg("tenant %u got %.4f, promised %.2f", i, part_of(gpu, i), gpu->tenants[i].share);
    }
}

static void whom_the_driver_starves_gets_its_share_in_turns(void **state)
{
    static const double shares[] = {0.5, 0.25, 0.1};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
        struct tenant starved = {.kernel = 50 * USEC, .share = shares[i], .handicap = 50};
        struct tenant other = {.kernel = 1 * MSEC, .share = 1 - shares[i]};
        struct tenant a[] = {starved, other}, b[] = {starved, other};
        struct gpu by_driver, ours;

        gpu_init(&by_driver, a, 2, true, 0);
        run(&by_driver, 10 * SEC);
        assert_true(part_of(&by_driver, 0) < 0.05);
        gpu_init(&ours, b, 2, false, 2 * SEC);
        run(&ours, 60 * SEC);
        assert_true(ours.arbiter.together[0].failures > 0);
        assert_promises(&ours);
    }
}

static void unequal_shares_are_kept_where_the_driver_gives_equal_ones(void **state)
{
    struct tenant tenants[] = {full, full, full};
    struct gpu gpu;

    (void)state;
    tenants[0].share = 0.6;
    tenants[1].share = 0.3;
    tenants[1].kernel = 200 * USEC;
    tenants[2].share = 0.1;
    gpu_init(&gpu, tenants, 3, false, 2 * SEC);
    run(&gpu, 60 * SEC);
    assert_promises(&gpu);
}

static void long_kernels_are_not_taken_for_too_little_work(void **state)
{
    struct tenant tenants[] = {with_gaps, {.kernel = 200 * MSEC, .share = 0.5}};
    struct gpu gpu;

    (void)state;
    gpu_init(&gpu, tenants, 2, false, 2 * SEC);
    run(&gpu, 60 * SEC);
    assert_promises(&gpu);
}

/* No more than the time there was, and to each what it got done. */
static void time_side_by_side_is_charged_by_the_work_that_was_done(void **state)
{
    struct tenant tenants[] = {with_gaps, with_gaps, with_gaps};
    struct gpu gpu;
    nsec_t charged = 0;

    (void)state;
    tenants[0].share = tenants[1].share = tenants[2].share = 0.3;
    tenants[2].gap = 800 * USEC;
    gpu_init(&gpu, tenants, 3, false, 2 * SEC);
    run(&gpu, 20 * SEC);
    assert_true(gpu.shared > 15 * SEC);
    for (uint32_t i = 0; i < 3; i++)
        charged += gpu.arbiter.groups[tenants[i].group].charged;
    assert_true(charged <= gpu.now);
    assert_true(charged > gpu.now * 9 / 10);
    double parts = part_of(&gpu, 0) + part_of(&gpu, 1) + part_of(&gpu, 2);
    for (uint32_t i = 0; i < 3; i++) {
        double ratio = (double)gpu.arbiter.groups[tenants[i].group].charged / (double)charged;

        if (ratio < 0.97 * part_of(&gpu, i) / parts || ratio > 1.03 * part_of(&gpu, i) / parts)
            fail_msg("charged %.4f of the time, did %.4f of the work", ratio, part_of(&gpu, i) / parts);
    }
}

static void a_strict_share_never_runs_beside_others(void **state)
{
    struct tenant tenants[] = {with_gaps, with_gaps};
    struct gpu gpu;

    (void)state;
    tenants[1].is_strict = true;
    tenants[1].share = 0.25;
    gpu_init(&gpu, tenants, 2, false, 2 * SEC);
    run(&gpu, 20 * SEC);
    assert_int_equal(gpu.shared, 0);
}

static void who_says_nothing_of_its_work_is_given_turns(void **state)
{
    struct arbiter a;
    nsec_t now = 0;

    (void)state;
    arbiter_init(&a, NULL);
    uint32_t one = (uint32_t)arbiter_add(&a, 1, 500000, ARBITER_WHOLE, 0);
    uint32_t two = (uint32_t)arbiter_add(&a, 1, 500000, ARBITER_WHOLE, 0);
    arbiter_ask(&a, one, 0);
    arbiter_ask(&a, two, 0);
    for (int i = 0; i < 100; i++) {
        uint32_t holder = (uint32_t)a.holder[0];

        now = arbiter_deadline(&a);
        arbiter_tick(&a, now);
        assert_int_equal(a.groups[holder].state, ARBITER_DRAINING);
        arbiter_drained(&a, holder, SEC, true, now);
        assert_int_not_equal(a.holder[0], -1);
        assert_false(a.groups[one].is_together || a.groups[two].is_together);
        while (arbiter_next_action(&a).verb != ARBITER_NOTHING)
            ;
    }
}

static const struct tenant trainer = {.kernel = 500 * USEC, .share = 0.7};
static const struct tenant inference = {
    .kernel = 100 * USEC, .gap = 0, .share = 0.3, .is_urgent = true, .period = 20 * MSEC, .requests = 17};

static void an_urgent_request_waits_for_one_kernel_at_most(void **state)
{
    struct tenant tenants[] = {trainer, inference};
    struct gpu gpu;

    (void)state;
    gpu_init(&gpu, tenants, 2, false, 2 * SEC);
    run(&gpu, 20 * SEC);
    nsec_t alone = inference.kernel * (nsec_t)inference.requests;
    if (tenants[1].longest > alone * 12 / 10 + trainer.kernel)
        fail_msg("a request took %.2f ms", (double)tenants[1].longest / 1e6);
    assert_true(tenants[1].launches >= 17 * 990);
    assert_true(part_of(&gpu, 0) > 0.6);
}

static void an_urgent_request_stops_groups_that_run_side_by_side(void **state)
{
    struct tenant tenants[] = {with_gaps, with_gaps, inference};
    struct gpu gpu;

    (void)state;
    tenants[0].share = tenants[1].share = 0.35;
    gpu_init(&gpu, tenants, 3, false, 2 * SEC);
    run(&gpu, 20 * SEC);
    nsec_t alone = inference.kernel * (nsec_t)inference.requests;
    if (tenants[2].longest > alone * 12 / 10 + 2 * with_gaps.kernel)
        fail_msg("a request took %.2f ms", (double)tenants[2].longest / 1e6);
    assert_true(gpu.shared > 10 * SEC);
}

static void who_becomes_urgent_leaves_the_others(void **state)
{
    struct tenant tenants[] = {with_gaps, with_gaps};
    struct gpu gpu;

    (void)state;
    gpu_init(&gpu, tenants, 2, false, 2 * SEC);
    for (uint32_t tries = 0; !gpu.arbiter.groups[tenants[0].group].is_together && tries < 1000; tries++)
        run(&gpu, MSEC);
    assert_true(gpu.arbiter.groups[tenants[0].group].is_together);
    arbiter_set_urgent(&gpu.arbiter, (uint32_t)tenants[0].group, true, gpu.now);
    assert_int_equal(gpu.arbiter.groups[tenants[0].group].state, ARBITER_DRAINING);
    tenants[0].is_urgent = true;
    carry_out(&gpu);
    gpu.shared = 0;
    run(&gpu, MSEC);
    nsec_t before = gpu.shared;
    run(&gpu, 5 * SEC);
    assert_true(gpu.shared - before < 100 * MSEC);
    assert_false(gpu.arbiter.groups[tenants[0].group].is_together);
}

/* Who asks for more than its share is served like anybody else. */
static void an_urgent_group_takes_no_more_than_its_share(void **state)
{
    struct tenant tenants[] = {trainer, inference};
    struct gpu gpu;

    (void)state;
    tenants[1].period = 0;
    tenants[1].requests = 0;
    gpu_init(&gpu, tenants, 2, false, 2 * SEC);
    run(&gpu, 20 * SEC);
    assert_promises(&gpu);
    assert_true(part_of(&gpu, 1) < 0.32);
}

static void others_keep_little_queued_while_an_urgent_group_is_about(void **state)
{
    struct arbiter a;

    (void)state;
    arbiter_init(&a, NULL);
    uint32_t one = (uint32_t)arbiter_add(&a, 1, 700000, ARBITER_WHOLE, 0);
    uint32_t urgent = (uint32_t)arbiter_add(&a, 1, 300000, ARBITER_WHOLE, 0);
    arbiter_set_urgent(&a, urgent, true, 0);
    arbiter_ask(&a, one, 0);
    assert_int_equal(a.groups[one].pace, ARBITER_PACE_ALONE);
    arbiter_ask(&a, urgent, 1 * MSEC);
    assert_int_equal(a.groups[one].state, ARBITER_DRAINING);
    arbiter_drained(&a, one, 1 * MSEC, true, 2 * MSEC);
    assert_int_equal(a.holder[0], (int)urgent);
    arbiter_yield(&a, urgent, 1 * MSEC, 3 * MSEC);
    assert_int_equal(a.holder[0], (int)one);
    assert_int_equal(a.groups[one].pace, ARBITER_PACE_HURRIED);
    assert_int_equal(arbiter_deadline(&a), 1003 * MSEC);
    arbiter_tick(&a, 1003 * MSEC);
    assert_int_equal(a.groups[one].pace, ARBITER_PACE_ALONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_leaves_gaps_does_not_keep_others_out_of_them),
        cmocka_unit_test(two_with_gaps_run_side_by_side_as_under_the_driver),
        cmocka_unit_test(whom_the_driver_starves_gets_its_share_in_turns),
        cmocka_unit_test(unequal_shares_are_kept_where_the_driver_gives_equal_ones),
        cmocka_unit_test(long_kernels_are_not_taken_for_too_little_work),
        cmocka_unit_test(time_side_by_side_is_charged_by_the_work_that_was_done),
        cmocka_unit_test(a_strict_share_never_runs_beside_others),
        cmocka_unit_test(who_says_nothing_of_its_work_is_given_turns),
        cmocka_unit_test(an_urgent_request_waits_for_one_kernel_at_most),
        cmocka_unit_test(an_urgent_request_stops_groups_that_run_side_by_side),
        cmocka_unit_test(who_becomes_urgent_leaves_the_others),
        cmocka_unit_test(an_urgent_group_takes_no_more_than_its_share),
        cmocka_unit_test(others_keep_little_queued_while_an_urgent_group_is_about),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
