/* SPDX-License-Identifier: Apache-2.0 */

/* Sums of what queues have had, beside sums of the same samples one by one. */
#include "services/scheduler/intake/daybook.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "services/scheduler/intake/usage_internal.h"

#define STEP NSEC_PER_MIN
#define START (INT64_C(1763230020) * NSEC_PER_SEC)

static const double cluster[SHARE_COUNT] = {[SHARE_CPU] = 1000, [SHARE_MEMORY] = 1e12, [SHARE_GPU] = 16};

/* What queue `q` has in sample `i`: the first changes all the time, the second now and then. */
static double gpus(int q, int i)
{
    return q == 0 ? i % 7 : i / 100 % 2 ? 8 : 0;
}

static void fill(struct daybook *daybook, int from, int to)
{
    static const char *const names[] = {"a", "b"};

    for (int i = from; i < to; i++) {
        assert_true(daybook_begin(daybook, START + i * STEP, STEP, cluster));
        for (int q = 0; q < 2; q++) {
            if (gpus(q, i) > 0)
                daybook_add(daybook, names[q], (const double[SHARE_COUNT]){[SHARE_GPU] = gpus(q, i)});
        }
    }
}

static double part_of(const struct daybook *daybook, const char *queue, nsec_t now, nsec_t range, nsec_t half_life)
{
    struct usage_samples queues = {0};
    double whole = 0, found = 0;

    daybook_sum(daybook, now, range, half_life, SHARE_GPU, &queues, &whole);
    vec_foreach (&queues, sample)
        found = strcmp(sample->queue, queue) == 0 ? sample->value : found;
    usage_samples_done(&queues);
    return whole > 0 ? found / whole : 0;
}

/* sum_over_time() of queue and cluster, as Prometheus has it. */
static double expected(int q, int count, nsec_t now, nsec_t range, nsec_t half_life)
{
    double sum = 0, whole = 0;

    for (int i = 0; i < count; i++) {
        nsec_t age = now - (START + i * STEP);
        double weight = half_life ? exp2(-(double)age / (double)half_life) : 1;

        if (age >= range)
            continue;
        sum += gpus(q, i) * weight;
        whole += cluster[SHARE_GPU] * weight;
    }
    return sum / whole;
}

static void expect_near(const struct daybook *daybook, int count, nsec_t range, nsec_t half_life, double most)
{
    nsec_t now = START + (count - 1) * STEP + 7 * NSEC_PER_SEC;

    for (int q = 0; q < 2; q++) {
        double found = part_of(daybook, q ? "b" : "a", now, range, half_life);
        double wanted = expected(q, count, now, range, half_life);

        if (fabs(found - wanted) > most)
            fail_msg("queue %d of %d samples, range %lld s: found %.9f, expected %.9f", q, count,
                     (long long)(range / NSEC_PER_SEC), found, wanted);
    }
}

static void few_samples_are_added_up_exactly(void **state)
{
    struct daybook *daybook = daybook_new();

    (void)state;
    fill(daybook, 0, 600);
    expect_near(daybook, 600, 10000 * STEP, 0, 1e-12);
    expect_near(daybook, 600, 250 * STEP, 0, 1e-12);
    expect_near(daybook, 600, 10000 * STEP, 30 * STEP, 1e-12);
    expect_near(daybook, 600, 100 * STEP, 720 * STEP, 1e-12);
    /* Neither a sample of the past nor one of the same time counts again. */
    assert_false(daybook_begin(daybook, START + 599 * STEP, STEP, cluster));
    daybook_free(daybook);
}

static void a_week_of_samples_is_close(void **state)
{
    enum { COUNT = 10080 };
    struct daybook *daybook = daybook_new();
    size_t len = 0;

    (void)state;
    fill(daybook, 0, COUNT);
    expect_near(daybook, COUNT, COUNT * STEP, 0, 1e-9);
    expect_near(daybook, COUNT, 5000 * STEP, 0, 1e-3);
    expect_near(daybook, COUNT, COUNT * STEP, 720 * STEP, 1e-4);
    char *text = daybook_encode(daybook, &len);
    assert_non_null(text);
    assert_true(len < 120 * 1024);
    free(text);
    daybook_free(daybook);
}

static void what_is_too_old_is_forgotten(void **state)
{
    struct daybook *daybook = daybook_new();
    size_t len = 0;

    (void)state;
    fill(daybook, 0, 200);
    daybook_drop(daybook, START + 149 * STEP);
    nsec_t now = START + 199 * STEP;
    assert_true(fabs(part_of(daybook, "a", now, 1000 * STEP, 0) - expected(0, 200, now, 50 * STEP, 0)) < 1e-12);
    daybook_drop(daybook, now);
    char *text = daybook_encode(daybook, &len);
    assert_non_null(strstr(text, "\"queues\":[],\"buckets\":[]"));
    free(text);
    assert_true(daybook_begin(daybook, now + STEP, STEP, cluster));
    daybook_free(daybook);
}

static void many_queues_do_not_make_it_larger_than_it_may_be(void **state)
{
    struct daybook *daybook = daybook_new();
    size_t len = 0;
    char name[64];

    (void)state;
    for (int i = 0; i < 200; i++) {
        assert_true(daybook_begin(daybook, START + i * STEP, STEP, cluster));
        for (int q = 0; q < 2000; q++) {
            (void)snprintf(name, sizeof name, "queue-with-a-rather-long-name-%d", q);
            daybook_add(daybook, name, (const double[SHARE_COUNT]){123.456 + i, 7.7e9 + q, 0.5});
        }
    }
    char *text = daybook_encode(daybook, &len);
    assert_non_null(text);
    assert_true(len < DAYBOOK_BYTES_MAX);
    free(text);
    nsec_t now = START + 199 * STEP;
    assert_true(fabs(part_of(daybook, "queue-with-a-rather-long-name-7", now, 1000 * STEP, 0) - 0.5 / 16) < 1e-9);
    daybook_free(daybook);
}

static void it_is_the_same_after_it_was_written_and_read(void **state)
{
    struct daybook *daybook = daybook_new(), *again = NULL;
    size_t len = 0;

    (void)state;
    fill(daybook, 0, 900);
    char *text = daybook_encode(daybook, &len);
    assert_int_equal(daybook_decode(text, len, &again, NULL), 0);
    free(text);
    fill(daybook, 900, 1000);
    fill(again, 900, 1000);
    expect_near(again, 1000, 10000 * STEP, 0, 1e-9);
    expect_near(again, 1000, 10000 * STEP, 60 * STEP, 1e-4);
    daybook_free(daybook);
    daybook_free(again);
}

static void what_is_no_record_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{\"version\":2,\"length\":60,\"queues\":[],\"buckets\":[]}",
        "{\"version\":1,\"length\":-1,\"queues\":[],\"buckets\":[]}",
        "{\"version\":1,\"length\":60,\"queues\":[\"a\",\"a\"],\"buckets\":[]}",
        "{\"version\":1,\"length\":60,\"queues\":[1],\"buckets\":[]}",
        "{\"version\":1,\"length\":60,\"queues\":[],\"buckets\":[{}]}",
        "{\"version\":1,\"length\":0,\"queues\":[],"
        "\"buckets\":[{\"first\":1,\"last\":1,\"count\":1,\"capacity\":[1,1,1],\"use\":[]}]}",
        "{\"version\":1,\"length\":60,\"queues\":[],"
        "\"buckets\":[{\"first\":2,\"last\":1,\"count\":1,\"capacity\":[1,1,1],\"use\":[]}]}",
        "{\"version\":1,\"length\":60,\"queues\":[],"
        "\"buckets\":[{\"first\":1,\"last\":1,\"count\":0,\"capacity\":[1,1,1],\"use\":[]}]}",
        "{\"version\":1,\"length\":60,\"queues\":[],"
        "\"buckets\":[{\"first\":1,\"last\":1,\"count\":4294967295,\"capacity\":[1,1,1],\"use\":[]}]}",
        "{\"version\":1,\"length\":60,\"queues\":[],"
        "\"buckets\":[{\"first\":1,\"last\":1,\"count\":1,\"capacity\":[1,1],\"use\":[]}]}",
        "{\"version\":1,\"length\":60,\"queues\":[\"a\"],"
        "\"buckets\":[{\"first\":1,\"last\":1,\"count\":1,\"capacity\":[1,1,1],\"use\":[1,0,0,0]}]}",
        "{\"version\":1,\"length\":60,\"queues\":[\"a\"],"
        "\"buckets\":[{\"first\":1,\"last\":1,\"count\":1,\"capacity\":[1,1,1],\"use\":[0,0,-1,0]}]}",
        "{\"version\":1,\"length\":60,\"queues\":[\"a\"],"
        "\"buckets\":[{\"first\":1,\"last\":1,\"count\":1,\"capacity\":[1,1,1],\"use\":[0,0,0]}]}",
    };
    struct daybook *daybook = NULL;
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_int_equal(daybook_decode(texts[i], strlen(texts[i]), &daybook, &err), -EINVAL);
        assert_null(daybook);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_samples_are_added_up_exactly),
        cmocka_unit_test(a_week_of_samples_is_close),
        cmocka_unit_test(what_is_too_old_is_forgotten),
        cmocka_unit_test(many_queues_do_not_make_it_larger_than_it_may_be),
        cmocka_unit_test(it_is_the_same_after_it_was_written_and_read),
        cmocka_unit_test(what_is_no_record_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
