/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Device classes, and resources that pods ask for while devices of a class serve them. Such a pod has a claim more than it
 * names: a plan with a request for each of these resources, which the state keeps for it from the start and the engine
 * gives devices to, until the real claim is made from it and the pod's status names that one.
 *
 * Where a device plugin hands a resource out, the node's capacity limits it; elsewhere the devices do, and the node's
 * books have as much of it as anybody may ask for.
 */
#include <stdio.h>

#include "base/strbuf.h"
#include "model/devices/claim.h"
#include "model/devices/keep_internal.h"
#include "model/parts.h"

/* No object has such a name. */
#define PLAN_SUFFIX "/extended-resources"

enum { PLAN_NAME_MAX = 512 };

static uint32_t find_class(const struct state *state, name_id name)
{
    for (uint32_t i = 0; i < state->device_classes.len; i++)
        if (state->device_classes.items[i].name == name)
            return i;
    return NO_ID;
}

const struct device_class *state_find_device_class(const struct state *state, name_id name)
{
    uint32_t at = find_class(state, name);

    return at == NO_ID ? NULL : &state->device_classes.items[at];
}

static bool goes_before(const struct state *state, const struct device_class *a, const struct device_class *b)
{
    if (a->created != b->created)
        return a->created > b->created;
    return strcmp(state_name(state, a->name), state_name(state, b->name)) < 0;
}

/* NULL: none serves it. */
static const struct device_class *class_of(const struct state *state, name_id resource)
{
    const struct device_class *found = NULL;

    vec_foreach (&state->device_classes, class) {
        if (resource == 0 || (class->resource != resource && class->also_resource != resource))
            continue;
        if (!found || goes_before(state, class, found))
            found = class;
    }
    return found;
}

bool state_class_serves(const struct state *state, uint32_t dim)
{
    return dim >= RES_FIXED && dim < RES_MAX && state->res.mig_slices[dim] == 0 &&
           class_of(state, state->res.name[dim]);
}

/* What a pod asks for as a resource and a class serves. */
struct served {
    name_id resource;
    uint32_t dim;
    int64_t count;
    const struct device_class *class;
};

static uint32_t served_of(const struct state *state, const struct pod *pod, struct served ret[static RES_MAX])
{
    const struct request *request = &state->requests.items[pod->request];
    uint32_t count = 0;

    if (request->kind == REQUEST_REGULAR && request->gpus > 0)
        ret[count++] = (struct served){pod->gpu_resource, RES_GPU, request->gpus / GPU_ONE, NULL};
    for (uint32_t d = RES_FIXED; d < request->v_count; d++)
        if (request->v[d] > 0 && state->res.mig_slices[d] == 0)
            ret[count++] = (struct served){state->res.name[d], d, request->v[d] / 1000, NULL};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        ret[i].class = class_of(state, ret[i].resource);
        if (ret[i].class)
            ret[kept++] = ret[i];
    }
    return kept;
}

static bool has_plugin(const struct state *state, node_id node, uint32_t dim)
{
    if (dim == RES_GPU)
        return state->nodes.items[node].plugin_gpus > 0;
    return state_books(state, node).allocatable[dim] > 0;
}

bool pod_needs_devices_on(const struct state *state, pod_id id, node_id node)
{
    struct served served[RES_MAX];
    uint32_t count = served_of(state, &state->pods.items[id], served);
    bool is_needed = count == 0 && state->nodes.items[node].plugin_gpus == 0;

    for (uint32_t i = 0; i < count; i++)
        is_needed |= !has_plugin(state, node, served[i].dim);
    return is_needed;
}

bool state_plugin_serves(const struct state *state, node_id node, const char *resource)
{
    uint32_t dim;

    return resources_find(&state->res, &state->names, resource, &dim) && has_plugin(state, node, dim);
}

static uint32_t plan_slot(struct state *state, const struct pod *pod)
{
    char name[PLAN_NAME_MAX];

    (void)snprintf(name, sizeof name, "%s" PLAN_SUFFIX, state_name(state, pod->name));
    return claim_slot(state, pod->namespace, name_add(state, name));
}

static void write_plan(struct state *state, uint32_t slot, const struct served *served, uint32_t count)
{
    struct device_ask asks[RES_MAX];
    struct device_request requests[RES_MAX];
    const struct claim_ask ask = {.requests = requests, .request_count = count};
    struct claim *claim = &state->claims.items[slot];

    for (uint32_t i = 0; i < count; i++) {
        asks[i] =
            (struct device_ask){.device_class = state_name(state, served[i].class->name), .count = served[i].count};
        requests[i] = (struct device_request){state_name(state, served[i].resource), &asks[i], 1};
    }
    claim->is_present = true;
    claim->is_plan = true;
    claim->is_synthetic = true;
    claim->device_class = served[0].class->name;
    claim->count = served[0].count;
    void *old = claim->kept_ask;
    claim->kept_ask = claim_ask_keep(state, &ask, &claim->ask);
    state_discard(state, old);
}

uint32_t extended_slot(struct state *state, pod_id id, const char *made)
{
    const struct pod *pod = &state->pods.items[id];
    struct served served[RES_MAX];

    if (!is_empty(made))
        return claim_slot(state, pod->namespace, name_add(state, made));
    uint32_t count = served_of(state, pod, served);
    if (count == 0)
        return NO_ID;
    uint32_t slot = plan_slot(state, pod);
    write_plan(state, slot, served, count);
    return slot;
}

/* The pod's links without the plan, and with the one that it has to have now. */
static void relink(struct state *state, pod_id id)
{
    struct pod *pod = &state->pods.items[id];
    struct served served[RES_MAX];
    uint32_t count = served_of(state, pod, served);
    struct pod_claim *links = (struct pod_claim *)(uintptr_t)pod->claims;
    struct pod_claim *last = pod->claim_count > 0 ? &links[pod->claim_count - 1] : NULL;
    bool has_link = last && last->is_extended;

    if (!has_link && count == 0)
        return;
    if (has_link && count > 0) {
        if (state->claims.items[last->slot].is_plan && !state->claims.items[last->slot].is_allocated)
            write_plan(state, last->slot, served, count);
    } else if (has_link) {
        /* Devices that it was given stay its own. */
        if (!state->claims.items[last->slot].is_plan || state->claims.items[last->slot].is_allocated)
            return;
        pod->claim_count--;
        claim_remove_user(state, last->slot, id);
    } else {
        uint32_t slot = extended_slot(state, id, NULL);

        links = xreallocarray(links, pod->claim_count + 1, sizeof *links);
        links[pod->claim_count++] =
            (struct pod_claim){.claim = slot, .slot = slot, .is_from_template = true, .is_extended = true};
        pod->claims = links;
        claim_add_user(state, slot, id);
    }
    pod_touch(state, id);
}

static uint64_t served_dims(const struct state *state)
{
    uint64_t dims = 0;

    for (uint32_t d = RES_FIXED; d < state->res.count; d++)
        dims |= (uint64_t)state_class_serves(state, d) << d;
    return dims;
}

/* After a class came, went or changed; `before` are the dimensions that classes served. */
static void relink_all(struct state *state, uint64_t before)
{
    for (pod_id id = 0; id < state->pods.len; id++)
        if (state->pods.items[id].is_present)
            relink(state, id);
    for (node_id id = 0; id < state->nodes.len && served_dims(state) != before; id++)
        if (state->nodes.items[id].is_present)
            node_mark_stale(state, id);
}

void state_put_device_class(struct state *state, const struct device_class_spec *spec)
{
    struct strbuf also;
    struct device_class class = {
        .name = name_add(state, spec->name),
        .resource = name_add(state, spec->resource),
        .driver = name_add(state, spec->driver),
        .created = spec->created,
    };
    uint64_t before = served_dims(state);

    BUG_ON(state->undo.is_recording);
    if (class.name == 0)
        return;
    strbuf_init(&also, PLAN_NAME_MAX);
    strbuf_addf(&also, "deviceclass.resource.kubernetes.io/%s", spec->name);
    class.also_resource = name_add(state, also.text);
    strbuf_done(&also);
    class.selector_count = (uint32_t)spec->selector_count;
    class.config_count = (uint32_t)spec->config_count;
    class.kept = class_keep(state, spec, &class.selectors, &class.configs);
    uint32_t at = find_class(state, class.name);
    if (at == NO_ID) {
        vec_push(&state->device_classes, class);
    } else {
        free(state->device_classes.items[at].kept);
        state->device_classes.items[at] = class;
    }
    state->device_clock++;
    relink_all(state, before);
    state->changes.requests = true;
    tap_tell(state, DELTA_PUT_DEVICE_CLASS, spec);
}

void state_drop_device_class(struct state *state, const char *name)
{
    uint64_t before = served_dims(state);
    name_id id;

    BUG_ON(state->undo.is_recording);
    if (!name_find(state, name, &id))
        return;
    uint32_t at = find_class(state, id);
    if (at == NO_ID)
        return;
    free(state->device_classes.items[at].kept);
    vec_swap_remove(&state->device_classes, at);
    state->device_clock++;
    relink_all(state, before);
    state->changes.requests = true;
    tap_name(state, DELTA_DROP_DEVICE_CLASS, NULL, name);
}
