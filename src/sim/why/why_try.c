/* SPDX-License-Identifier: Apache-2.0 */

/* Trying remedies on copies, and those that need no search of their own. */
#include <stdlib.h>

#include "engine/engine.h"
#include "model/state.h"
#include "sim/why/why_internal.h"

struct retell_change why_change_new(const struct why *why)
{
    return why->base;
}

bool why_works(struct why *why, const struct retell_change *change, nsec_t now)
{
    const struct gang *gang = &why->state->gangs.items[why->gang];
    struct why_run run;
    bool is_running;

    if (why->tries == WHY_TRIES_MAX)
        return false;
    why->tries++;
    struct state *copy = state_retell(why->state, change);
    why_run(&run, copy, why->config, now);
    is_running = why_gang_runs(
        copy, state_find_gang(copy, state_name(why->state, gang->namespace), state_name(why->state, gang->name)),
        why->more_than);
    why_run_done(&run);
    state_free(copy);
    return is_running;
}

int64_t why_edge(struct why *why, struct retell_change *change, int64_t good, int64_t bad, why_set_fn set,
                 void *context)
{
    while (llabs(good - bad) > 1) {
        int64_t middle = (good + bad) / 2;

        set(change, middle, context);
        if (why_works(why, change, why->now))
            good = middle;
        else
            bad = middle;
    }
    set(change, good, context);
    return good;
}

void why_keep(struct why *why, struct why_remedy remedy)
{
    remedy.with = why->base_remedy;
    if (why->tries < WHY_TRIES_MAX)
        vec_push(&why->remedies, remedy);
}

gang_id why_source_gang(const struct why *why, gang_id settled)
{
    const struct gang *gang = &why->settled->gangs.items[settled];

    return state_find_gang(why->state, state_name(why->settled, gang->namespace), state_name(why->settled, gang->name));
}

static void set_min(struct retell_change *change, int64_t number, void *context)
{
    (void)context;
    change->min = (int32_t)number;
}

/* The pod set whose minimum stands in the way: that of the pod that finds no place, or the one that lacks pods. */
static uint32_t short_set(const struct why *why, const struct gang *gang)
{
    if (why->explanation.pod != NO_ID)
        return why->settled->pods.items[why->explanation.pod].pod_set;
    for (uint32_t g = 0; g < gang->group_count; g++) {
        const struct group *set = &gang->groups[g];
        if (set->is_pod_set && (int64_t)set->alive - set->gated < set->min)
            return g;
    }
    return NO_ID;
}

void why_try_pods(struct why *why)
{
    const struct gang *gang = &why->state->gangs.items[why->gang];
    uint32_t set = short_set(why, gang);
    struct retell_change change = why_change_new(why);

    if (set == NO_ID || gang->groups[set].min <= 1 || why->more_than > 0)
        return;
    int32_t min = gang->groups[set].min;
    change.min_group = set;
    change.min = 1;
    if (!why_works(why, &change, why->now))
        return;
    int64_t found = why_edge(why, &change, 1, min, set_min, NULL);
    why_keep(why, (struct why_remedy){
                      .kind = WHY_PODS,
                      .change = change,
                      .step = {min, (double)found, (double)found + 1},
                  });
}

static bool takes_work(const struct state *state, queue_id id)
{
    const struct queue *queue = &state->queues.items[id];

    return queue->is_present && !queue->is_orphan && queue->children.len == 0;
}

void why_try_queues(struct why *why)
{
    enum { TRIES = 64, NAMED = 5 };
    const struct state *state = why->state;
    uint32_t tried = 0;
    uint32_t named = 0;

    for (queue_id id = 0; id < state->queues.len && tried < TRIES && named < NAMED; id++) {
        struct retell_change change = why_change_new(why);

        if (id == state->gangs.items[why->gang].queue || !takes_work(state, id) || why->base.queue)
            continue;
        tried++;
        change.queue = state_name(state, state->queues.items[id].name);
        if (!why_works(why, &change, why->now))
            continue;
        named++;
        why_keep(why, (struct why_remedy){.kind = WHY_QUEUE, .change = change});
    }
}

static void try_choice(struct why *why, enum why_remedy_kind kind, const struct retell_change *change)
{
    if (why_works(why, change, why->now))
        why_keep(why, (struct why_remedy){.kind = kind, .change = *change});
}

/* From the level below the required one outwards, and at last without any: the first that works is the tightest. */
static void try_levels(struct why *why, uint32_t group)
{
    const struct state *state = why->state;
    const struct topology_constraint *constraint = &state->gangs.items[why->gang].groups[group].topology;
    topology_id id = state_find_topology(state, constraint->topology);
    struct retell_change change = why_change_new(why);
    const char *from = state_name(state, constraint->required);
    const char *less = from;
    uint32_t level = 0;

    change.level_group = group;
    for (uint32_t l = 0; id != NO_ID && l < state->topologies.items[id].level_count; l++) {
        const struct topology *topology = &state->topologies.items[id];
        if (topology->levels[l] == constraint->required || topology->aliases[l] == constraint->required)
            level = l;
    }
    for (;;) {
        change.level = level > 0 ? state_name(state, state->topologies.items[id].levels[level - 1]) : NULL;
        if (why_works(why, &change, why->now)) {
            why_keep(why,
                     (struct why_remedy){.kind = WHY_LEVEL, .change = change, .level_from = from, .level_less = less});
            return;
        }
        if (level == 0)
            return;
        less = change.level;
        level--;
    }
}

static bool has_taints(const struct state *state)
{
    for (uint32_t i = 0; i < state->nodes_by_rank.len; i++) {
        if (state->nodes.items[state->nodes_by_rank.items[i]].taint_count > 0)
            return true;
    }
    return false;
}

void why_try_choices(struct why *why)
{
    const struct state *state = why->state;
    const struct gang *gang = &state->gangs.items[why->gang];
    struct retell_change change = why_change_new(why);
    bool limits_nodes = false;

    for (uint32_t g = 0; g < gang->group_count; g++) {
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++)
            limits_nodes |= constraints_limit_nodes(state_constraints(state, gang->groups[g].pods.items[i]));
    }
    if (!gang->is_preemptible && !change.is_preemptible) {
        change.is_preemptible = true;
        try_choice(why, WHY_PREEMPTIBLE, &change);
        change.is_preemptible = false;
    }
    if (limits_nodes && !change.drops_node_limits) {
        change.drops_node_limits = true;
        try_choice(why, WHY_NODES, &change);
        change.drops_node_limits = false;
    }
    if (has_taints(state) && !change.tolerates_all) {
        change.tolerates_all = true;
        try_choice(why, WHY_TAINTS, &change);
        change.tolerates_all = false;
    }
    for (uint32_t g = 0; g < gang->group_count && why->base.level_group == NO_ID; g++) {
        if (gang->groups[g].topology.topology != 0)
            try_levels(why, g);
    }
}

/* Of the workload's own queue, or of the others; the smallest first: the least that has to go. */
static void try_without(struct why *why, bool is_own_queue)
{
    enum { TRIES = 48, NAMED = 3 };
    const struct explanation *e = &why->explanation;
    queue_id queue = why->settled->gangs.items[why->settled_gang].queue;
    uint32_t tried = 0;
    uint32_t named = 0;

    for (uint32_t i = e->holder_count; i-- > 0 && tried < TRIES && named < NAMED;) {
        struct retell_change change = why_change_new(why);

        if (e->holders[i].gang == NO_ID || (e->holders[i].queue == queue) != is_own_queue || why->base.without != NO_ID)
            continue;
        change.without = why_source_gang(why, e->holders[i].gang);
        if (change.without == NO_ID)
            continue;
        tried++;
        if (!why_works(why, &change, why->now))
            continue;
        named++;
        why_keep(why, (struct why_remedy){.kind = WHY_WITHOUT, .change = change});
    }
}

/* What its own queue holds is most often what it can have. */
void why_try_without(struct why *why)
{
    try_without(why, true);
    try_without(why, false);
}

static int compare_times(const void *a, const void *b)
{
    nsec_t l = *(const nsec_t *)a;
    nsec_t r = *(const nsec_t *)b;

    return l < r ? -1 : l > r;
}

/* Whole seconds until `until`, at least one. */
static int64_t seconds_until(nsec_t now, nsec_t until)
{
    return (until - now + NSEC_PER_SEC - 1) / NSEC_PER_SEC;
}

static void try_until(struct why *why, const nsec_t *times, uint32_t count)
{
    struct retell_change change = why_change_new(why);

    for (uint32_t i = 0; i < count; i++) {
        int64_t seconds = seconds_until(why->now, times[i]);
        nsec_t until = why->now + seconds * NSEC_PER_SEC;

        if ((i > 0 && seconds == seconds_until(why->now, times[i - 1])) || !why_works(why, &change, until))
            continue;
        /* Something else that time brings may have helped earlier; then this is not the moment. */
        if (seconds > 1 && why_works(why, &change, until - NSEC_PER_SEC))
            return;
        why_keep(why, (struct why_remedy){
                          .kind = WHY_WAIT,
                          .change = change,
                          .step = {0, (double)seconds, (double)seconds - 1},
                          .until = until,
                      });
        return;
    }
}

void why_try_waiting(struct why *why)
{
    enum { TIMES_MAX = 32 };
    const struct explanation *e = &why->explanation;
    VEC(nsec_t) times = {0};

    if (e->delay_until > why->now)
        vec_push(&times, e->delay_until);
    for (uint32_t i = 0; i < e->holder_count; i++) {
        if (e->holders[i].protected_until > why->now)
            vec_push(&times, e->holders[i].protected_until);
    }
    if (times.len > 0)
        qsort(times.items, times.len, sizeof *times.items, compare_times);
    try_until(why, times.items, times.len < TIMES_MAX ? times.len : TIMES_MAX);
    vec_done(&times);
}
