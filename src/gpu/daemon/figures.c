/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the daemon knows, in numbers: for Prometheus by the names of this project, and under names that dashboards of
 * Run:ai and HAMi know; and as JSON for people's commands. All of it is made when somebody asks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "gpu/daemon/gpud_internal.h"
#include "text/json.h"
#include "text/metrics.h"

/* One group on one of its GPUs. */
struct view {
    const struct group *group;
    uint32_t gpu;
    const struct device *device;
    uint64_t used, context, credit, limit, request;
    double share_actual;
    uint64_t launches, wait_ns, traffic, pinned;
    nsec_t busy, overrun, waited;
};

static struct view view_of(const struct group *group, uint32_t gpu)
{
    const struct gpud *gpud = group->gpud;
    struct view v = {.group = group,
                     .gpu = gpu,
                     .device = &gpud->devices[group->devices[gpu]],
                     .limit = group->spec.limit_bytes,
                     .request = group->spec.request_bytes,
                     .launches = gpu == 0 ? group->launches_gone : 0,
                     .wait_ns = gpu == 0 ? group->wait_ns_gone : 0,
                     .traffic = gpu == 0 ? group->traffic_gone : 0};

    v.credit = memory_credit(group, gpu);
    for (const struct session *s = group->first; s; s = s->next) {
        if (!s->slot)
            continue;
        v.used += session_holding(s, gpu)->plain;
        v.context += session_holding(s, gpu)->context;
        if (!s->page.mem)
            continue;
        v.launches += atomic_load(&session_line(s, gpu)->launches);
        v.wait_ns += atomic_load(&session_line(s, gpu)->wait_ns);
        v.traffic += atomic_load(&session_line(s, gpu)->traffic_bytes);
        v.pinned += atomic_load(&session_line(s, gpu)->pinned_bytes);
    }
    v.used -= MIN(v.credit, v.used);
    return v;
}

/* Time under leases until now, with the one that goes on. */
static nsec_t lease_time(const struct group *group, nsec_t now)
{
    const struct arbiter_group *lease;

    if (group->lease < 0)
        return 0;
    lease = &group->gpud->arbiter.groups[group->lease];
    return lease->charged +
           (lease->state == ARBITER_RUNNING || lease->state == ARBITER_DRAINING ? now - lease->opened_at : 0);
}

static void fill_compute(struct view *v, nsec_t now)
{
    const struct group *group = v->group;
    const struct arbiter_group *lease;

    if (group->lease < 0)
        return;
    lease = &group->gpud->arbiter.groups[group->lease];
    v->busy = lease_time(group, now);
    v->overrun = lease->overrun;
    v->waited = lease->waited;
    if (now > group->looked_at)
        v->share_actual = (double)(v->busy - group->busy_before) / (double)(now - group->looked_at);
    v->share_actual = CLAMP(v->share_actual, 0.0, 1.0);
}

/* The share is over the time since the last look, but not less than a second of it. */
static void note_look(struct group *group, nsec_t now)
{
    if (now - group->looked_at < NSEC_PER_SEC)
        return;
    group->busy_before = lease_time(group, now);
    group->looked_at = now;
}

static const char *const labels[] = {"gpu", "group", "namespace", "pod", "container", NULL};

enum figure {
    USED,
    REQUEST,
    LIMIT,
    BURST,
    FOOTPRINT,
    TARGET,
    ACTUAL,
    LEASE_SECONDS,
    OVERRUN_SECONDS,
    WAIT_SECONDS,
    GATE_SECONDS,
    LAUNCHES,
    TRAFFIC,
    PINNED,
    KILLED,
    RUNAI_MEMORY,
    RUNAI_UTILIZATION,
    HAMI_USED,
    HAMI_LIMIT,
    HAMI_UTILIZATION,
};

static const struct {
    const char *name;
    const char *help;
    bool is_counter;
} figures[] = {
    [USED] = {"muster_gpu_memory_used_bytes", "Device memory that tenants have in use, contexts not counted.", false},
    [REQUEST] = {"muster_gpu_memory_request_bytes", "Device memory that is kept for the group.", false},
    [LIMIT] = {"muster_gpu_memory_limit_bytes", "Device memory that the group can have at most.", false},
    [BURST] = {"muster_gpu_memory_burst_bytes", "Device memory beyond the request, on loan.", false},
    [FOOTPRINT] = {"muster_gpu_memory_footprint_bytes", "Device memory of contexts and what the driver adds.", false},
    [TARGET] = {"muster_gpu_compute_share_target", "Share of the GPU's time that is promised.", false},
    [ACTUAL] = {"muster_gpu_compute_share_actual", "Share of the GPU's time since the last look.", false},
    [LEASE_SECONDS] = {"muster_gpu_compute_lease_seconds_total", "Time under leases, overrun included.", true},
    [OVERRUN_SECONDS] = {"muster_gpu_compute_overrun_seconds_total", "Time after the gate had closed.", true},
    [WAIT_SECONDS] = {"muster_gpu_compute_wait_seconds_total", "Time of waiting for a lease.", true},
    [GATE_SECONDS] = {"muster_gpu_gate_thread_seconds_total", "Time that threads spent at the gate.", true},
    [LAUNCHES] = {"muster_gpu_launches_total", "Kernels and graphs that were launched.", true},
    [TRAFFIC] = {"muster_gpu_traffic_bytes_total", "Bytes that copies and fills were asked to move.", true},
    [PINNED] = {"muster_gpu_host_pinned_bytes", "Memory of the host that is pinned for the GPU.", false},
    [KILLED] = {"muster_gpu_oom_killed_total", "Processes that were ended.", true},
    [RUNAI_MEMORY] = {"runai_gpu_memory_used_mebibytes_per_pod_per_gpu", "As Run:ai calls it.", false},
    [RUNAI_UTILIZATION] = {"runai_gpu_utilization_per_pod_per_gpu", "As Run:ai calls it, in percent.", false},
    [HAMI_USED] = {"hami_vgpu_memory_used_bytes", "As HAMi calls it.", false},
    [HAMI_LIMIT] = {"hami_vgpu_memory_limit_bytes", "As HAMi calls it.", false},
    [HAMI_UTILIZATION] = {"hami_vgpu_core_utilization_percent", "As HAMi calls it.", false},
};

static double value_of(enum figure figure, const struct view *v)
{
    const double second = (double)NSEC_PER_SEC;
    uint64_t all = v->used + v->context;

    switch (figure) {
    case USED:
        return (double)v->used;
    case HAMI_USED:
        return (double)all;
    case REQUEST:
        return (double)v->request;
    case LIMIT:
    case HAMI_LIMIT:
        return (double)v->limit;
    case BURST:
        return all > v->request ? (double)(all - v->request) : 0;
    case FOOTPRINT:
        return (double)v->context;
    case TARGET:
        return (double)v->group->spec.share / ARBITER_WHOLE;
    case ACTUAL:
        return v->share_actual;
    case LEASE_SECONDS:
        return (double)v->busy / second;
    case OVERRUN_SECONDS:
        return (double)v->overrun / second;
    case WAIT_SECONDS:
        return (double)v->waited / second;
    case GATE_SECONDS:
        return (double)v->wait_ns / second;
    case LAUNCHES:
        return (double)v->launches;
    case TRAFFIC:
        return (double)v->traffic;
    case PINNED:
        return (double)v->pinned;
    case KILLED:
        return (double)v->group->killed;
    case RUNAI_MEMORY:
        return (double)all / (1 << 20);
    case RUNAI_UTILIZATION:
    case HAMI_UTILIZATION:
        return 100 * v->share_actual;
    }
    return 0;
}

static struct meter *meter_of(struct metrics *metrics, enum figure figure)
{
    return (figures[figure].is_counter ? metrics_counter : metrics_gauge)(metrics, figures[figure].name,
                                                                          figures[figure].help, labels);
}

static void collect_denied(struct metrics *metrics, const struct group *group)
{
    struct meter *meter = metrics_counter(metrics, "muster_gpu_oom_denied_total", "Allocations that were refused.",
                                          METER_LABELS("group", "reason"));

    for (int reason = 1; reason < GPU_REASON_COUNT_; reason++) {
        if (group->denied[reason] > 0)
            meter_add(meter_series(meter, METER_LABELS(group->spec.name, gpu_reason_name((enum gpu_reason)reason))),
                      (double)group->denied[reason]);
    }
}

static struct meter *unhooked_meter(struct metrics *metrics)
{
    return metrics_counter(metrics, "muster_gpu_unhooked_symbol_total", "Functions that tenants got past the fence.",
                           METER_LABELS("group", "name"));
}

static void collect_unhooked(struct metrics *metrics, const struct group *group)
{
    for (size_t i = 0; i < UNHOOKED_MAX && group->unhooked[i].count > 0; i++)
        meter_add(meter_series(unhooked_meter(metrics), METER_LABELS(group->spec.name, group->unhooked[i].name)),
                  (double)group->unhooked[i].count);
}

static void collect_group(struct metrics *metrics, struct group *group, nsec_t now)
{
    const struct group_spec *spec = &group->spec;

    for (uint32_t gpu = 0; gpu < spec->gpu_count; gpu++) {
        struct view v = view_of(group, gpu);

        fill_compute(&v, now);
        for (size_t i = 0; i < ARRAY_LEN(figures); i++)
            meter_add(meter_series(
                          meter_of(metrics, (enum figure)i),
                          METER_LABELS(v.device->spec.uuid, spec->name, spec->namespace_, spec->pod, spec->container)),
                      value_of((enum figure)i, &v));
    }
    collect_denied(metrics, group);
    collect_unhooked(metrics, group);
    note_look(group, now);
}

static void collect_device(struct metrics *metrics, const struct gpud *gpud, uint32_t index)
{
    const struct device *device = &gpud->devices[index];
    const char *const *uuid = METER_LABELS(device->spec.uuid);
    const char *const *label = METER_LABELS("gpu");

    meter_set(meter_series(metrics_gauge(metrics, "muster_gpu_capacity_bytes", "What can be given away.", label), uuid),
              (double)gpud->ledger.capacity[index]);
    meter_set(meter_series(metrics_gauge(metrics, "muster_gpu_taken_bytes", "What has been given away.", label), uuid),
              (double)gpud->ledger.taken[index]);
    if (device->has_nvml)
        meter_set(meter_series(metrics_gauge(metrics, "muster_gpu_driver_used_bytes", "What NVML says.", label), uuid),
                  (double)device->nvml_used);
}

/* Groups come and go, so that all series are made anew: nobody sees figures of one that is gone. */
static void collect(void *arg, struct metrics *metrics)
{
    struct gpud *gpud = arg;
    nsec_t now = gpud_now();

    for (size_t i = 0; i < ARRAY_LEN(figures); i++)
        meter_clear(meter_of(metrics, (enum figure)i));
    meter_clear(metrics_counter(metrics, "muster_gpu_oom_denied_total", "Allocations that were refused.",
                                METER_LABELS("group", "reason")));
    meter_clear(unhooked_meter(metrics));
    for (uint32_t i = 0; i < gpud->device_count; i++)
        collect_device(metrics, gpud, i);
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        if (gpud->groups[i])
            collect_group(metrics, gpud->groups[i], now);
    }
    struct meter *strangers = metrics_counter(metrics, "muster_gpu_unregistered_process_total",
                                              "Processes on a shared GPU that are no tenants.", NULL);
    struct meter *leases = metrics_counter(metrics, "muster_gpu_leases_total", "Leases that were given.", NULL);
    meter_clear(strangers);
    meter_clear(leases);
    meter_add(meter_series(strangers, NULL), (double)gpud->unregistered);
    meter_add(meter_series(leases, NULL), (double)gpud->handovers);
}

/* From the end of one group's gate to the beginning of another's, what the first had in its queues included. */
void figures_handover(struct gpud *gpud, nsec_t took)
{
    meter_observe(meter_series(gpud->handover, NULL), (double)took / (double)NSEC_PER_SEC);
}

/* From a group's asking for a lease to its gate's opening. */
void figures_wait(const struct group *group, nsec_t took)
{
    meter_observe(meter_series(group->gpud->gate_wait, METER_LABELS(group->spec.name)),
                  (double)took / (double)NSEC_PER_SEC);
}

void figures_forget(const struct group *group)
{
    (void)meter_remove(group->gpud->gate_wait, METER_LABELS(group->spec.name));
}

void figures_init(struct gpud *gpud)
{
    static const double waits[] = {0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5};
    static const double buckets[] = {0.00025, 0.0005, 0.001, 0.0015, 0.002, 0.0025, 0.003,
                                     0.004,   0.005,  0.01,  0.025,  0.05,  0.1,    0.25};

    gpud->metrics = metrics_new("");
    gpud->handover = metrics_histogram(gpud->metrics, "muster_gpu_handover_seconds",
                                       "From the end of one group's gate to the opening of another's.", NULL, buckets,
                                       ARRAY_LEN(buckets));
    gpud->gate_wait = metrics_histogram(gpud->metrics, "muster_gpu_gate_wait_seconds",
                                        "From a group's asking for a lease to its gate's opening.",
                                        METER_LABELS("group"), waits, ARRAY_LEN(waits));
    metrics_on_collect(gpud->metrics, collect, gpud);
}

static const char *state_name(const struct group *group)
{
    static const char *const names[] = {"idle", "waiting", "running", "draining", "stuck"};

    if (group->lease < 0)
        return "free";
    return names[group->gpud->arbiter.groups[group->lease].state];
}

static void add_processes(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct group *group, uint32_t gpu)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, to, "processes");

    for (const struct session *s = group->first; s; s = s->next) {
        if (!s->slot)
            continue;
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        const struct ledger_holding *held = session_holding(s, gpu);
        uint64_t credit = s->page.mem ? atomic_load(&session_line(s, gpu)->credit_bytes) : 0;

        (void)yyjson_mut_obj_add_int(doc, one, "pid", s->peer.pid);
        (void)yyjson_mut_obj_add_strcpy(doc, one, "name", s->name);
        (void)yyjson_mut_obj_add_uint(doc, one, "usedBytes", held->plain - MIN(credit, held->plain));
        (void)yyjson_mut_obj_add_uint(doc, one, "creditBytes", MIN(credit, held->plain));
        (void)yyjson_mut_obj_add_uint(doc, one, "contextBytes", held->context);
        (void)yyjson_mut_obj_add_bool(doc, one, "connected", s->fd >= 0);
    }
}

static void add_group(yyjson_mut_doc *doc, yyjson_mut_val *to, struct group *group, nsec_t now)
{
    char path[256];

    group_path(group, path, sizeof path);
    for (uint32_t gpu = 0; gpu < group->spec.gpu_count; gpu++) {
        struct view v = view_of(group, gpu);
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, to);

        fill_compute(&v, now);
        (void)yyjson_mut_obj_add_str(doc, one, "group", group->spec.name);
        (void)yyjson_mut_obj_add_strcpy(doc, one, "socket", path);
        (void)yyjson_mut_obj_add_str(doc, one, "gpu", v.device->spec.uuid);
        (void)yyjson_mut_obj_add_str(doc, one, "mode", gpu_mode_name(group->spec.mode));
        (void)yyjson_mut_obj_add_str(doc, one, "state", state_name(group));
        (void)yyjson_mut_obj_add_real(doc, one, "share", (double)group->spec.share / ARBITER_WHOLE);
        (void)yyjson_mut_obj_add_real(doc, one, "shareActual", v.share_actual);
        (void)yyjson_mut_obj_add_real(doc, one, "leaseSeconds", (double)v.busy / (double)NSEC_PER_SEC);
        (void)yyjson_mut_obj_add_uint(doc, one, "requestBytes", v.request);
        (void)yyjson_mut_obj_add_uint(doc, one, "limitBytes", v.limit);
        (void)yyjson_mut_obj_add_uint(doc, one, "usedBytes", v.used);
        (void)yyjson_mut_obj_add_uint(doc, one, "contextBytes", v.context);
        (void)yyjson_mut_obj_add_uint(doc, one, "creditBytes", v.credit);
        (void)yyjson_mut_obj_add_uint(doc, one, "launches", v.launches);
        (void)yyjson_mut_obj_add_uint(doc, one, "denied",
                                      group->denied[GPU_REASON_LIMIT] + group->denied[GPU_REASON_EXHAUSTED]);
        (void)yyjson_mut_obj_add_uint(doc, one, "killed", group->killed);
        (void)yyjson_mut_obj_add_uint(doc, one, "badMessages", group->bad_messages);
        add_processes(doc, one, group, gpu);
    }
    note_look(group, now);
}

void figures_status(struct gpud *gpud, struct strbuf *text)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *gpus = yyjson_mut_obj_add_arr(doc, root, "gpus");
    yyjson_mut_val *groups = yyjson_mut_obj_add_arr(doc, root, "groups");
    nsec_t now = gpud_now();
    size_t len = 0;

    yyjson_mut_doc_set_root(doc, root);
    (void)yyjson_mut_obj_add_real(doc, root, "uptimeSeconds", (double)(now - gpud->started) / (double)NSEC_PER_SEC);
    (void)yyjson_mut_obj_add_bool(doc, root, "watchesDriver", gpud->watcher != NULL);
    (void)yyjson_mut_obj_add_uint(doc, root, "unregisteredProcesses", gpud->unregistered);
    for (uint32_t i = 0; i < gpud->device_count; i++) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, gpus);

        (void)yyjson_mut_obj_add_str(doc, one, "uuid", gpud->devices[i].spec.uuid);
        (void)yyjson_mut_obj_add_str(doc, one, "name", gpud->devices[i].spec.name);
        (void)yyjson_mut_obj_add_uint(doc, one, "totalBytes", gpud->devices[i].spec.memory_bytes);
        (void)yyjson_mut_obj_add_uint(doc, one, "capacityBytes", gpud->ledger.capacity[i]);
        (void)yyjson_mut_obj_add_uint(doc, one, "requestedBytes", gpud->ledger.requested[i]);
        (void)yyjson_mut_obj_add_uint(doc, one, "takenBytes", gpud->ledger.taken[i]);
        if (gpud->devices[i].has_nvml)
            (void)yyjson_mut_obj_add_uint(doc, one, "driverUsedBytes", gpud->devices[i].nvml_used);
    }
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        if (gpud->groups[i])
            add_group(doc, groups, gpud->groups[i], now);
    }
    char *json = yyjson_mut_write(doc, 0, &len);
    BUG_ON(!json);
    strbuf_add(text, json, len);
    free(json);
    yyjson_mut_doc_free(doc);
}
