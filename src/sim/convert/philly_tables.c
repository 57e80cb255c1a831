/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tables of Microsoft's Philly cluster: jobs in a reduced form, without the machines that they ran on; the machines; and
 * how many nodes each virtual cluster was taken to have. GPUs that do not fit one node of 8 are spread over several.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/convert/convert_internal.h"

enum { GPUS_A_NODE = 8, CORES_A_GPU = 4, NODE_CORES_A_GPU = 16, NODE_GIB_A_GPU = 128 };

int convert_philly_job(struct converter *c, struct err *err)
{
    struct trace_job job = TRACE_JOB_INIT;
    nsec_t submitted;
    double duration;
    double gpus;

    if (!convert_moment(convert_field(c, PHILLY_TIME), &submitted) || !convert_number(c, PHILLY_DURATION, &duration) ||
        !convert_number(c, PHILLY_GPUS, &gpus) || duration < 1 || duration > 1e9 || gpus < 1 ||
        gpus > GPUS_A_NODE * TRACE_PODS_MAX) {
        convert_skip(c);
        return 0;
    }
    uint32_t whole = (uint32_t)gpus / GPUS_A_NODE;
    uint32_t rest = (uint32_t)gpus % GPUS_A_NODE;
    const struct trace_part parts[] = {
        {whole, GPUS_A_NODE, GPUS_A_NODE * CORES_A_GPU * 1000, INT64_C(1) << 30},
        {1, rest, rest * CORES_A_GPU * INT64_C(1000), INT64_C(1) << 30},
    };
    char name[32];

    trace_set_parts(c->trace, &job, whole > 0 ? parts : parts + 1, (whole > 0) + (rest > 0));
    (void)snprintf(name, sizeof name, "job-%u", c->input->csv.line);
    job.line = c->input->csv.line;
    job.name = trace_intern(c->trace, name);
    job.queue = convert_queue(c, convert_field(c, PHILLY_GROUP));
    return convert_ran(c, submitted, 0, (nsec_t)duration * NSEC_PER_SEC, &job, err);
}

/* " 12GB" as MiB; nothing when it is none. */
static void label_memory(struct converter *c, struct trace_node *node, const char *text)
{
    char mib[24];
    long gigabytes = strtol(text, NULL, 10);

    if (gigabytes <= 0 || gigabytes > 1000)
        return;
    (void)snprintf(mib, sizeof mib, "%ld", gigabytes * 1024);
    convert_label(c, node, "nvidia.com/gpu.memory", mib);
}

static void set_size(struct trace_node *node, uint32_t gpus)
{
    node->gpus = gpus;
    node->cpu_milli = gpus * INT64_C(1000) * NODE_CORES_A_GPU;
    node->memory_bytes = (int64_t)gpus * NODE_GIB_A_GPU << 30;
}

int convert_philly_machine(struct converter *c, struct err *err)
{
    struct trace_node *node = convert_node(c, convert_field(c, MACHINE_NAME), "");

    (void)err;
    set_size(node, (uint32_t)MIN(convert_number_or(c, MACHINE_GPUS, 0), (double)TRACE_GPUS_MAX));
    label_memory(c, node, convert_field(c, MACHINE_GPU_MEMORY));
    return 0;
}

/* A virtual cluster is a queue whose quota is the GPUs of its nodes. */
int convert_philly_group(struct converter *c, struct err *err)
{
    const double nodes = MIN(convert_number_or(c, GROUP_NODES, 0), 1e6);

    (void)err;
    vec_push(&c->conversion->cluster.queues,
             (struct trace_queue){convert_queue(c, convert_field(c, GROUP_NAME)), nodes * GPUS_A_NODE});
    return 0;
}
