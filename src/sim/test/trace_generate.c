/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace/trace_generate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/resources.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_random.h"

static const char *const teams[] = {"a", "b", "c"};

static struct trace_recipe recipe_of(uint64_t seed)
{
    struct trace_recipe recipe;

    trace_recipe_init(&recipe);
    recipe.seed = seed;
    recipe.days = 7;
    recipe.gpus = 512;
    recipe.jobs = 3000;
    recipe.queues = teams;
    recipe.queue_count = ARRAY_LEN(teams);
    recipe.failures_per_day = 2;
    return recipe;
}

static char *generate(const struct trace_recipe *recipe)
{
    struct trace trace;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    trace_init(&trace);
    assert_int_equal(trace_generate(&trace, recipe, NULL), 0);
    trace_write(&trace, out);
    (void)fclose(out);
    trace_done(&trace);
    return text;
}

static void the_same_seed_gives_the_same_trace(void **state)
{
    struct trace_recipe one = recipe_of(1);
    struct trace_recipe two = recipe_of(2);
    _cleanup_(freep) char *a = generate(&one);
    _cleanup_(freep) char *b = generate(&one);
    _cleanup_(freep) char *c = generate(&two);

    (void)state;
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
}

/* Known values: a change here changes every trace that somebody has made. */
static void the_numbers_are_those_of_every_machine(void **state)
{
    struct random random;

    (void)state;
    random_init(&random, 42);
    assert_true(random_next(&random) == UINT64_C(1546998764402558742));
    assert_true(random_next(&random) == UINT64_C(6990951692964543102));
    assert_true(random_next(&random) == UINT64_C(12544586762248559009));
    for (double x = -20; x < 20; x += 0.37)
        assert_true(fabs(exact_exp(x) / exp(x) - 1) < 1e-13);
}

static void generated_traces_read_back(void **state)
{
    struct trace_recipe recipe = recipe_of(3);
    _cleanup_(freep) char *text = generate(&recipe);
    struct trace trace;
    struct err err = {0};

    (void)state;
    trace_init(&trace);
    assert_int_equal(trace_parse(&trace, "g.csv", text, strlen(text), &err), 0);
    assert_int_equal(trace.jobs.len, 3000);
    trace_done(&trace);
}

static void the_load_is_what_was_asked_for(void **state)
{
    struct trace_recipe recipe = recipe_of(4);
    struct trace trace;
    double work = 0;
    uint32_t most_pods = 0;
    uint32_t fractions = 0;
    uint32_t failures = 0;

    (void)state;
    trace_init(&trace);
    assert_int_equal(trace_generate(&trace, &recipe, NULL), 0);
    vec_foreach (&trace.jobs, job) {
        work += (double)job->run / 1e9 * gpu_to_double(trace_job_gpus(&trace, job));
        most_pods = MAX(most_pods, job->pods);
        fractions += job->kind == REQUEST_FRACTION;
        assert_true(trace_job_gpus(&trace, job) <= 128 * GPU_ONE);
    }
    vec_foreach (&trace.events, event) {
        failures += event->kind == TRACE_NODE_DOWN;
        assert_true(event->time >= TRACE_ORIGIN);
    }
    work /= 512.0 * 7 * 86400;
    assert_true(work > 0.89 && work < 0.91);
    assert_true(most_pods >= 16);
    assert_true(fractions > 500);
    assert_int_equal(failures, 14);
    trace_done(&trace);
}

/* What is made without any options: everything from a part of a GPU to 64 pods, and mostly small. */
static void a_month_has_gangs_of_64(void **state)
{
    static const char *const ten[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    struct trace_recipe recipe;
    uint32_t quotas[ARRAY_LEN(ten)];
    struct trace trace;
    uint32_t largest = 0;
    uint32_t gangs = 0;

    (void)state;
    trace_recipe_init(&recipe);
    recipe.queues = ten;
    recipe.queue_count = ARRAY_LEN(ten);
    trace_team_quotas(&recipe, quotas);
    trace_init(&trace);
    assert_int_equal(trace_generate(&trace, &recipe, NULL), 0);
    assert_int_equal(trace.jobs.len, 100000);
    vec_foreach (&trace.jobs, job) {
        uint32_t team = (uint32_t)(trace_str(&trace, job->queue)[0] - 'a');

        largest += job->pods == 64;
        gangs += job->pods > 1;
        assert_true(trace_job_gpus(&trace, job) <= quotas[team] / 2 * GPU_ONE);
    }
    assert_true(largest >= 50);
    assert_true(gangs > 2000 && gangs < 5000);
    trace_done(&trace);
}

static void settings_that_make_no_sense_are_refused(void **state)
{
    struct trace_recipe recipe = recipe_of(1);
    struct trace trace;
    struct err err = {0};

    (void)state;
    trace_init(&trace);
    recipe.gpus = 100;
    assert_int_equal(trace_generate(&trace, &recipe, &err), -22);
    assert_string_equal(err.text, "gpus-per-node: 100 GPUs do not make whole nodes of 8");
    recipe = recipe_of(1);
    recipe.load = NAN;
    assert_int_equal(trace_generate(&trace, &recipe, &err), -22);
    recipe = recipe_of(1);
    recipe.queue_count = 0;
    assert_int_equal(trace_generate(&trace, &recipe, &err), -22);
    assert_string_equal(err.text, "queues: expected 1 to 1000, found 0");
    trace_done(&trace);
}

/* One GPU, one job: the sizes that do not fit are left out. */
static void the_smallest_cluster_has_work_that_fits(void **state)
{
    struct trace_recipe recipe = recipe_of(1);
    struct trace trace;

    (void)state;
    recipe.gpus = 1;
    recipe.gpus_per_node = 1;
    recipe.jobs = 50;
    recipe.days = 0.001;
    recipe.failures_per_day = 0;
    trace_init(&trace);
    assert_int_equal(trace_generate(&trace, &recipe, NULL), 0);
    vec_foreach (&trace.jobs, job)
        assert_true(trace_job_gpus(&trace, job) <= GPU_ONE);
    trace_done(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_trace),
        cmocka_unit_test(the_numbers_are_those_of_every_machine),
        cmocka_unit_test(generated_traces_read_back),
        cmocka_unit_test(the_load_is_what_was_asked_for),
        cmocka_unit_test(a_month_has_gangs_of_64),
        cmocka_unit_test(settings_that_make_no_sense_are_refused),
        cmocka_unit_test(the_smallest_cluster_has_work_that_fits),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
