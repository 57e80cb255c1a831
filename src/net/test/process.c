/* SPDX-License-Identifier: Apache-2.0 */
#include "net/process.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/loop.h"

struct told {
    int times;
    struct err err;
    int exit_status;
    int signal;
    char *output;
    char *complaints;
};

static void told_done(struct told *told)
{
    free(told->output);
    free(told->complaints);
}

static void on_done(void *arg, const struct process_result *result)
{
    struct told *told = arg;

    told_done(told);
    *told = (struct told){
        .times = told->times + 1,
        .err = result->err,
        .exit_status = result->exit_status,
        .signal = result->signal,
        .output = xstrdup(result->output),
        .complaints = xstrdup(result->complaints),
    };
}

/* Runs a shell script to its end. */
static struct told run(const char *script, struct process_request request)
{
    struct told told = {0};
    struct process *process = NULL;
    struct loop *loop = loop_new();
    const char *argv[] = {"sh", "-c", script, NULL};

    request.argv = argv;
    request.on_done = on_done;
    request.arg = &told;
    assert_int_equal(process_start(loop, &request, &process, NULL), 0);
    assert_int_equal(told.times, 0);
    loop_run(loop);
    loop_free(loop);
    assert_int_equal(told.times, 1);
    return told;
}

static void a_child_answers_what_it_is_asked(void **state)
{
    (void)state;
    struct process_request request = {.input = "question", .input_len = 8, .output_max = 100};
    struct told told = run("cat; echo oh >&2; exit 3", request);

    assert_int_equal(told.err.code, 0);
    assert_int_equal(told.exit_status, 3);
    assert_int_equal(told.signal, 0);
    assert_string_equal(told.output, "question");
    assert_string_equal(told.complaints, "oh\n");
    told_done(&told);
}

static void the_environment_is_what_was_given(void **state)
{
    (void)state;
    const char *env[] = {"PATH=/usr/bin:/bin", "WORD=given", NULL};
    struct process_request request = {.env = env, .folder = "/", .output_max = 100};
    struct told told = run("echo $WORD; pwd", request);

    assert_string_equal(told.output, "given\n/\n");
    told_done(&told);
}

static void too_much_output_ends_the_child(void **state)
{
    (void)state;
    struct told told = run("while :; do echo more and more; done", (struct process_request){.output_max = 1000});

    assert_int_equal(told.err.code, -EFBIG);
    assert_int_equal(told.signal, SIGKILL);
    assert_int_equal(strlen(told.output), 1000);
    told_done(&told);
}

static void complaints_are_cut_and_do_no_harm(void **state)
{
    (void)state;
    struct told told = run("i=0; while [ $i -lt 2000 ]; do echo $i complaint >&2; i=$((i+1)); done; echo fine",
                           (struct process_request){.output_max = 1000});

    assert_int_equal(told.err.code, 0);
    assert_string_equal(told.output, "fine\n");
    assert_int_equal(strlen(told.complaints), 4096);
    told_done(&told);
}

static void a_child_that_takes_too_long_is_killed_with_its_children(void **state)
{
    (void)state;
    nsec_t start = nsec_now_monotonic();
    struct told told =
        run("sleep 60 & sleep 60", (struct process_request){.output_max = 1000, .timeout = 50 * NSEC_PER_MSEC});

    assert_int_equal(told.err.code, -ETIMEDOUT);
    assert_int_equal(told.signal, SIGKILL);
    assert_true(nsec_now_monotonic() - start < 20 * NSEC_PER_SEC);
    told_done(&told);
}

static void a_grandchild_that_stays_is_not_waited_for(void **state)
{
    (void)state;
    nsec_t start = nsec_now_monotonic();
    struct told told = run("setsid sleep 4 & echo started", (struct process_request){.output_max = 1000});

    assert_int_equal(told.err.code, 0);
    assert_int_equal(told.exit_status, 0);
    assert_string_equal(told.output, "started\n");
    assert_true(nsec_now_monotonic() - start < 20 * NSEC_PER_SEC);
    told_done(&told);
}

static void what_cannot_be_started_says_why(void **state)
{
    (void)state;
    struct loop *loop = loop_new();
    struct process *process = NULL;
    struct err err = {0};
    const char *argv[] = {"no-such-program-anywhere", NULL};
    struct process_request request = {.argv = argv, .output_max = 10, .on_done = on_done};

    assert_int_equal(process_start(loop, &request, &process, &err), -ENOENT);
    assert_non_null(strstr(err.text, "no-such-program-anywhere"));
    loop_run(loop);
    loop_free(loop);
}

static void a_child_that_is_called_off_says_nothing(void **state)
{
    (void)state;
    struct told told = {0};
    struct loop *loop = loop_new();
    struct process *process = NULL;
    const char *argv[] = {"sleep", "60", NULL};
    struct process_request request = {.argv = argv, .output_max = 10, .on_done = on_done, .arg = &told};

    assert_int_equal(process_start(loop, &request, &process, NULL), 0);
    process_cancel(process);
    loop_run(loop);
    loop_free(loop);
    assert_int_equal(told.times, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_answers_what_it_is_asked),
        cmocka_unit_test(the_environment_is_what_was_given),
        cmocka_unit_test(too_much_output_ends_the_child),
        cmocka_unit_test(complaints_are_cut_and_do_no_harm),
        cmocka_unit_test(a_child_that_takes_too_long_is_killed_with_its_children),
        cmocka_unit_test(a_grandchild_that_stays_is_not_waited_for),
        cmocka_unit_test(what_cannot_be_started_says_why),
        cmocka_unit_test(a_child_that_is_called_off_says_nothing),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
