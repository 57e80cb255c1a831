/* SPDX-License-Identifier: Apache-2.0 */

/* Which devices of a node may serve which request of a claim. */
#include <string.h>

#include "engine/devices/allocate_internal.h"

/* Kubernetes' limit on the devices of one claim. */
enum { RESULTS_MAX = 32 };

static bool tolerates(const struct device_toleration *toleration, const struct device_taint *taint)
{
    if (!toleration->any_effect && toleration->effect != taint->effect)
        return false;
    if (*toleration->key && toleration->key != taint->key)
        return false;
    if (!*toleration->key && !toleration->exists)
        return false;
    return toleration->exists || toleration->value == taint->value;
}

bool taint_is_tolerated(const struct device_taint *taint, const struct device_ask *ask)
{
    for (size_t i = 0; i < ask->toleration_count; i++)
        if (tolerates(&ask->tolerations[i], taint))
            return true;
    return taint->effect == DEVICE_EFFECT_NONE;
}

bool taints_are_tolerated(const struct device_offer *offer, const struct device_ask *ask)
{
    for (size_t t = 0; t < offer->taint_count; t++)
        if (!taint_is_tolerated(&offer->taints[t], ask))
            return false;
    return true;
}

static enum answer meets_all(struct allocator *allocator, const char *const *selectors, size_t count,
                             const struct slice *slice, uint32_t device, uint32_t number)
{
    for (size_t i = 0; i < count; i++) {
        enum answer answer =
            selector_ask(&allocator->inventory->selectors, allocator->state, selectors[i], slice, device, number);
        if (answer != ANSWER_YES)
            return answer;
    }
    return ANSWER_YES;
}

enum answer device_meets(struct allocator *allocator, const struct option *option, const struct slice *slice,
                         uint32_t device, uint32_t number)
{
    const struct device_class *class = option->class;
    enum answer answer = ANSWER_YES;

    /* Slices of recorded scenarios say of which class their devices are. */
    if (slice->device_class != 0) {
        if (strcmp(state_name(allocator->state, slice->device_class), option->ask->device_class) != 0)
            return ANSWER_NO;
    } else if (class) {
        if (class->selector_count == 0 && class->driver != 0 && class->driver != slice->driver)
            return ANSWER_NO;
        answer = meets_all(allocator, class->selectors, class->selector_count, slice, device, number);
    }
    if (answer == ANSWER_YES)
        answer = meets_all(allocator, option->ask->selectors, option->ask->selector_count, slice, device, number);
    return answer;
}

bool candidate_has_capacity(struct allocator *allocator, const struct device_ask *ask, struct candidate *candidate)
{
    const struct device_offer *offer = candidate->slice->offers ? &candidate->slice->offers[candidate->device] : NULL;
    const char *name;
    device_nano left;

    if (!offer)
        return ask->capacity_count == 0;
    /* All of a device that nobody shares is always to be had. */
    if (!offer->allows_multiple && ask->capacity_count == 0 && offer->policy_count == 0 &&
        !share_book_has(allocator->shares, allocator->inventory->canon.items[candidate->number]))
        return true;
    return share_amounts(&allocator->arena, offer, ask, &candidate->amounts, &name) == SHARE_OK &&
           !capacity_lacking(allocator, offer, candidate->number, candidate->amounts, &left);
}

/* Whether the device is a candidate is decided by all but who holds it, and what else is picked. */
static bool judge(struct allocator *allocator, const struct option *option, node_id node, struct candidate *candidate)
{
    enum answer answer = device_meets(allocator, option, candidate->slice, candidate->device, candidate->number);

    candidate->is_error = answer == ANSWER_ERROR;
    if (answer != ANSWER_YES)
        return candidate->is_error;
    if (candidate->slice->has_device_nodes &&
        !device_reaches_node(allocator->state, candidate->slice, candidate->device, node))
        return false;
    return candidate_has_capacity(allocator, option->ask, candidate);
}

static bool is_held(const struct allocator *allocator, const struct device_ask *ask, uint32_t number)
{
    return !ask->is_admin && device_is_held(allocator, number);
}

static void add_slice(struct allocator *allocator, struct option *option, node_id node, const struct slice *slice,
                      bool keeps_held)
{
    uint32_t id = (uint32_t)(slice - allocator->state->slices.items);
    uint32_t first = allocator->inventory->first.items[id];

    for (uint32_t d = 0; d < slice->device_count; d++) {
        struct candidate candidate = {.slice = slice,
                                      .device = d,
                                      .number = first + d,
                                      .is_share = slice->offers && slice->offers[d].allows_multiple};

        if (!keeps_held && is_held(allocator, option->ask, candidate.number))
            continue;
        if (!judge(allocator, option, node, &candidate))
            continue;
        option->has_error |= candidate.is_error;
        option->candidates[option->candidate_count++] = candidate;
    }
}

uint32_t devices_in_view(const struct allocator *allocator)
{
    uint32_t count = 0;

    vec_foreach (&allocator->view.slices, id)
        count += allocator->state->slices.items[*id].device_count;
    return count;
}

/*
 * For a claim that just has a class and a count: devices that serve only its class first, and the node's own before those
 * for all nodes. Others may need the rest.
 */
static int plain_order(const struct slice *slice)
{
    return (slice->device_class == 0 ? 2 : 0) + (slice->is_for_all_nodes ? 1 : 0);
}

static void find_candidates(struct allocator *allocator, struct option *option, node_id node, bool is_plain)
{
    option->candidates = arena_alloc(&allocator->arena, devices_in_view(allocator) * sizeof *option->candidates);
    for (int order = 0; order < (is_plain ? 4 : 1); order++)
        vec_foreach (&allocator->view.pools, pool)
            for (uint32_t s = pool->first; s < pool->first + pool->count; s++) {
                const struct slice *slice = &allocator->state->slices.items[allocator->view.slices.items[s]];

                if (!is_plain || plain_order(slice) == order)
                    add_slice(allocator, option, node, slice, option->ask->is_all);
            }
}

static bool pools_are_whole(const struct allocator *allocator)
{
    vec_foreach (&allocator->view.pools, pool)
        if (pool->is_incomplete || pool->is_invalid)
            return false;
    return true;
}

void option_find_class(const struct allocator *allocator, struct option *option)
{
    const char *class = option->ask->device_class;
    name_id name = 0;

    if (intern_find(&allocator->state->names, class, strlen(class), &name))
        option->class = state_find_device_class(allocator->state, name);
}

static bool read_option(struct allocator *allocator, node_id node, struct option *option, bool is_plain)
{
    option_find_class(allocator, option);
    if (!option->class && !is_plain)
        return false;
    /* All devices are not known while a pool is being changed. */
    if (option->ask->is_all && !pools_are_whole(allocator))
        return false;
    find_candidates(allocator, option, node, is_plain);
    if (option->ask->is_all && option->has_error)
        return false;
    option->need =
        option->ask->is_all ? option->candidate_count : (uint32_t)MIN(option->ask->count, (int64_t)UINT32_MAX);
    return true;
}

static bool read_plain(struct allocator *allocator, node_id node, struct wanted_claim *wanted)
{
    struct device_ask *ask = arena_calloc(&allocator->arena, 1, sizeof *ask);

    ask->name = "";
    ask->full_name = "";
    ask->device_class = state_name(allocator->state, wanted->claim->device_class);
    ask->count = wanted->claim->count;
    wanted->is_plain = true;
    wanted->request_count = 1;
    wanted->requests = arena_calloc(&allocator->arena, 1, sizeof *wanted->requests);
    wanted->requests[0].option_count = 1;
    wanted->requests[0].options = arena_calloc(&allocator->arena, 1, sizeof(struct option));
    wanted->requests[0].options[0].ask = ask;
    return read_option(allocator, node, &wanted->requests[0].options[0], true);
}

bool wanted_claim_read(struct allocator *allocator, node_id node, const struct claim *claim,
                       struct wanted_claim *ret_wanted)
{
    const struct claim_ask *ask = &claim->ask;
    uint64_t least = 0;

    *ret_wanted = (struct wanted_claim){.claim = claim, .request_count = (uint32_t)ask->request_count};
    if (ask->request_count == 0)
        return read_plain(allocator, node, ret_wanted);
    ret_wanted->requests = arena_calloc(&allocator->arena, ask->request_count, sizeof *ret_wanted->requests);
    ret_wanted->request_count = 0;
    for (size_t r = 0; r < ask->request_count; r++) {
        struct wanted_request *request = &ret_wanted->requests[ret_wanted->request_count];
        uint32_t fewest = UINT32_MAX;

        if (claim->is_plan && state_plugin_serves(allocator->state, node, ask->requests[r].name))
            continue;
        ret_wanted->request_count++;
        request->option_count = (uint32_t)ask->requests[r].ask_count;
        request->options = arena_calloc(&allocator->arena, request->option_count, sizeof *request->options);
        for (uint32_t o = 0; o < request->option_count; o++) {
            request->options[o].request = &ask->requests[r];
            request->options[o].ask = &ask->requests[r].asks[o];
            if (!read_option(allocator, node, &request->options[o], false))
                return false;
            fewest = MIN(fewest, request->options[o].need);
        }
        least += fewest;
        if (least > RESULTS_MAX)
            return false;
    }
    return true;
}
