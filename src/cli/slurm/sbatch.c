/* SPDX-License-Identifier: Apache-2.0 */

/*
 * sbatch: a script with "#SBATCH" lines becomes a Job. The command line counts more than the variables SBATCH_..., and those
 * more than the script.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/slurm/sbatch.h"
#include "cli/slurm/slurm.h"
#include "cli/work/api.h"
#include "cli/work/submit.h"
#include "objects/fields.h"
#include "objects/keys.h"
#include "text/file.h"

/* An argument of a program is at most 128 KiB. */
enum { SCRIPT_MAX = 120000, VALUE_MAX = 16384, ENVIRONMENT_MAX = 262144 };

/* --- the environment --- */

static bool is_variable_name(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    }
    return len > 0 && !isdigit((unsigned char)name[0]);
}

/* What belongs to this call, and not to the job. */
static bool is_left_out(const char *name)
{
    static const char *const prefixes[] = {"SLURM_", "SBATCH_", "KUBECONFIG=", "COLUMNS=", "LINES=", "_="};

    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

static void add_all(struct job_spec *spec, struct arena *arena)
{
    size_t bytes = 0;

    for (char **at = environ; *at; at++) {
        const char *sign = strchr(*at, '=');
        size_t len = sign ? (size_t)(sign - *at) : 0;

        if (!sign || !is_variable_name(*at, len) || is_left_out(*at) || strlen(sign) > VALUE_MAX ||
            bytes + strlen(*at) > ENVIRONMENT_MAX)
            continue;
        bytes += strlen(*at);
        vec_push(&spec->env,
                 (struct job_variable){.name = arena_printf(arena, "%.*s", (int)len, *at), .value = sign + 1});
    }
}

static int add_environment(struct job_spec *spec, const char *list, struct arena *arena, struct err *err)
{
    const char *wanted = list && *list ? list : "ALL";

    for (const char *at = wanted; *at;) {
        size_t len = strcspn(at, ",");
        char *item = arena_strdup(arena, arena_printf(arena, "%.*s", (int)MIN(len, (size_t)VALUE_MAX), at));
        char *sign = strchr(item, '=');
        const char *value = sign ? sign + 1 : getenv(item);

        if (sign)
            *sign = '\0';
        if (strcmp(item, "ALL") == 0)
            add_all(spec, arena);
        else if (strcmp(item, "NONE") != 0 && !is_variable_name(item, strlen(item)))
            return err_set(err, -EINVAL, "--export: '%s' is not the name of a variable", item);
        else if (strcmp(item, "NONE") != 0 && value)
            vec_push(&spec->env, (struct job_variable){.name = item, .value = value});
        at += len + (at[len] == ',');
    }
    return 0;
}

/* --- names that only the server knows --- */

static int exists(struct api *api, enum kube_known kind, const char *name, bool *ret, struct err *err)
{
    struct api_answer answer = {0};
    int code = api_send(api, &(struct kube_request){.verb = KUBE_GET, .resource = kube_known(kind), .name = name},
                        &answer, err);

    *ret = code == 0;
    if (answer.status == 404)
        code = 0;
    api_answer_done(&answer);
    return code;
}

static int has_pool(struct api *api, const char *pool, struct arena *arena, bool *ret, struct err *err)
{
    struct api_objects nodes = {0};
    int code = api_list(api, kube_known(KUBE_NODES), NULL, arena_printf(arena, KEY_NODE_POOL "=%s", pool), &nodes, err);

    *ret = nodes.len > 0;
    api_objects_done(&nodes);
    return code;
}

static void warn(const struct slurm_values *values, const char *what, const char *name, const char *instead)
{
    if (!values->of[SLURM_QUIET])
        (void)fprintf(stderr, "sbatch: warning: there is no %s '%s' here; %s\n", what, name, instead);
}

/* Scripts of other clusters name partitions and accounts that this one does not have. */
static int resolve(struct api *api, struct slurm_job *job, const struct slurm_values *values, struct arena *arena,
                   struct err *err)
{
    struct job_spec *spec = &job->spec;
    bool is_there = false;
    int code = 0;

    if (job->account) {
        code = exists(api, KUBE_QUEUES, job->account, &is_there, err);
        if (is_there)
            spec->queue = job->account;
        else if (code == 0)
            warn(values, "queue", job->account, "using the default one");
    }
    if (code == 0 && job->partition) {
        code = has_pool(api, job->partition, arena, &is_there, err);
        if (is_there) {
            spec->node_pool = job->partition;
        } else if (code == 0 && !spec->queue) {
            code = exists(api, KUBE_QUEUES, job->partition, &is_there, err);
            if (is_there)
                spec->queue = job->partition;
        }
        if (code == 0 && !is_there)
            warn(values, "partition", job->partition, "it is ignored");
    }
    if (code == 0 && job->qos) {
        code = exists(api, KUBE_PRIORITY_CLASSES, job->qos, &is_there, err);
        if (is_there)
            spec->priority_class = job->qos;
        else if (code == 0)
            warn(values, "priority class", job->qos, "it is ignored");
    }
    if (!spec->queue)
        spec->queue = KEY_DEFAULT_QUEUE;
    return code;
}

/* --- submitting --- */

static const char *working_folder(const struct slurm_values *values, struct arena *arena)
{
    _cleanup_(freep) char *here = get_current_dir_name();
    const char *wanted = values->of[SLURM_CHDIR];

    if (wanted && *wanted == '/')
        return wanted;
    if (wanted)
        return arena_printf(arena, "%s/%s", here ? here : "", wanted);
    return here ? arena_strdup(arena, here) : "/";
}

int sbatch_submit(struct api *api, const struct sbatch_call *call, struct submitted *ret, struct err *err)
{
    const struct slurm_values *values = &call->values;
    char base_name[JOB_NAME_BYTES];
    struct slurm_job job;
    int code = slurm_job_make(values, call->arena, &job, err);

    if (code < 0)
        return code;
    if (!job.spec.job_name)
        job.spec.job_name = call->default_name;
    job.spec.namespace = api->namespace;
    job.spec.base_name = job_base_name(job.spec.job_name, base_name);
    job.spec.workdir = working_folder(values, call->arena);
    code = resolve(api, &job, values, call->arena, err);
    if (code == 0)
        code = add_environment(&job.spec, values->of[SLURM_EXPORT], call->arena, err);
    if (code == 0) {
        const char *mode = values->of[SLURM_OPEN_MODE];
        const char *output = values->of[SLURM_OUTPUT];

        if (!output && call->writes_files)
            output = job.has_array ? "slurm-%A_%a.out" : "slurm-%j.out";
        slurm_add_variables(&job, values, call->arena);
        vec_push(&job.spec.command, "/bin/sh");
        vec_push(&job.spec.command, "-c");
        vec_push(&job.spec.command,
                 slurm_wrapper(output, values->of[SLURM_ERROR], mode && *mode == 'a', &job, call->arena));
        vec_push(&job.spec.command, "slurm");
        vec_push(&job.spec.command, call->script);
        for (size_t i = 0; i < call->argument_count; i++)
            vec_push(&job.spec.command, call->arguments[i]);
        code = submit_job(api, &job.spec, job.has_array ? &job.array : NULL, true, ret, err);
    }
    slurm_job_done(&job);
    return code;
}

/* --- the command --- */

static void read_variables(struct slurm_values *values)
{
    static const struct {
        const char *name;
        enum slurm_option option;
    } variables[] = {
        {"SBATCH_JOB_NAME", SLURM_JOB_NAME},
        {"SBATCH_ACCOUNT", SLURM_ACCOUNT},
        {"SBATCH_PARTITION", SLURM_PARTITION},
        {"SBATCH_QOS", SLURM_QOS},
        {"SBATCH_GRES", SLURM_GRES},
        {"SBATCH_GPUS", SLURM_GPUS},
        {"SBATCH_TIMELIMIT", SLURM_TIME},
        {"SBATCH_ARRAY_INX", SLURM_ARRAY},
        {"SBATCH_EXPORT", SLURM_EXPORT},
        {"SBATCH_OUTPUT", SLURM_OUTPUT},
        {"SBATCH_ERROR", SLURM_ERROR},
        {"SBATCH_MEM_PER_NODE", SLURM_MEM},
        {"SBATCH_CONSTRAINT", SLURM_CONSTRAINT},
    };

    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        const char *value = getenv(variables[i].name);

        if (value && *value)
            values->of[variables[i].option] = value;
    }
}

/* The text of the script: a file, standard input, or the command of --wrap. */
static int read_script(struct sbatch_call *call, const struct slurm_values *typed, const char *path, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;
    int code;

    if (typed->of[SLURM_WRAP]) {
        call->script = arena_printf(call->arena, "#!/bin/sh\n%s\n", typed->of[SLURM_WRAP]);
        call->default_name = "wrap";
        return 0;
    }
    code = file_read(path ? path : "-", SCRIPT_MAX, &text, &len, err);
    if (code < 0)
        return code;
    if (strlen(text) != len)
        return err_set(err, -EINVAL, "%s: the script contains a NUL byte", path ? path : "standard input");
    if (strncmp(text, "#!", 2) != 0)
        return err_set(err, -EINVAL, "%s: the script must begin with #! and a program, such as #!/bin/bash",
                       path ? path : "standard input");
    const char *slash = path ? strrchr(path, '/') : NULL;
    call->default_name = path ? arena_strdup(call->arena, slash ? slash + 1 : path) : "sbatch";
    call->script = arena_strdup(call->arena, text);
    return slurm_script_read(call->script, call->arena, &call->values, err);
}

static int report(struct api *api, const struct sbatch_call *call, const struct submitted *submitted, struct err *err,
                  int *ret_status)
{
    if (call->values.of[SLURM_PARSABLE])
        printf("%s\n", submitted->job_id);
    else
        printf("Submitted batch job %s\n", submitted->job_id);
    (void)fflush(stdout);
    return call->values.of[SLURM_WAIT] ? submit_await(api, submitted, ret_status, err) : 0;
}

static int run_sbatch(const struct command *command, struct arguments *arguments)
{
    struct submitted submitted = {0};
    struct slurm_values typed = {0};
    struct arena arena;
    struct sbatch_call call = {.arena = &arena, .writes_files = true};
    struct err err = {0};
    struct api api = {0};
    int status = EXIT_FINE;
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        typed.of[option] = arguments->value ? arguments->value : "";
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (typed.of[SLURM_WRAP] && arguments->operand_count > 0)
        return command_wrong(command, "--wrap cannot be used with a script");
    arena_init(&arena);
    int code = read_script(&call, &typed, arguments->operand_count > 0 ? arguments->operands[0] : NULL, &err);
    if (code == 0) {
        read_variables(&call.values);
        for (int i = 0; i < SLURM_OPTION_COUNT; i++)
            call.values.of[i] = typed.of[i] ? typed.of[i] : call.values.of[i];
        call.arguments = arguments->operands + 1;
        call.argument_count = arguments->operand_count > 0 ? arguments->operand_count - 1 : 0;
        code = api_open(&api, &(struct api_place){0}, &err);
    }
    if (code == 0)
        code = sbatch_submit(&api, &call, &submitted, &err);
    if (code == 0)
        code = report(&api, &call, &submitted, &err, &status);
    if (code < 0)
        status = command_failed(code, &err);
    submitted_done(&submitted);
    api_close(&api);
    arena_done(&arena);
    return status;
}

static const char *const examples[] = {
    "muster slurm sbatch train.sh",
    "muster slurm sbatch --gres=gpu:2 --time=2:00:00 --array=0-15%4 sweep.sh 0.1",
    "muster slurm sbatch --dependency=afterok:12 --wrap 'python report.py'",
    NULL,
};

const struct command sbatch_command = {
    .name = "slurm sbatch",
    .summary = "submit a batch script with #SBATCH lines",
    .usage = "[OPTION...] [SCRIPT [ARGUMENT...]]",
    .text = "Reads options from the '#SBATCH' lines before the first command of the script; options of the command "
            "line take\n"
            "precedence. Prints 'Submitted batch job NUMBER'. docs/slurm.md lists the differences from Slurm.\n",
    .options = slurm_options,
    .option_count = SLURM_OPTION_COUNT,
    .examples = examples,
    .operands = OPERANDS_PROGRAM,
    .run = run_sbatch,
};
