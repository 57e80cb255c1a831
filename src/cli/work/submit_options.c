/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/work/submit_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "cli/work/submit.h"
#include "objects/fields.h"
#include "objects/keys.h"
#include "text/quantity.h"

const struct command_option submit_options[SUBMIT_OPTION_COUNT] = {
    API_OPTIONS,
    [SUBMIT_OPTION_OUTPUT] = WORK_OUTPUT_OPTION,
    [SUBMIT_OPTION_NAME] = {'N', "name", "NAME", NULL, "name of the workload (default: from the command)"},
    [SUBMIT_OPTION_QUEUE] = {'q', "queue", "QUEUE", NULL, "queue to submit to (default: default-queue)"},
    [SUBMIT_OPTION_GPUS] = {'g', "gpus", "COUNT", NULL, "GPUs of each pod: a whole number, or a part such as 0.5"},
    [SUBMIT_OPTION_GPU_MEMORY] = {0, "gpu-memory", "SIZE", NULL, "part of a GPU by memory, such as 20Gi"},
    [SUBMIT_OPTION_GPU_PRODUCT] = {0, "gpu-product", "NAME", NULL,
                                   "only nodes with this value of nvidia.com/gpu.product"},
    [SUBMIT_OPTION_CPUS] = {'c', "cpus", "COUNT", NULL, "CPUs of each pod, such as 4 or 500m"},
    [SUBMIT_OPTION_MEMORY] = {'m', "memory", "SIZE", NULL, "memory of each pod, such as 16Gi"},
    [SUBMIT_OPTION_GANG] = {0, "gang", "COUNT", NULL, "number of pods, which start together"},
    [SUBMIT_OPTION_PRIORITY] = {'p', "priority", "CLASS", NULL, "priority class, such as train or inference"},
    [SUBMIT_OPTION_IMAGE] = {0, "image", "IMAGE", NULL, "run in a container of this image"},
    [SUBMIT_OPTION_ENV] = {'e', "env", "NAME[=VALUE]", NULL,
                           "environment variable; without VALUE, that of this shell (repeatable)"},
    [SUBMIT_OPTION_WORKDIR] = {'D', "workdir", "FOLDER", NULL, "working directory (default: the current folder)"},
    [SUBMIT_OPTION_TIME] = {0, "time", "TIME", NULL, "longest run time, such as 90s, 2h or 3d"},
    [SUBMIT_OPTION_RETRIES] = {0, "retries", "COUNT", NULL, "number of restarts if it fails (default 0)"},
    [SUBMIT_OPTION_DEPENDENCY] = {'d', "dependency", "LIST", NULL,
                                  "start after other workloads: afterok:NAME, afterany:NAME, afternotok:NAME"},
    [SUBMIT_OPTION_BEGIN] = {0, "begin", "TIME", NULL, "earliest start: a duration from now, or a time"},
    [SUBMIT_OPTION_HOLD] = {0, "hold", NULL, NULL, "do not start before 'muster resume'"},
    [SUBMIT_OPTION_ARRAY] = {0, "array", "INDEXES", NULL, "one workload for each index, such as 0-15 or 1,3,5-9%2"},
    [SUBMIT_OPTION_NODE_POOL] = {0, "node-pool", "POOL", NULL, "node pool to run in"},
    [SUBMIT_OPTION_NODE] = {0, "node", "NODE", NULL, "run on this node (repeatable: on one of these)"},
    [SUBMIT_OPTION_ANNOTATION] = {0, "annotation", "NAME=VALUE", NULL, "annotation of its pods (repeatable)"},
    [SUBMIT_OPTION_WAIT] = {'w', "wait", NULL, NULL, "wait until the workload ends, and exit with its status"},
    [SUBMIT_OPTION_FOLLOW] = {'f', "follow", NULL, NULL, "print its output until it ends, and exit as --wait does"},
    [SUBMIT_OPTION_STDIN] = {'i', "stdin", NULL, NULL, "run attached: pass standard input on, and exit as --wait does"},
    [SUBMIT_OPTION_TTY] = {'t', "tty", NULL, NULL, "run attached, on a terminal; -it for a shell"},
    [SUBMIT_OPTION_DRY_RUN] = {0, "dry-run", NULL, NULL, "print the Job instead of submitting it"},
};

void submit_call_done(struct submit_call *call)
{
    job_spec_done(&call->spec);
    if (call->has_array)
        array_spec_done(&call->array);
    vec_foreach (&call->texts, text)
        free(*text);
    vec_done(&call->texts);
    free(call->workdir);
}

static int set_gpus(struct submit_call *call, const char *value, struct err *err)
{
    int64_t milli = 0;

    if (quantity_parse(value, QUANTITY_MILLI, &milli, NULL) < 0 || milli == 0)
        return err_set(err, -EINVAL, "--gpus: expected a number of GPUs such as 2, or a part such as 0.5; found '%s'",
                       value);
    if (milli % 1000 == 0) {
        call->spec.gpus = milli / 1000;
        return 0;
    }
    if (milli > 1000)
        return err_set(err, -EINVAL, "--gpus: a part is smaller than one GPU; found '%s'", value);
    (void)snprintf(call->gpu_part, sizeof call->gpu_part, "%.3g", (double)milli / 1000);
    call->spec.gpu_part = call->gpu_part;
    return 0;
}

static int set_gpu_memory(struct submit_call *call, const char *value, struct err *err)
{
    int64_t bytes = 0;

    if (quantity_parse(value, QUANTITY_ONE, &bytes, NULL) < 0 || bytes < 1 << 20)
        return err_set(err, -EINVAL, "--gpu-memory: expected a size such as 20Gi; found '%s'", value);
    call->spec.gpu_memory_mib = (bytes + (1 << 20) - 1) >> 20;
    return 0;
}

static int check_quantity(const char *option, const char *value, enum quantity_unit unit, struct err *err)
{
    int64_t amount = 0;

    if (quantity_parse(value, unit, &amount, NULL) < 0)
        return err_set(err, -EINVAL, "%s: '%s' is not an amount; write 4 or 500m for CPUs, 16Gi for memory", option,
                       value);
    return 0;
}

static int set_count(const char *option, const char *value, int64_t max, int64_t *ret, struct err *err)
{
    if (!int_parse(value, 0, max, ret))
        return err_set(err, -EINVAL, "%s: expected a whole number up to %lld; found '%s'", option, (long long)max,
                       value);
    return 0;
}

static int set_env(struct submit_call *call, const char *value, struct err *err)
{
    const char *sign = strchr(value, '=');
    const char *found = sign ? sign + 1 : getenv(value);
    char *name = xstrndup(value, sign ? (size_t)(sign - value) : strlen(value));

    vec_push(&call->texts, name);
    if (!*name)
        return err_set(err, -EINVAL, "--env: expected NAME=VALUE; found '%s'", value);
    if (!found)
        return err_set(err, -EINVAL, "--env: the variable '%s' is not set in this shell", name);
    vec_push(&call->spec.env, (struct job_variable){.name = name, .value = found});
    return 0;
}

static int set_annotation(struct submit_call *call, const char *value, struct err *err)
{
    const char *sign = strchr(value, '=');

    if (!sign || sign == value)
        return err_set(err, -EINVAL, "--annotation: expected NAME=VALUE; found '%s'", value);
    vec_push(&call->texts, xstrndup(value, (size_t)(sign - value)));
    const char *name = vec_last(&call->texts);
    struct job_variable annotation = {.name = name, .value = sign + 1};
    vec_push(&call->spec.annotations, annotation);
    return 0;
}

static int set_time(struct submit_call *call, const char *value, struct err *err)
{
    nsec_t time = 0;

    if (long_duration_parse(value, &time, NULL) < 0 || time < NSEC_PER_SEC)
        return err_set(err, -EINVAL, "--time: expected a duration such as 90s, 2h or 3d; found '%s'", value);
    call->spec.time_limit_s = time / NSEC_PER_SEC;
    return 0;
}

static int set_begin(struct submit_call *call, const char *value, struct err *err)
{
    char text[TIME_TEXT_MAX];
    nsec_t time = 0;

    if (time_parse(value, &time, NULL) < 0) {
        if (long_duration_parse(value, &time, NULL) < 0)
            return err_set(err, -EINVAL,
                           "--begin: expected a duration such as 2h, or a time such as 2026-03-01T12:00:00Z; found "
                           "'%s'",
                           value);
        time += nsec_now_wall();
    }
    vec_push(&call->texts, xstrdup(time_format(time / NSEC_PER_SEC * NSEC_PER_SEC, text)));
    call->spec.begin = vec_last(&call->texts);
    return 0;
}

static int set_array(struct submit_call *call, const char *value, struct err *err)
{
    if (call->has_array)
        array_spec_done(&call->array);
    call->has_array = false;
    int code = array_parse(value, &call->array, err);
    call->has_array = code == 0;
    return code;
}

static int set(struct submit_call *call, int option, const char *value, struct err *err)
{
    struct job_spec *spec = &call->spec;

    switch (option) {
    case SUBMIT_OPTION_OUTPUT:
        call->output = output_parse(value);
        return 0;
    case SUBMIT_OPTION_NAME:
        spec->name = value;
        return 0;
    case SUBMIT_OPTION_QUEUE:
        spec->queue = value;
        return 0;
    case SUBMIT_OPTION_GPUS:
        return set_gpus(call, value, err);
    case SUBMIT_OPTION_GPU_MEMORY:
        return set_gpu_memory(call, value, err);
    case SUBMIT_OPTION_GPU_PRODUCT:
        spec->gpu_product = value;
        return 0;
    case SUBMIT_OPTION_CPUS:
        spec->cpus = value;
        return check_quantity("--cpus", value, QUANTITY_MILLI, err);
    case SUBMIT_OPTION_MEMORY:
        spec->memory = value;
        return check_quantity("--memory", value, QUANTITY_ONE, err);
    case SUBMIT_OPTION_GANG:
        return set_count("--gang", value, 100000, &spec->tasks, err);
    case SUBMIT_OPTION_PRIORITY:
        spec->priority_class = value;
        return 0;
    case SUBMIT_OPTION_IMAGE:
        spec->image = value;
        return 0;
    case SUBMIT_OPTION_ENV:
        return set_env(call, value, err);
    case SUBMIT_OPTION_WORKDIR:
        spec->workdir = value;
        return 0;
    case SUBMIT_OPTION_TIME:
        return set_time(call, value, err);
    case SUBMIT_OPTION_RETRIES:
        return set_count("--retries", value, 1000, &spec->retries, err);
    case SUBMIT_OPTION_DEPENDENCY:
        spec->dependency = value;
        return 0;
    case SUBMIT_OPTION_BEGIN:
        return set_begin(call, value, err);
    case SUBMIT_OPTION_HOLD:
        spec->is_held = true;
        return 0;
    case SUBMIT_OPTION_ARRAY:
        return set_array(call, value, err);
    case SUBMIT_OPTION_NODE_POOL:
        spec->node_pool = value;
        return 0;
    case SUBMIT_OPTION_NODE:
        vec_push(&spec->node_names, value);
        return 0;
    case SUBMIT_OPTION_ANNOTATION:
        return set_annotation(call, value, err);
    case SUBMIT_OPTION_WAIT:
        call->waits = true;
        return 0;
    case SUBMIT_OPTION_FOLLOW:
        call->waits = call->follows = true;
        return 0;
    case SUBMIT_OPTION_STDIN:
        call->waits = call->is_attached = spec->has_stdin = true;
        return 0;
    case SUBMIT_OPTION_TTY:
        call->waits = call->is_attached = spec->has_terminal = true;
        return 0;
    default:
        call->is_dry_run = true;
        return 0;
    }
}

/* What was not said. */
static void complete(struct submit_call *call)
{
    struct job_spec *spec = &call->spec;
    const char *from = spec->command.len > 0 ? spec->command.items[0] : spec->image ? spec->image : "job";

    spec->base_name = job_base_name(spec->name ? spec->name : from, call->base_name);
    if (!spec->queue)
        spec->queue = KEY_DEFAULT_QUEUE;
    spec->user = *submit_user() ? submit_user() : NULL;
    if (!spec->workdir && !spec->image)
        spec->workdir = call->workdir = get_current_dir_name();
}

bool submit_call_read(struct submit_call *call, const struct command *command, struct arguments *arguments,
                      int *ret_status)
{
    struct err err = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (!api_place_set(&call->place, option, arguments->value) && set(call, option, arguments->value, &err) < 0) {
            *ret_status = command_wrong(command, "%s", err.text);
            return false;
        }
    }
    *ret_status = EXIT_WRONG_CALL;
    if (option != ARGUMENT_END)
        *ret_status = arguments_status(arguments, option);
    else if (arguments->operand_count == 0 && !call->spec.image)
        (void)command_wrong(command, "a COMMAND or --image is missing");
    else if ((call->spec.gpus > 0) + (call->spec.gpu_part != NULL) + (call->spec.gpu_memory_mib > 0) > 1)
        (void)command_wrong(command, "--gpus and --gpu-memory cannot be used together");
    else if (call->is_attached && (call->has_array || call->spec.tasks > 1 || call->spec.is_held || call->follows))
        (void)command_wrong(command, "--stdin and --tty cannot be used with --array, --gang, --hold or --follow");
    else if (call->is_attached && !output_is_table(call->output))
        (void)command_wrong(command, "--stdin and --tty cannot be used with --output");
    else {
        for (size_t i = 0; i < arguments->operand_count; i++)
            vec_push(&call->spec.command, arguments->operands[i]);
        complete(call);
        return true;
    }
    return false;
}
