/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "views/objects.h"

struct err;

/* Queues with their figures in GPUs; -1 is unlimited. */
struct queue_row {
    const char *name;
    const char *display_name;  // the name where it has none
    const char *parent;        // "" at the top
    uint32_t depth;
    bool is_leaf;  // workloads can be submitted to it
    int64_t priority;
    double quota, limit, weight;
    double fair_share;
    double allocated;
    double borrowed;  // beyond its quota
    double lent;      // of its quota, to siblings that borrow
    double pending;   // that waiting pods ask for
};

struct queue_rows VEC_OF(struct queue_row);

/*
 * All queues, each under its parent, siblings by name. Fair shares are those that the scheduler computes from the same
 * objects at the time `now`, without past usage. Returns 0, or -EINVAL when the objects do not make a cluster.
 */
MUST_CHECK int queue_rows_make(const struct view_objects *objects, nsec_t now, struct arena *arena,
                               struct queue_rows *ret, struct err *err);

/* The row as JSON; everything is copied into `doc`. */
yyjson_mut_val *queue_row_encode(const struct queue_row *row, yyjson_mut_doc *doc);

/* "4", "0.5", "unlimited". Returns `text`. */
enum { GPUS_TEXT_MAX = 32 };
const char *gpus_format(double gpus, char text[static GPUS_TEXT_MAX]);
