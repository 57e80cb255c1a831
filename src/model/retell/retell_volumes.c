/* SPDX-License-Identifier: Apache-2.0 */

/* Volume claims said again, with the nodes for which their volumes could not be made. */
#include "model/retell/retell_internal.h"
#include "model/state.h"

static struct volume_spec spec_of(struct copier *c, const struct volume *volume)
{
    return (struct volume_spec){
        .namespace = copy_name(c, volume->namespace),
        .name = copy_name(c, volume->name),
        .is_bound = volume->is_bound,
        .is_lost = volume->is_lost,
        .waits_for_consumer = volume->waits_for_consumer,
        .node_terms = copy_selectors(c, volume->node_terms, volume->node_term_count),
        .node_term_count = volume->node_term_count,
        .is_for_one_pod = volume->is_for_one_pod,
        .driver = copy_name(c, volume->driver),
        .handle = copy_name(c, volume->handle),
        .class = copy_name(c, volume->class),
        .made_for = copy_name(c, volume->made_for),
        .made_terms = copy_selectors(c, volume->made_terms, volume->made_term_count),
        .made_term_count = volume->made_term_count,
        .needs_storage = volume->needs_storage,
        .bytes = volume->bytes,
    };
}

/* Being made for a node and then not any more is how the state learns that it was in vain. */
static void say_in_vain(const struct copier *c, struct volume_spec spec, name_id node)
{
    spec.made_for = copy_name(c, node);
    copy_say(c, DELTA_PUT_VOLUME, &spec);
    spec.made_for = NULL;
    copy_say(c, DELTA_PUT_VOLUME, &spec);
}

void copy_volumes(struct copier *c)
{
    vec_foreach (&c->from->volumes, volume) {
        struct volume_spec spec = spec_of(c, volume);

        for (int i = 0; volume->is_present && i < VOLUME_FAILED_MAX; i++)
            if (volume->failed_for[i] != 0)
                say_in_vain(c, spec, volume->failed_for[i]);
        if (volume->is_present)
            copy_say(c, DELTA_PUT_VOLUME, &spec);
        arena_clear(&c->scratch);
    }
}

static void fail_volume(struct copier *c, name_id namespace, name_id name, name_id node)
{
    uint64_t at;

    if (!map64_get(&c->from->volume_by_name, (uint64_t)namespace << 32 | name, &at))
        return;
    const struct volume *volume = &c->from->volumes.items[at];
    /* One that is still being made is waited for; whoever gives it up says so. */
    if (volume->is_present && !volume->is_bound && volume->waits_for_consumer && volume->made_for == 0)
        say_in_vain(c, spec_of(c, volume), node);
}

void state_fail_volumes(struct state *state, pod_id id, name_id node)
{
    const struct retell_change nothing = RETELL_CHANGE_INIT(NO_ID);
    struct copier c = {.from = state, .fn = retell_put, .arg = state, .change = &nothing};
    const struct pod *pod = &state->pods.items[id];
    const struct constraints *own = state_constraints(state, id);
    uint32_t count = own->volume_claim_count;

    /* The constraints may move when claims are put. */
    for (uint32_t i = 0; i < count; i++)
        fail_volume(&c, pod->namespace, state_constraints(state, id)->volume_claims[i], node);
    arena_done(&c.scratch);
}
