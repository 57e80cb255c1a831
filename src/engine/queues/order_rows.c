/* SPDX-License-Identifier: Apache-2.0 */

/* The tables of orders, of gangs and of queues, under the names of KAI's plugins. */
#include "engine/queues/order_rows.h"

#include "base/macros.h"
#include "engine/context.h"
#include "model/gang.h"

static uint64_t higher_priority(const struct gang *gang, enum elastic_state elastic)
{
    (void)elastic;
    return (uint64_t)((int64_t)INT32_MAX - gang->priority);
}

static uint64_t less_complete(const struct gang *gang, enum elastic_state elastic)
{
    (void)gang;
    return elastic;
}

static const struct gang_order gang_rows[] = {
    {.name = "priority", .plugin = PLUGIN_PRIORITY, .bits = 32, .value = higher_priority},
    {.name = "elastic", .plugin = PLUGIN_ELASTIC, .bits = 2, .by_completeness = true, .value = less_complete},
};
const struct gang_order_table standard_gang_orders = {gang_rows, ARRAY_LEN(gang_rows)};

uint64_t gang_order_rank(const struct engine *engine, const struct gang *gang, enum elastic_state elastic)
{
    uint64_t rank = 0;

    for (uint32_t i = 0; i < engine->gang_orders.count; i++) {
        const struct gang_order *row = &engine->gang_orders.rows[i];
        rank <<= row->bits;
        if (engine_has(engine, row->plugin))
            rank |= row->value(gang, elastic);
    }
    return rank;
}

bool gang_order_by_completeness(const struct engine *engine)
{
    for (uint32_t i = 0; i < engine->gang_orders.count; i++) {
        if (engine->gang_orders.rows[i].by_completeness)
            return engine_has(engine, engine->gang_orders.rows[i].plugin);
    }
    return false;
}

/* First by what a queue is: over-utilised last, starved first, by priority, and last if it would break a share of 0. */
static uint64_t standing(const struct engine *engine, const struct queue_figures *figures)
{
    uint64_t priority = (uint64_t)((int64_t)INT32_MAX - figures->priority);

    (void)engine;
    return (uint64_t)figures->is_over_utilised << 34 | (uint64_t)!figures->is_starved << 33 | priority << 1 |
           (uint64_t)figures->violates_zero_share;
}

/* Then by the part of its share that it would hold, and that it holds. */
static void saturation(const struct engine *engine, const struct queue_figures *figures, double *ret)
{
    (void)engine;
    ret[0] = figures->loaded_share;
    ret[1] = figures->plain_share;
}

static const struct queue_order queue_rows[] = {
    {
        .name = "proportion",
        .plugin = PLUGIN_PROPORTION,
        .bits = 35,
        .whole = standing,
        .fraction_count = 2,
        .fractions = saturation,
        .is_monotone = true,
    },
};
const struct queue_order_table standard_queue_orders = {queue_rows, ARRAY_LEN(queue_rows)};

bool orders_are_plain(const struct engine *engine)
{
    bool is_completeness_seen = false;

    for (uint32_t i = 0; i < engine->queue_orders.count; i++) {
        const struct queue_order *row = &engine->queue_orders.rows[i];
        if (engine_has(engine, row->plugin) && !row->is_monotone)
            return false;
    }
    for (uint32_t i = 0; i < engine->gang_orders.count; i++) {
        const struct gang_order *row = &engine->gang_orders.rows[i];
        if (!engine_has(engine, row->plugin))
            continue;
        if (is_completeness_seen)
            return false;
        is_completeness_seen = row->by_completeness;
    }
    return true;
}
