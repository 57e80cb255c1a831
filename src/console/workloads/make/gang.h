/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;
struct sync_item;
struct wants;

/*
 * Distributed trainings whose pods differ: a master with a spec of its own, or the launcher of MPI. There is a Job for each
 * rank, of which rank 0 is the head, and a PodGroup that lets all of them start together or not at all.
 */
enum { GANG_WORKERS_MAX = 256 };

/* Whether the pods of a distributed training differ, by its item. */
bool gang_is_of(yyjson_val *item);

MUST_CHECK int gang_want(const struct sync_item *item, struct wants *wants, struct err *err);

/* The training has ended: the pods that are left go. */
void gang_want_end(yyjson_val *item, struct wants *wants);
