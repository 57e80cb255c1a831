/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"
#include "base/time.h"

struct board;
struct err;
struct strbuf;
struct view_objects;

/*
 * Makes all rows of the page anew. Returns 0; or -EINVAL with the reason when no figures of queues could be computed from
 * these objects: everything else is up to date then, and the queues are as they were.
 */
MUST_CHECK int picture_rows_make(struct board *board, const struct view_objects *objects, nsec_t now, struct err *err);

/* The name of a workload's row, "namespace/kind/name": two kinds may have objects of one name. */
enum { WORKLOAD_ID_MAX = 1024 };
void workload_id_add(struct strbuf *out, const char *namespace, const char *kind, const char *name);
