/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Plain pods take whole GPUs, or a part of one. Whatever is evicted counts as being released, so that nodes are told
 * apart by the whole GPUs that are idle or released (levels), and among those of a level the first by rank serves;
 * nodes on which a pod fits what is idle come before all others.
 *
 * Shared GPUs. Evicting a pod from one gives back its memory, and a whole GPU once all of its pods have left; such a
 * GPU is not shared again. A pod goes to a shared GPU that has memory left, on the node with the least GPUs free, and
 * there to the fullest one; else it opens a whole GPU.
 */
#include "engine/victims/rehearsal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "engine/context.h"
#include "engine/nodes/fit.h"
#include "engine/nodes/gpu_room.h"
#include "engine/nodes/plain.h"
#include "model/books/books.h"

enum { DIMS_MAX = 8, SHARED_MAX = 32, LEVELS = 65 };

/* A GPU with several pods; memory as in struct shared_gpu. */
struct rehearsal_gpu {
    gpu_group id;
    int64_t used;
    int64_t allocated;
    int64_t releasing;
};

/* A node that is not as the books say. */
struct changed_node {
    int64_t idle[DIMS_MAX];
    int64_t releasing[DIMS_MAX];
    bool was_usable;
    int32_t old_level;
    int64_t old_spare;
    uint32_t gpu_count;
    struct rehearsal_gpu gpus[SHARED_MAX];
};

struct rehearsal_node {
    uint32_t usable_in;   // the search or run in which it may be used
    uint32_t changed_in;  // the run in which `changed` is about it
    int32_t level;        // whole GPUs idle or released
    bool is_uneven;       // what is idle, used and shared is not the number of its devices
    int64_t spare;        // the most memory left on a shared GPU; -1: no such GPU
    struct changed_node *changed;
};

/* The class of the last pod that was asked about. */
struct asked_class {
    bool is_known;
    bool is_plain;
    request_id request;
    constraints_id constraints;
};

struct rehearsal {
    struct engine *engine;
    struct asked_class asked;
    plain_node_fn *node_rules[PLAIN_NODE_RULES_MAX];
    uint32_t node_rule_count;
    uint32_t dims;
    uint32_t words;  // of a bit for each node, by rank
    uint32_t number;
    uint32_t search;
    uint32_t run;
    uint64_t opened;               // GPUs opened in this run
    struct rehearsal_node *nodes;  // by rank
    uint32_t node_count;
    uint64_t *by_level;  // bits of usable nodes, from level 1 on
    uint32_t level_count[LEVELS];
    uint64_t *sharing;  // bits of usable nodes with shared GPUs
    uint64_t *idling;   // bits of nodes with idle GPUs
    VEC(uint32_t) touched;
};

struct rehearsal *rehearsal_new(void)
{
    return xcalloc(1, sizeof(struct rehearsal));
}

static void free_nodes(struct rehearsal *r)
{
    for (uint32_t i = 0; r->nodes && i < r->node_count; i++)
        free(r->nodes[i].changed);
    free(r->nodes);
    free(r->by_level);
    free(r->sharing);
    free(r->idling);
}

void rehearsal_free(struct rehearsal *r)
{
    if (!r)
        return;
    free_nodes(r);
    vec_done(&r->touched);
    free(r);
}

size_t rehearsal_bytes(const struct rehearsal *r)
{
    size_t bytes = sizeof *r + r->node_count * sizeof *r->nodes + (LEVELS + 2) * (size_t)r->words * sizeof *r->sharing;

    for (uint32_t i = 0; i < r->node_count; i++)
        bytes += r->nodes[i].changed ? sizeof *r->nodes[i].changed : 0;
    return bytes + vec_bytes(&r->touched);
}

static void fit_to(struct rehearsal *r, uint32_t node_count)
{
    if (r->nodes && r->node_count == node_count)
        return;
    free_nodes(r);
    r->node_count = node_count;
    r->words = node_count / 64 + 1;
    r->nodes = xcalloc(MAX(node_count, 1u), sizeof *r->nodes);
    r->by_level = xcalloc((size_t)r->words * LEVELS, sizeof *r->by_level);
    r->sharing = xcalloc(r->words, sizeof *r->sharing);
    r->idling = xcalloc(r->words, sizeof *r->idling);
}

/* ---- What is plain. ---- */

static bool node_is_plain(const struct rehearsal *r, const struct node *node)
{
    if (!node->is_present || node->clamps_idle_pods)
        return false;
    for (uint32_t i = 0; i < r->node_rule_count; i++) {
        if (!r->node_rules[i](node))
            return false;
    }
    return true;
}

/* Requests that the rehearsal knows how to place: whole GPUs, or a part of one. */
static bool request_is_plain(const struct state *state, const struct request *request)
{
    if (request->dra_gpus > 0 || request->is_cpu_only || request->v_count <= RES_PODS ||
        request->v_count > state->res.count || request->v[RES_PODS] < 1)
        return false;
    if (request->kind == REQUEST_FRACTION)
        return request->devices == 1 && request->portion > 0 && request->portion <= 1;
    return request->kind == REQUEST_REGULAR && request->v[RES_GPU] > 0 && request->v[RES_GPU] % GPU_ONE == 0 &&
           request->v[RES_GPU] / GPU_ONE < LEVELS;
}

static bool class_is_plain(const struct engine *engine, pod_id pod)
{
    const struct request *request = state_request(engine->state, pod);
    const struct constraints *constraints = state_constraints(engine->state, pod);

    return request_is_plain(engine->state, request) && constraints->config_map_count == 0 &&
           rows_class_is_plain(engine, request, constraints);
}

void rehearsal_begin_asking(struct rehearsal *r)
{
    r->asked.is_known = false;
}

bool rehearsal_takes(struct rehearsal *r, const struct engine *engine, pod_id id)
{
    const struct pod *pod = &engine->state->pods.items[id];

    if (pod->claim_count > 0 || pod->is_reservation || pod->is_foreign || !rows_pod_is_plain(engine, id))
        return false;
    /* Pods of one class come in rows. */
    struct asked_class *last = &r->asked;
    if (!last->is_known || last->request != pod->request || last->constraints != pod->constraints)
        *last = (struct asked_class){true, class_is_plain(engine, id), pod->request, pod->constraints};
    return last->is_plain;
}

/* ---- Nodes. ---- */

static node_id id_of(const struct rehearsal *r, uint32_t rank)
{
    return r->engine->state->nodes_by_rank.items[rank];
}

static void set_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= UINT64_C(1) << (i % 64);
}

static void clear_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* The node's level and what is left on its shared GPUs, as the books have it. False: not plain. */
static bool read_node(struct rehearsal *r, uint32_t rank)
{
    const struct state *state = r->engine->state;
    const struct node *node = &state->nodes.items[id_of(r, rank)];
    struct books books = state_books(state, id_of(r, rank));
    struct rehearsal_node *to = &r->nodes[rank];
    int64_t whole = books.idle[RES_GPU] + books.releasing[RES_GPU];
    int64_t devices = books.idle[RES_GPU] / GPU_ONE + books.used[RES_GPU] / GPU_ONE;
    uint32_t count = 0;

    if (!node_is_plain(r, node) || whole % GPU_ONE != 0 || books.idle[RES_GPU] % GPU_ONE != 0 || whole < 0 ||
        whole / GPU_ONE >= LEVELS)
        return false;
    to->level = (int32_t)(whole / GPU_ONE);
    to->spare = -1;
    for (uint32_t i = node->first_shared; i != NO_ID; i = state_shared_gpu(state, i)->next) {
        const struct shared_gpu *gpu = state_shared_gpu(state, i);
        if (gpu->used != 0 && gpu->allocated != gpu->releasing)
            to->spare = MAX(to->spare, node->gpu_memory_mib - gpu->allocated + gpu->releasing);
        devices += gpu->used > 0;
        count++;
    }
    to->is_uneven = devices != node->device_count;
    return count <= SHARED_MAX / 2;
}

static void enter_level(struct rehearsal *r, uint32_t rank)
{
    int32_t level = r->nodes[rank].level;

    if (level <= 0)
        return;
    set_bit(r->by_level + (size_t)level * r->words, rank);
    r->level_count[level]++;
}

static void leave_level(struct rehearsal *r, uint32_t rank)
{
    int32_t level = r->nodes[rank].level;

    if (level <= 0)
        return;
    clear_bit(r->by_level + (size_t)level * r->words, rank);
    r->level_count[level]--;
}

static void make_usable(struct rehearsal *r, uint32_t rank)
{
    const struct rehearsal_node *node = &r->nodes[rank];

    enter_level(r, rank);
    if (node->spare >= 0)
        set_bit(r->sharing, rank);
}

static void take_back(struct rehearsal *r)
{
    vec_foreach (&r->touched, rank) {
        struct rehearsal_node *node = &r->nodes[*rank];
        leave_level(r, *rank);
        clear_bit(r->sharing, *rank);
        node->level = node->changed->old_level;
        node->spare = node->changed->old_spare;
        if (node->changed->was_usable)
            make_usable(r, *rank);
    }
    vec_clear(&r->touched);
}

bool rehearsal_begin(struct rehearsal *r, struct engine *engine, struct node_set feasible)
{
    r->engine = engine;
    if (engine->state->res.count > DIMS_MAX || !rows_are_plain(engine) ||
        !rows_node_rules(engine, r->node_rules, &r->node_rule_count))
        return false;
    vec_clear(&r->touched);
    fit_to(r, engine->state->nodes_by_rank.len);
    r->dims = engine->state->res.count;
    r->search = ++r->number;
    memset(r->by_level, 0, (size_t)r->words * LEVELS * sizeof *r->by_level);
    memset(r->level_count, 0, sizeof r->level_count);
    memset(r->sharing, 0, r->words * sizeof *r->sharing);
    memset(r->idling, 0, r->words * sizeof *r->idling);
    for (uint32_t i = 0; i < feasible.count; i++) {
        uint32_t rank = engine->state->nodes.items[feasible.ids[i]].rank;
        if (!read_node(r, rank))
            return false;
        r->nodes[rank].usable_in = r->search;
        make_usable(r, rank);
        if (state_books(engine->state, feasible.ids[i]).idle[RES_GPU] > 0)
            set_bit(r->idling, rank);
    }
    r->run = ++r->number;
    return true;
}

void rehearsal_reset(struct rehearsal *r)
{
    take_back(r);
    r->run = ++r->number;
    r->opened = 0;
}

/* The node's books as they are in this run. */
static void look(const struct rehearsal *r, uint32_t rank, const int64_t **ret_idle, const int64_t **ret_releasing)
{
    const struct rehearsal_node *node = &r->nodes[rank];

    if (node->changed_in == r->run) {
        *ret_idle = node->changed->idle;
        *ret_releasing = node->changed->releasing;
        return;
    }
    struct books books = state_books(r->engine->state, id_of(r, rank));
    *ret_idle = books.idle;
    *ret_releasing = books.releasing;
}

/* Makes the run's own copy of the node. NULL: the node is not plain. */
static struct changed_node *change(struct rehearsal *r, uint32_t rank)
{
    const struct state *state = r->engine->state;
    struct rehearsal_node *node = &r->nodes[rank];

    if (node->changed_in == r->run)
        return node->changed;
    bool was_usable = node->usable_in == r->search;
    if (!was_usable && !read_node(r, rank))
        return NULL;
    if (!node->changed)
        node->changed = xmalloc(sizeof *node->changed);
    struct changed_node *copy = node->changed;
    struct books books = state_books(state, id_of(r, rank));
    memcpy(copy->idle, books.idle, r->dims * sizeof *copy->idle);
    memcpy(copy->releasing, books.releasing, r->dims * sizeof *copy->releasing);
    copy->was_usable = was_usable;
    copy->old_level = node->level;
    copy->old_spare = node->spare;
    copy->gpu_count = 0;
    for (uint32_t i = state->nodes.items[id_of(r, rank)].first_shared; i != NO_ID;
         i = state_shared_gpu(state, i)->next) {
        const struct shared_gpu *gpu = state_shared_gpu(state, i);
        copy->gpus[copy->gpu_count++] = (struct rehearsal_gpu){gpu->id, gpu->used, gpu->allocated, gpu->releasing};
    }
    node->changed_in = r->run;
    vec_push(&r->touched, rank);
    if (!was_usable)
        make_usable(r, rank);
    return copy;
}

static void set_level(struct rehearsal *r, uint32_t rank, int32_t level)
{
    leave_level(r, rank);
    r->nodes[rank].level = level;
    enter_level(r, rank);
}

/*
 * Adds what the pod takes, but for parts of GPUs, to what is being released (-1: takes it from there). A place that was
 * only promised has been taken from there before; a pod that leaves such a place counts as if it had been idle.
 */
static void release(struct rehearsal *r, uint32_t rank, const struct request *request, int sign, bool was_promised)
{
    struct changed_node *copy = r->nodes[rank].changed;
    const int64_t *allocatable = state_books(r->engine->state, id_of(r, rank)).allocatable;

    for (uint32_t d = 0; d < request->v_count; d++) {
        if (allocatable[d] == 0 || (d == RES_GPU && request->kind != REQUEST_REGULAR))
            continue;
        copy->releasing[d] += (was_promised ? 2 : 1) * sign * request->v[d];
        copy->idle[d] -= was_promised ? sign * request->v[d] : 0;
    }
    if (request->kind == REQUEST_REGULAR)
        set_level(r, rank, r->nodes[rank].level + (int32_t)(sign * request->v[RES_GPU] / GPU_ONE));
}

static void release_gpu(struct rehearsal *r, uint32_t rank, int sign)
{
    r->nodes[rank].changed->releasing[RES_GPU] += sign * GPU_ONE;
    set_level(r, rank, r->nodes[rank].level + sign);
}

/* ---- Shared GPUs. ---- */

static bool is_shareable(const struct rehearsal_gpu *gpu)
{
    return gpu->used != 0 && gpu->allocated != gpu->releasing;
}

static void find_spare(struct rehearsal *r, uint32_t rank)
{
    struct rehearsal_node *node = &r->nodes[rank];
    int64_t memory = r->engine->state->nodes.items[id_of(r, rank)].gpu_memory_mib;

    node->spare = -1;
    for (uint32_t i = 0; i < node->changed->gpu_count; i++) {
        const struct rehearsal_gpu *gpu = &node->changed->gpus[i];
        if (is_shareable(gpu))
            node->spare = MAX(node->spare, memory - gpu->allocated + gpu->releasing);
    }
    if (node->spare >= 0)
        set_bit(r->sharing, rank);
    else
        clear_bit(r->sharing, rank);
}

static struct rehearsal_gpu *find_gpu(struct changed_node *copy, gpu_group id)
{
    for (uint32_t i = 0; i < copy->gpu_count; i++) {
        if (copy->gpus[i].id == id)
            return &copy->gpus[i];
    }
    return NULL;
}

/* The fullest that has memory left. */
static struct rehearsal_gpu *pick_gpu(const struct rehearsal *r, uint32_t rank, int64_t memory)
{
    const struct state *state = r->engine->state;
    struct changed_node *copy = r->nodes[rank].changed;
    int64_t all = state->nodes.items[id_of(r, rank)].gpu_memory_mib;
    struct rehearsal_gpu *best = NULL;

    for (uint32_t i = 0; i < copy->gpu_count; i++) {
        struct rehearsal_gpu *gpu = &copy->gpus[i];
        if (!is_shareable(gpu) || all - gpu->allocated + gpu->releasing < memory)
            continue;
        if (!best || gpu->used > best->used ||
            (gpu->used == best->used && gpu_group_precedes(state, gpu->id, best->id)))
            best = gpu;
    }
    return best;
}

/* ---- Evicting. ---- */

enum rehearsal_result rehearsal_evict(struct rehearsal *r, pod_id id)
{
    const struct state *state = r->engine->state;
    const struct pod *pod = &state->pods.items[id];
    const struct request *request = state_request(state, id);
    uint32_t rank = state->nodes.items[pod->node].rank;

    if (!state->nodes.items[pod->node].is_present || !status_in(pod->status, ACTIVE_ALLOCATED))
        return REHEARSAL_UNKNOWN;
    struct changed_node *copy = change(r, rank);
    if (!copy || (int64_t)r->nodes[rank].level + request->v[RES_GPU] / GPU_ONE >= LEVELS)
        return REHEARSAL_UNKNOWN;
    if (request->kind == REQUEST_REGULAR) {
        if (pod->accepted_gpu != request->v[RES_GPU])
            return REHEARSAL_UNKNOWN;
        release(r, rank, request, 1, pod->status == POD_PIPELINED);
        return REHEARSAL_DONE;
    }
    if (pod->status == POD_PIPELINED)
        return REHEARSAL_UNKNOWN;
    struct rehearsal_gpu *gpu = pod->groups.count == 1 ? find_gpu(copy, pod->groups.one) : NULL;
    if (!gpu || r->nodes[rank].level + 1 >= LEVELS)
        return REHEARSAL_UNKNOWN;
    release(r, rank, request, 1, false);
    gpu->releasing += request_memory_on(request, &state->nodes.items[pod->node]);
    if (gpu->releasing == gpu->used) {
        /* Whether an idle GPU is taken for it then depends on more than is known here. */
        if (r->nodes[rank].is_uneven)
            return REHEARSAL_UNKNOWN;
        release_gpu(r, rank, 1);
    }
    find_spare(r, rank);
    return REHEARSAL_DONE;
}

/* ---- Placing. ---- */

static bool fits(const struct rehearsal *r, uint32_t rank, const struct request *request, bool on_idle)
{
    const int64_t *idle;
    const int64_t *releasing;

    look(r, rank, &idle, &releasing);
    for (uint32_t d = 0; d < r->dims; d++) {
        int64_t need = d < request->v_count ? request->v[d] : 0;
        if (d == RES_GPU && request->kind == REQUEST_FRACTION)
            continue;
        if (need > idle[d] + (on_idle ? 0 : releasing[d]))
            return false;
    }
    return true;
}

static int64_t idle_gpus(const struct rehearsal *r, uint32_t rank)
{
    const int64_t *idle;
    const int64_t *releasing;

    look(r, rank, &idle, &releasing);
    return idle[RES_GPU];
}

/* The node with the least GPUs free of those in `bits` on which the pod fits what is idle; NO_ID: none. */
static uint32_t best_idle(const struct rehearsal *r, const struct request *request, int32_t gpus)
{
    uint32_t best = NO_ID;

    for (uint32_t w = 0; w < r->words; w++) {
        for (uint64_t bits = r->idling[w]; bits; bits &= bits - 1) {
            uint32_t rank = w * 64 + (uint32_t)__builtin_ctzll(bits);
            int32_t level = r->nodes[rank].level;
            if (level < gpus || (best != NO_ID && level >= r->nodes[best].level))
                continue;
            if (idle_gpus(r, rank) >= gpus * GPU_ONE && fits(r, rank, request, false) && fits(r, rank, request, true))
                best = rank;
        }
    }
    return best;
}

/* The best node on which the pod gets whole GPUs. */
static uint32_t best_whole(const struct rehearsal *r, const struct request *request, int32_t gpus)
{
    uint32_t idle = best_idle(r, request, gpus);

    for (int32_t level = gpus; idle == NO_ID && level < LEVELS; level++) {
        const uint64_t *row = r->by_level + (size_t)level * r->words;
        for (uint32_t w = 0; w < r->words && r->level_count[level] > 0; w++) {
            for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
                uint32_t rank = w * 64 + (uint32_t)__builtin_ctzll(bits);
                if (fits(r, rank, request, false))
                    return rank;
            }
        }
    }
    return idle;
}

/* The best node with a shared GPU that has memory left for the pod. */
static uint32_t best_shared(const struct rehearsal *r, const struct request *request)
{
    uint32_t best = NO_ID;
    bool best_fits_idle = false;

    for (uint32_t w = 0; w < r->words; w++) {
        for (uint64_t bits = r->sharing[w]; bits; bits &= bits - 1) {
            uint32_t rank = w * 64 + (uint32_t)__builtin_ctzll(bits);
            const struct rehearsal_node *node = &r->nodes[rank];
            if (node->spare < request_memory_on(request, &r->engine->state->nodes.items[id_of(r, rank)]) ||
                !fits(r, rank, request, false))
                continue;
            bool fits_idle = fits(r, rank, request, true);
            if (best == NO_ID || (fits_idle && !best_fits_idle) ||
                (fits_idle == best_fits_idle && node->level < r->nodes[best].level)) {
                best = rank;
                best_fits_idle = fits_idle;
            }
        }
    }
    return best;
}

bool rehearsal_has_whole(const struct rehearsal *r, int64_t gpus)
{
    for (int64_t level = MAX(gpus, INT64_C(1)); level < LEVELS; level++) {
        if (r->level_count[level] > 0)
            return true;
    }
    return false;
}

/* A pod that opens a GPU for sharing needs a place for one more. */
static bool has_pod_slots(const struct rehearsal *r, uint32_t rank)
{
    const int64_t *idle;
    const int64_t *releasing;

    look(r, rank, &idle, &releasing);
    return idle[RES_PODS] + releasing[RES_PODS] >= 2;
}

static enum rehearsal_result place_part(struct rehearsal *r, pod_id id)
{
    const struct state *state = r->engine->state;
    const struct request *request = state_request(state, id);
    uint32_t rank = best_shared(r, request);

    if (rank == NO_ID)
        rank = best_whole(r, request, 1);
    if (rank == NO_ID)
        return REHEARSAL_NO_ROOM;
    struct changed_node *copy = change(r, rank);
    if (!copy || !has_pod_slots(r, rank) || copy->gpu_count == SHARED_MAX)
        return REHEARSAL_UNKNOWN;
    int64_t memory = request_memory_on(request, &state->nodes.items[id_of(r, rank)]);
    struct rehearsal_gpu *gpu = pick_gpu(r, rank, memory);
    release(r, rank, request, -1, false);
    if (!gpu) {
        release_gpu(r, rank, -1);
        gpu = &copy->gpus[copy->gpu_count++];
        *gpu = (struct rehearsal_gpu){.id = gpu_group_fresh(state->fresh_groups + r->opened++)};
    }
    gpu->releasing -= memory;
    /* Back on its own GPU it has never left. */
    const struct pod *pod = &state->pods.items[id];
    bool is_back = pod->node == id_of(r, rank) && pod->groups.count == 1 && pod->groups.one == gpu->id;
    if (!is_back)
        gpu->used += memory;
    find_spare(r, rank);
    return REHEARSAL_DONE;
}

enum rehearsal_result rehearsal_place(struct rehearsal *r, pod_id id)
{
    const struct request *request = state_request(r->engine->state, id);

    if (request->kind == REQUEST_FRACTION)
        return place_part(r, id);
    uint32_t rank = best_whole(r, request, (int32_t)(request->v[RES_GPU] / GPU_ONE));
    if (rank == NO_ID)
        return REHEARSAL_NO_ROOM;
    if (!change(r, rank))
        return REHEARSAL_UNKNOWN;
    const struct pod *pod = &r->engine->state->pods.items[id];
    release(r, rank, request, -1, pod->status == POD_PIPELINED && pod->node == id_of(r, rank));
    return REHEARSAL_DONE;
}
