/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "base/time.h"

/* Building the status of a workload. */

/* A count; left out when it is 0, as the server does. */
void status_add_count(yyjson_mut_doc *doc, yyjson_mut_val *status, const char *key, int64_t count);

/* A time, to the second. */
void status_add_time(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, nsec_t time);

/* Members that others than the caller write, or that do not change. */
void status_keep(yyjson_mut_doc *doc, yyjson_mut_val *status, yyjson_val *object, const char *key);

struct status_condition {
    const char *type;
    const char *status;  // "True", "False"
    const char *reason;
    const char *message;
    bool has_probe_time;   // as those of Jobs
    bool has_update_time;  // as those of Deployments
    int64_t generation;    // that it is about, as those of budgets say; 0: does not say
};

/*
 * Sets a condition among `conditions`, an array, where a condition of its type may be already. Its times change with its
 * status, and the update time with its reason or message as well.
 */
void status_set_condition(yyjson_mut_doc *doc, yyjson_mut_val *conditions, const struct status_condition *condition,
                          nsec_t now);

/* The conditions of the object as an array to be changed; status_add_conditions() adds it unless it is empty. */
yyjson_mut_val *status_conditions(yyjson_mut_doc *doc, yyjson_val *object);
void status_add_conditions(yyjson_mut_doc *doc, yyjson_mut_val *status, yyjson_mut_val *conditions);
