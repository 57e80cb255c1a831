/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The search. All that it remembers is the list of picks: going back is taking the last one away. Constraints and counters
 * are judged by looking at the picks, of which a claim has at most 32.
 */
#include "engine/devices/allocate.h"

#include "engine/devices/allocate_internal.h"

/* Devices that are looked at for one pod on one node; requests that need more are not met there. */
enum { STEPS_MAX = 100000, RESULTS_MAX = 32 };

/* Too many: the claim's limit on devices is exceeded. Failed: nothing else is to be tried. */
enum outcome { OUTCOME_NO, OUTCOME_YES, OUTCOME_TOO_MANY, OUTCOME_FAILED };

struct search {
    struct allocator *allocator;
    struct wanted_claim *claims;
    uint32_t claim_count;
    const struct bitset *spares;  // devices that requests for all of them need, NULL: not known
};

/* Where the search is: the next device of an option of a request of a claim. */
struct place {
    uint32_t claim;
    uint32_t request;
    const struct option *option;  // NULL: still to be chosen
    uint32_t done;                // devices that it has
    uint32_t from;                // first candidate to look at
};

void allocator_done(struct allocator *allocator)
{
    arena_done(&allocator->arena);
    bitset_done(&allocator->taken);
    vec_done(&allocator->picks);
    node_view_done(&allocator->view);
}

static bool meets_constraints(const struct search *search, const struct pick *pick)
{
    const struct claim_ask *ask = &search->claims[pick->claim].claim->ask;

    for (size_t i = 0; i < ask->constraint_count; i++)
        if (!constraint_is_met(search->allocator, &ask->constraints[i], pick))
            return false;
    return true;
}

const struct device_amount *capacity_lacking(const struct allocator *allocator, const struct device_offer *offer,
                                             uint32_t number, const struct device_amount *amounts,
                                             device_nano *ret_left)
{
    uint32_t canon = allocator->inventory->canon.items[number];

    for (uint32_t i = 0; i < offer->capacity_count; i++) {
        device_nano left =
            amount_nano(&offer->capacity[i]) - share_book_sum(allocator->shares, canon, offer->capacity[i].name);

        vec_foreach (&allocator->picks, other)
            if (other->is_share && other->number == number)
                left -= amount_nano(&other->amounts[i]);
        if (amount_nano(&amounts[i]) > left) {
            *ret_left = left;
            return &amounts[i];
        }
    }
    return NULL;
}

static bool has_capacity_left(const struct allocator *allocator, const struct pick *pick)
{
    device_nano left;

    return !pick->amounts ||
           !capacity_lacking(allocator, &pick->slice->offers[pick->device], pick->number, pick->amounts, &left);
}

/* In use by another claim, or by this pod already. Who only looks may have it once a claim. */
static bool is_in_use(const struct allocator *allocator, const struct pick *pick)
{
    if (!pick->ask->is_admin)
        return device_is_held(allocator, pick->number) || bitset_test(&allocator->taken, pick->number);
    if (pick->is_share)
        return false;
    vec_foreach (&allocator->picks, other)
        if (other->number == pick->number && other->claim == pick->claim)
            return true;
    return false;
}

/* `must`: the request is for all devices, and one that breaks a constraint ends the search. */
static enum outcome take(const struct search *search, struct pick *pick, bool must)
{
    struct allocator *allocator = search->allocator;
    const struct device_offer *offer = pick->slice->offers ? &pick->slice->offers[pick->device] : NULL;

    if (is_in_use(allocator, pick))
        return OUTCOME_NO;
    pick->draws = pick_must_draw(allocator, pick);
    if (!allocator->ignores_counters && !counters_have_room(allocator, pick))
        return OUTCOME_NO;
    if (offer && !taints_are_tolerated(offer, pick->ask))
        return OUTCOME_NO;
    if (pick->request && !meets_constraints(search, pick))
        return must ? OUTCOME_FAILED : OUTCOME_NO;
    if (!has_capacity_left(allocator, pick))
        return OUTCOME_NO;
    vec_push(&allocator->picks, *pick);
    if (!pick->is_share)
        bitset_set(&allocator->taken, pick->number);
    return OUTCOME_YES;
}

static void give_back(struct allocator *allocator)
{
    struct pick pick = vec_pop(&allocator->picks);

    /* Another claim may look at it. */
    vec_foreach (&allocator->picks, other)
        if (other->number == pick.number)
            return;
    bitset_clear(&allocator->taken, pick.number);
}

static uint32_t picks_of(const struct allocator *allocator, uint32_t claim)
{
    uint32_t count = 0;

    for (uint32_t i = allocator->picks.len; i > 0 && allocator->picks.items[i - 1].claim == claim; i--)
        count++;
    return count;
}

static enum outcome go_on(struct search *search, struct place at);

static enum outcome choose_option(struct search *search, struct place at)
{
    const struct wanted_request *request = &search->claims[at.claim].requests[at.request];
    bool are_all_too_many = true;

    for (uint32_t o = 0; o < request->option_count; o++) {
        at.option = &request->options[o];
        enum outcome outcome = go_on(search, at);
        if (outcome == OUTCOME_TOO_MANY && request->option_count > 1)
            continue;
        are_all_too_many = false;
        if (outcome != OUTCOME_NO)
            return outcome;
    }
    return are_all_too_many && request->option_count > 1 ? OUTCOME_TOO_MANY : OUTCOME_NO;
}

static struct pick pick_of(const struct search *search, const struct place *at, const struct candidate *candidate)
{
    const struct slice *slice = candidate->slice;

    return (struct pick){.claim = at->claim,
                         .number = candidate->number,
                         .slice = slice,
                         .device = candidate->device,
                         .driver = state_name(search->allocator->state, slice->driver),
                         .request = at->option->request,
                         .ask = at->option->ask,
                         .amounts = candidate->amounts,
                         .amount_count =
                             candidate->amounts ? (uint32_t)slice->offers[candidate->device].capacity_count : 0,
                         .is_share = candidate->is_share};
}

/* One more device of the option, the candidate at `i`, and all that is to come. */
static enum outcome try_candidate(struct search *search, const struct place *at, uint32_t i, bool must)
{
    const struct candidate *candidate = &at->option->candidates[i];
    struct pick pick = pick_of(search, at, candidate);
    struct place next = *at;

    if (++search->allocator->steps > (search->allocator->most_steps ? search->allocator->most_steps : STEPS_MAX))
        return OUTCOME_FAILED;
    if (is_in_use(search->allocator, &pick))
        return OUTCOME_NO;
    if (candidate->is_error)
        return OUTCOME_FAILED;
    if (search->spares && !pick.ask->is_admin && !pick.ask->is_all && bitset_test(search->spares, pick.number))
        return OUTCOME_NO;
    enum outcome outcome = take(search, &pick, must);
    if (outcome != OUTCOME_YES)
        return outcome;
    next.done++;
    next.from = i + 1;
    outcome = go_on(search, next);
    if (outcome != OUTCOME_YES)
        give_back(search->allocator);
    return outcome;
}

/* Many alike, of which one is as good as another: the first that are free, without going back. */
static enum outcome pick_many(struct search *search, const struct place *at)
{
    struct allocator *allocator = search->allocator;
    const struct option *option = at->option;
    uint32_t before = allocator->picks.len;

    for (uint32_t i = 0; i < option->candidate_count && allocator->picks.len - before < option->need; i++) {
        struct pick pick = pick_of(search, at, &option->candidates[i]);

        if (!option->candidates[i].is_error)
            (void)take(search, &pick, false);
    }
    enum outcome outcome = OUTCOME_NO;
    if (allocator->picks.len - before == option->need)
        outcome = go_on(search, (struct place){.claim = at->claim + 1});
    while (outcome != OUTCOME_YES && allocator->picks.len > before)
        give_back(allocator);
    return outcome;
}

static enum outcome pick_devices(struct search *search, const struct place *at)
{
    const struct option *option = at->option;
    uint32_t missing = option->need - at->done;

    if (option->ask->is_all)
        return try_candidate(search, at, at->done, true);
    for (uint32_t i = at->from; i < option->candidate_count; i++) {
        /* Too few are left; an error among them would have been found, and ends all. */
        if (!option->has_error && option->candidate_count - i < missing)
            return OUTCOME_NO;
        enum outcome outcome = try_candidate(search, at, i, false);
        if (outcome != OUTCOME_NO)
            return outcome;
    }
    return OUTCOME_NO;
}

static enum outcome go_on(struct search *search, struct place at)
{
    if (at.claim == search->claim_count)
        return OUTCOME_YES;
    const struct wanted_claim *wanted = &search->claims[at.claim];
    if (at.request == wanted->request_count) {
        enum outcome outcome = go_on(search, (struct place){.claim = at.claim + 1});
        return outcome == OUTCOME_TOO_MANY ? OUTCOME_NO : outcome;
    }
    if (!at.option)
        return choose_option(search, at);
    if (at.option->ask->is_all && at.option->candidate_count == 0)
        return OUTCOME_NO;
    if (at.done >= at.option->need)
        return go_on(search, (struct place){.claim = at.claim, .request = at.request + 1});
    if (wanted->is_plain && at.option->need > RESULTS_MAX)
        return pick_many(search, &at);
    if (at.option->need - at.done > RESULTS_MAX - picks_of(search->allocator, at.claim))
        return OUTCOME_TOO_MANY;
    return pick_devices(search, &at);
}

void allocator_begin(struct allocator *allocator, node_id node)
{
    arena_clear(&allocator->arena);
    if (allocator->taken.bits != allocator->inventory->device_count) {
        bitset_resize(&allocator->taken, allocator->inventory->device_count);
        bitset_clear_all(&allocator->taken);
    }
    /* No others are set: clearing all of them would cost the more, the larger the cluster is. */
    vec_foreach (&allocator->picks, pick)
        if (pick->number < allocator->taken.bits)
            bitset_clear(&allocator->taken, pick->number);
    vec_clear(&allocator->picks);
    allocator->steps = 0;
    node_view_make(&allocator->view, allocator->inventory, allocator->state, node);
}

bool allocator_find(struct allocator *allocator, node_id node, const struct claim *const *claims, uint32_t count)
{
    allocator_begin(allocator, node);
    struct search search = {.allocator = allocator, .claim_count = count};
    search.claims = arena_calloc(&allocator->arena, count, sizeof *search.claims);
    for (uint32_t i = 0; i < count; i++)
        if (!wanted_claim_read(allocator, node, claims[i], &search.claims[i]))
            return false;
    struct bitset spares = {0};
    if (candidates_spare(allocator, search.claims, count, &spares))
        search.spares = &spares;
    bool is_found = go_on(&search, (struct place){0}) == OUTCOME_YES;
    bitset_done(&spares);
    return is_found;
}
