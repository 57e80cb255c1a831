/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/work/find.h"
#include "views/objects.h"

/* Adds the pods of the workload. */
void workload_pods(const struct workload_set *set, const struct workload_row *row, struct view_list *ret);
