/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Device classes, and GPUs that pods ask for as a resource while devices of a class serve it. Such a pod has a claim more
 * than it names: a plan, which the state keeps for it from the start and the engine gives devices to, until the real
 * claim is made from it and the pod's status names that one.
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

/* The class that serves what the pod asks for as a resource; NULL when none does, or it asks for nothing. */
static const struct device_class *class_of(const struct state *state, const struct pod *pod)
{
    const struct request *request = &state->requests.items[pod->request];
    const struct device_class *found = NULL;

    if (pod->gpu_resource == 0 || request->kind != REQUEST_REGULAR || request->gpus == 0)
        return NULL;
    vec_foreach (&state->device_classes, class) {
        if (class->resource != pod->gpu_resource && class->also_resource != pod->gpu_resource)
            continue;
        if (!found || goes_before(state, class, found))
            found = class;
    }
    return found;
}

static uint32_t plan_slot(struct state *state, const struct pod *pod)
{
    char name[PLAN_NAME_MAX];

    (void)snprintf(name, sizeof name, "%s" PLAN_SUFFIX, state_name(state, pod->name));
    return claim_slot(state, pod->namespace, name_add(state, name));
}

static void write_plan(struct state *state, uint32_t slot, const struct pod *pod, const struct device_class *class)
{
    struct claim *claim = &state->claims.items[slot];

    claim->is_present = true;
    claim->is_plan = true;
    claim->is_synthetic = true;
    claim->device_class = class->name;
    claim->count = state->requests.items[pod->request].gpus / GPU_ONE;
}

uint32_t extended_slot(struct state *state, pod_id id, const char *made)
{
    const struct pod *pod = &state->pods.items[id];
    const struct device_class *class = class_of(state, pod);

    if (!is_empty(made))
        return claim_slot(state, pod->namespace, name_add(state, made));
    if (!class)
        return NO_ID;
    uint32_t slot = plan_slot(state, pod);
    write_plan(state, slot, pod, class);
    return slot;
}

/* The pod's links without the plan, and with the one that it has to have now. */
static void relink(struct state *state, pod_id id)
{
    struct pod *pod = &state->pods.items[id];
    const struct device_class *class = class_of(state, pod);
    struct pod_claim *links = (struct pod_claim *)(uintptr_t)pod->claims;
    struct pod_claim *last = pod->claim_count > 0 ? &links[pod->claim_count - 1] : NULL;
    bool has_link = last && last->is_extended;

    if (!has_link && !class)
        return;
    if (has_link && class) {
        if (state->claims.items[last->slot].is_plan && !state->claims.items[last->slot].is_allocated)
            write_plan(state, last->slot, pod, class);
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

static void relink_all(struct state *state)
{
    for (pod_id id = 0; id < state->pods.len; id++)
        if (state->pods.items[id].is_present)
            relink(state, id);
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
    relink_all(state);
    state->changes.requests = true;
    tap_tell(state, DELTA_PUT_DEVICE_CLASS, spec);
}

void state_drop_device_class(struct state *state, const char *name)
{
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
    relink_all(state);
    state->changes.requests = true;
    tap_name(state, DELTA_DROP_DEVICE_CLASS, NULL, name);
}
