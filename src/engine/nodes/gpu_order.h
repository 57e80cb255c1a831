/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/config.h"

/*
 * Which GPU of a node a pod shares: points for a GPU by the part of its memory that is used, added up over the rows of
 * one table (gpu_pick.c) that are on; most points first. A new order is one function and one row.
 */
struct gpu_order {
    const char *name;
    enum plugin plugin;
    double (*shared)(double filled);  // a GPU that others share, `filled` from 0 to 1
    double whole;                     // one that is opened for sharing
    bool is_rehearsed;                // rehearsals do the same: see plain.h
};

extern const struct gpu_order_table standard_gpu_orders;
