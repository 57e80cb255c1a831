/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Keys are ordered by tier (whole points), then by the placement's order value, then by rank. That is the order of KAI's
 * sums of points, because each row's points are larger than all smaller rows can add up to (score.c); where a pod has
 * points that break this, its walk adds them up node by node instead.
 */
#include "engine/nodes/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "engine/context.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/score.h"
#include "engine/topology/topology.h"

struct key {
    double order;
    uint32_t tier;  // 0: the pod may not go there; else points + 1
};

struct candidate_class {
    request_id request;
    constraints_id constraints;
    uint64_t seen;         // of the log of touched nodes
    uint64_t used;         // when it was last asked, for dropping the least used
    uint32_t nodes;        // leaves in use, by rank
    uint32_t width;        // of the tournament: a power of two
    uint32_t allowed;      // nodes that pass the static filters
    struct key *keys;      // by rank
    uint64_t *is_allowed;  // bits by rank
    uint32_t *winner;      // ranks; winner[1] is the best of all, NO_ID where none may be used
};

struct candidates {
    VEC(struct candidate_class *) classes;
    struct map64 class_by_kind;    // request << 32 | constraints -> class
    struct candidate_class *last;  // that was asked for last: pods of one class come in rows; NULL: none
    VEC(node_id) touched;          // the log: nodes whose books changed, oldest first
    uint64_t log_start;            // number of the log's first entry
    uint64_t last_seen;            // how far the class that was asked last has followed it
    uint64_t clock;
    VEC(uint32_t) heap;  // subtrees still to be looked at in a walk
    VEC(struct candidate) scored;
};

static const uint32_t classes_min = 4;
/* Waiting pods are tried class by class in each cycle: with fewer classes kept than wait, all would be made anew each time. */
static const uint32_t classes_max = 4096;
static const uint32_t kept_keys = 4000000;  // over all classes, so that large clusters keep fewer of them

struct candidates *candidates_new(void)
{
    return xcalloc(1, sizeof(struct candidates));
}

static void class_free(struct candidate_class *class)
{
    free(class->keys);
    free(class->is_allowed);
    free(class->winner);
    free(class);
}

static void drop_all(struct candidates *candidates)
{
    vec_foreach (&candidates->classes, class)
        class_free(*class);
    vec_clear(&candidates->classes);
    map64_clear(&candidates->class_by_kind);
    candidates->last = NULL;
}

void candidates_free(struct candidates *candidates)
{
    if (!candidates)
        return;
    drop_all(candidates);
    vec_done(&candidates->classes);
    map64_done(&candidates->class_by_kind);
    vec_done(&candidates->touched);
    vec_done(&candidates->heap);
    vec_done(&candidates->scored);
    free(candidates);
}

size_t candidates_bytes(const struct candidates *candidates)
{
    size_t bytes = sizeof *candidates + vec_bytes(&candidates->touched) + vec_bytes(&candidates->scored) +
                   map64_bytes(&candidates->class_by_kind);

    for (uint32_t i = 0; i < candidates->classes.len; i++) {
        const struct candidate_class *class = candidates->classes.items[i];
        bytes += sizeof *class + class->nodes * (sizeof(struct key) + 1) + 2 * class->width * sizeof(uint32_t);
    }
    return bytes;
}

void candidates_node_touched(struct engine *engine, node_id node)
{
    struct candidates *candidates = engine->candidates;

    /* Nobody follows a log this long: making a class anew is cheaper. */
    if (candidates->touched.len > 8 * engine->state->nodes_by_rank.len + 4096) {
        candidates->log_start += candidates->touched.len;
        vec_clear(&candidates->touched);
    }
    if (candidates->touched.len > 0 && vec_last(&candidates->touched) == node &&
        candidates->last_seen < candidates->log_start + candidates->touched.len)
        return;
    vec_push(&candidates->touched, node);
}

void candidates_forget(struct engine *engine)
{
    drop_all(engine->candidates);
}

void candidates_update(struct engine *engine)
{
    const struct changes *changes = &engine->state->changes;

    if (changes->nodes_static || changes->requests) {
        drop_all(engine->candidates);
        return;
    }
    for (uint32_t i = 0; i < changes->nodes.ids.len; i++)
        candidates_node_touched(engine, changes->nodes.ids.items[i]);
}

static bool better(const struct candidate_class *class, uint32_t a, uint32_t b)
{
    if (a == NO_ID || b == NO_ID)
        return b == NO_ID;
    if (class->keys[a].tier != class->keys[b].tier)
        return class->keys[a].tier > class->keys[b].tier;
    if (class->keys[a].order != class->keys[b].order)
        return class->keys[a].order > class->keys[b].order;
    return a < b;
}

static struct key make_key(struct engine *engine, const struct candidate_class *class, pod_id pod, uint32_t rank)
{
    node_id node = engine->state->nodes_by_rank.items[rank];

    if (!(class->is_allowed[rank / 64] >> (rank % 64) & 1) || !fits_sooner_or_later(engine, pod, node) ||
        !filters_pass(engine, pod, node, FILTER_BOOKS))
        return (struct key){0};
    return (struct key){score_placement_order(engine, pod, node), score_tier(engine, pod, node) + 1};
}

static void make_anew(struct engine *engine, struct candidate_class *class, pod_id pod)
{
    for (uint32_t rank = 0; rank < class->nodes; rank++) {
        class->keys[rank] = make_key(engine, class, pod, rank);
        class->winner[class->width + rank] = class->keys[rank].tier ? rank : NO_ID;
    }
    for (uint32_t i = class->width - 1; i > 0; i--) {
        uint32_t l = class->winner[2 * i];
        uint32_t r = class->winner[2 * i + 1];
        class->winner[i] = better(class, l, r) ? l : r;
    }
}

static void update_node(struct engine *engine, struct candidate_class *class, pod_id pod, node_id node)
{
    const struct node *n = &engine->state->nodes.items[node];

    if (!n->is_present)
        return;
    struct key key = make_key(engine, class, pod, n->rank);
    if (key.tier == class->keys[n->rank].tier && key.order == class->keys[n->rank].order)
        return;
    class->keys[n->rank] = key;
    uint32_t i = class->width + n->rank;
    class->winner[i] = key.tier ? n->rank : NO_ID;
    for (i /= 2; i > 0; i /= 2) {
        uint32_t l = class->winner[2 * i];
        uint32_t r = class->winner[2 * i + 1];
        uint32_t best = better(class, l, r) ? l : r;
        if (best == class->winner[i] && best != n->rank)
            return;
        class->winner[i] = best;
    }
}

static struct candidate_class *class_new(struct engine *engine, pod_id pod)
{
    const struct state *state = engine->state;
    struct candidate_class *class = xcalloc(1, sizeof *class);

    class->request = state->pods.items[pod].request;
    class->constraints = state->pods.items[pod].constraints;
    class->nodes = state->nodes_by_rank.len;
    for (class->width = 1; class->width < class->nodes;)
        class->width *= 2;
    class->keys = xcalloc(MAX(class->nodes, 1u), sizeof *class->keys);
    class->is_allowed = xcalloc(class->nodes / 64 + 1, sizeof *class->is_allowed);
    class->winner = xmalloc(2 * (size_t)class->width * sizeof *class->winner);
    memset(class->winner, 0xff, 2 * (size_t)class->width * sizeof *class->winner);
    for (uint32_t rank = 0; rank < class->nodes; rank++) {
        if (filters_pass(engine, pod, state->nodes_by_rank.items[rank], FILTER_STATIC)) {
            class->is_allowed[rank / 64] |= UINT64_C(1) << (rank % 64);
            class->allowed++;
        }
    }
    make_anew(engine, class, pod);
    return class;
}

static uint64_t kind_of(request_id request, constraints_id constraints)
{
    return (uint64_t)request << 32 | constraints;
}

static void make_room(struct engine *engine)
{
    struct candidates *candidates = engine->candidates;
    uint32_t most = CLAMP(kept_keys / (engine->state->nodes_by_rank.len + 1), classes_min, classes_max);

    if (candidates->classes.len < most)
        return;
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < candidates->classes.len; i++) {
        if (candidates->classes.items[i]->used < candidates->classes.items[oldest]->used)
            oldest = i;
    }
    const struct candidate_class *dropped = candidates->classes.items[oldest];
    (void)map64_remove(&candidates->class_by_kind, kind_of(dropped->request, dropped->constraints));
    if (candidates->last == dropped)
        candidates->last = NULL;
    class_free(candidates->classes.items[oldest]);
    vec_swap_remove(&candidates->classes, oldest);
}

static void follow_log(struct engine *engine, struct candidate_class *class, pod_id pod)
{
    struct candidates *candidates = engine->candidates;
    uint64_t end = candidates->log_start + candidates->touched.len;

    if (class->seen < candidates->log_start || end - class->seen > class->nodes / 2 + 16) {
        make_anew(engine, class, pod);
    } else {
        for (uint64_t i = class->seen; i < end; i++)
            update_node(engine, class, pod, candidates->touched.items[i - candidates->log_start]);
    }
    class->seen = end;
    candidates->last_seen = end;
}

/* The class that is kept of such pods, NULL when none is. */
static struct candidate_class *find_class(const struct candidates *candidates, const struct pod *pod)
{
    struct candidate_class *last = candidates->last;
    uint64_t found;

    if (last && last->request == pod->request && last->constraints == pod->constraints)
        return last;
    if (!map64_get(&candidates->class_by_kind, kind_of(pod->request, pod->constraints), &found))
        return NULL;
    return (struct candidate_class *)(uintptr_t)found;
}

static struct candidate_class *class_of(struct engine *engine, pod_id pod)
{
    struct candidates *candidates = engine->candidates;
    const struct pod *p = &engine->state->pods.items[pod];
    struct candidate_class *found = find_class(candidates, p);

    if (!found) {
        make_room(engine);
        found = class_new(engine, pod);
        found->seen = candidates->log_start + candidates->touched.len;
        candidates->last_seen = found->seen;
        vec_push(&candidates->classes, found);
        map64_put(&candidates->class_by_kind, kind_of(p->request, p->constraints), (uintptr_t)found);
    } else {
        follow_log(engine, found, pod);
    }
    found->used = ++candidates->clock;
    candidates->last = found;
    return found;
}

/* GPUs of claims that others on a node hold as well cost nothing more there: such a pod has room where its class has none. */
static bool has_devices(const struct engine *engine, const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->claim_count; i++) {
        if (pod->claims[i].claim == NO_ID)
            continue;
        const struct claim *claim = &engine->state->claims.items[pod->claims[i].claim];
        if (claim->is_gpu && claim->is_allocated)
            return true;
    }
    return false;
}

/*
 * A pod that has nothing of its own beyond its class. A CPU pod that asks for no CPU could be on a node that has none free,
 * where KAI's points for placement all become 0; it is scored node by node.
 */
static bool is_ordinary(const struct engine *engine, pod_id pod)
{
    const struct request *request = state_request(engine->state, pod);

    return !has_devices(engine, &engine->state->pods.items[pod]) && !score_needs_every_node(engine, pod) &&
           !(request->is_cpu_only && request->v[RES_CPU] == 0);
}

static void score_set(struct candidate_walk *walk)
{
    struct engine *engine = walk->engine;
    struct candidates *candidates = engine->candidates;
    struct placement_range range = score_placement_range(engine, walk->pod, walk->set.ids, walk->set.count);

    vec_resize(&candidates->scored, walk->set.count);
    walk->scored = candidates->scored.items;
    for (uint32_t i = 0; i < walk->set.count; i++) {
        node_id node = walk->set.ids[i];
        walk->scored[i] = (struct candidate){.rank = NO_ID};
        if (walk->topology && walk->topology[node] == TOPOLOGY_NO_SCORE)
            continue;
        if (!fits_sooner_or_later(engine, walk->pod, node) || !filters_pass(engine, walk->pod, node, FILTER_STATIC) ||
            !filters_pass(engine, walk->pod, node, FILTER_BOOKS))
            continue;
        double sum = walk->topology ? (double)walk->topology[node] : 0;
        for (uint32_t s = 0; s < engine->scores.count; s++) {
            const struct score *score = &engine->scores.rows[s];
            if (!engine_has(engine, score->plugin) || score->kind == SCORE_ORDER ||
                (score->applies && !score->applies(engine, walk->pod)))
                continue;
            sum += score->value(engine, walk->pod, node);
        }
        sum += score_placement_points(engine, walk->pod, node, range);
        walk->scored[i] = (struct candidate){sum, 0, engine->state->nodes.items[node].rank};
    }
}

void candidates_walk(struct candidate_walk *walk, struct engine *engine, pod_id pod, struct node_set set,
                     const uint32_t *topology)
{
    *walk = (struct candidate_walk){.engine = engine, .pod = pod, .set = set, .topology = topology};
    if (is_ordinary(engine, pod)) {
        walk->class = class_of(engine, pod);
        walk->uses_tournament = set.is_all && !topology;
    } else {
        score_set(walk);
    }
}

static bool candidate_precedes(const struct candidate *a, const struct candidate *b)
{
    if (a->score != b->score)
        return a->score > b->score;
    if (a->order != b->order)
        return a->order > b->order;
    return a->rank < b->rank;
}

static struct candidate candidate_at(const struct candidate_walk *walk, uint32_t i)
{
    if (!walk->class)
        return walk->scored[i];

    node_id node = walk->set.ids[i];
    uint32_t rank = walk->engine->state->nodes.items[node].rank;
    const struct key *key = &walk->class->keys[rank];
    if (key->tier == 0)
        return (struct candidate){.rank = NO_ID};
    double score = key->tier;
    if (walk->topology) {
        if (walk->topology[node] == TOPOLOGY_NO_SCORE)
            return (struct candidate){.rank = NO_ID};
        score += walk->topology[node];
    }
    return (struct candidate){score, key->order, rank};
}

/* The best of the set that comes after the last one given out. Sets are small, and the first one nearly always serves. */
static bool next_by_scan(struct candidate_walk *walk, node_id *ret_node)
{
    struct candidate best = {.rank = NO_ID};

    for (uint32_t i = 0; i < walk->set.count; i++) {
        struct candidate one = candidate_at(walk, i);
        if (one.rank == NO_ID || (walk->is_begun && !candidate_precedes(&walk->last, &one)))
            continue;
        if (best.rank == NO_ID || candidate_precedes(&one, &best))
            best = one;
    }
    if (best.rank == NO_ID)
        return false;
    walk->last = best;
    walk->is_begun = true;
    *ret_node = walk->engine->state->nodes_by_rank.items[best.rank];
    return true;
}

static void heap_push(struct candidates *candidates, const struct candidate_class *class, uint32_t subtree)
{
    if (class->winner[subtree] == NO_ID)
        return;
    vec_push(&candidates->heap, subtree);
    uint32_t *heap = candidates->heap.items;
    for (uint32_t i = candidates->heap.len - 1; i > 0;) {
        uint32_t parent = (i - 1) / 2;
        if (!better(class, class->winner[heap[i]], class->winner[heap[parent]]))
            break;
        uint32_t swap = heap[i];
        heap[i] = heap[parent];
        heap[parent] = swap;
        i = parent;
    }
}

static uint32_t heap_pop(struct candidates *candidates, const struct candidate_class *class)
{
    uint32_t *heap = candidates->heap.items;
    uint32_t top = heap[0];
    uint32_t len = --candidates->heap.len;

    heap[0] = heap[len];
    for (uint32_t i = 0; 2 * i + 1 < len;) {
        uint32_t child = 2 * i + 1;
        if (child + 1 < len && better(class, class->winner[heap[child + 1]], class->winner[heap[child]]))
            child++;
        if (!better(class, class->winner[heap[child]], class->winner[heap[i]]))
            break;
        uint32_t swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
        i = child;
    }
    return top;
}

/* The winner of a subtree came off: what is left of the subtree are the subtrees beside the winner's path. */
static void split(struct candidates *candidates, const struct candidate_class *class, uint32_t subtree)
{
    uint32_t rank = class->winner[subtree];

    for (uint32_t i = class->width + rank; i > subtree; i /= 2)
        heap_push(candidates, class, i ^ 1);
}

/* The first one is given out without a heap; only when it did not serve are the others put into one. */
static bool next_by_tournament(struct candidate_walk *walk, node_id *ret_node)
{
    struct candidates *candidates = walk->engine->candidates;
    const struct candidate_class *class = walk->class;
    uint32_t subtree = 1;

    if (!walk->is_begun) {
        vec_clear(&candidates->heap);
        walk->is_begun = true;
        walk->last.rank = NO_ID;
        if (class->winner[1] == NO_ID)
            return false;
    } else {
        if (walk->last.rank == NO_ID)
            split(candidates, class, 1);
        if (candidates->heap.len == 0)
            return false;
        subtree = heap_pop(candidates, class);
        walk->last.rank = class->winner[subtree];
        split(candidates, class, subtree);
    }
    *ret_node = walk->engine->state->nodes_by_rank.items[class->winner[subtree]];
    return true;
}

bool candidates_next(struct candidate_walk *walk, node_id *ret_node)
{
    return walk->uses_tournament ? next_by_tournament(walk, ret_node) : next_by_scan(walk, ret_node);
}

bool candidates_any_allowed(struct engine *engine, pod_id pod)
{
    const struct state *state = engine->state;

    if (!has_devices(engine, &state->pods.items[pod]))
        return class_of(engine, pod)->allowed > 0;
    /* A class that it made would have room for others where only this pod has some. */
    for (uint32_t rank = 0; rank < state->nodes_by_rank.len; rank++)
        if (filters_pass(engine, pod, state->nodes_by_rank.items[rank], FILTER_STATIC))
            return true;
    return false;
}
