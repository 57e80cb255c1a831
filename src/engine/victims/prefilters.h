/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/victims/top_list.h"
#include "model/ids.h"

struct gang;
struct search;
struct victim;

/* A level of a topology at which groups of the gang have to be together; domains are told apart by label value alone. */
struct domain_level {
    name_id topology;
    name_id key;
    uint32_t *domain_of;  // by node id, NO_ID where the label is missing
    double *free;         // by domain: idle and releasing GPUs
    uint32_t domain_count;
    uint32_t *groups;  // of the gang that have to be together at this level
    double *running;   // GPUs that each has already
    uint32_t group_count;
};

/* Of the search: the levels, and the nodes with most room. Of the probe: the rest. */
struct prefilters {
    struct domain_level *levels;  // at which groups of the gang have to be together
    uint32_t level_count;
    struct top_list roomiest;  // feasible nodes; made when first needed

    constraints_id *picky;  // of pods that may go only to some nodes and have met none of them
    uint32_t picky_count;
    struct domain_filter *domains;  // by level
    const double *demands;          // GPUs of each pod, largest first; up to the first 0
    uint32_t demand_count;
    struct top_list best;
    bool is_monotone;  // more pods never pass where fewer did not
};

struct prefilters *prefilters_new(void);
void prefilters_free(struct prefilters *filters);

/* A search begins, with its gang and its feasible nodes known. */
void prefilters_begin_search(struct search *search);

/* A probe of `count` pods begins. */
void prefilters_begin(struct search *search, uint32_t count);

/* A victim came; `capacity` is what its node has now, free or of victims. */
void prefilters_victim(struct search *search, const struct victim *victim, double capacity);

/* May the victims so far be enough? */
bool prefilters_pass(struct search *search);

/* Is the group below the other one, or is it that one? */
bool group_is_below(const struct gang *gang, uint32_t group, uint32_t above);
