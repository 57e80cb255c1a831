/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Alibaba's cluster-trace-gpu-v2020: jobs made of tasks, each a number of equal instances. A task becomes a workload of
 * its own, since the tasks of a job need not run at once.
 */
#include <math.h>
#include <stdio.h>

#include "sim/convert/convert_internal.h"

/* Its times, taken for Unix time, are 8 hours behind Shanghai's clocks; Unix time starts 3 days after a Monday. */
#define SHANGHAI (3 * 24 * NSEC_PER_HOUR + 8 * NSEC_PER_HOUR)

static nsec_t seconds(double value)
{
    return (nsec_t)MIN(value, 1e9) * NSEC_PER_SEC;
}

int convert_pai_job(struct converter *c, struct err *err)
{
    double submitted;

    (void)err;
    if (!convert_number(c, PAI_JOB_START, &submitted))
        return 0;
    map64_put(&c->owner_by_name, convert_name(c->trace, convert_field(c, PAI_JOB_NAME)), c->owners.len);
    vec_push(&c->owners,
             (struct convert_owner){seconds(submitted), convert_name(c->trace, convert_field(c, PAI_JOB_USER))});
    return 0;
}

/* GPUs in hundredths of one: less than a whole one is a fraction, more is rounded up to whole ones. */
static void set_gpus(struct trace_job *job, double hundredths)
{
    if (hundredths > 0 && hundredths < 100) {
        job->kind = REQUEST_FRACTION;
        job->fraction = hundredths / 100;
        return;
    }
    job->gpus = (uint32_t)MIN(ceil(hundredths / 100), (double)TRACE_GPUS_MAX);
}

static trace_name join_names(struct trace *trace, const char *job, const char *task)
{
    char name[254];

    (void)snprintf(name, sizeof name, "%s-%s", job, task);
    return convert_name(trace, name);
}

int convert_pai_task(struct converter *c, struct err *err)
{
    struct trace_job job = TRACE_JOB_INIT;
    const char *user = "";
    double start;
    double end;
    nsec_t submitted;
    uint64_t known;

    if (!convert_number(c, PAI_TASK_START, &start) || !convert_number(c, PAI_TASK_END, &end) ||
        seconds(end) <= seconds(start)) {
        convert_skip(c);
        return 0;
    }
    submitted = seconds(start);
    if (map64_get(&c->owner_by_name, convert_name(c->trace, convert_field(c, PAI_TASK_JOB)), &known)) {
        submitted = MIN(submitted, c->owners.items[known].submitted);
        user = trace_str(c->trace, c->owners.items[known].user);
    }
    job.line = c->input->csv.line;
    job.name = join_names(c->trace, convert_field(c, PAI_TASK_JOB), convert_field(c, PAI_TASK_NAME));
    job.queue = convert_queue(c, user);
    job.pods = (uint32_t)CLAMP(convert_number_or(c, PAI_TASK_INSTANCES, 1), 1.0, (double)TRACE_PODS_MAX);
    job.cpu_milli = (int64_t)(convert_number_or(c, PAI_TASK_CPU, 100) * 10);
    job.memory_bytes = (int64_t)(MIN(convert_number_or(c, PAI_TASK_MEMORY, 1), 1e6) * (1 << 30));
    set_gpus(&job, convert_number_or(c, PAI_TASK_GPU, 0));
    return convert_ran(c, TRACE_ORIGIN + submitted + SHANGHAI, TRACE_ORIGIN + seconds(start) + SHANGHAI,
                       seconds(end) - seconds(start), &job, err);
}

int convert_pai_machine(struct converter *c, struct err *err)
{
    struct trace_node *node = convert_node(c, convert_field(c, PAI_MACHINE_NAME), "");

    (void)err;
    node->gpus = (uint32_t)MIN(convert_number_or(c, PAI_MACHINE_GPUS, 0), (double)TRACE_GPUS_MAX);
    node->cpu_milli = (int64_t)(convert_number_or(c, PAI_MACHINE_CPU, 0) * 1000);
    node->memory_bytes = (int64_t)MIN(convert_number_or(c, PAI_MACHINE_MEMORY, 0), 1e6) << 30;
    if (node->gpus > 0)
        convert_label(c, node, "nvidia.com/gpu.product", convert_field(c, PAI_MACHINE_TYPE));
    return 0;
}
