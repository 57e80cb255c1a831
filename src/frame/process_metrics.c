/* SPDX-License-Identifier: Apache-2.0 */

/* Figures of the process, under the names that every exporter uses, and of its requests to the API server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "frame/process_internal.h"

static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    char line[256] = "";

    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    (void)fclose(file);
    /* The second number of the line. */
    const char *second = strchr(line, ' ');
    unsigned long pages = second ? strtoul(second, NULL, 10) : 0;
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* `label` is the value of the one label of the meter; NULL: it has none. */
static void set(struct meter *meter, const char *label, double value)
{
    meter_set(meter_series(meter, label ? METER_LABELS(label) : NULL), value);
}

static void collect_process(void *arg, struct metrics *metrics)
{
    const struct process *process = arg;
    double left_out = 0;

    set(metrics_foreign(metrics, "process_resident_memory_bytes", "Resident memory size in bytes.", false), NULL,
        resident_bytes());
    set(metrics_foreign(metrics, "process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", true),
        NULL, (double)nsec_now_cpu() / (double)NSEC_PER_SEC);
    vec_foreach (&process->run->services, service)
        left_out += (double)log_left_out((*service)->log);
    set(metrics_foreign(metrics, "muster_log_lines_left_out_total",
                        "Log lines that were dropped because they repeated too often.", true),
        NULL, left_out);
}

struct metrics *service_registry(const struct service *service, const char *prefix)
{
    struct process *process = service->process;
    struct process_run *run = process->run;
    const struct service *owner = service->run->hosted ? service : NULL;

    vec_foreach (&run->registries, registry) {
        if (registry->owner == owner && strcmp(registry->prefix, prefix) == 0)
            return registry->metrics;
    }
    vec_push(&run->registries, (struct process_registry){xstrdup(prefix), owner, metrics_new(prefix)});
    struct metrics *metrics = run->registries.items[run->registries.len - 1].metrics;
    if (owner)
        metrics_set_label(metrics, "app", hosted_name(service->run->hosted));
    if (run->registries.len == 1) {
        set(metrics_foreign(metrics, "process_start_time_seconds",
                            "Start time of the process since unix epoch in seconds.", false),
            NULL, (double)nsec_now_wall() / (double)NSEC_PER_SEC);
        metrics_on_collect(metrics, collect_process, process);
    }
    return metrics;
}

void process_forget_metrics(struct process *process, const struct service *service)
{
    struct process_registries *registries = &process->run->registries;

    for (uint32_t i = registries->len; i > 0; i--) {
        struct process_registry *registry = &registries->items[i - 1];

        if (registry->owner != service)
            continue;
        metrics_free(registry->metrics);
        free(registry->prefix);
        vec_remove_at(registries, i - 1);
    }
}

void process_metrics_render(struct process *process, struct strbuf *text)
{
    const struct process_registries *registries = &process->run->registries;
    struct metrics **all = xcalloc(MAX(registries->len, 1U), sizeof *all);

    for (uint32_t i = 0; i < registries->len; i++)
        all[i] = registries->items[i].metrics;
    metrics_render_all(all, registries->len, text);
    free(all);
}

/* Services that share a registry are told apart by their name. */
static void collect_service(void *arg, struct metrics *metrics)
{
    const struct service *service = arg;
    const char *const *label = METER_LABELS("service");
    const char *name = service->kind->name;

    struct recorder_counts events = recorder_counts(service->recorder);

    /* Those of a client that all share are counted once. */
    if (!service->process->run->client || service == service->process->run->services.items[0]) {
        set(metrics_gauge(metrics, "kube_requests_in_flight", "Requests to the API server in progress.", label), name,
            (double)kube_client_in_flight(service->client));
        set(metrics_gauge(metrics, "kube_requests_waiting", "Requests to the API server that wait for the rate limit.",
                          label),
            name, (double)kube_client_waiting(service->client));
    }
    set(metrics_counter(metrics, "events_written_total", "Events that were written.", label), name,
        (double)events.written);
    set(metrics_counter(metrics, "events_failed_total", "Events that could not be written.", label), name,
        (double)events.failed);
    set(metrics_gauge(metrics, "leader", "1 while this process is the leader.", label), name,
        service_is_leading(service) ? 1 : 0);
}

void service_metrics_add(struct service *service)
{
    if (!service->kind->has_api)
        return;
    service->run->problems = metrics_counter(service->metrics, "follow_problems_total",
                                             "Restarts of the list and watch of a kind.", METER_LABELS("kind"));
    metrics_on_collect(service->metrics, collect_service, service);
}
