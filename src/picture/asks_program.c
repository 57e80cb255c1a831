/* SPDX-License-Identifier: Apache-2.0 */

/* Answers by this program as a process of its own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "frame/service.h"
#include "net/process.h"
#include "net/rest/rest.h"
#include "picture/asks_internal.h"

enum { ANSWER_MAX = 16 << 20, NAME_MAX_BYTES = 1024, EXIT_NOT_FOUND = 2 };

#define ANSWER_TIMEOUT (30 * NSEC_PER_SEC)

struct run {
    struct list_link in_asks;
    struct asks *asks;
    struct http_exchange *exchange;
    struct process *process;
    struct asks_program program;
};

static void run_free(struct run *run)
{
    if (run->program.free_arg)
        run->program.free_arg(run->program.arg);
    free(run);
}

static void run_end(struct run *run)
{
    list_remove(&run->asks->programs, &run->in_asks);
    run_free(run);
}

/* The first line of what it complained about, without the name of the program. */
static void fail_with(struct http_exchange *exchange, int code, const char *complaints)
{
    static const char prefix[] = "muster: ";
    const char *text = strncmp(complaints, prefix, strlen(prefix)) == 0 ? complaints + strlen(prefix) : complaints;

    rest_fail(exchange, code, "%.*s", (int)strcspn(text, "\n"), *text ? text : "no answer");
}

static void on_done(void *arg, const struct process_result *result)
{
    struct run *run = arg;

    if (result->err.code < 0)
        rest_fail_err(run->exchange, &result->err);
    else if (result->exit_status != 0)
        fail_with(run->exchange, result->exit_status == EXIT_NOT_FOUND ? -ENOENT : -EIO, result->complaints);
    else if (run->program.fn)
        run->program.fn(run->program.arg, run->exchange, result->output, result->output_len);
    else
        http_reply(run->exchange, 200, "application/json", result->output, result->output_len);
    run_end(run);
}

static void on_cancel(void *arg)
{
    struct run *run = arg;

    process_cancel(run->process);
    rest_fail(run->exchange, -ECANCELED, "the request was canceled: the client or the server closed the connection");
    run_end(run);
}

void asks_program(struct asks *asks, struct http_exchange *exchange, const struct asks_program *program)
{
    struct run *run = xcalloc(1, sizeof *run);
    VEC(const char *) argv = {0};
    struct err err = {0};

    *run = (struct run){.asks = asks, .exchange = exchange, .program = *program};
    vec_push(&argv, "/proc/self/exe");
    for (const char *const *word = program->words; *word; word++)
        vec_push(&argv, *word);
    vec_push(&argv, NULL);
    int r = process_start(asks->service->loop,
                          &(struct process_request){
                              .argv = argv.items,
                              .input = program->input,
                              .input_len = program->input_len,
                              .output_max = ANSWER_MAX,
                              .timeout = ANSWER_TIMEOUT,
                              .on_done = on_done,
                              .arg = run,
                          },
                          &run->process, &err);

    vec_done(&argv);
    if (r < 0) {
        rest_fail_err(exchange, &err);
        run_free(run);
        return;
    }
    list_push(&asks->programs, &run->in_asks);
    http_on_cancel(exchange, on_cancel, run);
}

void asks_why(struct asks *asks, struct http_exchange *exchange,
              void (*fn)(void *arg, struct http_exchange *exchange, const char *output, size_t len), void *arg)
{
    struct strbuf name;

    strbuf_init(&name, NAME_MAX_BYTES);
    strbuf_addf(&name, "%s/%s", rest_param(exchange, "namespace"), rest_param(exchange, "name"));
    const char *const words[] = {"why",     "-o",    "json", "--kubeconfig", asks->service->settings.kubeconfig, "--",
                                 name.text, "kube:", NULL};

    asks_program(asks, exchange, &(struct asks_program){.words = words, .fn = fn, .arg = arg});
    strbuf_done(&name);
}

void programs_end(struct asks *asks)
{
    for (struct list_link *link = asks->programs.first, *next; link; link = next) {
        next = link->next;
        on_cancel(list_item(link, struct run, in_asks));
    }
}
