/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/carry/setbacks.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "kube/client/backoff.h"

#define FIRST NSEC_PER_SEC
#define MAX_WAIT (60 * NSEC_PER_SEC)
#define CONFLICT_FIRST (50 * NSEC_PER_MSEC)
#define CONFLICT_MAX NSEC_PER_SEC

struct setback {
    struct list_link in_all;
    object_key key;
    enum setback_kind kind;
    name_id node;
    struct backoff backoff;
    nsec_t until;  // monotonic
    /* Of the pod, as it was. Labels are not in it: an attempt that fails may have put one on and taken it off. */
    name_id uid;
    request_id request;
    constraints_id constraints;
};

struct setbacks {
    const struct state *state;
    struct pod_notes *notes;
    struct list all;
};

struct setbacks *setbacks_new(const struct state *state, struct pod_notes *notes)
{
    struct setbacks *setbacks = xcalloc(1, sizeof *setbacks);

    *setbacks = (struct setbacks){.state = state, .notes = notes};
    return setbacks;
}

static struct setback *find(const struct setbacks *setbacks, enum setback_kind kind, object_key key)
{
    const struct pod_note *note = pod_note_find(setbacks->notes, key);

    return note ? note->setbacks[kind] : NULL;
}

static void forget(struct setbacks *setbacks, struct setback *setback)
{
    struct pod_note *note = pod_note_find(setbacks->notes, setback->key);

    list_remove(&setbacks->all, &setback->in_all);
    note->setbacks[setback->kind] = NULL;
    pod_note_settle(setbacks->notes, note);
    free(setback);
}

void setbacks_free(struct setbacks *setbacks)
{
    struct setback *setback;

    if (!setbacks)
        return;
    while ((setback = list_first(&setbacks->all, struct setback, in_all)))
        forget(setbacks, setback);
    free(setbacks);
}

size_t setbacks_len(const struct setbacks *setbacks)
{
    return setbacks->all.len;
}

static bool is_about(const struct setback *setback, const struct pod *pod)
{
    return setback->uid == pod->uid && setback->request == pod->request && setback->constraints == pod->constraints;
}

nsec_t setback_note(struct setbacks *setbacks, enum setback_kind kind, object_key key, name_id node, bool is_conflict,
                    nsec_t now)
{
    pod_id id = key_pod(setbacks->state, key);
    struct setback *setback = find(setbacks, kind, key);

    if (id == NO_ID)
        return 0;
    const struct pod *pod = &setbacks->state->pods.items[id];
    if (setback && !is_about(setback, pod)) {
        forget(setbacks, setback);
        setback = NULL;
    }
    if (!setback) {
        setback = xcalloc(1, sizeof *setback);
        *setback = (struct setback){
            .key = key,
            .kind = kind,
            .uid = pod->uid,
            .request = pod->request,
            .constraints = pod->constraints,
        };
        pod_note_put(setbacks->notes, key)->setbacks[kind] = setback;
        list_push(&setbacks->all, &setback->in_all);
    }
    setback->backoff.first = is_conflict ? CONFLICT_FIRST : FIRST;
    setback->backoff.max = is_conflict ? CONFLICT_MAX : MAX_WAIT;
    nsec_t wait = backoff_next(&setback->backoff, 0);
    setback->node = node;
    setback->until = now + wait;
    return wait;
}

nsec_t setback_wait(const struct setbacks *setbacks, enum setback_kind kind, pod_id id, nsec_t now)
{
    const struct pod *pod = &setbacks->state->pods.items[id];
    const struct setback *setback = find(setbacks, kind, key_of(pod->namespace, pod->name));

    return setback && is_about(setback, pod) ? MAX(setback->until - now, (nsec_t)0) : 0;
}

/* Bound, or leaving: what failed has come about, by us or by others. */
static bool has_come_about(enum setback_kind kind, const struct pod *pod)
{
    if (kind == SETBACK_EVICT)
        return pod->deleted != 0;
    return pod->status != POD_PENDING && pod->status != POD_BINDING;
}

void setbacks_look_at_pod(struct setbacks *setbacks, object_key key)
{
    pod_id id = key_pod(setbacks->state, key);

    for (int kind = 0; kind < _SETBACK_MAX; kind++) {
        struct setback *setback = find(setbacks, (enum setback_kind)kind, key);

        if (setback && (id == NO_ID || !is_about(setback, &setbacks->state->pods.items[id]) ||
                        has_come_about((enum setback_kind)kind, &setbacks->state->pods.items[id])))
            forget(setbacks, setback);
    }
}

void setbacks_forget_node(struct setbacks *setbacks, name_id node)
{
    struct list_link *next;

    for (struct list_link *link = setbacks->all.first; link; link = next) {
        struct setback *setback = list_item(link, struct setback, in_all);

        next = link->next;
        if (setback->node == node)
            forget(setbacks, setback);
    }
}
