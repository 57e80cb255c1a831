/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "views/nodes.h"
#include "views/queues.h"

struct table;

/* Tables of queues and nodes, to be printed and freed by the caller. */
void queues_fill(struct table *table, const struct queue_rows *rows, bool is_wide);
void nodes_fill(struct table *table, const struct node_rows *rows, bool is_wide, nsec_t now);
