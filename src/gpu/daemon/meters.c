/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the daemon knows, for Prometheus: by the names of this project, and by those, with their labels and units, that
 * dashboards for Run:ai and HAMi ask for. Everything is made anew when somebody asks, so that nobody sees figures of a
 * group that is gone. No label is the number of a process: there would be no end of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/daemon/gpud_parts.h"
#include "gpu/daemon/group_view.h"
#include "text/metrics.h"

enum { NODE_SIZE = 254, NUMBER_SIZE = 12 };

#define MIB ((double)(1 << 20))
#define SECOND ((double)NSEC_PER_SEC)

/* Whose labels a figure has. */
enum family { OURS, RUNAI, HAMI, FAMILY_COUNT };

enum { FAMILY_LABELS = 6 };

static const char *const labels[FAMILY_COUNT][FAMILY_LABELS + 1] = {
    [OURS] = {"node", "gpu", "group", "namespace", "pod", "container", NULL},
    [RUNAI] = {"node", "gpu", "pod_name", "pod_namespace", "pod_uuid", NULL},
    [HAMI] = {"namespace", "pod", "container", "vdevice_index", "device_uuid", NULL},
};

struct values {
    const char *of[FAMILY_COUNT][FAMILY_LABELS + 1];
    char index[NUMBER_SIZE];
};

static double used(const struct group_view *v)
{
    return (double)v->used;
}

static double used_in_all(const struct group_view *v)
{
    return (double)(v->used + v->context);
}

static double used_mebibytes(const struct group_view *v)
{
    return used_in_all(v) / MIB;
}

static double request(const struct group_view *v)
{
    return (double)v->request;
}

static double limit(const struct group_view *v)
{
    return (double)v->limit;
}

static double burst(const struct group_view *v)
{
    uint64_t all = v->used + v->context;

    return all > v->request ? (double)(all - v->request) : 0;
}

static double footprint(const struct group_view *v)
{
    return (double)v->context;
}

static double target(const struct group_view *v)
{
    return (double)v->group->spec.share / ARBITER_WHOLE;
}

static double actual(const struct group_view *v)
{
    return v->share_actual;
}

static double actual_percent(const struct group_view *v)
{
    return 100 * v->share_actual;
}

static double lease_seconds(const struct group_view *v)
{
    return (double)v->busy / SECOND;
}

static double overrun_seconds(const struct group_view *v)
{
    return (double)v->overrun / SECOND;
}

static double wait_seconds(const struct group_view *v)
{
    return (double)v->waited / SECOND;
}

static double gate_seconds(const struct group_view *v)
{
    return (double)v->wait_ns / SECOND;
}

static double launches(const struct group_view *v)
{
    return (double)v->launches;
}

static double traffic(const struct group_view *v)
{
    return (double)v->traffic;
}

static double parked(const struct group_view *v)
{
    return (double)v->parked;
}

static double pinned(const struct group_view *v)
{
    return (double)v->pinned;
}

static double killed(const struct group_view *v)
{
    return (double)v->killed;
}

/* Of one group on one GPU. */
static const struct {
    enum family family;
    bool is_counter;
    double (*value)(const struct group_view *v);
    const char *name;
    const char *help;
} figures[] = {
    {OURS, false, used, "muster_gpu_memory_used_bytes", "GPU memory that tenants have allocated, without contexts."},
    {OURS, false, request, "muster_gpu_memory_request_bytes", "GPU memory that is reserved for the group."},
    {OURS, false, limit, "muster_gpu_memory_limit_bytes", "GPU memory limit of the group."},
    {OURS, false, burst, "muster_gpu_memory_burst_bytes", "GPU memory beyond the reserved memory (borrowed)."},
    {OURS, false, footprint, "muster_gpu_memory_footprint_bytes", "GPU memory of contexts and of the driver."},
    {OURS, false, target, "muster_gpu_compute_share_target", "Configured share of the GPU's time."},
    {OURS, false, actual, "muster_gpu_compute_share_actual", "Share of the GPU's time since the last sample."},
    {OURS, true, lease_seconds, "muster_gpu_compute_lease_seconds_total", "Time under leases, overrun included."},
    {OURS, true, overrun_seconds, "muster_gpu_compute_overrun_seconds_total",
     "Time of kernels after the end of their lease."},
    {OURS, true, wait_seconds, "muster_gpu_compute_wait_seconds_total", "Time that the group waited for a lease."},
    {OURS, true, gate_seconds, "muster_gpu_gate_thread_seconds_total", "Time that threads waited for a lease."},
    {OURS, true, launches, "muster_gpu_launches_total", "Launched kernels and graphs."},
    {OURS, true, traffic, "muster_gpu_traffic_bytes_total", "Bytes of copies and fills."},
    {OURS, false, pinned, "muster_gpu_host_pinned_bytes", "Pinned memory of the host."},
    {OURS, false, parked, "muster_gpu_host_parked_bytes", "Memory of the host that holds parked GPU memory."},
    {OURS, true, killed, "muster_gpu_oom_killed_total", "Processes that were killed to free memory."},
    {RUNAI, false, used_mebibytes, "runai_gpu_memory_used_mebibytes_per_pod_per_gpu", "For dashboards of Run:ai."},
    {RUNAI, false, actual_percent, "runai_gpu_utilization_per_pod_per_gpu", "For dashboards of Run:ai; in percent."},
    {HAMI, false, used_in_all, "hami_vgpu_memory_used_bytes", "For dashboards of HAMi."},
    {HAMI, false, limit, "hami_vgpu_memory_limit_bytes", "For dashboards of HAMi."},
    {HAMI, false, actual_percent, "hami_container_device_utilization_ratio", "For dashboards of HAMi; in percent."},
};

/* Of a whole GPU. */
enum device_figure {
    CAPACITY,
    TAKEN,
    DRIVER_USED,
    LOOKS,
    RUNAI_UTILIZATION,
    RUNAI_USED,
    RUNAI_TOTAL,
    RUNAI_ALLOCATED,
    HAMI_USED,
    DEVICE_FIGURES,
};

static const char *const device_labels[] = {"node", "gpu", NULL};
static const char *const reclaim_labels[] = {"node", "gpu", "step", NULL};
static const char *const hami_host_labels[] = {"node", "device_index", "device_uuid", "device_type", NULL};

static const struct {
    const char *name;
    const char *help;
    bool is_counter;
    const char *const *labels;
} device_figures[] = {
    [CAPACITY] = {"muster_gpu_capacity_bytes", "GPU memory that groups can use.", false, device_labels},
    [TAKEN] = {"muster_gpu_taken_bytes", "GPU memory in use by groups.", false, device_labels},
    [DRIVER_USED] = {"muster_gpu_driver_used_bytes", "Used GPU memory as NVML reports it.", false, device_labels},
    [LOOKS] = {"muster_gpu_driver_samples_total", "Samples of NVML.", true, device_labels},
    [RUNAI_UTILIZATION] = {"runai_gpu_utilization_per_gpu", "For dashboards of Run:ai; in percent.", false,
                           device_labels},
    [RUNAI_USED] = {"runai_gpu_memory_used_mebibytes_per_gpu", "For dashboards of Run:ai.", false, device_labels},
    [RUNAI_TOTAL] = {"runai_gpu_memory_total_mebibytes_per_gpu", "For dashboards of Run:ai.", false, device_labels},
    [RUNAI_ALLOCATED] = {"runai_allocated_gpu_count_per_gpu", "For dashboards of Run:ai.", false, device_labels},
    [HAMI_USED] = {"hami_host_gpu_memory_used_bytes", "For dashboards of HAMi.", false, hami_host_labels},
};
_Static_assert(ARRAY_LEN(device_figures) == DEVICE_FIGURES, "every figure has a name");

static const char *const denied_labels[] = {"node", "group", "namespace", "pod", "container", "reason", NULL};
static const char *const unhooked_labels[] = {"node", "group", "namespace", "pod", "container", "name", NULL};

/* As Kubernetes calls this machine, where it says so. */
static const char *node_name(void)
{
    static char name[NODE_SIZE];
    const char *given = getenv("NODE_NAME");

    if (given && *given)
        return given;
    if (!name[0] && gethostname(name, sizeof name - 1) < 0)
        (void)snprintf(name, sizeof name, "localhost");
    return name;
}

static struct meter *meter_of(struct metrics *metrics, size_t figure)
{
    return (figures[figure].is_counter ? metrics_counter : metrics_gauge)(
        metrics, figures[figure].name, figures[figure].help, labels[figures[figure].family]);
}

static struct meter *device_meter(struct metrics *metrics, enum device_figure figure)
{
    return (device_figures[figure].is_counter ? metrics_counter : metrics_gauge)(
        metrics, device_figures[figure].name, device_figures[figure].help, device_figures[figure].labels);
}

static struct meter *denied_meter(struct metrics *metrics)
{
    return metrics_counter(metrics, "muster_gpu_oom_denied_total", "Refused allocations.", denied_labels);
}

static struct meter *unhooked_meter(struct metrics *metrics)
{
    return metrics_counter(metrics, "muster_gpu_unhooked_symbol_total",
                           "Driver functions that tenants called and the library does not hook.", unhooked_labels);
}

static struct meter *reclaim_meter(struct metrics *metrics)
{
    return metrics_counter(metrics, "muster_gpu_memory_reclaims_total",
                           "Waits for borrowed memory that have ended, by the last step that was needed.",
                           reclaim_labels);
}

static void collect_denied(struct metrics *metrics, const struct group *group)
{
    const struct group_spec *spec = &group->spec;

    for (int reason = 1; reason < GPU_REASON_COUNT_; reason++) {
        const char *const *values = METER_LABELS(node_name(), spec->name, spec->namespace_, spec->pod, spec->container,
                                                 gpu_reason_name((enum gpu_reason)reason));

        if (group->denied[reason] > 0)
            meter_add(meter_series(denied_meter(metrics), values), (double)group->denied[reason]);
    }
}

static void collect_unhooked(struct metrics *metrics, const struct group *group)
{
    const struct group_spec *spec = &group->spec;

    for (size_t i = 0; i < UNHOOKED_MAX && group->unhooked[i].count > 0; i++) {
        const char *const *values = METER_LABELS(node_name(), spec->name, spec->namespace_, spec->pod, spec->container,
                                                 group->unhooked[i].name);

        meter_add(meter_series(unhooked_meter(metrics), values), (double)group->unhooked[i].count);
    }
}

/* Groups that are no pod's have a name of their own, which stands in for it where others look for pods. */
static void set_values(struct values *to, const struct group_view *v)
{
    static const char prefix[] = "pod-";
    const struct group_spec *spec = &v->group->spec;
    const char *uuid = v->device->spec.uuid;
    const char *pod = spec->pod[0] ? spec->pod : spec->name;
    bool has_uid = strncmp(spec->name, prefix, strlen(prefix)) == 0;

    (void)snprintf(to->index, sizeof to->index, "%u", v->gpu);
    memcpy(to->of[OURS],
           (const char *[]){node_name(), uuid, spec->name, spec->namespace_, spec->pod, spec->container, NULL},
           sizeof to->of[OURS]);
    memcpy(to->of[RUNAI],
           (const char *[]){node_name(), uuid, pod, spec->namespace_, has_uid ? spec->name + strlen(prefix) : "", NULL,
                            NULL},
           sizeof to->of[RUNAI]);
    memcpy(to->of[HAMI], (const char *[]){spec->namespace_, pod, spec->container, to->index, uuid, NULL, NULL},
           sizeof to->of[HAMI]);
}

/* Two containers of one pod are one series where only pods are told apart: hence the sum. */
static void collect_group(struct metrics *metrics, struct group *group, nsec_t now, double *busy)
{
    for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
        struct group_view v = group_view_of(group, gpu, now);
        struct values values = {0};

        set_values(&values, &v);
        for (size_t i = 0; i < ARRAY_LEN(figures); i++)
            meter_add(meter_series(meter_of(metrics, i), values.of[figures[i].family]), figures[i].value(&v));
        busy[group->devices[gpu]] += v.share_actual;
    }
    collect_denied(metrics, group);
    collect_unhooked(metrics, group);
    group_view_note_look(group, now);
}

static void collect_device(struct metrics *metrics, const struct gpud *gpud, uint32_t index, double busy)
{
    const struct device *device = &gpud->devices[index];
    char number[NUMBER_SIZE];
    const char *const *values = METER_LABELS(node_name(), device->spec.uuid);
    const double capacity = (double)gpud->ledger.capacity[index], part_busy = MIN(busy, 1.0);
    const double amounts[DEVICE_FIGURES] = {
        [CAPACITY] = capacity,
        [TAKEN] = (double)gpud->ledger.taken[index],
        [DRIVER_USED] = (double)device->nvml_used,
        [LOOKS] = (double)device->looks,
        [RUNAI_UTILIZATION] = 100 * part_busy,
        [RUNAI_USED] = (double)device->nvml_used / MIB,
        [RUNAI_TOTAL] = (double)device->spec.memory_bytes / MIB,
        [RUNAI_ALLOCATED] = capacity > 0 ? (double)gpud->ledger.requested[index] / capacity : 0,
        [HAMI_USED] = (double)device->nvml_used,
    };

    (void)snprintf(number, sizeof number, "%u", index);
    for (enum device_figure i = 0; i < DEVICE_FIGURES; i++) {
        bool is_drivers = i == DRIVER_USED || i == RUNAI_USED || i == HAMI_USED;

        if (!is_drivers || watcher_knows(gpud, index))
            meter_add(meter_series(device_meter(metrics, i),
                                   i == HAMI_USED
                                       ? METER_LABELS(node_name(), number, device->spec.uuid, device->spec.name)
                                       : values),
                      amounts[i]);
    }
}

static void collect_reclaims(struct metrics *metrics, const struct device *device)
{
    for (enum reclaim_step step = RECLAIM_TRIM; step < RECLAIM_STEPS; step++)
        meter_add(
            meter_series(reclaim_meter(metrics), METER_LABELS(node_name(), device->spec.uuid, reclaim_step_name(step))),
            (double)device->reclaims[step]);
}

static void clear(struct metrics *metrics)
{
    for (size_t i = 0; i < ARRAY_LEN(figures); i++)
        meter_clear(meter_of(metrics, i));
    for (enum device_figure i = 0; i < DEVICE_FIGURES; i++)
        meter_clear(device_meter(metrics, i));
    meter_clear(reclaim_meter(metrics));
    meter_clear(denied_meter(metrics));
    meter_clear(unhooked_meter(metrics));
}

static void collect(void *arg, struct metrics *metrics)
{
    struct gpud *gpud = arg;
    double busy[GPU_MAX] = {0};
    nsec_t now = gpud_now();

    watcher_glance(gpud);
    clear(metrics);
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        if (gpud->groups[i])
            collect_group(metrics, gpud->groups[i], now, busy);
    }
    for (uint32_t i = 0; i < gpud->device_count; i++) {
        collect_device(metrics, gpud, i, busy[i]);
        collect_reclaims(metrics, &gpud->devices[i]);
    }
    struct meter *strangers = metrics_counter(metrics, "muster_gpu_unregistered_process_total",
                                              "Processes on shared GPUs that are not tenants.", NULL);
    struct meter *leases = metrics_counter(metrics, "muster_gpu_leases_total", "Granted leases.", NULL);
    meter_clear(strangers);
    meter_clear(leases);
    meter_add(meter_series(strangers, NULL), (double)gpud->unregistered);
    meter_add(meter_series(leases, NULL), (double)gpud->handovers);
}

/* From the end of one group's gate to the beginning of another's, what the first had in its queues included. */
void meters_handover(struct gpud *gpud, nsec_t took)
{
    meter_observe(meter_series(gpud->handover, NULL), (double)took / SECOND);
}

/* Waiting time from the request for a lease to its start. */
void meters_wait(const struct group *group, nsec_t took)
{
    meter_observe(meter_series(group->gpud->gate_wait, METER_LABELS(group->spec.name)), (double)took / SECOND);
}

void meters_forget(const struct group *group)
{
    (void)meter_remove(group->gpud->gate_wait, METER_LABELS(group->spec.name));
}

void meters_init(struct gpud *gpud)
{
    static const double waits[] = {0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5};
    static const double buckets[] = {0.00025, 0.0005, 0.001, 0.0015, 0.002, 0.0025, 0.003,
                                     0.004,   0.005,  0.01,  0.025,  0.05,  0.1,    0.25};

    gpud->handover = metrics_histogram(gpud->metrics, "muster_gpu_handover_seconds",
                                       "From the end of one group's lease to the start of the next.", NULL, buckets,
                                       ARRAY_LEN(buckets));
    gpud->gate_wait = metrics_histogram(gpud->metrics, "muster_gpu_gate_wait_seconds",
                                        "Waiting time from the request for a lease to its start.",
                                        METER_LABELS("group"), waits, ARRAY_LEN(waits));
    metrics_on_collect(gpud->metrics, collect, gpud);
}
