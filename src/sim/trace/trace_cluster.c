/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The cluster that a made-up trace is for. Quotas lie halfway between what a team asks for and an equal part, so that
 * some teams borrow and others lend, and add up to the whole cluster.
 */
#include "sim/trace/trace_generate.h"

#include "base/mem.h"
#include "sim/trace/trace.h"

enum { NODES_A_RACK = 16 };

/* A line each, so that a thousand nodes stay readable. */
static void write_node(uint32_t i, uint32_t gpus, FILE *out)
{
    char name[TRACE_NODE_NAME_MAX];

    (void)fprintf(
        out,
        "- {apiVersion: v1, kind: Node, metadata: {name: %s, labels: {rack: rack-%02u, nvidia.com/gpu.count: \"%u\", "
        "nvidia.com/gpu.memory: \"81920\"}}, status: {allocatable: {cpu: \"%u\", memory: %uGi, pods: \"250\", "
        "nvidia.com/gpu: \"%u\"}, conditions: [{type: Ready, status: \"True\"}]}}\n",
        trace_node_name(i, name), i / NODES_A_RACK + 1, gpus, gpus * 16, gpus * 128, gpus);
}

static void write_queue(const char *name, const char *parent, double quota, double weight, FILE *out)
{
    (void)fprintf(out, "- apiVersion: scheduling.run.ai/v2\n  kind: Queue\n  metadata: {name: %s}\n  spec:\n", name);
    if (parent)
        (void)fprintf(out, "    parentQueue: %s\n", parent);
    (void)fprintf(out,
                  "    resources:\n"
                  "      gpu: {quota: %g, limit: -1, overQuotaWeight: %g}\n"
                  "      cpu: {quota: -1, limit: -1, overQuotaWeight: 1}\n"
                  "      memory: {quota: -1, limit: -1, overQuotaWeight: 1}\n",
                  quota, weight);
}

/*
 * What a busy cluster needs: only the first workload of a queue has victims looked for. Behind one that has to wait, hardly
 * any search finds some, since most victims return before it has its turn; hundreds would be made in vain at each event.
 */
static void write_settings(FILE *out)
{
    (void)fputs("- apiVersion: kai.scheduler/v1\n"
                "  kind: SchedulingShard\n"
                "  metadata: {name: default}\n"
                "  spec:\n"
                "    queueDepthPerAction: {consolidation: 1, reclaim: 1, preempt: 1}\n",
                out);
}

void trace_write_cluster(const struct trace_recipe *recipe, FILE *out)
{
    _cleanup_(freep) uint32_t *quotas = xcalloc(recipe->queue_count, sizeof *quotas);

    trace_team_quotas(recipe, quotas);
    (void)fputs("apiVersion: v1\nkind: List\nitems:\n", out);
    write_settings(out);
    write_queue("all", NULL, -1, 1, out);
    for (uint32_t i = 0; i < recipe->queue_count; i++)
        write_queue(recipe->queues[i], "all", quotas[i], quotas[i], out);
    for (uint32_t i = 0; i < recipe->gpus / recipe->gpus_per_node; i++)
        write_node(i, recipe->gpus_per_node, out);
}
