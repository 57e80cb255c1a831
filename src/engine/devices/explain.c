/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Why a claim cannot have devices on a node: the first request that cannot be met alone, or what keeps its requests from
 * being met together.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cel/device.h"
#include "engine/devices/allocate_internal.h"

/* Many nodes may be explained, each by several searches. */
enum { PARTS_MAX = 16, STEPS_MAX = 5000 };

static uint32_t count_meeting(struct allocator *allocator, const struct cel_program *program)
{
    uint32_t met = 0;

    vec_foreach (&allocator->view.slices, id) {
        const struct slice *slice = &allocator->state->slices.items[*id];

        for (uint32_t d = 0; d < slice->device_count; d++)
            met += selector_evaluate(program, allocator->state, slice, d) == ANSWER_YES;
    }
    return met;
}

/* How many devices meet each part of the selector, which compiles. */
static void count_parts(struct allocator *allocator, const char *selector, struct claim_problem *problem)
{
    const struct cel_env *env = allocator->inventory->selectors.env;
    struct cel_text texts[PARTS_MAX];
    size_t count = env ? cel_conjuncts(selector, texts, PARTS_MAX) : 0;
    struct claim_part *parts = arena_calloc(&allocator->arena, count, sizeof *parts);

    for (size_t i = 0; i < count; i++) {
        char *text = arena_alloc(&allocator->arena, texts[i].len + 1);
        struct cel_program *program;

        memcpy(text, texts[i].bytes, texts[i].len);
        text[texts[i].len] = '\0';
        parts[i].text = text;
        if (device_selector_compile(env, text, &program, NULL) < 0)
            return;
        parts[i].met = count_meeting(allocator, program);
        cel_program_free(program);
    }
    problem->parts = parts;
    problem->part_count = (uint32_t)count;
}

/* How many devices of the node meet the selectors one after the other; the first that none meets ends it. */
static bool explain_selectors(struct allocator *allocator, const struct option *option, struct claim_problem *problem)
{
    size_t of_class = option->class ? option->class->selector_count : 0;
    uint32_t before = devices_in_view(allocator);

    for (size_t i = 0; i < of_class + option->ask->selector_count; i++) {
        struct option first = *option;
        struct device_class class = option->class ? *option->class : (struct device_class){0};
        struct device_ask ask = *option->ask;
        uint32_t met = 0;

        class.selector_count = (uint32_t)MIN(i + 1, of_class);
        ask.selector_count = i + 1 > of_class ? i + 1 - of_class : 0;
        first.class = option->class ? &class : NULL;
        first.ask = &ask;
        vec_foreach (&allocator->view.slices, id) {
            const struct slice *slice = &allocator->state->slices.items[*id];

            for (uint32_t d = 0; d < slice->device_count; d++) {
                enum answer answer =
                    device_meets(allocator, &first, slice, d, allocator->inventory->first.items[*id] + d);

                met += answer == ANSWER_YES;
                problem->is_unjudged |= answer == ANSWER_ERROR;
            }
        }
        if (met == 0) {
            problem->selector = i < of_class ? option->class->selectors[i] : option->ask->selectors[i - of_class];
            problem->met = before;
            if (before > 0)
                count_parts(allocator, problem->selector, problem);
            return true;
        }
        before = met;
    }
    return false;
}

/* Notes the capacity that the device has too little of, unless another device has more of it left. */
static void note_capacity(struct allocator *allocator, const struct option *option, const struct slice *slice,
                          uint32_t device, uint32_t number, struct claim_problem *problem)
{
    static const struct device_offer nothing = {0};
    const struct device_offer *offer = slice->offers ? &slice->offers[device] : &nothing;
    const struct device_amount *amounts;
    const struct device_amount *lacking = NULL;
    const char *name = NULL;
    device_nano left = 0;

    problem->short_count++;
    enum share_answer answer = share_amounts(&allocator->arena, offer, option->ask, &amounts, &name);
    if (answer == SHARE_OK) {
        lacking = capacity_lacking(allocator, offer, number, amounts, &left);
        if (!lacking)
            return;
        name = lacking->name;
    }
    /* A device that has some, or would be allowed to give less, says more than one that has no such capacity. */
    if (problem->capacity &&
        (answer > problem->capacity_answer || (answer == problem->capacity_answer && left <= problem->capacity_left)))
        return;
    problem->capacity = name;
    problem->capacity_device = state_name(allocator->state, slice->devices[device]);
    problem->capacity_answer = answer;
    problem->capacity_needed = lacking ? amount_nano(lacking) : 0;
    problem->capacity_left = MAX(left, (device_nano)0);
}

static void note_taints(const struct device_offer *offer, const struct device_ask *ask, struct claim_problem *problem)
{
    problem->taint_count++;
    for (size_t t = 0; !problem->taint && t < offer->taint_count; t++)
        if (!taint_is_tolerated(&offer->taints[t], ask))
            problem->taint = &offer->taints[t];
}

/* Of the counters that devices lack, the one that they lack least of. */
static void note_counter(const struct counter_lack *lack, struct claim_problem *problem)
{
    problem->counter_count++;
    if (problem->counter && problem->counter_needed - problem->counter_left <= lack->needed - lack->left)
        return;
    problem->counter_set = lack->set;
    problem->counter = lack->counter;
    problem->counter_needed = lack->needed;
    problem->counter_left = MAX(lack->left, (device_nano)0);
}

static void judge_device(struct allocator *allocator, node_id node, const struct option *option,
                         const struct slice *slice, uint32_t device, struct claim_problem *problem)
{
    const struct device_offer *offer = slice->offers ? &slice->offers[device] : NULL;
    uint32_t number = allocator->inventory->first.items[slice - allocator->state->slices.items] + device;
    struct candidate candidate = {.slice = slice, .device = device, .number = number};
    struct pick pick = {.slice = slice,
                        .device = device,
                        .number = number,
                        .ask = option->ask,
                        .is_share = offer && offer->allows_multiple};
    struct counter_lack lack;

    if (device_meets(allocator, option, slice, device, number) != ANSWER_YES ||
        !device_reaches_node(allocator->state, slice, device, node))
        return;
    if (offer && !taints_are_tolerated(offer, option->ask)) {
        note_taints(offer, option->ask, problem);
        return;
    }
    if (!candidate_has_capacity(allocator, option->ask, &candidate)) {
        note_capacity(allocator, option, slice, device, number, problem);
        return;
    }
    problem->suitable++;
    if (!option->ask->is_admin && device_is_held(allocator, number))
        return;
    if (pick_must_draw(allocator, &pick) && counter_lacking(allocator, &pick, &lack))
        note_counter(&lack, problem);
    else
        problem->free++;
}

static void count_suitable(struct allocator *allocator, node_id node, const struct option *option,
                           struct claim_problem *problem)
{
    vec_foreach (&allocator->view.slices, id) {
        const struct slice *slice = &allocator->state->slices.items[*id];

        for (uint32_t d = 0; d < slice->device_count; d++)
            judge_device(allocator, node, option, slice, d, problem);
    }
    problem->wanted = option->ask->is_all ? problem->suitable : (uint32_t)MIN(option->ask->count, (int64_t)UINT32_MAX);
}

/* The first pool that the node cannot use, since it is being changed. */
static const char *pool_in_change(const struct allocator *allocator)
{
    vec_foreach (&allocator->view.pools, pool) {
        if (!pool->is_incomplete && !pool->is_invalid)
            continue;
        uint32_t id = allocator->inventory->ordered.items[pool->pool_start];
        return state_name(allocator->state, slice_pool_name(allocator->state, &allocator->state->slices.items[id]));
    }
    return NULL;
}

/* Can the request not be met this way, whatever others get? */
static bool explain_option(struct allocator *allocator, node_id node, struct option *option,
                           struct claim_problem *ret_problem)
{
    *ret_problem =
        (struct claim_problem){.is_known = true, .request = option->ask->full_name, .pool = pool_in_change(allocator)};
    option_find_class(allocator, option);
    if (!option->class) {
        ret_problem->class = option->ask->device_class;
        return true;
    }
    if (explain_selectors(allocator, option, ret_problem))
        return true;
    count_suitable(allocator, node, option, ret_problem);
    return ret_problem->suitable == 0 || ret_problem->free < ret_problem->wanted ||
           (option->ask->is_all && ret_problem->pool);
}

/* Would the claim have devices without these constraints? */
static bool is_found_without(struct allocator *allocator, node_id node, const struct claim *claim, size_t first,
                             size_t count)
{
    const struct claim_ask *ask = &claim->ask;
    struct device_constraint *left = xcalloc(ask->constraint_count + 1, sizeof *left);
    struct claim other = *claim;
    const struct claim *one = &other;

    other.ask.constraints = left;
    other.ask.constraint_count = 0;
    for (size_t i = 0; i < ask->constraint_count; i++)
        if (i < first || i >= first + count)
            left[other.ask.constraint_count++] = ask->constraints[i];
    bool is_found = allocator_find(allocator, node, &one, 1);
    free(left);
    return is_found;
}

/* The first counter that the devices found draw too much on. */
static void explain_counters(struct allocator *allocator, struct claim_problem *problem)
{
    uint32_t count = allocator->picks.len;
    struct counter_lack lack;

    for (uint32_t i = 0; i < count && !problem->counter; i++) {
        const struct pick *pick = &allocator->picks.items[i];

        allocator->picks.len = i;
        if (pick->draws && counter_lacking(allocator, pick, &lack))
            note_counter(&lack, problem);
    }
    allocator->picks.len = count;
}

/* Each request can be met, and not all of them. */
static void explain_together(struct allocator *allocator, node_id node, const struct claim *claim,
                             struct claim_problem *ret_problem)
{
    size_t count = claim->ask.constraint_count;
    size_t least = 0;

    *ret_problem = (struct claim_problem){0};
    if (allocator_find(allocator, node, &claim, 1))
        return;
    ret_problem->is_known = true;
    while (least < count && !is_found_without(allocator, node, claim, least, 1))
        least++;
    if (least < count || (count > 1 && is_found_without(allocator, node, claim, 0, count))) {
        ret_problem->constraint = &claim->ask.constraints[least < count ? least : 0];
        return;
    }
    allocator->ignores_counters = true;
    if (allocator_find(allocator, node, &claim, 1))
        explain_counters(allocator, ret_problem);
    allocator->ignores_counters = false;
}

void allocator_explain(struct allocator *allocator, node_id node, const struct claim *claim,
                       struct claim_problem *ret_problem)
{
    allocator_begin(allocator, node);
    for (size_t r = 0; r < claim->ask.request_count; r++) {
        if (claim->is_plan && state_plugin_serves(allocator->state, node, claim->ask.requests[r].name))
            continue;
        for (size_t o = 0; o < claim->ask.requests[r].ask_count; o++) {
            struct option option = {.request = &claim->ask.requests[r], .ask = &claim->ask.requests[r].asks[o]};

            bool is_problem = explain_option(allocator, node, &option, ret_problem);
            /* Of several ways the last one is told of: it is what the others fall back on. */
            if (ret_problem->class || (is_problem && o + 1 == claim->ask.requests[r].ask_count))
                return;
            if (!is_problem)
                break;
        }
    }
    allocator->most_steps = STEPS_MAX;
    explain_together(allocator, node, claim, ret_problem);
    allocator->most_steps = 0;
}
