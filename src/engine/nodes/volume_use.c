/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Volumes and the pods that use them: claims that one pod alone may use (ReadWriteOncePod), and the number of volumes that
 * can be attached to a node. KAI looks at neither. As in Kubernetes, pods that are leaving use their volumes until they
 * have left; what waits for them is promised its place.
 */
#include <stdlib.h>

#include "base/strbuf.h"
#include "engine/context.h"
#include "engine/node_reason.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/pods/affinity.h"
#include "engine/nodes/volumes_internal.h"

static bool is_leaving(const struct held *held)
{
    return held->status == POD_RELEASING;
}

/* ReadWriteOncePod. */

static const struct volume *claim_at(const struct state *state, pod_id pod, uint32_t i)
{
    return volume_find(state, state->pods.items[pod].namespace, state_constraints(state, pod)->volume_claims[i]);
}

static bool has_claim(const struct state *state, pod_id pod, const struct volume *volume)
{
    const struct constraints *own = state_constraints(state, pod);

    if (own->volume_claim_count == 0 || state->pods.items[pod].namespace != volume->namespace)
        return false;
    for (uint32_t i = 0; i < own->volume_claim_count; i++) {
        if (own->volume_claims[i] == volume->name)
            return true;
    }
    return false;
}

/* Looks for other pods with the claim, on all nodes. */
static void find_users(struct volume_users *users, const struct state *state, pod_id pod, const struct volume *volume)
{
    vec_foreach (&state->nodes, node) {
        for (uint32_t h = node->first_held; h != NO_ID; h = state_held(state, h)->next) {
            const struct held *held = state_held(state, h);

            if (held->pod == pod || !has_claim(state, held->pod, volume))
                continue;
            if (is_leaving(held)) {
                users->is_left = true;
                continue;
            }
            users->claim = volume->name;
            users->pod = held->pod;
            return;
        }
    }
}

static const struct volume_users *users_of(struct engine *engine, pod_id pod)
{
    const struct state *state = engine->state;
    struct volume_users *users = &engine->affinity->users;

    if (!worked_out_is_old(&users->found_for, engine, pod))
        return users;
    users->pod = NO_ID;
    users->is_left = false;
    for (uint32_t i = 0; users->pod == NO_ID && i < state_constraints(state, pod)->volume_claim_count; i++) {
        const struct volume *volume = claim_at(state, pod, i);

        if (volume && volume->is_for_one_pod)
            find_users(users, state, pod, volume);
    }
    return users;
}

bool volumes_unused(struct engine *engine, pod_id pod, node_id node)
{
    (void)node;
    return users_of(engine, pod)->pod == NO_ID;
}

void name_volume_user(struct engine *engine, pod_id pod, node_id node, struct strbuf *out)
{
    const struct state *state = engine->state;
    const struct volume_users *users = users_of(engine, pod);

    (void)node;
    if (users->pod == NO_ID)
        return;
    const struct pod *user = &state->pods.items[users->pod];
    strbuf_addf(out, "claim %s is used by pod %s/%s", state_name(state, users->claim),
                state_name(state, user->namespace), state_name(state, user->name));
}

/* Limits of nodes. */

/* Volumes that have to be told from each other: by their names at the driver or, before they have one, by their claims. */
static uint64_t identity_of(const struct volume *volume)
{
    return volume->handle != 0 ? (uint64_t)NO_ID << 32 | volume->handle
                               : (uint64_t)volume->namespace << 32 | volume->name;
}

struct identities VEC_OF(uint64_t);

static void add_volumes(struct identities *ids, const struct state *state, pod_id pod, name_id driver)
{
    for (uint32_t i = 0; i < state_constraints(state, pod)->volume_claim_count; i++) {
        const struct volume *volume = claim_at(state, pod, i);

        if (volume && volume->driver == driver)
            vec_push(ids, identity_of(volume));
    }
}

static int compare_identities(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

static int64_t count_distinct(struct identities *ids)
{
    int64_t count = 0;

    if (ids->len > 1)
        qsort(ids->items, ids->len, sizeof *ids->items, compare_identities);
    for (uint32_t i = 0; i < ids->len; i++)
        count += i == 0 || ids->items[i] != ids->items[i - 1];
    return count;
}

/* Volumes of the driver on a node. */
struct attached {
    int64_t count;  // there, without the pod
    int64_t more;   // that the pod would add
};

static struct attached count_attached(const struct state *state, pod_id pod, const struct node *node, name_id driver,
                                      bool with_leaving)
{
    struct identities ids = {0};
    struct attached attached;

    for (uint32_t h = node->first_held; h != NO_ID; h = state_held(state, h)->next) {
        const struct held *held = state_held(state, h);

        if (held->pod != pod && (with_leaving || !is_leaving(held)))
            add_volumes(&ids, state, held->pod, driver);
    }
    attached.count = count_distinct(&ids);
    add_volumes(&ids, state, pod, driver);
    attached.more = count_distinct(&ids) - attached.count;
    vec_done(&ids);
    return attached;
}

static bool uses_driver(const struct state *state, pod_id pod, name_id driver)
{
    for (uint32_t i = 0; i < state_constraints(state, pod)->volume_claim_count; i++) {
        const struct volume *volume = claim_at(state, pod, i);

        if (volume && volume->driver == driver)
            return true;
    }
    return false;
}

/* The first limit of the node that the pod would go beyond; NULL when there is none. */
static const struct attach_limit *limit_reached(const struct state *state, pod_id pod, node_id id, bool with_leaving,
                                                struct attached *ret_attached)
{
    const struct node *node = &state->nodes.items[id];

    for (uint32_t i = 0; i < node->attach_limit_count; i++) {
        const struct attach_limit *limit = &node->attach_limits[i];

        if (!uses_driver(state, pod, limit->driver))
            continue;
        *ret_attached = count_attached(state, pod, node, limit->driver, with_leaving);
        if (ret_attached->more > 0 && ret_attached->count + ret_attached->more > limit->count)
            return limit;
    }
    return NULL;
}

bool volumes_within_limits(struct engine *engine, pod_id pod, node_id node)
{
    struct attached attached;

    return !limit_reached(engine->state, pod, node, false, &attached);
}

void name_attach_limit(struct engine *engine, pod_id pod, node_id node, struct strbuf *out)
{
    struct attached attached;
    const struct attach_limit *limit = limit_reached(engine->state, pod, node, false, &attached);

    if (limit)
        strbuf_addf(out, "driver %s: %lld more needed, %lld of %lld attached", state_name(engine->state, limit->driver),
                    (long long)attached.more, (long long)attached.count, (long long)limit->count);
}

bool volumes_wait(struct engine *engine, pod_id pod, node_id node)
{
    struct attached attached;

    if (state_constraints(engine->state, pod)->volume_claim_count == 0 || !engine_has(engine, PLUGIN_PREDICATES))
        return false;
    return users_of(engine, pod)->is_left || limit_reached(engine->state, pod, node, true, &attached);
}

/* Texts of Kubernetes, with what stands in the way. */

static void add_reason(const char *text, void (*name)(struct engine *, pod_id, node_id, struct strbuf *),
                       struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret)
{
    struct strbuf detail;

    strbuf_init(&detail, VOLUME_TEXT_MAX);
    strbuf_addf(&detail, "%s: ", text);
    name(engine, pod, node, &detail);
    ret->texts[ret->text_count++] = arena_strdup(arena, detail.text);
    strbuf_done(&detail);
}

void volume_use_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret)
{
    add_reason("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
               name_volume_user, engine, pod, node, arena, ret);
}

void attach_limit_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret)
{
    add_reason("node(s) exceed max volume count", name_attach_limit, engine, pod, node, arena, ret);
}
