/* SPDX-License-Identifier: Apache-2.0 */

/* Why a claim cannot have devices on a node. */
#include "base/strbuf.h"
#include "engine/devices/allocate_internal.h"

/* How many devices of the node meet the selectors one after the other; the first that none meets ends it. */
static bool explain_option(struct allocator *allocator, const struct option *option, struct claim_problem *problem)
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

static void judge_device(struct allocator *allocator, node_id node, const struct option *option,
                         const struct slice *slice, uint32_t device, struct claim_problem *problem)
{
    const struct device_offer *offer = slice->offers ? &slice->offers[device] : NULL;
    struct candidate candidate = {
        .slice = slice,
        .device = device,
        .number = allocator->inventory->first.items[slice - allocator->state->slices.items] + device,
    };

    if (device_meets(allocator, option, slice, device, candidate.number) != ANSWER_YES ||
        !device_reaches_node(allocator->state, slice, device, node))
        return;
    if (offer && !taints_are_tolerated(offer, option->ask)) {
        problem->taint_count++;
        return;
    }
    if (!candidate_has_capacity(allocator, option->ask, &candidate)) {
        problem->short_count++;
        note_capacity(allocator, option, slice, device, candidate.number, problem);
        return;
    }
    problem->suitable++;
    problem->free += !device_is_held(allocator, candidate.number);
}

static void count_suitable(struct allocator *allocator, node_id node, const struct option *option,
                           struct claim_problem *problem)
{
    problem->wanted = (uint32_t)MIN(option->ask->count, (int64_t)UINT32_MAX);
    vec_foreach (&allocator->view.slices, id) {
        const struct slice *slice = &allocator->state->slices.items[*id];

        for (uint32_t d = 0; d < slice->device_count; d++)
            judge_device(allocator, node, option, slice, d, problem);
    }
}

void allocator_explain(struct allocator *allocator, node_id node, const struct claim *claim,
                       struct claim_problem *ret_problem)
{
    allocator_begin(allocator, node);
    for (size_t r = 0; r < claim->ask.request_count; r++)
        for (size_t o = 0; o < claim->ask.requests[r].ask_count; o++) {
            struct option option = {.request = &claim->ask.requests[r], .ask = &claim->ask.requests[r].asks[o]};

            *ret_problem = (struct claim_problem){.request = option.ask->full_name};
            option_find_class(allocator, &option);
            if (!option.class) {
                ret_problem->class = option.ask->device_class;
                return;
            }
            bool is_found = explain_option(allocator, &option, ret_problem);
            if (!is_found)
                count_suitable(allocator, node, &option, ret_problem);
            /* Of several ways the last one is told of: it is what the others fall back on. */
            if (o + 1 == claim->ask.requests[r].ask_count &&
                (is_found || ret_problem->suitable == 0 || ret_problem->free < ret_problem->wanted))
                return;
        }
    *ret_problem = (struct claim_problem){0};
}

static void add_amount(struct strbuf *out, device_nano amount)
{
    long long whole = (long long)(amount / 1000000000);
    int parts = (int)(amount % 1000000000 / 1000000);

    if (parts > 0)
        strbuf_addf(out, "%lld%03dm", whole, parts);
    else
        strbuf_add_binary(out, whole);
}

static void add_capacity(const struct claim_problem *problem, struct strbuf *out)
{
    switch (problem->capacity_answer) {
    case SHARE_NO_CAPACITY:
        strbuf_addf(out, "; device %s has no capacity %s", problem->capacity_device, problem->capacity);
        return;
    case SHARE_NOT_ALLOWED:
        strbuf_addf(out, "; device %s does not allow requests for that much %s", problem->capacity_device,
                    problem->capacity);
        return;
    default:
        strbuf_addf(out, "; %u with too little %s: ", problem->short_count, problem->capacity);
        add_amount(out, problem->capacity_needed);
        strbuf_addstr(out, " needed, at most ");
        add_amount(out, problem->capacity_left);
        strbuf_addf(out, " free (device %s)", problem->capacity_device);
    }
}

void claim_problem_write(const struct claim_problem *problem, struct strbuf *out)
{
    if (problem->class)
        strbuf_addf(out, ": device class %s does not exist", problem->class);
    else if (problem->selector)
        strbuf_addf(out, ": none of %u devices meets %s", problem->met, problem->selector);
    else if (problem->suitable < problem->wanted || problem->suitable == 0)
        strbuf_addf(out, ": %u of %u devices are suitable", problem->suitable, problem->wanted);
    else
        strbuf_addf(out, ": %u of %u suitable devices are free, %u needed", problem->free, problem->suitable,
                    problem->wanted);
    if (problem->is_unjudged)
        strbuf_addstr(out, "; a selector failed with an error");
    if (problem->taint_count > 0)
        strbuf_addf(out, "; %u with taints that are not tolerated", problem->taint_count);
    if (problem->capacity)
        add_capacity(problem, out);
}
