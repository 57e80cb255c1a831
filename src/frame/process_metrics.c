/* SPDX-License-Identifier: Apache-2.0 */

/* Figures of the process, under the names that every exporter uses, and of its requests to the API server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "frame/service_internal.h"

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

static void set(struct meter *meter, double value)
{
    meter_set(meter_series(meter, NULL), value);
}

static void collect(void *arg, struct metrics *metrics)
{
    const struct service *service = arg;
    struct recorder_counts events = recorder_counts(service->recorder);

    set(metrics_foreign(metrics, "process_resident_memory_bytes", "Resident memory size in bytes.", false),
        resident_bytes());
    set(metrics_foreign(metrics, "process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", true),
        (double)nsec_now_cpu() / (double)NSEC_PER_SEC);
    set(metrics_gauge(metrics, "kube_requests_in_flight", "Requests to the API server that are under way.", NULL),
        (double)kube_client_in_flight(service->client));
    set(metrics_gauge(metrics, "kube_requests_waiting", "Requests to the API server that wait for their turn.", NULL),
        (double)kube_client_waiting(service->client));
    set(metrics_counter(metrics, "events_written_total", "Events that were written.", NULL), (double)events.written);
    set(metrics_counter(metrics, "events_failed_total", "Events that could not be written.", NULL),
        (double)events.failed);
    set(metrics_counter(metrics, "log_lines_left_out_total", "Lines that came too often to be logged.", NULL),
        (double)log_left_out(service->log));
    set(metrics_gauge(metrics, "leader", "1 while this process acts.", NULL), service_is_leading(service) ? 1 : 0);
}

void process_metrics_add(struct service *service)
{
    struct meter *start = metrics_foreign(service->metrics, "process_start_time_seconds",
                                          "Start time of the process since unix epoch in seconds.", false);

    set(start, (double)nsec_now_wall() / (double)NSEC_PER_SEC);
    metrics_on_collect(service->metrics, collect, service);
}
