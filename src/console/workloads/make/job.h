/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;
struct sync_item;
struct wants;

/* One Job of a workload. */
struct job_ask {
    yyjson_val *item;  // what its pods are made from; the workload's own, or like it
    const char *name;
    int64_t count;  // of pods, where the spec does not say how many
};

/* Wants the Job; `ret_job` is its document, which the caller may add to. Of a Job that is there, labels, `suspend` and `parallelism`
 * alone are changed. */
MUST_CHECK int job_want(const struct sync_item *item, const struct job_ask *ask, struct wants *wants,
                        yyjson_mut_doc **ret_doc, struct err *err);
