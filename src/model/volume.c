/* SPDX-License-Identifier: Apache-2.0 */

/* Deltas of volume claims and config maps. */
#include "model/volume.h"

#include <errno.h>

#include "base/err.h"
#include "model/parts.h"

int state_put_volume(struct state *state, const struct volume_spec *spec, struct err *err)
{
    struct constraints_spec terms = {.node_terms = spec->node_terms, .node_term_count = spec->node_term_count};

    if (is_empty(spec->name))
        return err_set(err, -EINVAL, "a volume claim needs a name");
    name_id namespace = name_add(state, spec->namespace);
    name_id name = name_add(state, spec->name);
    uint32_t id = map_find(&state->volume_by_name, name_pair(namespace, name));
    if (id == NO_ID) {
        id = slot_take(&state->volumes, &state->unused_volumes);
        map64_put(&state->volume_by_name, name_pair(namespace, name), id);
    }
    /* Interned like a pod's terms: a claim that is put again and again takes no more memory. */
    constraints_id terms_id = constraints_add(state, &terms);
    const struct constraints *kept = &state->constraints.items[terms_id];
    state->volumes.items[id] = (struct volume){
        .name = name,
        .namespace = namespace,
        .is_present = true,
        .is_bound = spec->is_bound,
        .is_lost = spec->is_lost,
        .waits_for_consumer = spec->waits_for_consumer,
        .node_terms = kept->node_terms,
        .node_term_count = kept->node_term_count,
    };
    tap_tell(state, DELTA_PUT_VOLUME, spec);
    return 0;
}

void state_drop_volume(struct state *state, const char *namespace, const char *name)
{
    name_id namespace_id;
    name_id name_of;

    if (!name_find(state, namespace, &namespace_id) || !name_find(state, name, &name_of))
        return;
    uint64_t key = name_pair(namespace_id, name_of);
    uint32_t id = map_find(&state->volume_by_name, key);
    if (id == NO_ID)
        return;
    map64_remove(&state->volume_by_name, key);
    state->volumes.items[id] = (struct volume){0};
    vec_push(&state->unused_volumes, id);
    tap_name(state, DELTA_DROP_VOLUME, namespace, name);
}

void state_put_config_map(struct state *state, const char *namespace, const char *name)
{
    name_id namespace_id = name_add(state, namespace);

    map64_put(&state->config_maps, name_pair(namespace_id, name_add(state, name)), 1);
    tap_name(state, DELTA_PUT_CONFIG_MAP, namespace, name);
}

void state_drop_config_map(struct state *state, const char *namespace, const char *name)
{
    name_id namespace_id;
    name_id name_of;

    if (name_find(state, namespace, &namespace_id) && name_find(state, name, &name_of))
        (void)map64_remove(&state->config_maps, name_pair(namespace_id, name_of));
    tap_name(state, DELTA_DROP_CONFIG_MAP, namespace, name);
}
