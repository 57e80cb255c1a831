/* SPDX-License-Identifier: Apache-2.0 */

/*
 * KAI's MultiNodeGang: the victims so far, node by node. Nodes with victims are taken from the one with the least capacity
 * on, first as few as could hold what is asked for beside the nodes without victims, then 1, 2, 4, ... more, then all.
 * A batch with a pod on a taken node is chosen whole.
 */
#include <math.h>

#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/nodes/gpu_room.h"
#include "engine/victims/accumulate.h"
#include "engine/victims/eviction_plan.h"
#include "engine/victims/generators.h"
#include "engine/victims/marks.h"
#include "engine/victims/record.h"
#include "engine/victims/refute.h"
#include "engine/victims/search_internal.h"

struct demand {
    double all;
    double smallest;
};

static struct demand find_demand(const struct search *s)
{
    struct demand demand = {0, INFINITY};

    for (uint32_t i = 0; i < s->view->chunk_count; i++) {
        double gpus = gpu_to_double(state_request(s->engine->state, s->view->chunk[i])->quota_gpus);
        demand.all += gpus;
        demand.smallest = MIN(demand.smallest, gpus);
    }
    return demand;
}

static double base_of(struct search *s, node_id node)
{
    return s->engine->room->nodes.items[node].free + node_tally(s, node)->recorded;
}

static double capacity_of(struct search *s, node_id node)
{
    return base_of(s, node) + node_tally(s, node)->potential;
}

static int64_t base_hundredths(struct search *s, node_id node)
{
    return s->engine->room->nodes.items[node].hundredths + llround(node_tally(s, node)->recorded * 100);
}

static bool is_feasible(const struct search *s, node_id node)
{
    if (!s->engine->state->nodes.items[node].is_present)
        return false;
    return s->feasible.is_all || s->engine->room->nodes.items[node].has_room ||
           s->marks->nodes[node].recorded_in == s->record->round;
}

/* GPUs on feasible nodes without potential victims. In integers: KAI adds them in no order. */
static double baseline(struct search *s)
{
    const struct gpu_room *room = s->engine->room;

    if (s->feasible_hundredths < 0) {
        s->feasible_hundredths = 0;
        for (uint32_t i = 0; i < s->feasible.count; i++)
            s->feasible_hundredths += room->nodes.items[s->feasible.ids[i]].hundredths;
    }
    int64_t sum = s->feasible_hundredths;
    vec_foreach (&s->record->nodes, node) {
        bool is_counted = s->feasible.is_all || room->nodes.items[*node].has_room;
        if (is_feasible(s, *node))
            sum += base_hundredths(s, *node) - (is_counted ? room->nodes.items[*node].hundredths : 0);
    }
    /* Members of recorded groups that stayed are on feasible nodes at most by chance; those count as well. */
    uint32_t number = ++s->number;
    vec_foreach (&s->record->groups, group) {
        for (uint32_t i = 0; i < group->count; i++) {
            node_id node = group->victims[i].node;
            if (s->marks->nodes[node].recorded_in == s->record->round || !is_feasible(s, node) ||
                s->marks->nodes[node].summed_in == number)
                continue;
            s->marks->nodes[node].summed_in = number;
            sum += llround(node_tally(s, node)->recorded * 100);
        }
    }
    vec_foreach (&s->accumulation->nodes, node) {
        if (is_feasible(s, *node))
            sum -= base_hundredths(s, *node);
    }
    return (double)sum / 100;
}

/* Brings the list of nodes up to date: nearly sorted from the state before, with the new ones at its end. */
static void sort_nodes(struct search *s)
{
    while (s->accumulation->by_capacity.len < s->accumulation->nodes.len)
        vec_push(&s->accumulation->by_capacity, s->accumulation->nodes.items[s->accumulation->by_capacity.len]);
    for (uint32_t i = 1; i < s->accumulation->by_capacity.len; i++) {
        node_id node = s->accumulation->by_capacity.items[i];
        double capacity = capacity_of(s, node);
        uint32_t at = i;
        for (; at > 0; at--) {
            node_id before = s->accumulation->by_capacity.items[at - 1];
            double other = capacity_of(s, before);
            if (other < capacity ||
                (other == capacity && s->marks->nodes[before].appearance < s->marks->nodes[node].appearance))
                break;
            s->accumulation->by_capacity.items[at] = before;
        }
        s->accumulation->by_capacity.items[at] = node;
    }
}

static bool is_on_chosen(const struct search *s, const struct victim_group *group, uint32_t number)
{
    for (uint32_t i = 0; i < group->count; i++) {
        if (s->marks->nodes[group->victims[i].node].chosen_in == number)
            return true;
    }
    return false;
}

static bool try_nodes(struct search *s, const node_id *nodes, uint32_t count)
{
    uint32_t number = ++s->number;

    for (uint32_t i = 0; i < count; i++)
        s->marks->nodes[nodes[i]].chosen_in = number;
    plan_begin(s);
    for (uint32_t g = s->record->groups.len; g < s->accumulation->groups.len && count > 0; g++) {
        if (is_on_chosen(s, &s->accumulation->groups.items[g], number))
            plan_add(s, &s->accumulation->groups.items[g]);
    }
    return plan_try(s);
}

static bool try_state(struct search *s, struct demand demand)
{
    if (!has_potential(s)) {
        plan_begin(s);
        return plan_try(s);
    }
    if (refute_state(s))
        return false;
    sort_nodes(s);
    uint32_t skipped = 0;
    while (demand.smallest > 0 && skipped < s->accumulation->by_capacity.len &&
           capacity_of(s, s->accumulation->by_capacity.items[skipped]) < demand.smallest)
        skipped++;
    const node_id *nodes = s->accumulation->by_capacity.items + skipped;
    uint32_t most = s->accumulation->by_capacity.len - skipped;

    double need = demand.all - baseline(s);
    double sum = 0;
    uint32_t count = 0;
    while (count < most && sum < need)
        sum += capacity_of(s, nodes[count++]);
    if (sum < need)
        return false;
    for (uint32_t step = 1;; step *= 2) {
        if (search_must_stop(s))
            return false;
        if (try_nodes(s, nodes, count))
            return true;
        if (count == most)
            return false;
        count = step < most - count ? count + step : most;
    }
}

bool generator_gang(struct search *s)
{
    struct demand demand = find_demand(s);

    while (!search_must_stop(s) && accumulate_next(s)) {
        if (try_state(s, demand))
            return true;
    }
    return false;
}
