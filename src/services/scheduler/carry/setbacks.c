/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/carry/setbacks.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "kube/client/backoff.h"
#include "services/scheduler/context.h"

#define FIRST NSEC_PER_SEC
#define MAX_WAIT (60 * NSEC_PER_SEC)
#define CONFLICT_FIRST (50 * NSEC_PER_MSEC)
#define CONFLICT_MAX NSEC_PER_SEC

struct setback {
    name_id node;
    struct backoff backoff;
    nsec_t until;  // monotonic
    /* Of the pod, as it was. Labels are not in it: an attempt that fails may have put one on and taken it off. */
    name_id uid;
    request_id request;
    constraints_id constraints;
};

static struct setback *find(const struct scheduler *s, enum setback_kind kind, object_key key)
{
    uint64_t value = 0;

    return map64_get(&s->setbacks.by_pod[kind], key, &value) ? (struct setback *)(uintptr_t)value : NULL;
}

static void forget(struct scheduler *s, enum setback_kind kind, object_key key)
{
    free(find(s, kind, key));
    (void)map64_remove(&s->setbacks.by_pod[kind], key);
}

void setbacks_done(struct setbacks *setbacks)
{
    for (int kind = 0; kind < _SETBACK_MAX; kind++) {
        uint64_t key, value;

        for (size_t cursor = 0; map64_next(&setbacks->by_pod[kind], &cursor, &key, &value);)
            free((struct setback *)(uintptr_t)value);
        map64_done(&setbacks->by_pod[kind]);
    }
}

static bool is_about(const struct setback *setback, const struct pod *pod)
{
    return setback->uid == pod->uid && setback->request == pod->request && setback->constraints == pod->constraints;
}

nsec_t setback_note(struct scheduler *s, enum setback_kind kind, object_key key, name_id node, bool is_conflict,
                    nsec_t now)
{
    pod_id id = key_pod(s->state, key);
    struct setback *setback = find(s, kind, key);

    if (id == NO_ID)
        return 0;
    const struct pod *pod = &s->state->pods.items[id];
    if (setback && !is_about(setback, pod)) {
        forget(s, kind, key);
        setback = NULL;
    }
    if (!setback) {
        setback = xcalloc(1, sizeof *setback);
        *setback = (struct setback){
            .uid = pod->uid,
            .request = pod->request,
            .constraints = pod->constraints,
        };
        map64_put(&s->setbacks.by_pod[kind], key, (uint64_t)(uintptr_t)setback);
    }
    setback->backoff.first = is_conflict ? CONFLICT_FIRST : FIRST;
    setback->backoff.max = is_conflict ? CONFLICT_MAX : MAX_WAIT;
    nsec_t wait = backoff_next(&setback->backoff, 0);
    setback->node = node;
    setback->until = now + wait;
    return wait;
}

nsec_t setback_wait(const struct scheduler *s, enum setback_kind kind, pod_id id, nsec_t now)
{
    const struct pod *pod = &s->state->pods.items[id];
    const struct setback *setback = find(s, kind, key_of(pod->namespace, pod->name));

    return setback && is_about(setback, pod) ? MAX(setback->until - now, (nsec_t)0) : 0;
}

/* Bound, or leaving: what failed has come about, by us or by others. */
static bool has_come_about(enum setback_kind kind, const struct pod *pod)
{
    if (kind == SETBACK_EVICT)
        return pod->deleted != 0;
    return pod->status != POD_PENDING && pod->status != POD_BINDING;
}

void setbacks_look_at_pod(struct scheduler *s, object_key key)
{
    pod_id id = key_pod(s->state, key);

    for (int kind = 0; kind < _SETBACK_MAX; kind++) {
        const struct setback *setback = find(s, (enum setback_kind)kind, key);

        if (setback && (id == NO_ID || !is_about(setback, &s->state->pods.items[id]) ||
                        has_come_about((enum setback_kind)kind, &s->state->pods.items[id])))
            forget(s, (enum setback_kind)kind, key);
    }
}

void setbacks_forget_node(struct scheduler *s, name_id node)
{
    for (int kind = 0; kind < _SETBACK_MAX; kind++) {
        VEC(object_key) keys = {0};
        uint64_t key, value;

        for (size_t cursor = 0; map64_next(&s->setbacks.by_pod[kind], &cursor, &key, &value);) {
            if (((struct setback *)(uintptr_t)value)->node == node)
                vec_push(&keys, key);
        }
        vec_foreach (&keys, at)
            forget(s, (enum setback_kind)kind, *at);
        vec_done(&keys);
    }
}
