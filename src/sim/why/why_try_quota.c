/* SPDX-License-Identifier: Apache-2.0 */

/*
 * More quota: first every quota and limit on the way from the workload's queue to the root is raised as far as could ever
 * matter. If the workload runs then, each is put back if it can be, and else lowered to the least that will do.
 */
#include <math.h>

#include "model/state.h"
#include "sim/why/why_internal.h"

enum { CHANGES_MAX = 64 };

struct raise {
    struct queue_change change;
    double from;
    double step;
    int64_t steps;  // above `from`
    int64_t most;   // steps that go beyond all that the cluster has
};

struct raises {
    struct why *why;
    struct raise items[CHANGES_MAX];
    uint32_t count;
    struct queue_change changes[CHANGES_MAX];  // of those that are raised
};

static double step_of(const struct why *why, int resource)
{
    const struct gang *gang = &why->state->gangs.items[why->gang];
    bool is_whole = true;

    if (resource == SHARE_CPU)
        return 1000;
    if (resource == SHARE_MEMORY)
        return 1e9;
    for (uint32_t g = 0; g < gang->group_count; g++) {
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++)
            is_whole &= !request_is_shared(state_request(why->state, gang->groups[g].pods.items[i]));
    }
    return is_whole ? 1 : 0.1;
}

static void add_raise(struct raises *raises, queue_id queue, int resource, bool is_limit)
{
    const struct why *why = raises->why;
    const struct queue *q = &why->state->queues.items[queue];
    double from = (is_limit ? q->limit : q->deserved)[resource];
    double step = step_of(why, resource);
    double enough = share_to_double(resource, why->state->total.v[resource]) +
                    share_to_double(resource, q->allocated.v[resource]) + why->explanation.asked[resource];

    if (from == UNLIMITED || from >= enough || raises->count == CHANGES_MAX)
        return;
    raises->items[raises->count++] = (struct raise){
        .change = {queue, resource, is_limit, from},
        .from = from,
        .step = step,
        .most = (int64_t)ceil((enough - from) / step),
    };
}

static void list_raises(struct raises *raises)
{
    const struct why *why = raises->why;
    const struct state *state = why->state;

    for (queue_id q = state->gangs.items[why->gang].queue; q != NO_ID; q = state->queues.items[q].parent) {
        for (int r = 0; r < SHARE_COUNT; r++) {
            if (why->explanation.asked[r] <= 0)
                continue;
            add_raise(raises, q, r, true);
            add_raise(raises, q, r, false);
        }
    }
    for (uint32_t i = 0; i < raises->count; i++)
        raises->items[i].steps = raises->items[i].most;
}

static double value_of(const struct raise *raise)
{
    return raise->from + (double)raise->steps * raise->step;
}

/* What is raised, as a change. */
static struct retell_change change_of(struct raises *raises)
{
    struct retell_change change = why_change_new(raises->why);

    for (uint32_t i = 0; i < raises->count; i++) {
        if (raises->items[i].steps == 0)
            continue;
        raises->changes[change.queue_count] = raises->items[i].change;
        raises->changes[change.queue_count++].value = value_of(&raises->items[i]);
    }
    change.queues = raises->changes;
    return change;
}

static bool works(struct raises *raises)
{
    struct retell_change change = change_of(raises);

    return why_works(raises->why, &change, raises->why->now);
}

static void lower(struct raises *raises, struct raise *raise)
{
    int64_t good = raise->steps;
    int64_t bad = 0;

    raise->steps = 0;
    if (works(raises))
        return;
    while (good - bad > 1) {
        raise->steps = bad + (good - bad) / 2;
        if (works(raises))
            good = raise->steps;
        else
            bad = raise->steps;
    }
    raise->steps = good;
}

/* One that is raised could be raised less, now that others are lower than when it was looked at. */
static bool is_minimal(struct raises *raises)
{
    for (uint32_t i = 0; i < raises->count; i++) {
        bool is_less_enough;

        if (raises->items[i].steps == 0)
            continue;
        raises->items[i].steps--;
        is_less_enough = works(raises);
        raises->items[i].steps++;
        if (is_less_enough)
            return false;
    }
    return true;
}

static void keep(struct raises *raises)
{
    struct why *why = raises->why;
    struct retell_change change = change_of(raises);
    struct queue_change *changes = arena_alloc(&why->arena, change.queue_count * sizeof *changes);
    struct why_step *steps = arena_alloc(&why->arena, change.queue_count * sizeof *steps);
    uint32_t count = 0;

    for (uint32_t i = 0; i < raises->count; i++) {
        struct raise *raise = &raises->items[i];

        if (raise->steps == 0)
            continue;
        changes[count] = raises->changes[count];
        steps[count].from = raise->from;
        steps[count].to = value_of(raise);
        raise->steps--;
        steps[count++].less = value_of(raise);
        raise->steps++;
    }
    change.queues = changes;
    why_keep(why, (struct why_remedy){.kind = WHY_QUOTA, .change = change, .steps = steps});
}

void why_try_quota(struct why *why)
{
    struct raises raises = {.why = why};

    list_raises(&raises);
    if (raises.count == 0 || !works(&raises))
        return;
    for (uint32_t i = 0; i < raises.count; i++)
        lower(&raises, &raises.items[i]);
    if (is_minimal(&raises))
        keep(&raises);
}
