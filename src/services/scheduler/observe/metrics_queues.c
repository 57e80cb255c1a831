/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"
#include "model/state.h"
#include "services/scheduler/observe/metrics_internal.h"

static const double units[SHARE_COUNT] = {[SHARE_CPU] = 1000, [SHARE_MEMORY] = 1e9, [SHARE_GPU] = 1};

/* All queues anew, so that one that is gone is gone here, too. */
static void collect(void *arg, struct metrics *metrics)
{
    struct scheduler_metrics *m = arg;
    const struct state *state = m->view->state;

    (void)metrics;
    for (int r = 0; r < SHARE_COUNT; r++) {
        meter_clear(m->fair[r]);
        meter_clear(m->usage[r]);
        vec_foreach (&m->queues, queue) {
            const char *name = state_name(state, queue->name);
            const char *display = state_name(state, queue->display_name);
            const char *const *labels = METER_LABELS(display, name, display);

            meter_set(meter_series(m->fair[r], labels), queue->fair[r] < 0 ? -1 : queue->fair[r] / units[r]);
            meter_set(meter_series(m->usage[r], labels), queue->usage[r]);
        }
    }
}

void metrics_queues_init(struct scheduler_metrics *m, struct metrics *metrics)
{
    static const struct {
        const char *fair;
        const char *fair_help;
        const char *usage;
        const char *usage_help;
    } names[SHARE_COUNT] = {
        [SHARE_CPU] = {"queue_fair_share_cpu_cores", "Fair share of the queue in CPU cores; -1 means unlimited.",
                       "queue_cpu_usage", "CPU that the queue has used in the past, as a part of the cluster's."},
        [SHARE_MEMORY] = {"queue_fair_share_memory_gb", "Fair share of the queue in GB of memory; -1 means unlimited.",
                          "queue_memory_usage",
                          "Memory that the queue has used in the past, as a part of the cluster's."},
        [SHARE_GPU] = {"queue_fair_share_gpu", "Fair share of the queue in GPUs; -1 means unlimited.",
                       "queue_gpu_usage", "GPUs that the queue has used in the past, as a part of the cluster's."},
    };
    const char *const *labels = METER_LABELS("queue_name", "queue_metadata_name", "queue_display_name");

    for (int r = 0; r < SHARE_COUNT; r++) {
        m->fair[r] = metrics_gauge(metrics, names[r].fair, names[r].fair_help, labels);
        m->usage[r] = metrics_gauge(metrics, names[r].usage, names[r].usage_help, labels);
    }
    metrics_on_collect(metrics, collect, m);
}

void metrics_queues_keep(struct scheduler_metrics *m)
{
    const struct state *state = m->view->state;

    vec_clear(&m->queues);
    for (queue_id id = 0; id < state->queues.len; id++) {
        const struct queue *queue = &state->queues.items[id];
        struct queue_figures figures = {.name = queue->name, .display_name = queue->display_name};

        if (!queue->is_present)
            continue;
        struct queue_share share = engine_share(m->view->engine, id);

        for (int r = 0; r < SHARE_COUNT; r++) {
            figures.fair[r] = share.fair[r];
            figures.usage[r] = queue->usage[r];
        }
        vec_push(&m->queues, figures);
    }
}
