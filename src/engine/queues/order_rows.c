/* SPDX-License-Identifier: Apache-2.0 */

/* The tables of orders. KAI's plugins by their names; proportion has several orders of queues, in this sequence. */
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

static double over_utilised_last(const struct engine *engine, const struct queue_figures *figures)
{
    (void)engine;
    return figures->is_over_utilised;
}

static double starved_first(const struct engine *engine, const struct queue_figures *figures)
{
    (void)engine;
    return !figures->is_starved;
}

static double priority_first(const struct engine *engine, const struct queue_figures *figures)
{
    (void)engine;
    return -(double)figures->priority;
}

static double zero_share_last(const struct engine *engine, const struct queue_figures *figures)
{
    (void)engine;
    return figures->violates_zero_share;
}

static double loaded_share(const struct engine *engine, const struct queue_figures *figures)
{
    (void)engine;
    return figures->loaded_share;
}

static double plain_share(const struct engine *engine, const struct queue_figures *figures)
{
    (void)engine;
    return figures->plain_share;
}

static const struct queue_order queue_rows[] = {
    {.name = "over-utilised", .plugin = PLUGIN_PROPORTION, .value = over_utilised_last, .is_monotone = true},
    {.name = "starved", .plugin = PLUGIN_PROPORTION, .value = starved_first, .is_monotone = true},
    {.name = "priority", .plugin = PLUGIN_PROPORTION, .value = priority_first, .is_monotone = true},
    {.name = "zero-share", .plugin = PLUGIN_PROPORTION, .value = zero_share_last, .is_monotone = true},
    {.name = "loaded-share", .plugin = PLUGIN_PROPORTION, .value = loaded_share, .is_monotone = true},
    {.name = "plain-share", .plugin = PLUGIN_PROPORTION, .value = plain_share, .is_monotone = true},
};
_Static_assert(ARRAY_LEN(queue_rows) <= QUEUE_ORDERS_MAX, "a rank has room for every row");
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
