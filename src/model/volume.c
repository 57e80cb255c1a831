/* SPDX-License-Identifier: Apache-2.0 */

/* Deltas of volume claims, of room for volumes, and of config maps. */
#include "model/volume.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "model/parts.h"

/* Interned like a pod's terms: what is put again and again takes no more memory. */
static const struct constraints *keep_terms(struct state *state, const struct selector_spec *terms, size_t count)
{
    struct constraints_spec spec = {.node_terms = terms, .node_term_count = count};

    constraints_id id = constraints_add(state, &spec);

    return &state->constraints.items[id];
}

/* A volume that was being made for a node, and is neither there nor being made any more, could not be made for it. */
static void note_failure(struct volume *volume, const struct volume *before)
{
    int kept = 0;

    if (volume->is_bound || !before->is_present)
        return;
    bool has_failed = before->made_for != 0 && volume->made_for == 0;
    for (int i = 0; i < VOLUME_FAILED_MAX; i++)
        if (before->failed_for[i] != 0 && !(has_failed && before->failed_for[i] == before->made_for))
            volume->failed_for[kept++] = before->failed_for[i];
    if (!has_failed)
        return;
    if (kept == VOLUME_FAILED_MAX) {
        kept--;
        memmove(volume->failed_for, volume->failed_for + 1, (size_t)kept * sizeof *volume->failed_for);
    }
    volume->failed_for[kept] = before->made_for;
}

int state_put_volume(struct state *state, const struct volume_spec *spec, struct err *err)
{
    if (is_empty(spec->name))
        return err_set(err, -EINVAL, "a volume claim needs a name");
    if (spec->bytes < 0)
        return err_set(err, -EINVAL, "volume claim '%s' asks for a negative amount", spec->name);
    name_id namespace = name_add(state, spec->namespace);
    name_id name = name_add(state, spec->name);
    uint32_t id = map_find(&state->volume_by_name, name_pair(namespace, name));
    if (id == NO_ID) {
        id = slot_take(&state->volumes, &state->unused_volumes);
        map64_put(&state->volume_by_name, name_pair(namespace, name), id);
    }
    struct volume volume = {
        .name = name,
        .namespace = namespace,
        .is_present = true,
        .is_bound = spec->is_bound,
        .is_lost = spec->is_lost,
        .waits_for_consumer = spec->waits_for_consumer,
        .is_for_one_pod = spec->is_for_one_pod,
        .needs_storage = spec->needs_storage,
        .driver = name_add(state, spec->driver),
        .handle = name_add(state, spec->handle),
        .class = name_add(state, spec->class),
        .made_for = name_add(state, spec->made_for),
        .bytes = spec->bytes,
    };
    const struct constraints *kept = keep_terms(state, spec->node_terms, spec->node_term_count);
    volume.node_terms = kept->node_terms;
    volume.node_term_count = kept->node_term_count;
    kept = keep_terms(state, spec->made_terms, spec->made_term_count);
    volume.made_terms = kept->node_terms;
    volume.made_term_count = kept->node_term_count;
    note_failure(&volume, &state->volumes.items[id]);
    state->volumes.items[id] = volume;
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

int state_put_storage(struct state *state, const struct storage_spec *spec, struct err *err)
{
    if (is_empty(spec->name))
        return err_set(err, -EINVAL, "a storage capacity needs a name");
    if (spec->bytes < 0)
        return err_set(err, -EINVAL, "storage capacity '%s' is negative", spec->name);
    name_id namespace = name_add(state, spec->namespace);
    name_id name = name_add(state, spec->name);
    uint32_t id = map_find(&state->storage_by_name, name_pair(namespace, name));
    if (id == NO_ID) {
        id = slot_take(&state->storages, &state->unused_storages);
        map64_put(&state->storage_by_name, name_pair(namespace, name), id);
    }
    struct storage storage = {
        .name = name,
        .namespace = namespace,
        .is_present = true,
        .class = name_add(state, spec->class),
        .nodes = keep_terms(state, &spec->nodes, 1)->node_terms,
        .bytes = spec->bytes,
    };
    state->storages.items[id] = storage;
    tap_tell(state, DELTA_PUT_STORAGE, spec);
    return 0;
}

void state_drop_storage(struct state *state, const char *namespace, const char *name)
{
    name_id namespace_id;
    name_id name_of;

    if (!name_find(state, namespace, &namespace_id) || !name_find(state, name, &name_of))
        return;
    uint64_t key = name_pair(namespace_id, name_of);
    uint32_t id = map_find(&state->storage_by_name, key);
    if (id == NO_ID)
        return;
    map64_remove(&state->storage_by_name, key);
    state->storages.items[id] = (struct storage){0};
    vec_push(&state->unused_storages, id);
    tap_name(state, DELTA_DROP_STORAGE, namespace, name);
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
