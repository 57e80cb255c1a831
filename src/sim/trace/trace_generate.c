/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The generator draws shapes and times first and run times last, scaled so that all work together is the load asked for.
 * What people do is in tables: sizes, kinds of work, the rhythm of day and week. As in public traces of large clusters most
 * jobs are small, few are gangs, and the busiest hours bring about 1.4 times the mean.
 */
#include "sim/trace/trace_generate.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/resources.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_cluster.h"
#include "sim/trace/trace_random.h"

enum { SECONDS_A_DAY = 86400, HOURS_A_WEEK = 168, SHORTEST_RUN = 20, NODES_A_RACK = 16 };
enum { LONGEST_RUN = 5 * SECONDS_A_DAY, LONGEST_RUN_LEAST = 2 * 3600 };
enum { PRIORITY_TRAIN = 50, PRIORITY_INTERACTIVE = 75, PRIORITY_BUILD = 100 };

/* What jobs look like. Gangs double in size as often as they can within the bounds. */
struct job_class {
    double weight;
    double fraction;  // of one GPU; 0: whole ones
    uint32_t gpus;
    uint32_t pods_from;
    uint32_t pods_to;
    double median_seconds;
    double spread;
};

static const struct job_class job_classes[] = {
    {8, 0.1, 0, 1, 1, 1500, 1.3},  // notebooks and small inference
    {8, 0.25, 0, 1, 1, 2400, 1.3}, {12, 0.5, 0, 1, 1, 3000, 1.3},
    {48, 0, 1, 1, 1, 2400, 1.5},  // one GPU: most work there is
    {11, 0, 2, 1, 1, 3600, 1.5},   {6, 0, 4, 1, 1, 5400, 1.4},
    {2.5, 0, 8, 1, 1, 7200, 1.4},  // a node
    {3, 0, 1, 2, 64, 3600, 1.3},   // gangs
    {0.5, 0, 2, 2, 64, 7200, 1.1}, {0.3, 0, 4, 2, 64, 7200, 1.1},
    {0.3, 0, 8, 2, 64, 9000, 1.2},  // of nodes
};
enum { JOB_CLASSES = ARRAY_LEN(job_classes) };

/* How busy each hour of a working day is, and each day of the week, Monday first. */
static const double hours[24] = {
    0.75, 0.72, 0.70, 0.68, 0.68, 0.72, 0.78, 0.88, 1.02, 1.16, 1.26, 1.28,
    1.20, 1.22, 1.28, 1.30, 1.28, 1.22, 1.14, 1.06, 0.98, 0.92, 0.86, 0.80,
};
static const double weekdays[7] = {1.05, 1.08, 1.08, 1.05, 1.00, 0.89, 0.85};

struct generator {
    const struct trace_recipe *recipe;
    struct trace *trace;
    struct random random;
    uint32_t seconds;
    uint32_t hour_count;
    double *rhythm;    // by queue and hour: how much work comes up to the end of that hour, as a growing sum
    double *weights;   // by queue
    uint32_t *quotas;  // by queue
    VEC(double) runs;  // by job, in seconds, before scaling
};

void trace_recipe_init(struct trace_recipe *recipe)
{
    *recipe =
        (struct trace_recipe){.seed = 1, .days = 30, .gpus = 2000, .gpus_per_node = 8, .jobs = 100000, .load = 0.9};
}

/* The part of all work that comes from team `i` of `count`: the first is the largest. */
static double team_weight(uint32_t i, uint32_t count)
{
    double sum = 0;

    for (uint32_t k = 0; k < count; k++)
        sum += 1 / (1 + 0.35 * k);
    return 1 / (1 + 0.35 * i) / sum;
}

void trace_team_quotas(const struct trace_recipe *recipe, uint32_t *ret)
{
    uint32_t count = recipe->queue_count;
    uint32_t left = recipe->gpus;

    for (uint32_t i = 0; i < count; i++) {
        double part = (team_weight(i, count) + 1.0 / count) / 2;

        ret[i] = i + 1 == count ? left : (uint32_t)(part * recipe->gpus);
        left -= ret[i];
    }
}

static int check(const struct trace_recipe *recipe, struct err *err)
{
    if (recipe->queue_count == 0 || recipe->queue_count > RECIPE_QUEUES_MAX)
        return err_set(err, -EINVAL, "queues: expected 1 to %d, found %u", RECIPE_QUEUES_MAX, recipe->queue_count);
    if (recipe->gpus == 0 || recipe->gpus > RECIPE_GPUS_MAX)
        return err_set(err, -EINVAL, "gpus: expected 1 to %d, found %u", RECIPE_GPUS_MAX, recipe->gpus);
    if (recipe->gpus_per_node == 0 || recipe->gpus_per_node > recipe->gpus || recipe->gpus % recipe->gpus_per_node)
        return err_set(err, -EINVAL, "gpus-per-node: %u GPUs do not make whole nodes of %u", recipe->gpus,
                       recipe->gpus_per_node);
    if (recipe->jobs == 0 || recipe->jobs > RECIPE_JOBS_MAX)
        return err_set(err, -EINVAL, "jobs: expected 1 to %d, found %u", RECIPE_JOBS_MAX, recipe->jobs);
    if (!(recipe->days > 0 && recipe->days <= 3660))
        return err_set(err, -EINVAL, "days: expected a number above 0, at most 3660, found %g", recipe->days);
    if (!(recipe->load > 0 && recipe->load <= 100))
        return err_set(err, -EINVAL, "load: expected a number above 0, at most 100, found %g", recipe->load);
    if (!(recipe->failures_per_day >= 0 && recipe->failures_per_day <= 10000))
        return err_set(err, -EINVAL, "failures: expected a number from 0 to 10000, found %g", recipe->failures_per_day);
    return 0;
}

/* A gang takes half of its team's quota at most, and a pod no more than a node has. */
static uint32_t pods_allowed(const struct generator *g, uint32_t queue, const struct job_class *class)
{
    uint32_t half = MAX(g->quotas[queue] / 2, 1u);

    if (class->gpus > g->recipe->gpus_per_node)
        return 0;
    return class->gpus == 0 ? class->pods_to : MIN(class->pods_to, half / class->gpus);
}

/* Teams sit in different time zones, a little, and some weeks are busier for one than for another. */
static void make_rhythm(struct generator *g)
{
    const struct trace_recipe *recipe = g->recipe;

    for (uint32_t q = 0; q < recipe->queue_count; q++) {
        int64_t shift = random_between(&g->random, -3, 3);
        double sum = 0;
        double mood = 1;

        g->weights[q] = team_weight(q, recipe->queue_count);
        for (uint32_t h = 0; h < g->hour_count; h++) {
            if (h % 24 == 0)
                mood = 0.75 + 0.5 * random_unit(&g->random);
            uint32_t local = (uint32_t)((int64_t)h + HOURS_A_WEEK + shift);

            sum += hours[local % 24] * weekdays[local / 24 % 7] * mood;
            g->rhythm[(size_t)q * g->hour_count + h] = sum;
        }
    }
}

static void start(struct generator *g)
{
    const struct trace_recipe *recipe = g->recipe;

    g->seconds = (uint32_t)(recipe->days * SECONDS_A_DAY);
    g->seconds = MAX(g->seconds, 1u);
    g->hour_count = (g->seconds + 3599) / 3600;
    g->rhythm = xcalloc((size_t)g->hour_count * recipe->queue_count, sizeof *g->rhythm);
    g->weights = xcalloc(recipe->queue_count, sizeof *g->weights);
    g->quotas = xcalloc(recipe->queue_count, sizeof *g->quotas);
    trace_team_quotas(recipe, g->quotas);
    random_init(&g->random, recipe->seed);
    make_rhythm(g);
}

/* Second at which a job of the queue comes. */
static uint32_t draw_second(struct generator *g, uint32_t queue)
{
    const double *sums = g->rhythm + (size_t)queue * g->hour_count;
    double wanted = random_unit(&g->random) * sums[g->hour_count - 1];
    uint32_t low = 0;
    uint32_t high = g->hour_count - 1;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (sums[middle] > wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return MIN(low * 3600 + (uint32_t)random_between(&g->random, 0, 3599), g->seconds - 1);
}

static void draw_kind(struct generator *g, struct trace_job *job, const struct job_class *class)
{
    double dice = random_unit(&g->random);
    bool is_small = class->pods_to == 1 && class->gpus <= 1;

    job->priority = PRIORITY_TRAIN;
    if (is_small && dice < 0.12)
        job->priority = PRIORITY_BUILD;
    else if (dice < 0.3)
        job->priority = PRIORITY_INTERACTIVE;
    job->is_preemptible = job->priority < PRIORITY_BUILD;
    /* Long training saves its state now and then; some of it can do with fewer workers. */
    if (class->gpus >= 4 || class->pods_to > 1)
        job->checkpoint = random_between(&g->random, 1, 4) * 30 * NSEC_PER_MIN;
    if (job->pods >= 4 && job->priority == PRIORITY_TRAIN && random_unit(&g->random) < 0.3)
        job->min_available = job->pods / 2;
}

static struct trace_job draw_job(struct generator *g, uint32_t queue, double *ret_run)
{
    double weights[JOB_CLASSES];

    for (size_t i = 0; i < JOB_CLASSES; i++) {
        bool is_allowed = pods_allowed(g, queue, &job_classes[i]) >= job_classes[i].pods_from;

        weights[i] = is_allowed ? job_classes[i].weight : 0;
    }
    const struct job_class *class = &job_classes[random_pick(&g->random, weights, JOB_CLASSES)];
    struct trace_job job = TRACE_JOB_INIT;
    uint32_t most = pods_allowed(g, queue, class);

    for (job.pods = class->pods_from; job.pods * 2 <= most && random_unit(&g->random) < 0.5;)
        job.pods *= 2;
    job.min_available = job.pods;
    job.queue = trace_intern(g->trace, g->recipe->queues[queue]);
    job.namespace = job.queue;
    job.gpus = class->gpus;
    job.fraction = class->fraction;
    if (class->fraction > 0)
        job.kind = REQUEST_FRACTION;
    job.cpu_milli = class->gpus > 0 ? class->gpus * INT64_C(8000) : 2000;
    job.memory_bytes = (class->gpus > 0 ? class->gpus * INT64_C(64) : 16) << 30;
    draw_kind(g, &job, class);
    *ret_run = random_lognormal(&g->random, class->median_seconds, class->spread);
    return job;
}

static void add(struct generator *g, struct trace_job *job, uint32_t second, double run)
{
    char name[32];

    (void)snprintf(name, sizeof name, "job-%06u", g->trace->jobs.len + 1);
    job->name = trace_intern(g->trace, name);
    trace_submit(g->trace, TRACE_ORIGIN + second * NSEC_PER_SEC, job);
    vec_push(&g->runs, run);
}

/* A job, or now and then a sweep: many of the same kind within minutes, most of them small. */
static void draw_jobs(struct generator *g)
{
    const struct trace_recipe *recipe = g->recipe;

    while (g->trace->jobs.len < recipe->jobs) {
        uint32_t queue = (uint32_t)random_pick(&g->random, g->weights, recipe->queue_count);
        uint32_t second = draw_second(g, queue);
        double run;
        struct trace_job job = draw_job(g, queue, &run);
        int64_t copies = 1;

        if (job.pods == 1 && job.gpus <= 1 && random_unit(&g->random) < 0.02)
            copies = random_between(&g->random, 8, 48);
        for (; copies > 0 && g->trace->jobs.len < recipe->jobs; copies--) {
            add(g, &job, MIN(second, g->seconds - 1), run);
            second += (uint32_t)random_between(&g->random, 0, 10);
            run *= 0.8 + 0.4 * random_unit(&g->random);
        }
    }
}

/* Run times are stretched until all work is the load; the bounds take some away, so it takes a few turns. */
static void scale_runs(struct generator *g)
{
    struct trace *trace = g->trace;
    double wanted = g->recipe->load * g->recipe->gpus * g->seconds;
    /* A quarter of the trace at most, so that a day is over soon after its end. */
    double longest = CLAMP(g->seconds / 4.0, (double)LONGEST_RUN_LEAST, (double)LONGEST_RUN);
    double factor = 1;

    for (int turn = 0; turn < 30; turn++) {
        double work = 0;

        for (uint32_t i = 0; i < trace->jobs.len; i++) {
            double run = CLAMP(g->runs.items[i] * factor, (double)SHORTEST_RUN, longest);

            trace->jobs.items[i].run = (nsec_t)run * NSEC_PER_SEC;
            work += run * gpu_to_double(trace_job_gpus(trace, &trace->jobs.items[i]));
        }
        factor *= work > 0 ? wanted / work : 1;
    }
}

const char *trace_node_name(uint32_t i, char text[static TRACE_NODE_NAME_MAX])
{
    (void)snprintf(text, TRACE_NODE_NAME_MAX, "node-%04u", i + 1);
    return text;
}

static void add_failures(struct generator *g)
{
    uint32_t nodes = g->recipe->gpus / g->recipe->gpus_per_node;
    int64_t count = (int64_t)(g->recipe->failures_per_day * g->recipe->days + 0.5);

    for (int64_t i = 0; i < count; i++) {
        char text[TRACE_NODE_NAME_MAX];
        trace_name node =
            trace_intern(g->trace, trace_node_name((uint32_t)random_between(&g->random, 0, (int64_t)nodes - 1), text));
        nsec_t down = TRACE_ORIGIN + random_between(&g->random, 0, (int64_t)g->seconds - 1) * NSEC_PER_SEC;
        nsec_t gone = (nsec_t)random_lognormal(&g->random, 3600, 1) * NSEC_PER_SEC;

        vec_push(&g->trace->events, (struct trace_event){.time = down, .kind = TRACE_NODE_DOWN, .node = node});
        vec_push(&g->trace->events, (struct trace_event){.time = down + gone, .kind = TRACE_NODE_UP, .node = node});
    }
}

int trace_generate(struct trace *trace, const struct trace_recipe *recipe, struct err *err)
{
    struct generator g = {.recipe = recipe, .trace = trace};
    int r = check(recipe, err);

    if (r < 0)
        return r;
    start(&g);
    draw_jobs(&g);
    scale_runs(&g);
    add_failures(&g);
    trace_sort(trace);
    free(g.rhythm);
    free(g.weights);
    free(g.quotas);
    vec_done(&g.runs);
    return 0;
}

static void add_node(struct trace *trace, struct trace_cluster *cluster, uint32_t i, uint32_t gpus)
{
    char name[TRACE_NODE_NAME_MAX];
    char labels[128];

    (void)snprintf(labels, sizeof labels, "rack=rack-%02u;nvidia.com/gpu.count=%u;nvidia.com/gpu.memory=81920",
                   i / NODES_A_RACK + 1, gpus);
    vec_push(&cluster->nodes, (struct trace_node){
                                  .name = trace_intern(trace, trace_node_name(i, name)),
                                  .labels = trace_intern(trace, labels),
                                  .gpus = gpus,
                                  .cpu_milli = gpus * INT64_C(16000),
                                  .memory_bytes = gpus * INT64_C(128) << 30,
                              });
}

/*
 * Quotas lie halfway between what a team asks for and an equal part, so that some teams borrow and others lend, and add
 * up to the whole cluster.
 */
void trace_recipe_cluster(const struct trace_recipe *recipe, struct trace *trace, struct trace_cluster *cluster)
{
    _cleanup_(freep) uint32_t *quotas = xcalloc(recipe->queue_count, sizeof *quotas);

    trace_team_quotas(recipe, quotas);
    for (uint32_t i = 0; i < recipe->queue_count; i++)
        vec_push(&cluster->queues, (struct trace_queue){trace_intern(trace, recipe->queues[i]), quotas[i]});
    for (uint32_t i = 0; i < recipe->gpus / recipe->gpus_per_node; i++)
        add_node(trace, cluster, i, recipe->gpus_per_node);
}
