/* SPDX-License-Identifier: Apache-2.0 */

/*
 * muster cancel, suspend and resume. A Job that is cancelled is suspended, so that its pods end, and keeps annotations: so
 * it stays in the history until it is removed, with the time that it has run, which its status does not keep. Workloads of
 * other kinds, which cannot be suspended, are deleted.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "cli/commands.h"
#include "cli/work/api.h"
#include "cli/work/control.h"
#include "cli/work/find.h"
#include "kube/client/meta.h"
#include "objects/keys.h"
#include "text/json.h"

static int patch_job(struct api *api, const struct workload_row *row, const yyjson_mut_doc *patch, struct err *err)
{
    return api_send_doc(api,
                        &(struct kube_request){
                            .verb = KUBE_PATCH_MERGE,
                            .resource = kube_known(KUBE_JOBS),
                            .namespace = row->namespace,
                            .name = row->name,
                            .is_repeatable = true,
                        },
                        patch, NULL, err);
}

static yyjson_mut_doc *patch_new(bool suspends, yyjson_mut_val **ret_annotations)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");

    *ret_annotations = yyjson_mut_obj_add_obj(doc, metadata, "annotations");
    (void)yyjson_mut_obj_add_bool(doc, yyjson_mut_obj_add_obj(doc, root, "spec"), "suspend", suspends);
    return doc;
}

int workload_delete(struct api *api, const struct workload_row *row, struct err *err)
{
    static const char body[] =
        "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"Background\"}";
    const struct kube_resource *resource = NULL;
    int code = api_find_kind(api, row->api_version, row->kind, &resource, err);

    if (code < 0)
        return code;
    return api_send(api,
                    &(struct kube_request){
                        .verb = KUBE_DELETE,
                        .resource = resource,
                        .namespace = row->namespace,
                        .name = row->name,
                        .body = body,
                        .body_len = strlen(body),
                    },
                    NULL, err);
}

int workload_cancel(struct api *api, const struct workload_row *row, struct err *err)
{
    char text[TIME_TEXT_MAX];
    yyjson_mut_val *annotations;
    yyjson_mut_doc *patch;
    int code;

    if (!row->job)
        return workload_delete(api, row, err);
    patch = patch_new(true, &annotations);
    (void)yyjson_mut_obj_add_strcpy(patch, annotations, KEY_CANCELLED,
                                    time_format(nsec_now_wall() / NSEC_PER_SEC * NSEC_PER_SEC, text));
    if (row->started)
        (void)yyjson_mut_obj_add_strcpy(patch, annotations, KEY_STARTED, time_format(row->started, text));
    (void)yyjson_mut_obj_add_null(patch, annotations, KEY_START);
    code = patch_job(api, row, patch, err);
    yyjson_mut_doc_free(patch);
    return code;
}

int workload_suspend(struct api *api, const struct workload_row *row, struct err *err)
{
    yyjson_mut_val *annotations;
    yyjson_mut_doc *patch;
    int code;

    if (!row->job)
        return err_set(err, -EINVAL, "%s %s/%s: only Jobs can be suspended", row->kind, row->namespace, row->name);
    patch = patch_new(true, &annotations);
    /* A Job that waits for its start is held; it has its conditions to meet when it is resumed. */
    if (row->state == ROW_PENDING && row->started == 0 &&
        yyjson_is_true(yyjson_obj_get(yyjson_obj_get(row->job, "spec"), "suspend")))
        (void)yyjson_mut_obj_add_str(patch, annotations, KEY_START, KEY_START_HELD);
    code = patch_job(api, row, patch, err);
    yyjson_mut_doc_free(patch);
    return code;
}

/* Whether the service that numbers Jobs has to start it, for it has conditions to meet or wants to know its number. */
static bool is_started_by_service(yyjson_val *job)
{
    yyjson_val *template = yyjson_obj_get(yyjson_obj_get(job, "spec"), "template");
    yyjson_val *labels = yyjson_obj_get(yyjson_obj_get(template, "metadata"), "labels");

    return yyjson_obj_get(labels, KEY_JOB_ID) || *kube_text(job, "metadata", "annotations", KEY_DEPENDENCY) ||
           *kube_text(job, "metadata", "annotations", KEY_BEGIN);
}

int workload_resume(struct api *api, const struct workload_row *row, struct err *err)
{
    yyjson_mut_val *annotations;
    yyjson_mut_doc *patch;
    bool is_held = strcmp(row->reason, "Held") == 0 && is_started_by_service(row->job);
    int code;

    if (row->state == ROW_CANCELLED)
        return err_set(err, -EINVAL, "%s/%s is cancelled: submit it again", row->namespace, row->name);
    if (row->state != ROW_SUSPENDED)
        return err_set(err, -EINVAL, "%s/%s is not suspended: it is %s", row->namespace, row->name,
                       row_state_name(row->state));
    patch = patch_new(is_held, &annotations);
    if (is_held)
        (void)yyjson_mut_obj_add_str(patch, annotations, KEY_START, KEY_START_WHEN_READY);
    else
        (void)yyjson_mut_obj_add_null(patch, annotations, KEY_START);
    code = patch_job(api, row, patch, err);
    yyjson_mut_doc_free(patch);
    return code;
}

static int cancel(struct api *api, const struct workload_row *row, bool is_deleted, struct err *err)
{
    if (is_deleted)
        return workload_delete(api, row, err);
    if (row_is_finished(row))
        return err_set(err, -EINVAL, "%s/%s has ended: it is %s", row->namespace, row->name,
                       row_state_name(row->state));
    return workload_cancel(api, row, err);
}

enum action { ACTION_CANCEL, ACTION_SUSPEND, ACTION_RESUME };

static const char *const done_words[] = {
    [ACTION_CANCEL] = "cancelled",
    [ACTION_SUSPEND] = "suspended",
    [ACTION_RESUME] = "resumed",
};

struct call {
    struct api_place place;
    enum action action;
    bool is_deleted;
};

static int act_on(struct api *api, const struct call *call, const struct workload_row *row, struct err *err)
{
    int code = call->action == ACTION_CANCEL    ? cancel(api, row, call->is_deleted, err)
               : call->action == ACTION_SUSPEND ? workload_suspend(api, row, err)
                                                : workload_resume(api, row, err);

    if (code == 0)
        printf("%s/%s %s\n", row->namespace, row->name, call->is_deleted ? "deleted" : done_words[call->action]);
    return code;
}

/* All of them, whatever becomes of the first ones; the worst result counts. */
static int act(struct api *api, const struct call *call, const char *const *words, size_t count)
{
    struct workload_set set = {0};
    struct found found = {0};
    struct err err = {0};
    int status = EXIT_FINE;
    int code = workload_set_read(&set, api, find_namespace(words, count, api->namespace), &err);

    if (code < 0)
        status = command_failed(code, &err);
    for (size_t i = 0; code == 0 && i < count; i++) {
        int found_code = workload_find(&set, words[i], api->namespace, &found, &err);

        if (found_code < 0)
            status = MAX(status, command_failed(found_code, &err));
    }
    vec_foreach (&found, row) {
        int acted = act_on(api, call, *row, &err);

        if (acted < 0)
            status = MAX(status, command_failed(acted, &err));
    }
    vec_done(&found);
    workload_set_done(&set);
    return status;
}

static int run_with(const struct command *command, struct arguments *arguments, struct call *call)
{
    struct err err = {0};
    struct api api = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (!api_place_set(&call->place, option, arguments->value))
            call->is_deleted = true;
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count == 0)
        return command_wrong(command, "a WORKLOAD is missing");
    int code = api_open(&api, &call->place, &err);
    int status = code < 0 ? command_failed(code, &err) : act(&api, call, arguments->operands, arguments->operand_count);
    api_close(&api);
    return status;
}

static int run_cancel(const struct command *command, struct arguments *arguments)
{
    return run_with(command, arguments, &(struct call){.action = ACTION_CANCEL});
}

static int run_suspend(const struct command *command, struct arguments *arguments)
{
    return run_with(command, arguments, &(struct call){.action = ACTION_SUSPEND});
}

static int run_resume(const struct command *command, struct arguments *arguments)
{
    return run_with(command, arguments, &(struct call){.action = ACTION_RESUME});
}

static const struct command_option options[] = {
    API_OPTIONS,
    {0, "delete", NULL, NULL, "also remove the workload from the history"},
};

static const char *const cancel_examples[] = {
    "muster cancel train",
    "muster cancel team-a/train 12 13_4",
    "muster cancel --delete train",
    NULL,
};

const struct command cancel_command = {
    .name = "cancel",
    .summary = "end workloads",
    .usage = "[--delete] WORKLOAD...",
    .text = "WORKLOAD is a name, namespace/name, the number of a job or of an array, or an element such as 12_3. Its\n"
            "processes get SIGTERM, and SIGKILL after their grace period. Jobs stay in 'muster history'.\n",
    .group = GROUP_WORK,
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = cancel_examples,
    .operands = OPERANDS_LIVE_WORKLOADS,
    .run = run_cancel,
};

static const char *const suspend_examples[] = {"muster suspend train", NULL};

const struct command suspend_command = {
    .name = "suspend",
    .summary = "stop workloads until they are resumed, and free their GPUs",
    .usage = "WORKLOAD...",
    .text = "Ends the pods of a Job; 'muster resume' starts it again from its beginning. A Job that has not started "
            "yet is\n"
            "held back.\n",
    .group = GROUP_WORK,
    .options = options,
    .option_count = API_OPTION_COUNT,
    .examples = suspend_examples,
    .operands = OPERANDS_LIVE_WORKLOADS,
    .run = run_suspend,
};

static const char *const resume_examples[] = {"muster resume train", NULL};

const struct command resume_command = {
    .name = "resume",
    .summary = "start suspended workloads again",
    .usage = "WORKLOAD...",
    .group = GROUP_WORK,
    .options = options,
    .option_count = API_OPTION_COUNT,
    .examples = resume_examples,
    .operands = OPERANDS_LIVE_WORKLOADS,
    .run = run_resume,
};
