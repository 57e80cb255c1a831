/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/slurm/slurm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static void times_are_read_as_slurm_writes_them(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;  // -1: it is none
    } cases[] = {
        {"90", 5400},       {"2:30", 150},    {"2:30:00", 9000}, {"1-12", 129600},    {"1-12:30", 131400},
        {"1-0:0:5", 86405}, {"UNLIMITED", 0}, {"", -1},          {"x", -1},           {"1:2:3:4", -1},
        {"-5", -1},         {"1-", -1},       {"1 2", -1},       {"99999999999", -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t seconds = -1;

        assert_int_equal(slurm_time_parse(cases[i].text, &seconds, NULL) == 0, cases[i].seconds >= 0);
        assert_int_equal(seconds, cases[i].seconds);
    }
}

static void sizes_are_mebibytes_unless_a_letter_says_otherwise(void **state)
{
    static const struct {
        const char *text;
        int64_t mib;
    } cases[] = {{"4096", 4096}, {"16G", 16384}, {"16g", 16384}, {"16GB", 16384}, {"2T", 2097152},
                 {"1500K", 2},   {"x", -1},      {"16X", -1},    {"16GiB", -1},   {"", -1}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t mib = -1;

        assert_int_equal(slurm_memory_parse(cases[i].text, &mib, NULL) == 0, cases[i].mib >= 0);
        assert_int_equal(mib, cases[i].mib);
    }
}

static void options_of_a_script_end_at_its_first_command(void **state)
{
    static const char script[] =
        "#!/bin/bash\n# a comment\n\n#SBATCH -J 'two words' --gres=gpu:a100:2 # why\n#SBATCH\t-n4\n"
        "  \n#SBATCHX --mem=1\ncd /\n#SBATCH -J late\n";
    struct slurm_values values = {0};
    struct slurm_job job;
    struct arena arena;
    struct err err = {0};

    (void)state;
    arena_init(&arena);
    assert_int_equal(slurm_script_read(script, &arena, &values, &err), 0);
    assert_string_equal(values.of[SLURM_JOB_NAME], "two words");
    assert_string_equal(values.of[SLURM_NTASKS], "4");
    assert_null(values.of[SLURM_MEM]);
    values.of[SLURM_NODES] = "2";
    assert_int_equal(slurm_job_make(&values, &arena, &job, &err), 0);
    assert_int_equal(job.spec.gpus, 1);
    assert_int_equal(job.spec.tasks, 4);
    assert_string_equal(job.spec.gpu_product, "a100");
    slurm_job_done(&job);
    arena_done(&arena);
}

static void an_array_has_each_index_once(void **state)
{
    struct array_spec array;
    struct err err = {0};

    (void)state;
    assert_int_equal(array_parse("1-9:4,5,20%3", &array, &err), 0);
    assert_int_equal(array.indexes.len, 4);
    assert_int_equal(array.indexes.items[3], 20);
    assert_true(array.limit == 3 && array.first == 1 && array.last == 20 && array.step == 4);
    array_spec_done(&array);
    for (size_t i = 0; i < 7; i++) {
        static const char *const wrong[] = {"", "a", "5-1", "1-", "1,", "1%0", "1-5:0"};

        assert_true(array_parse(wrong[i], &array, &err) < 0);
    }
}

static void names_of_output_files_are_safe_in_a_shell(void **state)
{
    struct slurm_job job = {0};
    struct arena arena;

    (void)state;
    arena_init(&arena);
    assert_non_null(strstr(slurm_wrapper("a$(x)`y`\"%%j-%j", NULL, false, &job, &arena),
                           "exec >\"a\\$(x)\\`y\\`\\\"%j-${SLURM_JOB_ID}\" 2>&1"));
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read_as_slurm_writes_them),
        cmocka_unit_test(sizes_are_mebibytes_unless_a_letter_says_otherwise),
        cmocka_unit_test(options_of_a_script_end_at_its_first_command),
        cmocka_unit_test(an_array_has_each_index_once),
        cmocka_unit_test(names_of_output_files_are_safe_in_a_shell),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
