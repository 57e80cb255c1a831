/* SPDX-License-Identifier: Apache-2.0 */

/* Options of sbatch and srun, and what they ask for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "cli/slurm/slurm.h"
#include "cli/work/submit.h"
#include "objects/fields.h"

enum { COUNT_MAX = 100000 };

static const char *const open_modes[] = {"append", "truncate", NULL};

const struct command_option slurm_options[SLURM_OPTION_COUNT] = {
    [SLURM_JOB_NAME] = {'J', "job-name", "NAME", NULL, "name of the job"},
    [SLURM_ACCOUNT] = {'A', "account", "QUEUE", NULL, "queue to submit to"},
    [SLURM_PARTITION] = {'p', "partition", "POOL", NULL, "node pool, or queue of that name"},
    [SLURM_QOS] = {'q', "qos", "CLASS", NULL, "priority class"},
    [SLURM_COMMENT] = {0, "comment", "TEXT", NULL, "annotation"},
    [SLURM_NTASKS] = {'n', "ntasks", "COUNT", NULL, "tasks; each is a pod, and all start together"},
    [SLURM_NODES] = {'N', "nodes", "COUNT", NULL, "nodes"},
    [SLURM_NTASKS_PER_NODE] = {0, "ntasks-per-node", "COUNT", NULL, "tasks on each node"},
    [SLURM_CPUS_PER_TASK] = {'c', "cpus-per-task", "COUNT", NULL, "CPUs of each task"},
    [SLURM_MEM] = {0, "mem", "SIZE", NULL, "memory of each node, in MiB or with K, M, G, T"},
    [SLURM_MEM_PER_CPU] = {0, "mem-per-cpu", "SIZE", NULL, "memory for each CPU"},
    [SLURM_MEM_PER_GPU] = {0, "mem-per-gpu", "SIZE", NULL, "memory for each GPU"},
    [SLURM_GRES] = {0, "gres", "LIST", NULL, "gpu:2, gpu:MODEL:2 for each node"},
    [SLURM_GPUS] = {'G', "gpus", "COUNT", NULL, "GPUs of the job"},
    [SLURM_GPUS_PER_TASK] = {0, "gpus-per-task", "COUNT", NULL, "GPUs of each task"},
    [SLURM_GPUS_PER_NODE] = {0, "gpus-per-node", "COUNT", NULL, "GPUs of each node"},
    [SLURM_TIME] = {'t', "time", "TIME", NULL, "longest run time: minutes, h:m:s, days-hours"},
    [SLURM_ARRAY] = {'a', "array", "INDEXES", NULL, "one job for each index: 0-15, 1,3,5-9%2"},
    [SLURM_DEPENDENCY] = {'d', "dependency", "LIST", NULL, "afterok:12:13,afterany:14"},
    [SLURM_OUTPUT] = {'o', "output", "FILE", NULL, "file for its output (default slurm-%j.out)"},
    [SLURM_ERROR] = {'e', "error", "FILE", NULL, "file for its errors (default: that of the output)"},
    [SLURM_CHDIR] = {'D', "chdir", "FOLDER", NULL, "working directory (default: the current folder)"},
    [SLURM_EXPORT] = {0, "export", "LIST", NULL, "ALL (default), NONE, or names with or without values"},
    [SLURM_OPEN_MODE] = {0, "open-mode", "append|truncate", open_modes,
                         "whether its output files are truncated or appended to"},
    [SLURM_REQUEUE] = {0, "requeue", NULL, NULL, "restart the job if it fails"},
    [SLURM_NO_REQUEUE] = {0, "no-requeue", NULL, NULL, "do not restart the job (default)"},
    [SLURM_BEGIN] = {'b', "begin", "TIME", NULL, "earliest start: now+2hours, or a time"},
    [SLURM_HOLD] = {'H', "hold", NULL, NULL, "hold the job until 'muster resume'"},
    [SLURM_NODELIST] = {'w', "nodelist", "NODES", NULL, "run on these nodes"},
    [SLURM_EXCLUDE] = {'x', "exclude", "NODES", NULL, "do not run on these nodes"},
    [SLURM_CONSTRAINT] = {'C', "constraint", "MODEL", NULL, "only nodes with this value of nvidia.com/gpu.product"},
    [SLURM_WRAP] = {0, "wrap", "COMMAND", NULL, "run this command instead of a script"},
    [SLURM_PARSABLE] = {0, "parsable", NULL, NULL, "print only the job number"},
    [SLURM_WAIT] = {'W', "wait", NULL, NULL, "wait until the job ends, and exit with its status"},
    [SLURM_EXCLUSIVE] = {0, "exclusive", NULL, NULL, "accepted; GPUs are never shared unless a job asks for a part"},
    [SLURM_SIGNAL] = {0, "signal", "SIGNAL", NULL, "accepted; jobs get SIGTERM at their end"},
    [SLURM_MAIL_TYPE] = {0, "mail-type", "TYPES", NULL, "accepted; no mail is sent"},
    [SLURM_MAIL_USER] = {0, "mail-user", "ADDRESS", NULL, "accepted; no mail is sent"},
    [SLURM_QUIET] = {'Q', "quiet", NULL, NULL, "print no warnings"},
};

static int wrong(const char *option, const char *value, const char *expected, struct err *err)
{
    return err_set(err, -EINVAL, "--%s: expected %s; found '%s'", option, expected, value);
}

static int read_count(const struct slurm_values *values, enum slurm_option option, int64_t *ret, struct err *err)
{
    const char *value = values->of[option];

    if (!value)
        return 0;
    /* A range of nodes is served by its lower end. */
    char first[16];
    (void)snprintf(first, sizeof first, "%.*s", (int)MIN(strcspn(value, "-"), sizeof first - 1), value);
    if (!int_parse(option == SLURM_NODES ? first : value, 1, COUNT_MAX, ret))
        return wrong(slurm_options[option].long_name, value, "a whole number from 1", err);
    return 0;
}

/* "2", "a100:2": a count behind an optional model. */
static int read_gpus(const char *option, const char *value, struct arena *arena, int64_t *ret, const char **ret_model,
                     struct err *err)
{
    const char *colon = strrchr(value, ':');
    const char *count = colon ? colon + 1 : value;

    if (!int_parse(count, 0, COUNT_MAX, ret)) {
        if (colon || strspn(value, "0123456789") > 0)
            return wrong(option, value, "a number of GPUs, or MODEL:NUMBER", err);
        *ret = 1;
        *ret_model = arena_strdup(arena, value);
        return 0;
    }
    if (colon)
        *ret_model = arena_printf(arena, "%.*s", (int)(colon - value), value);
    return 0;
}

/* "gpu:2", "gpu:a100:2", "shard:3" with commas between them. */
static int read_gres(const char *value, struct arena *arena, int64_t *ret, const char **ret_model, struct err *err)
{
    for (const char *at = value; *at;) {
        size_t len = strcspn(at, ",");
        const char *item = arena_printf(arena, "%.*s", (int)MIN(len, (size_t)1024), at);

        if (strcmp(item, "gpu") == 0) {
            *ret = 1;
        } else if (strncmp(item, "gpu:", 4) == 0) {
            int code = read_gpus("gres", item + 4, arena, ret, ret_model, err);

            if (code < 0)
                return code;
        } else if (strcmp(item, "none") != 0) {
            return wrong("gres", item, "gpu:NUMBER or gpu:MODEL:NUMBER", err);
        }
        at += len + (at[len] == ',');
    }
    return 0;
}

/* Tasks are pods. What is asked for each node or the whole job is divided among them. */
static int read_size(const struct slurm_values *values, struct arena *arena, struct slurm_job *job, struct err *err)
{
    int64_t tasks = 0, nodes = 0, per_node = 0, node_gpus = -1, gpus = -1, task_gpus = -1;
    const char *model = NULL;
    int code = read_count(values, SLURM_NTASKS, &tasks, err);

    if (code == 0)
        code = read_count(values, SLURM_NODES, &nodes, err);
    if (code == 0)
        code = read_count(values, SLURM_NTASKS_PER_NODE, &per_node, err);
    if (code == 0 && values->of[SLURM_GRES])
        code = read_gres(values->of[SLURM_GRES], arena, &node_gpus, &model, err);
    if (code == 0 && values->of[SLURM_GPUS_PER_NODE])
        code = read_gpus("gpus-per-node", values->of[SLURM_GPUS_PER_NODE], arena, &node_gpus, &model, err);
    if (code == 0 && values->of[SLURM_GPUS])
        code = read_gpus("gpus", values->of[SLURM_GPUS], arena, &gpus, &model, err);
    if (code == 0 && values->of[SLURM_GPUS_PER_TASK])
        code = read_gpus("gpus-per-task", values->of[SLURM_GPUS_PER_TASK], arena, &task_gpus, &model, err);
    if (code < 0)
        return code;
    nodes = MAX(nodes, (int64_t)1);
    if (tasks == 0)
        tasks = nodes * MAX(per_node, (int64_t)1);
    int64_t in_all = task_gpus >= 0 ? task_gpus * tasks : gpus >= 0 ? gpus : MAX(node_gpus, (int64_t)0) * nodes;
    if (in_all % tasks != 0)
        return err_set(err, -EINVAL, "%lld GPUs cannot be divided among %lld tasks: use --gpus-per-task",
                       (long long)in_all, (long long)tasks);
    job->nodes = nodes;
    job->gpus_in_all = in_all;
    job->spec.tasks = tasks;
    job->spec.gpus = in_all / tasks;
    job->spec.gpu_product = model;
    return 0;
}

static int read_memory(const struct slurm_values *values, struct arena *arena, struct slurm_job *job, int64_t cpus,
                       struct err *err)
{
    int64_t mib = 0;
    int code = 0;

    if (values->of[SLURM_MEM]) {
        code = slurm_memory_parse(values->of[SLURM_MEM], &mib, err);
        mib = (mib * job->nodes + job->spec.tasks - 1) / job->spec.tasks;
    } else if (values->of[SLURM_MEM_PER_CPU]) {
        code = slurm_memory_parse(values->of[SLURM_MEM_PER_CPU], &mib, err);
        mib *= cpus;
    } else if (values->of[SLURM_MEM_PER_GPU]) {
        code = slurm_memory_parse(values->of[SLURM_MEM_PER_GPU], &mib, err);
        mib *= job->spec.gpus;
    }
    if (code == 0 && mib > 0)
        job->spec.memory = arena_printf(arena, "%lldMi", (long long)mib);
    return code;
}

/* "now+2hours", "now+90", or a time. */
static int read_begin(const char *value, struct arena *arena, const char **ret, struct err *err)
{
    static const struct {
        const char *word;
        nsec_t unit;
    } units[] = {{"seconds", NSEC_PER_SEC},    {"minutes", NSEC_PER_MIN},      {"hours", NSEC_PER_HOUR},
                 {"days", 24 * NSEC_PER_HOUR}, {"weeks", 168 * NSEC_PER_HOUR}, {"", NSEC_PER_SEC}};
    nsec_t time = nsec_now_wall();
    char text[TIME_TEXT_MAX];

    if (strncmp(value, "now", 3) == 0) {
        char *end = (char *)(uintptr_t)value + 3;
        long count = value[3] == '+' ? strtol(value + 4, &end, 10) : 0;
        size_t unit = 0;

        while (unit < ARRAY_LEN(units) &&
               (strncmp(units[unit].word, end, strlen(end)) != 0 || (*end == '\0') != (*units[unit].word == '\0')))
            unit++;
        if (count < 0 || count > 1000000 || unit == ARRAY_LEN(units))
            return wrong("begin", value, "now+2hours, or 2026-03-01T12:00:00", err);
        time += count * units[unit].unit;
    } else if (time_parse(value, &time, NULL) < 0 && time_parse(arena_printf(arena, "%sZ", value), &time, NULL) < 0) {
        return wrong("begin", value, "now+2hours, or 2026-03-01T12:00:00", err);
    }
    *ret = arena_strdup(arena, time_format(time / NSEC_PER_SEC * NSEC_PER_SEC, text));
    return 0;
}

static void read_nodes(const char *value, struct arena *arena, struct job_words *ret)
{
    for (const char *at = value; at && *at;) {
        size_t len = strcspn(at, ",");

        if (len > 0)
            vec_push(ret, arena_printf(arena, "%.*s", (int)MIN(len, (size_t)253), at));
        at += len + (at[len] == ',');
    }
}

static int read_others(const struct slurm_values *values, struct arena *arena, struct slurm_job *job, struct err *err)
{
    struct job_spec *spec = &job->spec;
    int code = 0;

    spec->job_name = values->of[SLURM_JOB_NAME];
    spec->comment = values->of[SLURM_COMMENT];
    spec->dependency = values->of[SLURM_DEPENDENCY];
    spec->is_held = values->of[SLURM_HOLD] != NULL;
    spec->retries = values->of[SLURM_REQUEUE] ? 3 : 0;
    spec->needs_number = true;
    if (values->of[SLURM_CONSTRAINT] && !spec->gpu_product)
        spec->gpu_product = values->of[SLURM_CONSTRAINT];
    job->account = values->of[SLURM_ACCOUNT];
    job->partition = values->of[SLURM_PARTITION];
    job->qos = values->of[SLURM_QOS];
    read_nodes(values->of[SLURM_NODELIST], arena, &spec->node_names);
    read_nodes(values->of[SLURM_EXCLUDE], arena, &spec->excluded_nodes);
    if (values->of[SLURM_TIME])
        code = slurm_time_parse(values->of[SLURM_TIME], &spec->time_limit_s, err);
    if (code == 0 && values->of[SLURM_BEGIN])
        code = read_begin(values->of[SLURM_BEGIN], arena, &spec->begin, err);
    if (code == 0 && values->of[SLURM_ARRAY]) {
        code = array_parse(values->of[SLURM_ARRAY], &job->array, err);
        job->has_array = code == 0;
    }
    return code;
}

int slurm_job_make(const struct slurm_values *values, struct arena *arena, struct slurm_job *ret, struct err *err)
{
    int64_t cpus = 1;
    int code;

    memset(ret, 0, sizeof *ret);
    code = read_size(values, arena, ret, err);
    if (code == 0)
        code = read_count(values, SLURM_CPUS_PER_TASK, &cpus, err);
    if (code == 0)
        code = read_memory(values, arena, ret, cpus, err);
    if (code == 0)
        code = read_others(values, arena, ret, err);
    if (code < 0) {
        slurm_job_done(ret);
        return code;
    }
    ret->spec.cpus = arena_printf(arena, "%lld", (long long)cpus);
    ret->spec.user = *submit_user() ? arena_strdup(arena, submit_user()) : NULL;
    return 0;
}

void slurm_job_done(struct slurm_job *job)
{
    job_spec_done(&job->spec);
    if (job->has_array)
        array_spec_done(&job->array);
    job->has_array = false;
}
