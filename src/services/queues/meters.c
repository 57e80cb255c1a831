/* SPDX-License-Identifier: Apache-2.0 */
#include "services/queues/meters.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "frame/flags.h"
#include "services/queues/tree.h"
#include "text/metrics.h"

enum { OWN_LABELS = 3, MORE_LABELS_MAX = METER_LABELS_MAX - OWN_LABELS };

enum queue_figure { INFO, QUOTA, ALLOCATED };

/* Quotas are in thousandths of cores and millions of bytes; -1 is unlimited and stays so. */
static const struct queue_meter {
    const char *name;
    const char *help;
    enum queue_figure figure;
    enum queue_resource resource;
    double scale;
} rows[] = {
    {"queue_info", "Queues that exist; always 1.", INFO, 0, 1},
    {"queue_deserved_gpus", "GPU quota of the queue; -1: unlimited.", QUOTA, RESOURCE_GPU, 1},
    {"queue_quota_cpu_cores", "CPU quota of the queue in cores; -1: unlimited.", QUOTA, RESOURCE_CPU, 1e-3},
    {"queue_quota_memory_bytes", "Memory quota of the queue in bytes; -1: unlimited.", QUOTA, RESOURCE_MEMORY, 1e6},
    {"queue_allocated_gpus", "GPUs allocated to the queue and the queues below it.", ALLOCATED, RESOURCE_GPU, 1},
    {"queue_allocated_cpu_cores", "Cores allocated to the queue and the queues below it.", ALLOCATED, RESOURCE_CPU, 1},
    {"queue_allocated_memory_bytes", "Bytes of memory allocated to the queue and the queues below it.", ALLOCATED,
     RESOURCE_MEMORY, 1},
};

static bool is_label_name(const char *name)
{
    bool is_good = isalpha((unsigned char)*name) || *name == '_';

    for (; *name && is_good; name++)
        is_good = isalnum((unsigned char)*name) || *name == '_';
    return is_good;
}

int queue_meters_check(const struct flag_pairs *labels, struct err *err)
{
    if (labels->len > MORE_LABELS_MAX)
        return err_set(err, -EINVAL, "--queue-label-to-metric-label: %u labels; at most %d are possible", labels->len,
                       MORE_LABELS_MAX);
    vec_foreach (labels, pair) {
        if (!is_label_name(pair->value))
            return err_set(err, -EINVAL,
                           "--queue-label-to-metric-label: '%s' is no name of a metric label; it consists of letters, "
                           "digits and underscores, and does not begin with a digit",
                           pair->value);
    }
    return 0;
}

static double figure_of(const struct queue_meter *row, struct tree *tree, const struct queue *queue)
{
    double quota = queue->quota[row->resource];

    if (row->figure == INFO)
        return 1;
    if (row->figure == ALLOCATED)
        return queue_allocated(tree, queue, row->resource);
    return quota == -1 ? -1 : quota * row->scale;
}

static void show_queue(struct meter *const *meters, struct tree *tree, const struct queue *queue)
{
    const char *values[METER_LABELS_MAX + 1] = {queue->name, queue->name, queue->display_name};

    for (uint32_t i = 0; i < queue->labels.len; i++)
        values[OWN_LABELS + i] = queue->labels.items[i];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        meter_set(meter_series(meters[i], values), figure_of(&rows[i], tree, queue));
}

void queue_meters_show(struct metrics *metrics, const struct flag_pairs *labels, struct tree *tree)
{
    const char *names[METER_LABELS_MAX + 1] = {"queue_name", "queue_metadata_name", "queue_display_name"};
    struct meter *meters[ARRAY_LEN(rows)];
    const struct queue *queue;

    for (uint32_t i = 0; i < labels->len; i++)
        names[OWN_LABELS + i] = labels->items[i].value;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        meters[i] = metrics_gauge(metrics, rows[i].name, rows[i].help, names);
        meter_clear(meters[i]);
    }
    for (size_t cursor = 0; tree && (queue = tree_next(tree, &cursor));)
        show_queue(meters, tree, queue);
}
