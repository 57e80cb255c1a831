/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The cost of an evaluation, counted as it goes on. */

#include "cel/core.h"

/* Adds what a node costs, and puts its value on the stack in place of those that it was computed from. */
void count_node(struct run *run, const struct node *node, struct cel_value value);

/* A value by its id; a run whose cost exceeds the limit is stopped here. stack_drop() takes the last one with this id off, and
 * all above it; false when there is none. */
void stack_push(struct run *run, int64_t id, struct cel_value value);
bool stack_drop(struct run *run, int64_t id, struct cel_value *ret_value);

/* The id under which the value of a plan's attribute is known: that of its last qualifier. */
int64_t attribute_id(const struct attribute *attribute);

/* A call that costs more than is left is not made when the cost is known before: it would take as long as it costs. The run
 * is stopped where false is returned. */
bool is_affordable(struct run *run, const struct node *node, const struct cel_value *args);
