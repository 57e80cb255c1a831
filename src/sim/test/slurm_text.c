/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/convert/slurm_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void durations_are_read_in_all_forms(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;  // -1: refused
    } cases[] = {
        {"1-02:03:04", 93784},   {"02:03:04", 7384}, {"03:04", 184},      {"00:00:00", 0},
        {"12:34.567", 754},      {"2-00", 172800},   {"1-12:30", 131400}, {"UNLIMITED", -1},
        {"Partition_Limit", -1}, {"", -1},           {"5", -1},           {"1:2:3:4", -1},
        {"99999-00:00", -1},     {"1-", -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        nsec_t duration = -1;
        bool is_read = slurm_duration(cases[i].text, &duration);

        assert_int_equal(is_read, cases[i].seconds >= 0);
        if (is_read)
            assert_int_equal(duration, cases[i].seconds * NSEC_PER_SEC);
    }
}

static void memory_has_units_and_may_be_per_cpu(void **state)
{
    int64_t bytes;
    char per;

    (void)state;
    assert_true(slurm_memory("1.5T", &bytes, &per));
    assert_int_equal(bytes, INT64_C(1536) << 30);
    assert_true(slurm_memory("4Gc", &bytes, &per));
    assert_int_equal(bytes, INT64_C(4) << 30);
    assert_int_equal(per, 'c');
    assert_true(slurm_memory("500", &bytes, &per));
    assert_int_equal(bytes, INT64_C(500) << 20);
    assert_int_equal(per, 0);
    assert_false(slurm_memory("", &bytes, &per));
    assert_false(slurm_memory("12X", &bytes, &per));
    assert_false(slurm_memory("1e300", &bytes, &per));
    assert_false(slurm_memory("nan", &bytes, &per));
}

static void resources_name_gpus_with_and_without_type(void **state)
{
    struct slurm_tres tres;

    (void)state;
    slurm_tres_parse("billing=8,cpu=16,gres/gpu:a100=8,gres/gpu=8,mem=64G,node=2", &tres);
    assert_int_equal(tres.cpus, 16);
    assert_int_equal(tres.gpus, 8);
    assert_int_equal(tres.nodes, 2);
    assert_int_equal(tres.memory_bytes, INT64_C(64) << 30);
    assert_string_equal(tres.gpu_type, "a100");
    slurm_tres_parse("gres/gpu:a100=2,gres/gpu:t4=1", &tres);
    assert_int_equal(tres.gpus, 3);
    assert_string_equal(tres.gpu_type, "");
    slurm_tres_parse("cpu,=,gres/gpu:=1,cpu=x,mem=lots,node=999999999999", &tres);
    assert_int_equal(tres.cpus + tres.gpus + tres.nodes, 0);

    slurm_gres_parse("gpu:a100:8(S:0-1,3),gpu:t4:2", &tres);
    assert_int_equal(tres.gpus, 10);
    assert_string_equal(tres.gpu_type, "");
    slurm_gres_parse("lscratch:1800,gpu:h100:4(S:0)", &tres);
    assert_int_equal(tres.gpus, 4);
    assert_string_equal(tres.gpu_type, "h100");
    slurm_gres_parse("gpu:4", &tres);
    assert_int_equal(tres.gpus, 4);
    slurm_gres_parse("(null)", &tres);
    assert_int_equal(tres.gpus, 0);
    slurm_gres_parse("gpu:a(", &tres);
    assert_int_equal(tres.gpus, 0);
}

struct seen {
    uint32_t tasks[16];
    uint32_t len;
};

static int see(void *context, uint32_t task)
{
    struct seen *seen = context;

    seen->tasks[seen->len++] = task;
    return 0;
}

static void tasks_of_an_array_are_counted_up_to_a_bound(void **state)
{
    struct seen seen = {0};
    const uint32_t expected[] = {1, 2, 3, 7, 10, 15, 20};

    (void)state;
    assert_int_equal(slurm_tasks("12_[1-3,7,10-20:5%2]", 16, see, &seen), 7);
    assert_int_equal(seen.len, 7);
    assert_memory_equal(seen.tasks, expected, sizeof expected);
    seen.len = 0;
    assert_int_equal(slurm_tasks("12_[0-4000000]", 5, see, &seen), 5);
    assert_int_equal(slurm_tasks("12_3", 5, see, &seen), 0);
    assert_int_equal(slurm_tasks("12_[1-", 5, see, &seen), 0);
    assert_int_equal(slurm_tasks("12_[1-9:0]", 5, see, &seen), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_read_in_all_forms),
        cmocka_unit_test(memory_has_units_and_may_be_per_cpu),
        cmocka_unit_test(resources_name_gpus_with_and_without_type),
        cmocka_unit_test(tasks_of_an_array_are_counted_up_to_a_bound),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
