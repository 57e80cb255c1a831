/* SPDX-License-Identifier: Apache-2.0 */

/* Random gangs and pods. The pods of one gang are mostly alike. */
#include "base/macros.h"
#include "world_make.h"
#include "world_tables.h"

uint8_t draw_request(const struct world *world, struct chance *chance)
{
    uint32_t total = 0;

    for (uint32_t i = 0; i < request_shape_count; i++)
        if ((request_shapes[i].theme & ~world->theme) == 0)
            total += request_shapes[i].weight;
    uint32_t left = draw(chance, total);
    for (uint32_t i = 0; i < request_shape_count; i++) {
        if (request_shapes[i].theme & ~world->theme)
            continue;
        if (left < request_shapes[i].weight)
            return (uint8_t)i;
        left -= request_shapes[i].weight;
    }
    return 0;
}

static bool is_rule_on_pods(uint32_t rule)
{
    return (rule >= RULE_APART_BY_HOST && rule <= RULE_PREFERS_PODS) || rule == RULE_SPREAD_HARD ||
           rule == RULE_SPREAD_SOFT;
}

static uint8_t draw_rule(const struct world *world, struct chance *chance)
{
    uint32_t rule = draw(chance, 6) ? RULE_NO : draw(chance, _RULE_MAX);

    return world->theme & (is_rule_on_pods(rule) ? THEME_PODS : THEME_RULES) ? (uint8_t)rule : RULE_NO;
}

/* Claims that the pod asks for: those of the pod it is like, when they are shared, or new ones. */
static void make_claims(struct world *world, struct chance *chance, uint32_t pod_index, uint32_t like,
                        struct world_changes *changes)
{
    struct world_pod *pod = &world->pods[pod_index];
    bool is_shared = one_in(chance, 4);
    uint32_t wanted = draw(chance, 3) ? 0 : draw_from(chance, 1, WORLD_POD_CLAIMS);

    if (!(world->theme & THEME_CLAIMS))
        return;
    if (like != NOWHERE && world->pods[like].is_claim_shared) {
        pod->is_claim_shared = true;
        pod->claim_count = world->pods[like].claim_count;
        for (uint32_t c = 0; c < pod->claim_count; c++)
            pod->claims[c] = world->pods[like].claims[c];
        return;
    }
    for (uint32_t c = 0; c < wanted; c++) {
        uint32_t slot = world_free_slot(world, KIND_CLAIM, pod_index);
        if (slot == NOWHERE)
            return;
        world->claims[slot] = (struct world_claim){
            .is_present = true,
            .class = one_in(chance, 4),
            .queue = is_shared && pod->gang != NOWHERE ? world->gangs[pod->gang].queue : NOWHERE,
            .count = (uint8_t)draw_from(chance, 1, 2),
            .is_synthetic = one_in(chance, 10) && !is_shared,
        };
        pod->is_claim_shared = is_shared;
        pod->claims[pod->claim_count++] = (uint8_t)slot;
        changes_mark(changes, KIND_CLAIM, slot);
    }
}

static void make_like(const struct world *world, struct chance *chance, struct world_pod *pod, uint32_t like)
{
    bool is_other = one_in(chance, 6);

    pod->request = draw_request(world, chance);
    if (draw(chance, 5))
        pod->request = world->usual_requests[draw(chance, ARRAY_LEN(world->usual_requests))];
    pod->rules[0] = draw_rule(world, chance);
    pod->rules[1] = draw_rule(world, chance);
    pod->app = (uint8_t)draw(chance, 4);
    if (like == NOWHERE || is_other)
        return;
    pod->request = world->pods[like].request;
    pod->rules[0] = world->pods[like].rules[0];
    pod->rules[1] = world->pods[like].rules[1];
    pod->app = world->pods[like].app;
}

static struct world_pod draw_pod(struct world *world, struct chance *chance)
{
    return (struct world_pod){
        .is_present = true,
        .gang = NOWHERE,
        .status = POD_PENDING,
        .node = NOWHERE,
        .nominated = one_in(chance, 12) ? (uint8_t)draw(chance, WORLD_NODES) : NOWHERE,
        .roles = one_in(chance, 8) ? (uint8_t)draw(chance, 4) : 0,
        .has_uid = one_in(chance, 3),
        .has_task_priority = one_in(chance, 8),
        .task_priority = (int32_t)draw(chance, 3),
        .created = world->now - (nsec_t)draw(chance, 5) * NSEC_PER_SEC,
    };
}

uint32_t make_pod(struct world *world, struct chance *chance, uint32_t gang, uint32_t set, uint32_t like,
                  struct world_changes *changes)
{
    uint32_t i = world_free_slot(world, KIND_POD, gang);
    struct world_pod pod = draw_pod(world, chance);
    bool is_gated = one_in(chance, 20);

    if (i == NOWHERE || world_is_banned(world, KIND_POD, world->pods_made++))
        return NOWHERE;
    pod.gang = (uint8_t)gang;
    pod.set = (uint8_t)set;
    make_like(world, chance, &pod, like);
    if (world->theme & THEME_TROUBLES && is_gated)
        pod.status = POD_GATED;
    if (!(world->theme & THEME_TROUBLES))
        pod.nominated = NOWHERE;
    world->pods[i] = pod;
    make_claims(world, chance, i, like, changes);
    changes_mark(changes, KIND_POD, i);
    return i;
}

uint32_t make_bare_pod(struct world *world, struct chance *chance, uint32_t node, struct world_changes *changes)
{
    uint32_t i = world_free_slot(world, KIND_POD, draw(chance, 2));
    struct world_pod pod = draw_pod(world, chance);
    bool is_reservation = one_in(chance, 4);

    if (i == NOWHERE || world_is_banned(world, KIND_POD, world->pods_made++))
        return NOWHERE;
    make_like(world, chance, &pod, NOWHERE);
    pod.status = POD_RUNNING;
    pod.node = (uint8_t)node;
    pod.is_foreign = true;
    pod.is_reservation = is_reservation;
    world->pods[i] = pod;
    changes_mark(changes, KIND_POD, i);
    return i;
}

static nsec_t draw_delay(const struct world *world, struct chance *chance)
{
    nsec_t delay = one_in(chance, 5) ? (nsec_t)draw(chance, 3) * NSEC_PER_MIN : 0;

    return world->theme & THEME_TIMES ? delay : 0;
}

/* Mostly one without queues below it. */
static uint32_t pick_queue(const struct world *world, struct chance *chance)
{
    bool takes_any = one_in(chance, 12);
    uint32_t start = draw(chance, WORLD_QUEUES);

    for (uint32_t n = 0; n < WORLD_QUEUES; n++) {
        uint32_t i = (start + n) % WORLD_QUEUES;
        bool is_leaf = true;
        for (uint32_t q = 0; q < WORLD_QUEUES; q++)
            is_leaf &= !world->queues[q].is_present || world->queues[q].parent != i;
        if (world->queues[i].is_present && (is_leaf || takes_any))
            return i;
    }
    return NOWHERE;
}

void make_gang_fields(struct world *world, struct chance *chance, uint32_t i)
{
    static const int32_t priorities[] = {50, 50, 50, 75, 100, 125};
    struct world_gang *gang = &world->gangs[i];
    uint32_t queue = pick_queue(world, chance);
    bool is_odd = one_in(chance, 4);
    uint32_t place = one_in(chance, 2) ? draw(chance, place_shape_count) : 0;

    gang->queue = (uint8_t)queue;
    gang->priority = priorities[draw(chance, ARRAY_LEN(priorities))];
    gang->is_preemptible = (gang->priority < 100) != is_odd;
    gang->place = world->theme & THEME_PLACES ? (uint8_t)place : 0;
    gang->preemption_delay = draw_delay(world, chance);
    gang->has_grace = one_in(chance, 6) && world->theme & THEME_TIMES;
    gang->grace = (nsec_t)draw(chance, 3) * NSEC_PER_MIN - NSEC_PER_MIN;
}

static void make_mins(struct world *world, struct chance *chance, uint32_t i)
{
    struct world_gang *gang = &world->gangs[i];
    bool is_large = one_in(chance, 3);

    for (uint32_t g = 0; g < tree_shapes[gang->tree].count; g++)
        gang->mins[g] = (uint8_t)(one_in(chance, 6) ? 0 : draw_from(chance, 1, is_large ? 4 : 2));
}

void make_gang(struct world *world, struct chance *chance, uint32_t i, struct world_changes *changes)
{
    struct world_gang *gang = &world->gangs[i];
    uint32_t tree = draw(chance, 3) ? 0 : draw(chance, tree_shape_count);
    uint32_t like = NOWHERE;

    *gang = (struct world_gang){
        .is_present = !world_is_banned(world, KIND_GANG, i),
        .tree = world->theme & THEME_TREES ? (uint8_t)tree : 0,
        .created = world->now - (nsec_t)draw(chance, 5) * NSEC_PER_SEC,
    };
    make_gang_fields(world, chance, i);
    make_mins(world, chance, i);
    changes_mark(changes, KIND_GANG, i);
    for (uint32_t set = 0; gang->is_present && tree_pod_set(gang->tree, set) != NOWHERE; set++) {
        uint32_t min = gang->mins[tree_pod_set(gang->tree, set)];
        uint32_t pods = min + (one_in(chance, 3) ? draw(chance, 4) : 0) - (min > 0 && one_in(chance, 12));

        for (uint32_t n = 0; n < pods; n++) {
            uint32_t pod = make_pod(world, chance, i, set, like, changes);
            like = like == NOWHERE ? pod : like;
        }
    }
}
