/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/daemon/ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/mem.h"

#define GIB (UINT64_C(1) << 30)

static struct ledger *new_ledger(void)
{
    struct ledger *l = xmalloc(sizeof *l);

    ledger_init(l);
    l->capacity[0] = 100 * GIB;
    l->capacity[1] = 40 * GIB;
    return l;
}

static bool set(struct ledger *l, uint32_t group, uint64_t request, uint64_t limit)
{
    uint32_t gpu;

    return ledger_set_group(l, group, (uint64_t[LEDGER_GPUS_MAX]){request}, (uint64_t[LEDGER_GPUS_MAX]){limit}, &gpu);
}

static void a_group_is_refused_exactly_at_its_limit(void **state)
{
    _cleanup_(freep) struct ledger *l = new_ledger();
    struct ledger_holding one = {0};
    struct ledger_holding two = {0};

    (void)state;
    assert_true(set(l, 3, 20 * GIB, 20 * GIB));
    assert_int_equal(ledger_reserve(l, 3, &one, 0, GPU_KIND_PLAIN, 15 * GIB), LEDGER_GRANTED);
    assert_int_equal(ledger_reserve(l, 3, &two, 0, GPU_KIND_CONTEXT, 5 * GIB + 1), LEDGER_OVER_LIMIT);
    assert_int_equal(ledger_reserve(l, 3, &two, 0, GPU_KIND_CONTEXT, 5 * GIB), LEDGER_GRANTED);
    assert_int_equal(ledger_reserve(l, 3, &one, 0, GPU_KIND_PLAIN, 1), LEDGER_OVER_LIMIT);
    assert_int_equal(l->taken[0], 20 * GIB);
    assert_int_equal(ledger_reserve(l, 3, &one, 0, GPU_KIND_PLAIN, UINT64_MAX), LEDGER_OVER_LIMIT);
    assert_int_equal(ledger_reserve(l, 3, &one, 1, GPU_KIND_PLAIN, 1), LEDGER_OVER_LIMIT);
}

static void what_is_given_back_is_never_more_than_was_held(void **state)
{
    _cleanup_(freep) struct ledger *l = new_ledger();
    struct ledger_holding one = {0};

    (void)state;
    assert_true(set(l, 0, 20 * GIB, 20 * GIB));
    assert_int_equal(ledger_reserve(l, 0, &one, 0, GPU_KIND_PLAIN, 5), LEDGER_GRANTED);
    assert_int_equal(ledger_release(l, 0, &one, 0, GPU_KIND_CONTEXT, 5), 0);
    assert_int_equal(ledger_release(l, 0, &one, 0, GPU_KIND_PLAIN, UINT64_MAX), 5);
    assert_int_equal(ledger_release(l, 0, &one, 0, GPU_KIND_PLAIN, 5), 0);
    assert_int_equal(l->taken[0], 0);
}

static void requests_never_exceed_the_gpu(void **state)
{
    _cleanup_(freep) struct ledger *l = new_ledger();

    (void)state;
    assert_true(set(l, 0, 60 * GIB, 100 * GIB));
    assert_true(set(l, 1, 40 * GIB, 100 * GIB));
    assert_false(set(l, 2, 1, 1));
    assert_false(set(l, 1, 41 * GIB, 100 * GIB));
    assert_true(set(l, 1, 39 * GIB, 100 * GIB));
    assert_true(set(l, 2, 1 * GIB, 1 * GIB));
    ledger_remove_group(l, 0);
    assert_true(set(l, 3, 60 * GIB, 60 * GIB));
    assert_false(set(l, 4, UINT64_MAX, UINT64_MAX));
}

static void loans_come_from_what_is_free_and_are_owed_back(void **state)
{
    _cleanup_(freep) struct ledger *l = new_ledger();
    struct ledger_holding owner = {0};
    struct ledger_holding borrower = {0};

    (void)state;
    assert_true(set(l, 0, 50 * GIB, 50 * GIB));
    assert_true(set(l, 1, 20 * GIB, 90 * GIB));
    assert_int_equal(ledger_reserve(l, 1, &borrower, 0, GPU_KIND_PLAIN, 85 * GIB), LEDGER_GRANTED);
    assert_int_equal(ledger_borrowed(l, 1, 0), 65 * GIB);
    assert_int_equal(ledger_reserve(l, 0, &owner, 0, GPU_KIND_PLAIN, 10 * GIB), LEDGER_GRANTED);
    assert_int_equal(ledger_reserve(l, 0, &owner, 0, GPU_KIND_PLAIN, 10 * GIB), LEDGER_OWED);
    assert_int_equal(ledger_reserve(l, 0, &owner, 0, GPU_KIND_PLAIN, 41 * GIB), LEDGER_OVER_LIMIT);
    assert_int_equal(ledger_reserve(l, 1, &borrower, 0, GPU_KIND_PLAIN, 5 * GIB + 1), LEDGER_OVER_LIMIT);
    assert_int_equal(ledger_reserve(l, 0, &owner, 0, GPU_KIND_PLAIN, 5 * GIB), LEDGER_GRANTED);
    assert_int_equal(ledger_reserve(l, 1, &borrower, 0, GPU_KIND_PLAIN, 1), LEDGER_EXHAUSTED);
    (void)ledger_release(l, 1, &borrower, 0, GPU_KIND_PLAIN, 65 * GIB);
    assert_int_equal(ledger_reserve(l, 0, &owner, 0, GPU_KIND_PLAIN, 35 * GIB), LEDGER_GRANTED);
}

static void free_is_what_would_be_granted(void **state)
{
    _cleanup_(freep) struct ledger *l = new_ledger();
    struct ledger_holding one = {0};
    struct ledger_holding two = {0};

    (void)state;
    assert_true(set(l, 0, 50 * GIB, 80 * GIB));
    assert_true(set(l, 1, 20 * GIB, 90 * GIB));
    assert_int_equal(ledger_free(l, 0, 0, 0, 0), 80 * GIB);
    assert_int_equal(ledger_reserve(l, 1, &two, 0, GPU_KIND_PLAIN, 60 * GIB), LEDGER_GRANTED);
    assert_int_equal(ledger_free(l, 0, 0, 0, 0), 50 * GIB);
    assert_int_equal(ledger_free(l, 0, 0, 0, 30 * GIB), 70 * GIB);
    assert_int_equal(ledger_free(l, 1, 0, 0, 0), 30 * GIB);
    assert_int_equal(ledger_reserve(l, 0, &one, 0, GPU_KIND_PLAIN, 10 * GIB), LEDGER_GRANTED);
    assert_int_equal(ledger_free(l, 0, 0, 0, 0), 40 * GIB);
    assert_int_equal(ledger_free(l, 0, 0, 4 * GIB, 4 * GIB), 44 * GIB);
}

static void credit_stays_within_the_request(void **state)
{
    _cleanup_(freep) struct ledger *l = new_ledger();
    struct ledger_holding one = {0};

    (void)state;
    assert_true(set(l, 0, 8 * GIB, 80 * GIB));
    assert_int_equal(ledger_credit(l, 0, 0, GIB / 16), GIB / 16);
    assert_int_equal(ledger_credit(l, 0, 0, 10 * GIB), GIB);
    assert_int_equal(ledger_reserve(l, 0, &one, 0, GPU_KIND_PLAIN, 8 * GIB), LEDGER_GRANTED);
    assert_int_equal(ledger_credit(l, 0, 0, GIB), 0);
}

/* Any order of events keeps the sums equal to what the processes hold. */
static void the_sums_always_agree(void **state)
{
    enum { PROCESSES = 40, STEPS = 200000 };
    _cleanup_(freep) struct ledger *l = new_ledger();
    struct ledger_holding holdings[PROCESSES] = {0};
    unsigned seed = 7;

    (void)state;
    for (uint32_t g = 0; g < 4; g++)
        assert_true(set(l, g, 20 * GIB, (g + 1) * 25 * GIB));
    for (int step = 0; step < STEPS; step++) {
        uint32_t p = (uint32_t)rand_r(&seed) % PROCESSES;
        enum gpu_memory_kind kind = rand_r(&seed) % 2 ? GPU_KIND_PLAIN : GPU_KIND_CONTEXT;
        uint64_t bytes = ((uint64_t)rand_r(&seed) << 4) % (8 * GIB);

        if (rand_r(&seed) % 2)
            (void)ledger_reserve(l, p % 4, &holdings[p], 0, kind, bytes);
        else
            (void)ledger_release(l, p % 4, &holdings[p], 0, kind, bytes);
        assert_true(l->taken[0] <= l->capacity[0]);
        assert_true(l->groups[p % 4].taken[0] <= l->groups[p % 4].limit[0]);
    }
    uint64_t sum = 0;
    for (int p = 0; p < PROCESSES; p++)
        sum += holdings[p].plain + holdings[p].context;
    assert_int_equal(sum, l->taken[0]);
    assert_true(sum > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_is_refused_exactly_at_its_limit),
        cmocka_unit_test(what_is_given_back_is_never_more_than_was_held),
        cmocka_unit_test(requests_never_exceed_the_gpu),
        cmocka_unit_test(loans_come_from_what_is_free_and_are_owed_back),
        cmocka_unit_test(free_is_what_would_be_granted),
        cmocka_unit_test(credit_stays_within_the_request),
        cmocka_unit_test(the_sums_always_agree),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
