/* SPDX-License-Identifier: Apache-2.0 */

/* muster submit: a command or an image becomes a Job in a queue. */
#include "cli/work/submit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/streams/attach.h"
#include "cli/work/logs.h"
#include "cli/work/output.h"
#include "cli/work/submit_options.h"
#include "kube/client/meta.h"
#include "text/suggest.h"

enum { SIGNAL_STATUS = 128 };

static int print_names(const struct submitted *submitted, const struct submit_call *call)
{
    const char *first = submitted->names.items[0];
    yyjson_mut_val *items;
    yyjson_mut_doc *doc;
    int status;

    if (output_is_table(call->output)) {
        /* What is attached prints on standard output itself. */
        if (call->is_attached)
            (void)fprintf(stderr, "%s/%s submitted to queue %s\n", submitted->namespace, first, call->spec.queue);
        else if (submitted->names.len == 1)
            printf("%s/%s submitted to queue %s\n", submitted->namespace, first, call->spec.queue);
        else
            printf("%s/%s and %u more submitted to queue %s\n", submitted->namespace, first, submitted->names.len - 1,
                   call->spec.queue);
        (void)fflush(stdout);
        return EXIT_FINE;
    }
    doc = output_list(&items);
    vec_foreach (&submitted->names, name) {
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, items);

        (void)yyjson_mut_obj_add_str(doc, item, "namespace", submitted->namespace);
        (void)yyjson_mut_obj_add_str(doc, item, "name", *name);
        (void)yyjson_mut_obj_add_str(doc, item, "queue", call->spec.queue);
    }
    status = output_print(call->output, doc);
    yyjson_mut_doc_free(doc);
    return status;
}

/* Whether no node of the machine runs images, as far as the nodes can be read. */
static bool is_without_images(struct api *api)
{
    struct api_answer answer = {0};
    size_t i, max;
    yyjson_val *node;
    bool is_without = false;

    if (api_send(api, &(struct kube_request){.verb = KUBE_LIST, .resource = kube_known(KUBE_NODES)}, &answer, NULL) < 0)
        return false;
    yyjson_arr_foreach(yyjson_obj_get(yyjson_doc_get_root(answer.doc), "items"), i, max, node)
    {
        const char *runtime = kube_text(node, "status", "nodeInfo", "containerRuntimeVersion");

        is_without = strncmp(runtime, "process://", strlen("process://")) == 0;
        if (!is_without)
            break;
    }
    api_answer_done(&answer);
    return is_without;
}

/* A machine that does not run images takes their names for nothing: the user is told before it happens. */
static int check_named_image(struct api *api, const struct submit_call *call, struct err *err)
{
    if (!is_without_images(api))
        return 0;
    if (call->spec.command.len == 0)
        return err_set(err, -EINVAL, "image %s cannot run: %s does not run images; 'muster up --images podman' does",
                       call->spec.image, api->name);
    (void)fprintf(stderr,
                  "muster: images are off: the command runs as a process, and %s is only a name; "
                  "'muster up --images podman' runs images\n",
                  call->spec.image);
    return 0;
}

/* Without an image there is a process to run, which only a Muster on one machine does. */
static int check_image(struct api *api, const struct submit_call *call, struct err *err)
{
    bool is_local = true;

    if (call->spec.image) {
        /* A server that cannot be asked says so when it is asked for more. */
        bool is_asked = !call->is_dry_run && api_is_local(api, &is_local, NULL) == 0;

        return is_asked && is_local ? check_named_image(api, call, err) : 0;
    }
    int code = api_is_local(api, &is_local, err);
    if (code == 0 && !is_local)
        code = err_set(err, -EINVAL,
                       "server %s is a Kubernetes cluster, whose workloads are containers: name an image "
                       "with --image IMAGE",
                       api->name);
    return code;
}

/* A queue that is not there is no error, since it may come later: the user is told. Who may not list queues is told nothing. */
static void warn_of_queue(struct api *api, const char *name)
{
    struct api_answer answer = {0};
    struct suggestion suggestion;
    char nearest[SUGGESTION_MAX];
    bool is_there = false;
    size_t i, max;
    yyjson_val *queue;

    if (api_send(api, &(struct kube_request){.verb = KUBE_LIST, .resource = kube_known(KUBE_QUEUES)}, &answer, NULL) <
        0)
        return;
    suggestion_init(&suggestion, name);
    yyjson_arr_foreach(yyjson_obj_get(yyjson_doc_get_root(answer.doc), "items"), i, max, queue)
    {
        const char *other = kube_text(queue, "metadata", "name");

        is_there = is_there || strcmp(other, name) == 0;
        suggestion_offer(&suggestion, other);
    }
    if (!is_there)
        (void)fprintf(
            stderr,
            "muster: queue '%s' does not exist: the workload waits until 'muster queue create %s' creates it%s\n", name,
            name, suggestion_text(&suggestion, "", nearest));
    api_answer_done(&answer);
}

static int dry_run(const struct submit_call *call)
{
    yyjson_mut_doc *doc = job_spec_encode(&call->spec);
    int status = output_print(output_is_table(call->output) ? OUTPUT_YAML : call->output, doc);

    yyjson_mut_doc_free(doc);
    return status;
}

static int follow(struct api *api, const char *name, struct err *err)
{
    const struct workload_row *row = NULL;
    struct workload_set set = {0};
    int code = logs_await_start(api, name, err);

    if (code == 0)
        code = workload_set_read(&set, api, api->namespace, err);
    if (code == 0)
        code = workload_find_one(&set, name, api->namespace, &row, err);
    /* One that was cancelled before its start has nothing to say. */
    if (code == 0 && row->state != ROW_CANCELLED)
        code = logs_print(api, &set, row, &(struct logs_options){.follows = true, .tail = -1}, err);
    workload_set_done(&set);
    return code;
}

/* Runs it with our input and output. One that has ended before that has its output in the log. */
static int attach(struct api *api, const char *name, int *ret_status, struct err *err)
{
    struct err refusal = {0};
    int code = logs_await_start(api, name, err);

    if (code == 0 && attach_run(api, name, &(struct attach_options){0}, ret_status, &refusal) < 0)
        code = refusal.code == -EINVAL ? follow(api, name, err) : (*err = refusal).code;
    return code;
}

static int submit(struct api *api, struct submit_call *call, struct err *err, int *ret_status)
{
    const struct array_spec *array = call->has_array ? &call->array : NULL;
    struct submitted submitted = {0};
    int code = check_image(api, call, err);

    call->spec.namespace = api->namespace;
    if (code == 0 && call->is_dry_run) {
        *ret_status = dry_run(call);
        return 0;
    }
    if (code == 0)
        code = submit_job(api, &call->spec, array, false, &submitted, err);
    if (submitted.names.len > 0) {
        *ret_status = print_names(&submitted, call);
        warn_of_queue(api, call->spec.queue);
    }
    for (uint32_t i = 0; code == 0 && call->follows && i < submitted.names.len; i++)
        code = follow(api, submitted.names.items[i], err);
    if (code == 0 && call->is_attached)
        code = attach(api, submitted.names.items[0], ret_status, err);
    /* A signal ends this command and not the workload. */
    bool is_left = call->is_attached && *ret_status >= SIGNAL_STATUS;
    if (code == 0 && call->waits && !is_left)
        code = submit_await(api, &submitted, ret_status, err);
    submitted_done(&submitted);
    return code;
}

static int run_submit(const struct command *command, struct arguments *arguments)
{
    struct submit_call call = {0};
    struct err err = {0};
    struct api api = {0};
    int status = EXIT_FINE;

    if (!submit_call_read(&call, command, arguments, &status)) {
        submit_call_done(&call);
        return status;
    }
    int code = api_open(&api, &call.place, &err);
    if (code == 0)
        code = submit(&api, &call, &err, &status);
    if (code < 0)
        status = command_failed(code, &err);
    api_close(&api);
    submit_call_done(&call);
    return status;
}

static const char *const examples[] = {
    "muster submit -q team-a --gpus 2 -- python train.py --epochs 10",
    "muster submit --name notebook --gpus 0.5 --memory 16Gi --image jupyter/base-notebook",
    "muster submit --gpu-memory 20Gi --time 2h --wait -- ./evaluate.sh",
    "muster submit --name sweep --array 0-15%4 --gpus 1 -- python sweep.py",
    "muster submit -it --gpus 1 -- bash",
    "muster submit --gang 4 --gpus 8 --image pytorch/pytorch -- torchrun train.py",
    "muster submit -d afterok:train -- ./publish.sh",
    NULL,
};

const struct command submit_command = {
    .name = "submit",
    .summary = "submit a command or an image as a workload",
    .usage = "[-q QUEUE] [--gpus N] [OPTION...] [--] [COMMAND [ARGUMENT...]]",
    .text = "Creates a Job in a queue and prints its name. With Muster on this machine, the COMMAND runs as a process "
            "of the\n"
            "user in the current folder; with --image it runs in a container. docs/submit.md explains the options.\n"
            "With -i and -t the command runs attached: it uses the input, output and terminal of 'muster submit'.\n"
            "With --wait the exit status is that of the command: 1 if it was ended by a signal or could not be run.\n",
    .group = GROUP_WORK,
    .options = submit_options,
    .option_count = SUBMIT_OPTION_COUNT,
    .examples = examples,
    .operands = OPERANDS_PROGRAM,
    .run = run_submit,
};
