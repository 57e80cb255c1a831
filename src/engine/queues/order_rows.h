/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/config.h"
#include "engine/gangs/view.h"
#include "model/ids.h"

struct engine;
struct gang;

/*
 * Which gang of a queue is next: rows of one table (order_rows.c), the most important first. A new order is one function
 * and one row. Where all rows that are on say the same, the older gang is first.
 *
 * The values of all rows are put side by side into one number of 64 bits, so that gangs are compared by one look.
 */
struct gang_order {
    const char *name;
    enum plugin plugin;
    uint32_t bits;         // that its values take
    bool by_completeness;  // by how complete eviction left the gang; at most one row is
    uint64_t (*value)(const struct gang *gang, enum elastic_state elastic);  // the smaller, the earlier
};

extern const struct gang_order_table standard_gang_orders;

uint64_t gang_order_rank(const struct engine *engine, const struct gang *gang, enum elastic_state elastic);

/* The row that goes by completeness is on. */
bool gang_order_by_completeness(const struct engine *engine);

/* What orders of queues go by: the queue, with what its best gang asks for or without what its victims held. */
struct queue_figures {
    queue_id queue;
    int32_t priority;
    bool is_over_utilised;     // holds more than its fair share of everything
    bool is_starved;           // stays within what it deserves
    bool violates_zero_share;  // would hold what it has no share of
    double loaded_share;       // the part of its share that it would hold then
    double plain_share;        // the part that it holds now
};

/*
 * Which queue is next: likewise. Where all rows say the same, what is allocatable and age decide. Without shares
 * (plugin proportion) queues go by age alone.
 *
 * Queues are compared very often. The whole numbers of all rows are put side by side into one number, as those of gangs
 * are; where that is equal, the fractions of all rows decide one by one. So a row with whole numbers must not stand
 * behind one with fractions.
 */
enum { QUEUE_FRACTIONS_MAX = 4 };

struct queue_order {
    const char *name;
    enum plugin plugin;
    uint32_t bits;  // that values of `whole` take; 0: there are none
    uint64_t (*whole)(const struct engine *engine, const struct queue_figures *figures);  // the smaller, the earlier
    uint32_t fraction_count;
    void (*fractions)(const struct engine *engine, const struct queue_figures *figures, double *ret);
    bool is_monotone;  // a queue that holds less never comes later by it: rehearsals rest on that
};

extern const struct queue_order_table standard_queue_orders;

/*
 * Rehearsals can tell the order of turns (engine/victims/search_rehearsal.c): queues' orders are monotone, and a gang's
 * completeness, if it counts, counts last.
 */
bool orders_are_plain(const struct engine *engine);
