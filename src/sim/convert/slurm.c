/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Slurm's accounting, as `sacct -P` prints it, and NREL's public records of Eagle, which are the same in other columns. A
 * job becomes a gang with a pod for each of its nodes. What it was given counts, since that is what others could not
 * have; a type of GPU binds it only when it asked for that type. The account is its queue, the user its namespace, the
 * partition a label that its nodes must have.
 */
#include "sim/convert/slurm_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "sim/convert/convert_internal.h"

enum { ARRAY_TASKS_MAX = 100000, LABEL_BYTES = 200 };

/* Times of a job; 0 is not known. */
struct times {
    nsec_t submitted;
    nsec_t started;
    nsec_t ended;
    nsec_t run;
};

/* Labels of nodes name partitions one by one, since a node may be in several. */
static const char *partition_label(const char *partition, char text[static LABEL_BYTES])
{
    /* The default one has a star in sinfo; a job that may go to several has them joined by commas. */
    (void)snprintf(text, LABEL_BYTES, "slurm/partition-%.*s", (int)strcspn(partition, ",*"), partition);
    return text;
}

static bool is_running(const char *state)
{
    static const char *const states[] = {"RUNNING", "SUSPENDED", "COMPLETING", "STOPPED", "RESIZING"};

    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        if (strcmp(state, states[i]) == 0)
            return true;
    return false;
}

/* A job that ran, still runs, or never did. */
static int add_job(struct converter *c, const struct times *times, const char *state, struct trace_job *job,
                   struct err *err)
{
    if (times->submitted == 0) {
        convert_skip(c);
        return 0;
    }
    /* Some versions give a job that was cancelled while it waited its end as the start, too. */
    if (times->started == 0 || (times->run <= 0 && strcmp(state, "CANCELLED") == 0) || strcmp(state, "PENDING") == 0)
        return convert_waited(c, times->submitted, times->ended, job, err);
    if (is_running(state))
        return convert_ran(c, times->submitted, times->started, TRACE_RUNS_ON, job, err);
    if (times->run <= 0) {
        convert_skip(c);
        return 0;
    }
    return convert_ran(c, times->submitted, times->started, times->run, job, err);
}

/* What it is called, and whose it is. Columns lie in the same order in both formats. */
static void name_job(struct converter *c, struct trace_job *job, const char *id)
{
    const char *partition = convert_field(c, SLURM_PARTITION);
    const char *user = convert_field(c, SLURM_USER);
    char label[LABEL_BYTES];

    job->line = c->input->csv.line;
    job->name = convert_name(c->trace, id);
    job->queue = convert_queue(c, convert_field(c, SLURM_ACCOUNT));
    job->namespace = *user ? convert_name(c->trace, user) : 0;
    if (*partition)
        convert_select(c, job, partition_label(partition, label), "true");
}
_Static_assert(SLURM_ID - EAGLE_ID == 0 && SLURM_STATE - EAGLE_STATE == 0 && SLURM_ACCOUNT - EAGLE_ACCOUNT == 0 &&
                   SLURM_PARTITION - EAGLE_PARTITION == 0,
               "both formats start with the same columns");

static struct times read_times(const struct converter *c)
{
    struct times times = {0};

    (void)convert_moment(convert_field(c, SLURM_SUBMIT), &times.submitted);
    (void)convert_moment(convert_field(c, SLURM_START), &times.started);
    (void)convert_moment(convert_field(c, SLURM_END), &times.ended);
    if (times.started && times.ended > times.started)
        times.run = times.ended - times.started;
    return times;
}

/* "CANCELLED by 1000" is CANCELLED. */
static void read_state(const struct converter *c, char state[static 24])
{
    const char *text = convert_field(c, SLURM_STATE);

    (void)snprintf(state, 24, "%.*s", (int)MIN(strcspn(text, " +"), (size_t)23), text);
}

/* Time while it was suspended is no work: Elapsed is without it, from start to end is with it. */
static void read_run(const struct converter *c, struct times *times)
{
    nsec_t suspended = 0;
    nsec_t elapsed;
    double seconds;

    if (convert_number(c, SLURM_ELAPSED_RAW, &seconds) && seconds <= 1e9)
        times->run = (nsec_t)seconds * NSEC_PER_SEC;
    else if (slurm_duration(convert_field(c, SLURM_ELAPSED), &elapsed))
        times->run = elapsed;
    else if (slurm_duration(convert_field(c, SLURM_SUSPENDED), &suspended))
        times->run -= MIN(times->run, suspended);
}

/* Memory of all nodes, where the resources do not tell: "4Gc" is for each CPU, "4Gn" for each node. */
static int64_t read_memory(const struct converter *c, uint64_t cpus, uint64_t nodes)
{
    int64_t bytes = 0;
    int64_t all;
    char per = '\0';

    if (!slurm_memory(convert_field(c, SLURM_REQ_MEM), &bytes, &per))
        return 0;
    if (__builtin_mul_overflow(bytes, (int64_t)(per == 'c' ? cpus : per == 'n' ? nodes : 1), &all))
        return 0;
    return all;
}

static void read_size(struct converter *c, struct trace_job *job)
{
    struct slurm_tres asked;
    struct slurm_tres given;
    const struct slurm_tres *tres;
    uint64_t nodes;
    uint64_t cpus;
    int64_t memory;

    slurm_tres_parse(convert_field(c, SLURM_REQ_TRES), &asked);
    slurm_tres_parse(convert_field(c, SLURM_ALLOC_TRES), &given);
    tres = given.cpus > 0 ? &given : &asked;
    nodes = tres->nodes > 0 ? tres->nodes : (uint64_t)convert_number_or(c, SLURM_NODES, 1);
    nodes = CLAMP(nodes, (uint64_t)1, (uint64_t)TRACE_PODS_MAX);
    cpus = tres->cpus > 0 ? tres->cpus : (uint64_t)MIN(convert_number_or(c, SLURM_CPUS, 1), 1e8);
    memory = tres->memory_bytes > 0 ? tres->memory_bytes : read_memory(c, cpus, nodes);
    convert_spread(c->trace, job, (uint32_t)nodes, tres->gpus, (int64_t)cpus * 1000,
                   memory > 0 ? memory : (int64_t)nodes << 30);
    if (*asked.gpu_type)
        convert_select(c, job, "nvidia.com/gpu.product", asked.gpu_type);
}

/* One row for all tasks of an array that wait. */
struct array {
    struct converter *c;
    const struct times *times;
    const char *state;
    const struct trace_job *pattern;
    const char *id;
    struct err *err;
};

static int add_task(void *context, uint32_t task)
{
    const struct array *array = context;
    struct trace_job job = *array->pattern;
    char name[64];

    (void)snprintf(name, sizeof name, "%.*s_%u", (int)MIN(strcspn(array->id, "_"), (size_t)40), array->id, task);
    job.name = convert_name(array->c->trace, name);
    return add_job(array->c, array->times, array->state, &job, array->err);
}

int convert_slurm_job(struct converter *c, struct err *err)
{
    struct trace_job job = TRACE_JOB_INIT;
    struct times times = read_times(c);
    const char *id = convert_field(c, SLURM_ID);
    nsec_t limit;
    char state[24];
    int r;

    /* The steps of a job, "123.batch", have rows of their own unless sacct is called with -X. */
    if (strchr(id, '.'))
        return 0;
    read_state(c, state);
    read_run(c, &times);
    name_job(c, &job, id);
    read_size(c, &job);
    if (slurm_duration(convert_field(c, SLURM_TIMELIMIT), &limit) && limit > 0 &&
        limit <= TRACE_SECONDS_MAX * NSEC_PER_SEC)
        job.limit = limit;
    struct array array = {c, &times, state, &job, id, err};
    r = slurm_tasks(id, ARRAY_TASKS_MAX, add_task, &array);
    return r != 0 ? MIN(r, 0) : add_job(c, &times, state, &job, err);
}

int convert_eagle_job(struct converter *c, struct err *err)
{
    struct trace_job job = TRACE_JOB_INIT;
    struct times times = read_times(c);
    uint32_t nodes = (uint32_t)CLAMP(convert_number_or(c, EAGLE_NODES, 1), 1.0, (double)TRACE_PODS_MAX);
    double gigabytes = convert_number_or(c, EAGLE_MEMORY, 0);
    double seconds;
    char state[24];

    read_state(c, state);
    if (convert_number(c, EAGLE_RUN, &seconds) && seconds >= 1 && seconds <= 1e9)
        times.run = (nsec_t)seconds * NSEC_PER_SEC;
    if (convert_number(c, EAGLE_TIMELIMIT, &seconds) && seconds >= 1 && seconds <= 1e9)
        job.limit = (nsec_t)seconds * NSEC_PER_SEC;
    name_job(c, &job, convert_field(c, EAGLE_ID));
    convert_spread(c->trace, &job, nodes, (uint64_t)MIN(convert_number_or(c, EAGLE_GPUS, 0), 1e6),
                   (int64_t)MIN(convert_number_or(c, EAGLE_CPUS, 1), 1e8) * 1000,
                   (int64_t)(gigabytes > 0 && gigabytes < 1e6 ? gigabytes * (1 << 30) : (double)nodes * (1 << 30)));
    return add_job(c, &times, state, &job, err);
}

int convert_slurm_node(struct converter *c, struct err *err)
{
    struct trace_node *node = convert_node(c, convert_field(c, SINFO_NAME), "");
    const char *partition = convert_field(c, SINFO_PARTITION);
    struct slurm_tres gres;
    char label[LABEL_BYTES];

    (void)err;
    slurm_gres_parse(convert_field(c, SINFO_GRES), &gres);
    /* A node has a row for each partition that it is in. */
    if (node->cpu_milli == 0 && *gres.gpu_type)
        convert_label(c, node, "nvidia.com/gpu.product", gres.gpu_type);
    node->gpus = (uint32_t)MIN(gres.gpus, (uint64_t)TRACE_GPUS_MAX);
    node->cpu_milli = (int64_t)MIN(convert_number_or(c, SINFO_CPUS, 1), 1e6) * 1000;
    node->memory_bytes = (int64_t)MIN(convert_number_or(c, SINFO_MEMORY, 1024), 1e9) << 20;
    if (*partition)
        convert_label(c, node, partition_label(partition, label), "true");
    return 0;
}
