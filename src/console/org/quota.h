/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"
#include "text/json.h"

struct err;
struct pool_list;

/*
 * Quotas of departments and projects: one row for each node pool, with what is deserved, the limit and the weight over quota of
 * GPUs, CPUs and memory. null and absent are unlimited, for GPUs 0.
 */

/*
 * Reads rows from a request and gives them in their full form, for each pool at most one. `before` has the rows that are kept
 * where the request has none, and the values of members that are missing; NULL: those of a new row. There is always one of the
 * default pool. -EINVAL for what is wrong, -ENOSYS for what is not supported.
 */
MUST_CHECK int quota_read(const struct json_at *rows, const struct pool_list *pools, yyjson_mut_doc *doc,
                          yyjson_mut_val *before, yyjson_mut_val **ret_rows, struct err *err);

/* A row for each pool: pools that the rows leave out have no GPUs of their own and everything else without a limit. */
yyjson_mut_val *quota_complete(yyjson_mut_doc *doc, yyjson_mut_val *rows, const struct pool_list *pools);

/* {"gpuQuota": ...}: sums over all rows. */
yyjson_mut_val *quota_totals(yyjson_mut_doc *doc, yyjson_mut_val *rows);

/* The member `resources` of the Queue of a row. */
yyjson_mut_val *quota_queue(yyjson_mut_doc *doc, yyjson_mut_val *row);
