/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

struct access;
struct console;
struct err;

/*
 * Whose things of the cluster are: a namespace belongs to a project, and a queue to a project or a department. Who may read the
 * one may see the other. Read from the database when the organisation has changed.
 */
struct units;

struct units *units_new(struct console *console);
void units_free(struct units *units);

/* Reads them again if need be. */
MUST_CHECK int units_refresh(struct units *units, struct err *err);

/* Whether a workload, by its namespace or else its queue, may be seen; and whether a queue may. What belongs to nobody may be
 * seen by whoever sees everything. */
bool units_show_work(const struct units *units, const struct access *access, const char *namespace, const char *queue);
bool units_show_queue(const struct units *units, const struct access *access, const char *queue);

/* Whether all workloads, or all queues, may be seen: nothing has to be looked at then. */
bool units_show_all_work(const struct access *access);
bool units_show_all_queues(const struct access *access);
