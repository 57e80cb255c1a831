/* SPDX-License-Identifier: Apache-2.0 */

/* Deltas of topologies and priority classes: short lists that keep their slots by name. */
#include "model/topology.h"

#include <errno.h>

#include "base/err.h"
#include "model/parts.h"

enum { DEFAULT_PRIORITY = 50 };  // KAI: of a gang whose class is not there, when no class is the default

int state_put_topology(struct state *state, const struct topology_spec *spec, struct err *err)
{
    if (is_empty(spec->name))
        return err_set(err, -EINVAL, "a topology needs a name");
    if (spec->level_count > TOPOLOGY_LEVELS_MAX)
        return err_set(err, -EINVAL, "topology '%s': %zu levels; at most %d are supported", spec->name,
                       spec->level_count, TOPOLOGY_LEVELS_MAX);
    for (size_t i = 0; i < spec->level_count; i++)
        if (is_empty(spec->levels[i].key))
            return err_set(err, -EINVAL, "topology '%s': level %zu names no node label", spec->name, i);

    name_id name = name_add(state, spec->name);
    topology_id id = map_find(&state->topology_by_name, name);
    if (id == NO_ID) {
        id = state->topologies.len;
        vec_push(&state->topologies, (struct topology){0});
        map64_put(&state->topology_by_name, name, id);
    }
    struct topology *topology = &state->topologies.items[id];
    *topology = (struct topology){.name = name, .is_present = true, .level_count = (uint32_t)spec->level_count};
    for (uint32_t i = 0; i < topology->level_count; i++) {
        topology->levels[i] = name_add(state, spec->levels[i].key);
        topology->aliases[i] = name_add(state, spec->levels[i].value);
    }
    state->changes.topologies = true;
    tap_tell(state, DELTA_PUT_TOPOLOGY, spec);
    return 0;
}

void state_drop_topology(struct state *state, const char *name)
{
    name_id name_of;

    if (!name_find(state, name, &name_of))
        return;
    topology_id id = state_find_topology(state, name_of);
    if (id == NO_ID)
        return;
    state->topologies.items[id].is_present = false;
    state->changes.topologies = true;
    tap_name(state, DELTA_DROP_TOPOLOGY, NULL, name);
}

static struct priority_class *find_class(const struct state *state, const char *name)
{
    name_id name_of;

    if (is_empty(name) || !name_find(state, name, &name_of))
        return NULL;
    vec_foreach (&state->priority_classes, class)
        if (class->name == name_of)
            return class;
    return NULL;
}

int state_put_priority_class(struct state *state, const char *name, int32_t value, bool is_default, struct err *err)
{
    if (is_empty(name))
        return err_set(err, -EINVAL, "a priority class needs a name");
    struct priority_class *class = find_class(state, name);
    struct priority_class new = {name_add(state, name), value, is_default};

    if (class)
        *class = new;
    else
        vec_push(&state->priority_classes, new);
    tap_tell(state, DELTA_PUT_PRIORITY_CLASS, &(struct priority_class_spec){name, value, is_default});
    return 0;
}

void state_drop_priority_class(struct state *state, const char *name)
{
    const struct priority_class *class = find_class(state, name);

    if (class)
        vec_swap_remove(&state->priority_classes, (uint32_t)(class - state->priority_classes.items));
    tap_name(state, DELTA_DROP_PRIORITY_CLASS, NULL, name);
}

int32_t state_priority(const struct state *state, const char *name)
{
    const struct priority_class *class = find_class(state, name);

    if (class)
        return class->value;
    /* Of several default classes the lowest counts, as in Kubernetes. */
    vec_foreach (&state->priority_classes, at)
        if (at->is_default && (!class || at->value < class->value))
            class = at;
    return class ? class->value : DEFAULT_PRIORITY;
}
