/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What may be reclaimed. Victims of a gang fall into items: each pod beyond the minimum of its set by itself, and the core
 * all together. Items are taken from their queues one by one; each is allowed as long as the queue on the victim's side is
 * still above its share, or above its quota while the reclaimer stays within its own. At last the reclaimer's queues may
 * not end up more saturated than those that gave.
 *
 * Books are those from before the search; only which items count is read from the simulation. KAI goes through gangs and
 * queues in no order, which decides some cases; here gangs go by UID, and queues as they come up with them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/queues/share.h"
#include "engine/victims/eviction_plan.h"
#include "engine/victims/marks.h"
#include "engine/victims/search_internal.h"
#include "engine/victims/sources.h"
#include "engine/victims/validate.h"
#include "model/books/books.h"

struct queue_before {
    struct amounts allocated;
    struct amounts fixed;
};

struct queue_rest {
    uint32_t number;    // of the validation that the following is about
    uint32_t involved;  // bits of resources that victims of its gangs give back
    struct amounts left;
};

struct validation {
    uint32_t number;
    struct queue_before *before;  // by queue id: the books before the search; NULL until a first one needs them
    struct queue_rest *rests;     // by queue id
};

struct validation *validation_new(void)
{
    return xcalloc(1, sizeof(struct validation));
}

void validation_free(struct validation *validation)
{
    if (!validation)
        return;
    free(validation->before);
    free(validation->rests);
    free(validation);
}

void validate_remember_queues(struct search *s)
{
    const struct state *state = s->engine->state;
    struct validation *v = s->validation;

    if (!v->before) {
        v->before = xcalloc(state->queues.len, sizeof *v->before);
        v->rests = xcalloc(state->queues.len, sizeof *v->rests);
    }
    for (queue_id id = 0; id < state->queues.len; id++) {
        v->before[id].allocated = state->queues.items[id].allocated;
        v->before[id].fixed = state->queues.items[id].allocated_fixed;
    }
}

struct item {
    struct amounts amounts;
    bool has_gpu;   // MIG slices are none
    uint32_t next;  // of the same leaf
};

struct source {
    queue_id leaf;
    uint32_t first;
    uint32_t last;
};

struct ledger {
    struct search *s;
    uint32_t *next;   // by index in `victims`: the next victim of the same gang
    uint32_t *first;  // by index in `victim_gangs`
    struct item *items;
    uint32_t item_count;
    struct source *sources;
    uint32_t source_count;
    queue_id *touched;  // queues with a rest
    uint32_t touched_count;
    double asked[SHARE_COUNT];
    bool asks_gpu;
};

static void to_doubles(const struct amounts *amounts, double ret[SHARE_COUNT])
{
    for (int r = 0; r < SHARE_COUNT; r++)
        ret[r] = share_to_double(r, amounts->v[r]);
}

/* ---- Items. ---- */

static const struct item no_item = {.next = NO_ID};

static void item_add(const struct ledger *ledger, struct item *item, pod_id pod)
{
    const struct state *state = ledger->s->engine->state;
    struct amounts amounts = pod_accepted(state, pod);

    for (int r = 0; r < SHARE_COUNT; r++)
        item->amounts.v[r] += amounts.v[r];
    item->has_gpu |= state->pods.items[pod].accepted_gpu > 0;
}

static void push_item(struct ledger *ledger, queue_id leaf, const struct item *item)
{
    uint32_t at = 0;

    while (at < ledger->source_count && ledger->sources[at].leaf != leaf)
        at++;
    struct source *source = &ledger->sources[at];
    if (at == ledger->source_count) {
        ledger->source_count++;
        *source = (struct source){leaf, ledger->item_count, ledger->item_count};
    } else {
        ledger->items[source->last].next = ledger->item_count;
        source->last = ledger->item_count;
    }
    ledger->items[ledger->item_count++] = *item;
}

static bool is_ignored(const struct ledger *ledger, pod_id pod)
{
    const struct engine *engine = ledger->s->engine;

    return engine->config.allows_consolidating_reclaim &&
           status_in(engine->state->pods.items[pod].status, ACTIVE_ALLOCATED);
}

/* The gang's victims as items; sets take their minimum from the front of the list, whatever became of those pods. */
static void split_gang(struct ledger *ledger, uint32_t place)
{
    const struct search *s = ledger->s;
    const struct state *state = s->engine->state;
    const struct gang *gang = &state->gangs.items[s->plan->gangs.items[place]];
    struct item core = no_item;
    bool has_core = false;

    for (uint32_t g = 0; g < gang->group_count; g++) {
        int64_t in_core = gang->groups[g].min;
        if (!gang->groups[g].is_pod_set)
            continue;
        for (uint32_t i = ledger->first[place]; i != NO_ID; i = ledger->next[i]) {
            pod_id pod = s->plan->victims.items[i].pod;
            if (state->pods.items[pod].pod_set != g)
                continue;
            bool is_core = in_core-- > 0;
            if (is_ignored(ledger, pod))
                continue;
            if (is_core) {
                item_add(ledger, &core, pod);
                has_core = true;
                continue;
            }
            struct item single = no_item;
            item_add(ledger, &single, pod);
            push_item(ledger, gang->queue, &single);
        }
    }
    if (has_core)
        push_item(ledger, gang->queue, &core);
}

struct named_gang {
    const char *uid;
    uint32_t place;
};

static int by_uid(const void *l, const void *r)
{
    const struct named_gang *a = l;
    const struct named_gang *b = r;
    int order = strcmp(a->uid, b->uid);

    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

static void find_items(struct ledger *ledger)
{
    struct search *s = ledger->s;
    const struct state *state = s->engine->state;
    uint32_t gangs = s->plan->gangs.len;
    struct named_gang *named = arena_alloc(&s->simulating, gangs * sizeof *named);

    for (uint32_t i = 0; i < gangs; i++) {
        const struct gang *gang = &state->gangs.items[s->plan->gangs.items[i]];
        s->marks->gangs[s->plan->gangs.items[i]].place = i;
        ledger->first[i] = NO_ID;
        named[i] = (struct named_gang){state_name(state, gang->uid ? gang->uid : gang->name), i};
    }
    for (uint32_t i = s->plan->victims.len; i-- > 0;) {
        uint32_t place = s->marks->gangs[state->pods.items[s->plan->victims.items[i].pod].gang].place;
        ledger->next[i] = ledger->first[place];
        ledger->first[place] = i;
    }
    qsort(named, gangs, sizeof *named, by_uid);
    for (uint32_t i = 0; i < gangs; i++)
        split_gang(ledger, named[i].place);
}

/* ---- Taking them from their queues. ---- */

static struct queue_rest *rest_of(struct search *s, queue_id id)
{
    struct queue_rest *rest = &s->validation->rests[id];

    if (rest->number != s->validation->number)
        *rest = (struct queue_rest){s->validation->number, 0, s->validation->before[id].allocated};
    return rest;
}

static void take_item(struct ledger *ledger, queue_id leaf, const struct item *item)
{
    struct search *s = ledger->s;

    for (queue_id id = leaf; id != NO_ID; id = s->engine->state->queues.items[id].parent) {
        bool is_new = s->validation->rests[id].number != s->validation->number;
        struct queue_rest *rest = rest_of(s, id);
        if (is_new)
            ledger->touched[ledger->touched_count++] = id;
        for (int r = 0; r < SHARE_COUNT; r++) {
            rest->left.v[r] -= item->amounts.v[r];
            if (r == SHARE_GPU ? item->has_gpu : item->amounts.v[r] > 0)
                rest->involved |= 1u << r;
        }
    }
}

/* What is left may fall to any number below 0; only bounds are unlimited. */
static bool is_above(double left, double bound)
{
    return bound != UNLIMITED && left > bound;
}

/* May one more item go from the victim's side? */
static bool is_allowed(struct ledger *ledger, queue_id theirs, bool keeps_quota)
{
    struct search *s = ledger->s;
    const struct engine *engine = s->engine;
    bool is_new = s->validation->rests[theirs].number != s->validation->number;
    double left[SHARE_COUNT];

    to_doubles(is_new ? &s->validation->before[theirs].allocated : &s->validation->rests[theirs].left, left);
    for (int r = 0; r < SHARE_COUNT; r++) {
        if (is_above(left[r], share_allocatable(engine, theirs, r)))
            return true;
    }
    if (!keeps_quota)
        return false;
    for (int r = 0; r < SHARE_COUNT; r++) {
        if (is_above(left[r], engine->state->queues.items[theirs].deserved[r]))
            return true;
    }
    return false;
}

static bool take_all(struct ledger *ledger)
{
    struct search *s = ledger->s;

    for (uint32_t i = 0; i < ledger->source_count; i++) {
        const struct source *source = &ledger->sources[i];
        const struct leaf_case *leaf = leaf_case(s->sources, source->leaf);
        double held[SHARE_COUNT];
        to_doubles(&s->validation->before[leaf->mine].allocated, held);
        bool keeps_quota = share_stays_deserved(&s->engine->state->queues.items[leaf->mine], held, ledger->asked);
        for (uint32_t k = source->first; k != NO_ID; k = ledger->items[k].next) {
            if (!is_allowed(ledger, leaf->theirs, keeps_quota))
                return false;
            take_item(ledger, source->leaf, &ledger->items[k]);
        }
    }
    return true;
}

/* ---- What the reclaimer's queues end up with. ---- */

static double saturation(double held, double fair)
{
    if (fair == UNLIMITED)
        return 0;
    if (fair == 0)
        return held > 0 ? INFINITY : 0;
    return held / fair;
}

/* Does the queue with what the reclaimer adds to it stay less saturated than a sibling that gave something? */
static bool stays_below(const struct ledger *ledger, queue_id mine, const double held[SHARE_COUNT], queue_id sibling)
{
    const struct search *s = ledger->s;
    const double *fair = s->engine->shares.items[mine].fair;
    const double *their_fair = s->engine->shares.items[sibling].fair;
    const struct queue_rest *rest = &s->validation->rests[sibling];
    double left[SHARE_COUNT];

    to_doubles(&rest->left, left);
    for (int r = 0; r < SHARE_COUNT; r++) {
        bool is_asked = r == SHARE_GPU ? ledger->asks_gpu : ledger->asked[r] > 0;
        if (!is_asked && !(rest->involved >> r & 1))
            continue;
        if (fair[r] == UNLIMITED && their_fair[r] == UNLIMITED)
            continue;
        double ours = saturation(held[r], fair[r]);
        if (ours > 1 && their_fair[r] > 0 &&
            ours * s->engine->config.saturation_multiplier >= saturation(left[r], their_fair[r]))
            return false;
    }
    return true;
}

static bool keeps_bounds(struct ledger *ledger)
{
    struct search *s = ledger->s;
    const struct state *state = s->engine->state;
    const struct queue *queues = state->queues.items;
    bool is_preemptible = state->gangs.items[s->gang].is_preemptible;

    for (queue_id id = s->queue; id != NO_ID; id = queues[id].parent) {
        bool is_touched = s->validation->rests[id].number == s->validation->number;
        double held[SHARE_COUNT];
        to_doubles(is_touched ? &s->validation->rests[id].left : &s->validation->before[id].allocated, held);
        for (int r = 0; r < SHARE_COUNT; r++)
            held[r] += ledger->asked[r];
        for (uint32_t i = 0; i < ledger->touched_count; i++) {
            queue_id other = ledger->touched[i];
            if (other != id && queues[other].parent == queues[id].parent && !stays_below(ledger, id, held, other))
                return false;
        }
        to_doubles(&s->validation->before[id].fixed, held);
        if (!is_preemptible && !share_stays_deserved(&queues[id], held, ledger->asked))
            return false;
    }
    return true;
}

static bool asks_for_gpu(const struct search *s)
{
    for (uint32_t i = 0; i < s->view->chunk_count; i++) {
        const struct request *request = state_request(s->engine->state, s->view->chunk[i]);
        if (request->gpus + request->dra_gpus > 0 || request->kind == REQUEST_GPU_MEMORY)
            return true;
    }
    return false;
}

bool validate_reclaim(struct search *s)
{
    struct ledger ledger = {
        .s = s,
        .next = arena_alloc(&s->simulating, s->plan->victims.len * sizeof *ledger.next),
        .first = arena_alloc(&s->simulating, s->plan->gangs.len * sizeof *ledger.first),
        .items = arena_alloc(&s->simulating, s->plan->victims.len * sizeof *ledger.items),
        .sources = arena_alloc(&s->simulating, (size_t)(s->plan->gangs.len + 1) * sizeof *ledger.sources),
        .touched = arena_alloc(&s->simulating, s->engine->state->queues.len * sizeof *ledger.touched),
        .asks_gpu = asks_for_gpu(s),
    };

    memcpy(ledger.asked, s->view->asked, sizeof ledger.asked);
    s->validation->number = ++s->number;
    find_items(&ledger);
    return take_all(&ledger) && keeps_bounds(&ledger);
}
