/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct server;
struct store_object;

/* Why a PodDisruptionBudget refuses an eviction. */
struct budget_refusal {
    char budget[256];  // its name
    int64_t needed;    // healthy pods
    int64_t healthy;
};

/*
 * Whether a PodDisruptionBudget that selects the pod allows no more disruptions. Pods are counted at the moment of the
 * request, with evictions that are still being written, so that two of them never share one allowance.
 */
bool budget_refuses(const struct server *server, const struct store_object *pod, struct budget_refusal *ret_refusal);
