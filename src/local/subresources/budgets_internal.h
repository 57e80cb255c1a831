/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct server;
struct store_object;

/* The name of a PodDisruptionBudget that selects the pod and allows no more disruptions; NULL: none refuses. Borrowed from
 * the store until the next turn of the loop. */
const char *budget_that_refuses(const struct server *server, const struct store_object *pod);
