/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Alibaba's cluster-trace-gpu-v2023, also called openb: single pods, and the nodes for them. Some of its pod lists have no
 * times; their pods come all at the start and stay, which fills the cluster.
 */
#include <stdio.h>

#include "sim/convert/convert_internal.h"

static nsec_t seconds(double value)
{
    return TRACE_ORIGIN + (nsec_t)MIN(value, 1e9) * NSEC_PER_SEC;
}

/* Thousandths of each GPU, below 1000 only for a single one. */
static void set_gpus(struct trace_job *job, double gpus, double milli)
{
    if (gpus == 1 && milli > 0 && milli < 1000) {
        job->kind = REQUEST_FRACTION;
        job->fraction = milli / 1000;
        return;
    }
    job->gpus = (uint32_t)MIN(gpus, (double)TRACE_GPUS_MAX);
}

int convert_openb_pod(struct converter *c, struct err *err)
{
    struct trace_job job = TRACE_JOB_INIT;
    const char *qos = convert_field(c, POD_QOS);
    const char *types = convert_field(c, POD_SPEC);
    double created;
    double scheduled;
    double deleted;
    bool is_deleted = convert_number(c, POD_DELETED, &deleted);

    job.line = c->input->csv.line;
    job.name = convert_name(c->trace, convert_field(c, POD_NAME));
    job.queue = convert_queue(c, qos);
    /* Best effort comes last; everything else is latency sensitive or paid for. */
    job.priority = !*qos || strcmp(qos, "BE") == 0 ? 50 : 75;
    job.cpu_milli = (int64_t)convert_number_or(c, POD_CPU, 1000);
    job.memory_bytes = (int64_t)convert_number_or(c, POD_MEMORY, 1024) << 20;
    set_gpus(&job, convert_number_or(c, POD_GPUS, 0), convert_number_or(c, POD_GPU_MILLI, 1000));
    if (strcmp(types, "nan") != 0)
        convert_select(c, &job, "nvidia.com/gpu.product", types);
    if (c->input->columns[POD_CREATED] == CSV_NO_COLUMN) {
        c->conversion->timeless++;
        return convert_ran(c, TRACE_ORIGIN, 0, TRACE_RUNS_ON, &job, err);
    }
    if (!convert_number(c, POD_CREATED, &created)) {
        convert_skip(c);
        return 0;
    }
    if (!convert_number(c, POD_SCHEDULED, &scheduled))
        return convert_waited(c, seconds(created), is_deleted ? seconds(deleted) : 0, &job, err);
    if (!is_deleted || seconds(deleted) <= seconds(scheduled)) {
        convert_skip(c);
        return 0;
    }
    return convert_ran(c, seconds(created), seconds(scheduled), seconds(deleted) - seconds(scheduled), &job, err);
}

/* Memory of one GPU, for those who ask for GPU memory; other models are only known by made-up names. */
static const struct {
    const char *model;
    const char *mib;
} models[] = {{"P100", "16384"}, {"T4", "16384"}, {"V100M16", "16384"}, {"V100M32", "32768"}, {"A10", "24576"}};

int convert_openb_node(struct converter *c, struct err *err)
{
    struct trace_node *node = convert_node(c, convert_field(c, NODE_NAME), "");
    const char *model = convert_field(c, NODE_MODEL);

    (void)err;
    node->gpus = (uint32_t)MIN(convert_number_or(c, NODE_GPUS, 0), (double)TRACE_GPUS_MAX);
    node->cpu_milli = (int64_t)convert_number_or(c, NODE_CPU, 0);
    node->memory_bytes = (int64_t)convert_number_or(c, NODE_MEMORY, 0) << 20;
    convert_label(c, node, "nvidia.com/gpu.product", model);
    for (size_t i = 0; i < ARRAY_LEN(models); i++)
        if (strcmp(models[i].model, model) == 0)
            convert_label(c, node, "nvidia.com/gpu.memory", models[i].mib);
    return 0;
}
