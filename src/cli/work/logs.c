/* SPDX-License-Identifier: Apache-2.0 */

/* muster logs: what the processes of a workload have written. All pods are asked at the same time. */
#include "cli/work/logs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "cli/commands.h"
#include "cli/work/pods.h"
#include "kube/client/meta.h"
#include "net/loop.h"
#include "objects/fields.h"

enum { PATH_MAX_BYTES = 4096, LINE_MAX_BYTES = 1 << 20 };

#define FOREVER (365 * 24 * NSEC_PER_HOUR)
#define PAUSE (300 * NSEC_PER_MSEC)

struct stream {
    struct api *api;
    const char *pod;     // the name before each line; NULL: none
    struct strbuf line;  // that has not ended yet
    unsigned int *open;
    struct err *err;  // the first failure
};

static void print_line(struct stream *stream)
{
    printf("%s: %s\n", stream->pod, stream->line.text);
    strbuf_clear(&stream->line);
}

/* Lines of several pods are printed whole. */
static int on_bytes(void *arg, const char *bytes, size_t len)
{
    struct stream *stream = arg;

    if (!stream->pod)
        (void)fwrite(bytes, 1, len, stdout);
    for (size_t at = 0; stream->pod && at < len;) {
        const char *end = memchr(bytes + at, '\n', len - at);
        size_t size = end ? (size_t)(end - bytes) - at : len - at;

        strbuf_add(&stream->line, bytes + at, size);
        if (end || stream->line.len > LINE_MAX_BYTES / 2)
            print_line(stream);
        at += size + (end != NULL);
    }
    return fflush(stdout) == 0 ? 0 : -EPIPE;
}

static void on_done(void *arg, const struct kube_answer *answer)
{
    struct stream *stream = arg;

    if (stream->line.len > 0)
        print_line(stream);
    if (answer->err.code < 0 && stream->err->code == 0) {
        *stream->err = answer->err;
        stream->err->code = answer->status == 400 || answer->status == 404 ? -EINVAL : -EIO;
    }
    if (--*stream->open == 0)
        loop_stop(stream->api->loop);
}

static void add_query(struct strbuf *path, const struct logs_options *options)
{
    char tail[24];

    kube_query(path, "container", options->container);
    kube_query(path, "follow", options->follows ? "true" : NULL);
    kube_query(path, "previous", options->is_previous ? "true" : NULL);
    kube_query(path, "timestamps", options->has_times ? "true" : NULL);
    (void)snprintf(tail, sizeof tail, "%lld", (long long)options->tail);
    kube_query(path, "tailLines", options->tail >= 0 ? tail : NULL);
}

static void start(struct stream *stream, yyjson_val *pod, const struct logs_options *options)
{
    struct strbuf path;

    strbuf_init(&path, PATH_MAX_BYTES);
    kube_path(&path, kube_known(KUBE_PODS), kube_text(pod, "metadata", "namespace"), kube_text(pod, "metadata", "name"),
              "log");
    add_query(&path, options);
    (void)kube_send(stream->api->client, &(struct kube_request){
                                             .verb = KUBE_GET,
                                             .path = path.text,
                                             .tries = 1,
                                             .timeout = options->follows ? FOREVER : 0,
                                             .is_raw = true,
                                             .on_item = on_bytes,
                                             .on_done = on_done,
                                             .arg = stream,
                                         });
    ++*stream->open;
    strbuf_done(&path);
}

static bool has_started(yyjson_val *pod)
{
    return strcmp(kube_text(pod, "status", "phase"), "Pending") != 0;
}

int logs_print(struct api *api, const struct workload_set *set, const struct workload_row *row,
               const struct logs_options *options, struct err *err)
{
    struct view_list pods = {0};
    unsigned int open = 0;
    struct err first = {0};
    uint32_t started = 0;

    workload_pods(set, row, &pods);
    vec_foreach (&pods, pod)
        started += has_started(*pod);
    struct stream *streams = xcalloc(pods.len + 1, sizeof *streams);
    for (uint32_t i = 0; i < pods.len; i++) {
        if (!has_started(pods.items[i]))
            continue;
        streams[i] = (struct stream){.api = api, .open = &open, .err = &first};
        streams[i].pod = started > 1 ? kube_text(pods.items[i], "metadata", "name") : NULL;
        strbuf_init(&streams[i].line, LINE_MAX_BYTES);
        start(&streams[i], pods.items[i], options);
    }
    if (open > 0)
        loop_run(api->loop);
    else
        (void)err_set(&first, -EINVAL, "%s/%s has no logs yet: it is %s", row->namespace, row->name,
                      row_state_name(row->state));
    for (uint32_t i = 0; i < pods.len; i++)
        strbuf_done(&streams[i].line);
    free(streams);
    vec_done(&pods);
    if (first.code < 0)
        *err = first;
    return first.code;
}

static bool may_have_logs(const struct workload_set *set, const struct workload_row *row)
{
    struct view_list pods = {0};
    bool is_found = row_is_finished(row);

    workload_pods(set, row, &pods);
    vec_foreach (&pods, pod)
        is_found = is_found || has_started(*pod);
    vec_done(&pods);
    return is_found;
}

static void on_pause(void *arg)
{
    loop_stop(arg);
}

int logs_await_start(struct api *api, const char *workload, struct err *err)
{
    struct loop_timer timer = {0};
    bool is_ready = false;
    int code = 0;

    loop_timer_init(&timer, api->loop, on_pause, api->loop);
    while (code == 0 && !is_ready) {
        const struct workload_row *row = NULL;
        struct workload_set set = {0};

        code = workload_set_read(&set, api, find_namespace(&workload, 1, api->namespace), err);
        if (code == 0)
            code = workload_find_one(&set, workload, api->namespace, &row, err);
        is_ready = code == 0 && may_have_logs(&set, row);
        workload_set_done(&set);
        if (code == 0 && !is_ready) {
            loop_timer_start(&timer, PAUSE);
            loop_run(api->loop);
        }
    }
    loop_timer_done(&timer);
    return code;
}

enum {
    OPTION_FOLLOW = API_OPTION_COUNT,
    OPTION_PREVIOUS,
    OPTION_TIMESTAMPS,
    OPTION_TAIL,
    OPTION_CONTAINER,
};

static const struct command_option command_options[] = {
    API_OPTIONS,
    [OPTION_FOLLOW] = {'f', "follow", NULL, NULL, "wait for its start, and print its output until it ends"},
    [OPTION_PREVIOUS] = {'p', "previous", NULL, NULL, "logs of containers before their last restart"},
    [OPTION_TIMESTAMPS] = {0, "timestamps", NULL, NULL, "print the time before each line"},
    [OPTION_TAIL] = {0, "tail", "LINES", NULL, "print only the last LINES lines"},
    [OPTION_CONTAINER] = {'c', "container", "NAME", NULL, "name of the container (default: the first)"},
};

static int show(struct api *api, const char *workload, const struct logs_options *options, struct err *err)
{
    const struct workload_row *row = NULL;
    struct workload_set set = {0};
    int code = options->follows ? logs_await_start(api, workload, err) : 0;

    if (code == 0)
        code = workload_set_read(&set, api, find_namespace(&workload, 1, api->namespace), err);
    if (code == 0)
        code = workload_find_one(&set, workload, api->namespace, &row, err);
    if (code == 0)
        code = logs_print(api, &set, row, options, err);
    workload_set_done(&set);
    return code;
}

static int run_logs(const struct command *command, struct arguments *arguments)
{
    struct logs_options options = {.tail = -1};
    struct api_place place = {0};
    struct err err = {0};
    struct api api = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (api_place_set(&place, option, arguments->value))
            continue;
        if (option == OPTION_FOLLOW)
            options.follows = true;
        else if (option == OPTION_PREVIOUS)
            options.is_previous = true;
        else if (option == OPTION_TIMESTAMPS)
            options.has_times = true;
        else if (option == OPTION_CONTAINER)
            options.container = arguments->value;
        else if (!int_parse(arguments->value, 0, INT64_C(1) << 40, &options.tail))
            return command_wrong(command, "--tail: expected a number of lines, found '%s'", arguments->value);
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count != 1)
        return command_wrong(command, "expected one WORKLOAD, found %zu", arguments->operand_count);
    int code = api_open(&api, &place, &err);
    if (code == 0)
        code = show(&api, arguments->operands[0], &options, &err);
    api_close(&api);
    return code < 0 ? command_failed(code, &err) : EXIT_FINE;
}

static const char *const examples[] = {"muster logs train", "muster logs -f train", "muster logs --tail 20 12_3", NULL};

const struct command logs_command = {
    .name = "logs",
    .summary = "print the logs of a workload",
    .usage = "[-f] [--tail LINES] [OPTION...] WORKLOAD",
    .text =
        "Prints standard output and standard error of all pods; with several pods, each line begins with the pod.\n",
    .group = GROUP_WORK,
    .options = command_options,
    .option_count = ARRAY_LEN(command_options),
    .examples = examples,
    .operands = OPERANDS_LIVE_WORKLOADS,
    .run = run_logs,
};
