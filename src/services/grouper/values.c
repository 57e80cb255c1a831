/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A wait is one request. Waits stand in a queue until a run, which is one child, takes the first of them and all others
 * that ask the same: to start a child and to compile its program costs far more than one more input.
 */
#include "services/grouper/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "net/loop.h"
#include "net/process.h"
#include "objects/group/live.h"
#include "text/json.h"

/* Children at a time, what one may be told and print, and programs that are remembered as too dear. */
enum { RUNS_MAX = 2, REQUEST_MAX = 64 << 20, ANSWER_MAX = 4 << 20, STOPPED_MAX = 1000 };

/* No more inputs go into a request that has so many bytes: objects of the API are a few MiB at the most. */
enum { REQUEST_ENOUGH = 8 << 20 };

/* A child may have to wait for a processor; its own limit is in processor time. */
#define RUN_TIMEOUT (10 * NSEC_PER_SEC)
#define STOPPED_FOR (60 * NSEC_PER_SEC)

struct values_run;

struct values_wait {
    struct values *values;
    struct values_run *run;  // NULL: in the queue
    char *questions;         // as JSON
    char *input;
    uint64_t program;  // hash of the questions
    values_fn fn;
    void *arg;
};

struct values_run {
    struct values *values;
    struct process *process;
    uint64_t program;
    VEC(struct values_wait *) waits;  // NULL: cancelled since
};

struct values {
    struct loop *loop;
    char *program;
    VEC(struct values_wait *) queue;
    VEC(struct values_run *) runs;
    struct map64 stopped;  // hash of the questions -> until when they are not tried
    struct loop_task pump;
};

static void wait_free(struct values_wait *wait)
{
    free(wait->questions);
    free(wait->input);
    free(wait);
}

/* Tells the one who waits, who may ask for more or cancel others meanwhile. */
static void tell(struct values_wait *wait, yyjson_val *answer, yyjson_val *invalid, const struct err *err)
{
    values_fn fn = wait->fn;
    void *arg = wait->arg;

    wait_free(wait);
    fn(arg, answer, invalid, err);
}

static bool is_stopped(struct values *values, uint64_t program)
{
    uint64_t until = 0;

    return map64_get(&values->stopped, program, &until) && (nsec_t)until > nsec_now_monotonic();
}

static void remember_stopped(struct values *values, uint64_t program)
{
    if (map64_len(&values->stopped) >= STOPPED_MAX)
        map64_clear(&values->stopped);
    map64_put(&values->stopped, program, (uint64_t)(nsec_now_monotonic() + STOPPED_FOR));
}

static const struct err too_dear = {
    -E2BIG, "its jq expressions took too much time or memory; they are tried again after a minute"};

static void run_free(struct values_run *run)
{
    vec_done(&run->waits);
    free(run);
}

static void run_forget(struct values_run *run)
{
    struct values *values = run->values;

    for (uint32_t i = 0; i < values->runs.len; i++) {
        if (values->runs.items[i] == run) {
            vec_swap_remove(&values->runs, i);
            return;
        }
    }
}

static void tell_all(struct values_run *run, yyjson_doc *doc, const struct err *err)
{
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *answers = yyjson_obj_get(root, "answers");
    yyjson_val *invalid = yyjson_obj_get(root, "invalid");
    static const struct err senseless = {-EINVAL, "its jq expressions are invalid"};
    static const struct err unanswered = {-EBADMSG, "its jq expressions were not evaluated"};

    for (uint32_t i = 0; i < run->waits.len; i++) {
        struct values_wait *wait = run->waits.items[i];
        yyjson_val *answer = yyjson_arr_get(answers, i);

        run->waits.items[i] = NULL;
        if (!wait)
            continue;
        if (err)
            tell(wait, NULL, NULL, err);
        else if (yyjson_is_arr(answer))
            tell(wait, answer, NULL, NULL);
        else
            tell(wait, NULL, invalid, invalid ? &senseless : &unanswered);
    }
}

static void on_ended(void *arg, const struct process_result *result)
{
    struct values_run *run = arg;
    struct values *values = run->values;
    yyjson_doc *doc = NULL;
    struct err err = {0};

    run->process = NULL;
    run_forget(run);
    if (result->err.code < 0 || result->signal || result->exit_status != 0) {
        remember_stopped(values, run->program);
        err = too_dear;
    } else if (json_parse(result->output, result->output_len, "the answer", &doc, &err) == 0) {
        err.code = 0;
    }
    loop_task_queue(&values->pump);
    tell_all(run, doc, err.code < 0 ? &err : NULL);
    yyjson_doc_free(doc);
    run_free(run);
}

/* Takes the first of the queue and all who ask the same. */
static struct values_run *run_new(struct values *values)
{
    struct values_run *run = xcalloc(1, sizeof *run);
    size_t bytes = 0;

    run->values = values;
    run->program = values->queue.items[0]->program;
    for (uint32_t i = 0; i < values->queue.len && bytes < REQUEST_ENOUGH;) {
        struct values_wait *wait = values->queue.items[i];

        if (wait->program == run->program) {
            wait->run = run;
            bytes += strlen(wait->input);
            vec_push(&run->waits, wait);
            vec_remove_at(&values->queue, i);
        } else {
            i++;
        }
    }
    return run;
}

static void run_start(struct values_run *run)
{
    struct values *values = run->values;
    const char *const argv[] = {values->program, "jq", NULL};
    const char *const env[] = {NULL};
    struct strbuf request;
    struct err err = {0};

    strbuf_init(&request, REQUEST_MAX);
    strbuf_addf(&request, "{\"questions\":%s,\"inputs\":[", run->waits.items[0]->questions);
    vec_foreach (&run->waits, wait)
        strbuf_addf(&request, "%s%s", wait == run->waits.items ? "" : ",", (*wait)->input);
    strbuf_addstr(&request, "]}");
    int r = process_start(values->loop,
                          &(struct process_request){
                              .argv = argv,
                              .env = env,
                              .input = request.text,
                              .input_len = request.len,
                              .output_max = ANSWER_MAX,
                              .timeout = RUN_TIMEOUT,
                              .on_done = on_ended,
                              .arg = run,
                          },
                          &run->process, &err);
    strbuf_done(&request);
    if (r < 0) {
        tell_all(run, NULL, &err);
        run_free(run);
        return;
    }
    vec_push(&values->runs, run);
}

static void on_pump(void *arg)
{
    struct values *values = arg;

    for (uint32_t i = 0; i < values->queue.len;) {
        struct values_wait *wait = values->queue.items[i];

        if (is_stopped(values, wait->program)) {
            vec_remove_at(&values->queue, i);
            tell(wait, NULL, NULL, &too_dear);
            i = 0;
        } else {
            i++;
        }
    }
    while (values->queue.len > 0 && values->runs.len < RUNS_MAX)
        run_start(run_new(values));
}

struct values *values_new(struct loop *loop, const char *program)
{
    struct values *values = xcalloc(1, sizeof *values);

    values->loop = loop;
    values->program = xstrdup(program);
    map64_init(&values->stopped);
    loop_task_init(&values->pump, loop, on_pump, values);
    return values;
}

void values_free(struct values *values)
{
    if (!values)
        return;
    loop_task_cancel(&values->pump);
    vec_foreach (&values->runs, run) {
        process_cancel((*run)->process);
        vec_foreach (&(*run)->waits, wait) {
            if (*wait)
                wait_free(*wait);
        }
        run_free(*run);
    }
    vec_foreach (&values->queue, wait)
        wait_free(*wait);
    vec_done(&values->runs);
    vec_done(&values->queue);
    map64_done(&values->stopped);
    free(values->program);
    free(values);
}

static char *questions_encode(const struct values_request *request)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    char *text;

    yyjson_mut_doc_set_root(doc, list);
    for (size_t i = 0; i < request->question_count; i++) {
        yyjson_mut_val *question = yyjson_mut_arr_add_obj(doc, list);

        (void)yyjson_mut_obj_add_str(doc, question, "expression", request->questions[i].expression);
        if (request->questions[i].document >= 0)
            (void)yyjson_mut_obj_add_int(doc, question, "document", request->questions[i].document);
    }
    text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    BUG_ON(!text);
    yyjson_mut_doc_free(doc);
    return text;
}

static char *input_encode(const struct values_request *request)
{
    struct strbuf text;

    strbuf_init(&text, REQUEST_MAX);
    for (size_t i = 0; i < ARRAY_LEN(request->documents); i++) {
        char *document = yyjson_val_write(request->documents[i], YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);

        BUG_ON(!document);
        strbuf_addf(&text, "%c%s", i ? ',' : '[', document);
        free(document);
    }
    strbuf_addch(&text, ']');
    return strbuf_take(&text);
}

struct values_wait *values_ask(struct values *values, const struct values_request *request)
{
    struct values_wait *wait = xcalloc(1, sizeof *wait);

    wait->values = values;
    wait->fn = request->fn;
    wait->arg = request->arg;
    wait->questions = questions_encode(request);
    wait->input = input_encode(request);
    wait->program = hash_str(wait->questions, 0);
    vec_push(&values->queue, wait);
    loop_task_queue(&values->pump);
    return wait;
}

void values_cancel(struct values_wait *wait)
{
    if (!wait)
        return;
    if (wait->run) {
        vec_foreach (&wait->run->waits, at) {
            if (*at == wait)
                *at = NULL;
        }
    } else {
        for (uint32_t i = 0; i < wait->values->queue.len; i++) {
            if (wait->values->queue.items[i] == wait) {
                vec_remove_at(&wait->values->queue, i);
                break;
            }
        }
    }
    wait_free(wait);
}
