/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"
#include "console/workloads/phase.h"

struct console;
struct err;

/*
 * Follows the Jobs, Deployments and pods of workloads, and writes the phase of a workload into its item when it changes. An
 * object that is deleted or changed by somebody is compared with its item again.
 */
struct workload_watch;

struct workload_watch *workload_watch_new(struct console *console);
void workload_watch_free(struct workload_watch *watch);

/* What the cluster has of a workload. All zeros when it has nothing. */
struct workload_facts workload_facts(const struct workload_watch *watch, const char *id);

/* Why its pods wait, as the scheduler says; "": they do not, or it has not said so. Borrowed until the next event. */
const char *workload_wait_reason(const struct workload_watch *watch, const char *id);

/* The conditions of its object, as an array; NULL: there are none. Borrowed until the next event. */
yyjson_val *workload_conditions(const struct workload_watch *watch, const char *id);

/* Calls `fn` with each pod of a workload, as the REST shows it. */
typedef void (*workload_pod_fn)(void *arg, yyjson_val *pod);
void workload_each_pod(const struct workload_watch *watch, const char *id, workload_pod_fn fn, void *arg);

/* Writes the phase that follows from the item and the cluster; `problem` is why the cluster does not follow, "": it does,
 * NULL: as it was. */
MUST_CHECK int workload_note(struct console *console, const char *id, const char *problem, struct err *err);
