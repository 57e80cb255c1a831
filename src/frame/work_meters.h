/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

struct meter_series;
struct service;

/*
 * Figures of a queue of work under the names that every Kubernetes controller has them: workqueue_* and
 * controller_runtime_*, with the name of the controller as a label. Dashboards and alerts look for these.
 */
struct work_meters {
    struct meter_series *depth, *adds, *retries, *unfinished, *longest, *wait_seconds, *work_seconds;
    struct meter_series *succeeded, *failed, *errors, *active, *workers, *reconcile_seconds;
};

void work_meters_init(struct work_meters *meters, const struct service *service, const char *controller,
                      uint32_t workers);

/* Something was put into the queue; is taken up, after it has waited; is over, after it was worked on. */
void work_meters_added(struct work_meters *meters);
void work_meters_started(struct work_meters *meters, nsec_t waited);
void work_meters_ended(struct work_meters *meters, nsec_t worked, bool is_good);

/* Before each rendering: what waits and what is under way. */
void work_meters_show(struct work_meters *meters, uint64_t depth, uint64_t active, nsec_t unfinished, nsec_t longest);
