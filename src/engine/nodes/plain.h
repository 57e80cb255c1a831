/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

struct constraints;
struct engine;
struct node;
struct request;

typedef bool plain_node_fn(const struct node *node);

/*
 * What rehearsals of eviction plans (engine/victims/rehearsal.h) may do about a row of a table: a filter, a score, an order
 * of GPUs. They treat *plain* pods on *plain* nodes, those for which every row is one of these:
 *
 *   rehearsed   the rehearsal does the same itself, and so needs the row to be on, with its settings as it knows them
 *   plain       its answer is the same for all such nodes (`node`), or for such a pod on all of them (`pod`)
 *   idle        off, or not applying to the pod
 *
 * A row that leaves this empty is safe: pods that it applies to are left to the simulation.
 */
struct plain_rule {
    bool is_rehearsed;
    bool (*settings)(const struct engine *engine);  // NULL: any
    plain_node_fn *node;
    bool (*pod)(const struct engine *engine, const struct request *request, const struct constraints *constraints);
};

/* All rehearsed rows are on, with settings that the rehearsal knows. */
bool rows_are_plain(const struct engine *engine);

/* What nodes have to be like for no row to tell them from others. False: too many rules. */
enum { PLAIN_NODE_RULES_MAX = 16 };
bool rows_node_rules(const struct engine *engine, plain_node_fn *ret_rules[PLAIN_NODE_RULES_MAX], uint32_t *ret_count);

/* The same answers for all pods with this request and these constraints; and what is the pod's own. */
bool rows_class_is_plain(const struct engine *engine, const struct request *request,
                         const struct constraints *constraints);
bool rows_pod_is_plain(const struct engine *engine, pod_id pod);
