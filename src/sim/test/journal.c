/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "journal/record.h"
#include "journal/segment.h"
#include "journal/segment_format.h"
#include "model/state.h"
#include "sim/replay/replay.h"

/* A cluster of two nodes that one pod comes to in each cycle, with its journal in a folder of its own. */
struct bench {
    char folder[64];
    struct state *state;
    struct engine *engine;
    struct config config;
    struct journal *journal;
    uint64_t cycles;
    uint32_t complaints;
    uint32_t recoveries;
    int64_t gpus;  // of the next pod; 0: one
    int32_t priority;
};

static void note_trouble(void *arg, const struct err *err)
{
    struct bench *bench = arg;

    bench->complaints += err != NULL;
    bench->recoveries += err == NULL;
}

static void put_cluster(struct state *state)
{
    const struct amount_spec amounts[] = {{"nvidia.com/gpu", 1000 * GPU_ONE}, {"pods", 1000}};
    const struct queue_spec queue = {.name = "q", .deserved = {-1, -1, -1}, .limit = {-1, -1, -1}, .weight = {1, 1, 1}};

    for (int i = 0; i < 2; i++) {
        const struct node_spec node = {
            .name = i ? "n1" : "n0", .allocatable = amounts, .allocatable_count = 2, .device_count = -1};

        assert_int_equal(state_put_node(state, &node, NULL), 0);
    }
    assert_int_equal(state_put_queue(state, &queue, NULL), 0);
}

static int set_up(void **ret)
{
    struct bench *bench = calloc(1, sizeof *bench);

    (void)snprintf(bench->folder, sizeof bench->folder, "/tmp/muster-journal-XXXXXX");
    assert_non_null(mkdtemp(bench->folder));
    bench->state = state_new();
    config_init(&bench->config);
    put_cluster(bench->state);
    bench->engine = engine_new(bench->state, &bench->config);
    *ret = bench;
    return 0;
}

static int tear_down(void **arg)
{
    struct bench *bench = *arg;
    char command[128];

    journal_close(bench->journal);
    engine_free(bench->engine);
    state_free(bench->state);
    (void)snprintf(command, sizeof command, "rm -rf %s", bench->folder);
    assert_int_equal(system(command), 0);
    free(bench);
    return 0;
}

static void open_journal(struct bench *bench)
{
    struct journal_options options = {.folder = bench->folder, .trouble = note_trouble, .arg = bench};

    assert_int_equal(journal_open(&options, bench->state, &bench->config, &bench->journal, NULL), 0);
}

static void put_work(struct bench *bench, nsec_t now)
{
    const struct group_spec groups[] = {{.name = "", .parent = -1, .min = -1},
                                        {.name = "default", .parent = 0, .is_pod_set = true, .min = 1}};
    char name[32];

    (void)snprintf(name, sizeof name, "w%llu", (unsigned long long)bench->cycles);
    const struct gang_spec gang = {.namespace = "ns",
                                   .name = name,
                                   .queue = "q",
                                   .priority = bench->priority,
                                   .is_preemptible = true,
                                   .created = now,
                                   .groups = groups,
                                   .group_count = 2};
    const struct pod_spec pod = {.namespace = "ns",
                                 .name = name,
                                 .gang = name,
                                 .created = now,
                                 .request = {.gpus = bench->gpus ? bench->gpus : 1}};

    assert_int_equal(state_put_gang(bench->state, &gang, NULL), 0);
    assert_int_equal(state_put_pod(bench->state, &pod, NULL), 0);
}

static size_t run_cycle(struct bench *bench, nsec_t now)
{
    static const enum action actions[] = {ACTION_ALLOCATE, ACTION_PREEMPT};
    size_t count;

    put_work(bench, now);
    engine_take_in(bench->engine);
    engine_open(bench->engine, now);
    journal_cycle_begin(bench->journal, ++bench->cycles, now);
    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        engine_run(bench->engine, actions[i]);
    journal_cycle_end(bench->journal, bench->engine, actions, ARRAY_LEN(actions));
    (void)engine_decisions(bench->engine, &count);
    engine_close(bench->engine);
    return count;
}

static struct replay replay_of(struct bench *bench)
{
    struct replay replay;
    struct err err = {0};

    replay_init(&replay);
    if (replay_run(&replay, bench->folder, &err) < 0)
        fail_msg("%s", err.text);
    return replay;
}

static void what_was_decided_is_decided_again(void **arg)
{
    struct bench *bench = *arg;

    open_journal(bench);
    for (int i = 0; i < 50; i++)
        assert_int_equal(run_cycle(bench, i * NSEC_PER_SEC), 1);
    assert_int_equal(journal_cycles(bench->journal), 50);
    assert_true(journal_is_well(bench->journal));

    struct replay replay = replay_of(bench);
    assert_true(replay_is_same(&replay));
    assert_int_equal(replay.cycles, 50);
    assert_int_equal(replay.decisions[DECISION_BIND], 50);
    assert_int_equal(replay.last, 49 * NSEC_PER_SEC);
    replay_done(&replay);
}

static void set_file_limit(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = MIN(bytes, limit.rlim_max);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_is_complained_about_once_and_forgotten_when_it_is_over(void **arg)
{
    struct bench *bench = *arg;

    open_journal(bench);
    assert_int_equal(run_cycle(bench, 0), 1);
    (void)signal(SIGXFSZ, SIG_IGN);
    set_file_limit(600);
    for (int i = 1; i < 30; i++)
        assert_int_equal(run_cycle(bench, i * NSEC_PER_SEC), 1);
    assert_int_equal(bench->complaints, 1);
    assert_false(journal_is_well(bench->journal));
    set_file_limit(RLIM_INFINITY);
    assert_int_equal(run_cycle(bench, 31 * NSEC_PER_SEC), 1);
    assert_int_equal(bench->recoveries, 0);
    assert_int_equal(run_cycle(bench, 120 * NSEC_PER_SEC), 1);
    assert_int_equal(run_cycle(bench, 121 * NSEC_PER_SEC), 1);
    assert_int_equal(bench->recoveries, 1);
    assert_true(journal_is_well(bench->journal));

    struct replay replay = replay_of(bench);
    assert_true(replay_is_same(&replay));
    assert_int_equal(replay.cut, 0);
    assert_int_equal(replay.segments, 2);
    assert_int_equal(replay.cycles, journal_cycles(bench->journal));
    assert_int_equal(replay.last, 121 * NSEC_PER_SEC);
    replay_done(&replay);
}

static void only_one_writes_to_a_folder(void **arg)
{
    struct bench *bench = *arg;
    struct journal_options options = {.folder = bench->folder};
    struct journal *other = NULL;
    struct err err = {0};

    open_journal(bench);
    assert_int_equal(journal_open(&options, bench->state, &bench->config, &other, &err), -EBUSY);
    assert_non_null(strstr(err.text, "another process"));
}

static bool stop_always(void *context, enum search_stage stage, uint32_t which)
{
    (void)stage;
    (void)which;
    ++*(uint64_t *)context;
    return true;
}

/* Both nodes are full, and a pod of higher priority would evict another one, if the search were not ended. */
static void answers_of_the_clock_are_given_again(void **arg)
{
    struct bench *bench = *arg;
    uint64_t asked = 0;

    open_journal(bench);
    engine_set_clock(bench->engine, stop_always, &asked);
    journal_follow_clock(bench->journal, bench->engine);
    bench->gpus = 1000;
    assert_int_equal(run_cycle(bench, 0), 1);
    assert_int_equal(run_cycle(bench, 1), 1);
    bench->priority = 100;
    assert_int_equal(run_cycle(bench, 2), 0);
    assert_true(asked > 0);

    struct replay replay = replay_of(bench);
    assert_true(replay_is_same(&replay));
    assert_int_equal(replay.cycles, 3);
    replay_done(&replay);

    /* Without a clock it is not the same any more. */
    engine_set_clock(bench->engine, NULL, NULL);
    assert_true(run_cycle(bench, 3) > 0);
}

static void a_past_cycle_is_found_by_its_time(void **arg)
{
    struct bench *bench = *arg;
    struct replay_moment moment;

    open_journal(bench);
    for (int i = 0; i < 5; i++)
        (void)run_cycle(bench, i * NSEC_PER_SEC);
    assert_int_equal(replay_find(&moment, bench->folder, 3 * NSEC_PER_SEC + 1, NULL), 0);
    assert_int_equal(moment.cycle, 4);
    assert_true(moment.is_same);
    assert_int_equal(moment.then_count, 1);
    assert_string_equal(moment.then[0].pod, "w3");
    replay_moment_done(&moment);
    assert_int_equal(replay_find(&moment, bench->folder, -1, NULL), -ENOENT);
    replay_moment_done(&moment);
}

/* Opens a segment whose header has `value` at `at`, and returns what is said. */
static struct err open_changed(struct bench *bench, size_t at, uint32_t value)
{
    char *path = segment_path(bench->folder, 1);
    uint8_t header[HEADER_BYTES];
    struct segment_reader *reader = NULL;
    struct err err = {0};

    open_journal(bench);
    (void)run_cycle(bench, 0);
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, header, sizeof header, 0), sizeof header);
    store_u32(header + at, value);
    store_u64(header + HEADER_SUMMED, segment_sum(header, HEADER_SUMMED, 0));
    assert_int_equal(pwrite(fd, header, sizeof header, 0), sizeof header);
    (void)close(fd);
    assert_int_equal(segment_open(path, &reader, &err), -EINVAL);
    free(path);
    return err;
}

static void a_segment_of_a_newer_version_says_so(void **arg)
{
    assert_non_null(strstr(open_changed(*arg, VERSION_AT, SEGMENT_VERSION + 1).text, "a newer version"));
}

static void a_segment_with_a_newer_form_of_records_says_so(void **arg)
{
    assert_non_null(strstr(open_changed(*arg, FORM_AT, RECORD_FORM + 1).text, "a newer version"));
}

static void a_segment_of_an_unknown_version_says_so(void **arg)
{
    assert_non_null(strstr(open_changed(*arg, FINGERPRINT_AT, 1).text, "this one does not know"));
}

static void numbers_come_back_as_they_were(void **unused)
{
    static const uint64_t numbers[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, INT64_MAX, UINT64_MAX - 1, UINT64_MAX};
    struct wire_bytes bytes = {0};

    (void)unused;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        wire_put_number(&bytes, numbers[i]);
    struct wire_in in = {.at = bytes.items, .end = bytes.items + bytes.len};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        assert_true(wire_get_number(&in) == numbers[i]);
    assert_false(in.is_bad);
    assert_int_equal(wire_get_number(&in), 0);
    assert_true(in.is_bad);
    vec_done(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_decided_is_decided_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_disk_is_complained_about_once_and_forgotten_when_it_is_over, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(only_one_writes_to_a_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(answers_of_the_clock_are_given_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_past_cycle_is_found_by_its_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_segment_of_a_newer_version_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_segment_with_a_newer_form_of_records_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_segment_of_an_unknown_version_says_so, set_up, tear_down),
        cmocka_unit_test(numbers_come_back_as_they_were),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
