/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Resource claims. A claim that pods name has a slot from then on, present or not, and knows those pods: what they ask
 * for in GPUs depends on it.
 */
#include "model/devices/claim.h"

#include <errno.h>
#include <strings.h>

#include "base/err.h"
#include "model/devices/keep_internal.h"
#include "model/parts.h"

enum { LIST_MAX = 1 << 16, SHARE_AMOUNTS_MAX = 1024 };

bool name_says_gpu(const char *name)
{
    for (; *name; name++)
        if (strncasecmp(name, "gpu", 3) == 0)
            return true;
    return false;
}

uint32_t claim_slot(struct state *state, name_id namespace, name_id name)
{
    uint64_t key = name_pair(namespace, name);
    uint32_t id = map_find(&state->claim_by_name, key);

    if (id != NO_ID)
        return id;
    id = slot_take(&state->claims, &state->unused_claims);
    state->claims.items[id].name = name;
    state->claims.items[id].namespace = namespace;
    map64_put(&state->claim_by_name, key, id);
    return id;
}

static void free_if_unused(struct state *state, uint32_t id)
{
    struct claim *claim = &state->claims.items[id];

    if (claim->is_present || claim->users.len > 0)
        return;
    vec_done(&claim->users);
    claim->is_plan = false;
    map64_remove(&state->claim_by_name, name_pair(claim->namespace, claim->name));
    claim->name = 0;
    claim->namespace = 0;
    vec_push(&state->unused_claims, id);
}

/* What the devices' shares take, one after the other, as one list. */
static struct device_amount *join_amounts(struct state *state, const struct claim_spec *spec, uint32_t *ret_count)
{
    size_t count = 0;
    uint32_t at = 0;

    for (size_t i = 0; i < spec->device_count; i++)
        count += spec->devices[i].amount_count;
    struct device_amount *amounts = count ? xcalloc(count, sizeof *amounts) : NULL;
    for (size_t i = 0; amounts && i < spec->device_count; i++)
        for (size_t k = 0; k < spec->devices[i].amount_count; k++) {
            const struct device_amount *from = &spec->devices[i].amounts[k];

            amounts[at++] =
                (struct device_amount){state_name(state, name_add(state, from->name)),
                                       state_name(state, name_add(state, from->text)), from->whole, from->nano};
        }
    *ret_count = at;
    return amounts;
}

static void set_lists(struct state *state, struct claim *claim, const struct claim_spec *spec)
{
    struct device *devices = spec->device_count ? xcalloc(spec->device_count, sizeof *devices) : NULL;
    name_id *reserved = spec->reserved_count ? xcalloc(spec->reserved_count, sizeof *reserved) : NULL;
    uint32_t amount_count;
    struct device_amount *amounts = join_amounts(state, spec, &amount_count);
    uint32_t at = 0;

    for (size_t i = 0; i < spec->device_count; i++) {
        devices[i].driver = name_add(state, spec->devices[i].driver);
        devices[i].pool = name_add(state, spec->devices[i].pool);
        devices[i].name = name_add(state, spec->devices[i].device);
        devices[i].request = name_add(state, spec->devices[i].request);
        devices[i].is_admin = spec->devices[i].is_admin;
        devices[i].is_share = spec->devices[i].is_share;
        devices[i].first_amount = at;
        devices[i].amount_count = (uint32_t)spec->devices[i].amount_count;
        at += devices[i].amount_count;
    }
    for (size_t i = 0; i < spec->reserved_count; i++)
        reserved[i] = name_add(state, spec->reserved_for[i]);
    state_discard(state, claim->own_devices);
    state_discard(state, claim->own_reserved);
    state_discard(state, claim->own_amounts);
    claim->own_devices = devices;
    claim->own_reserved = reserved;
    claim->own_amounts = amounts;
    claim->devices = devices;
    claim->reserved_for = reserved;
    claim->amounts = amounts;
    claim->amount_count = amount_count;
    claim->device_count = (uint32_t)spec->device_count;
    claim->reserved_count = (uint32_t)spec->reserved_count;
    claim->lists_are_owned = 1;
}

static void empty(struct state *state, struct claim *claim)
{
    static const struct claim_spec nothing = {0};

    claim->is_present = false;
    claim->is_allocated = 0;
    claim->count = 0;
    claim->device_class = 0;
    claim->has_charge = false;
    claim->charge_clock = 0;
    claim->labels = 0;
    set_lists(state, claim, &nothing);
    state_discard(state, claim->kept_ask);
    claim->kept_ask = NULL;
    claim->ask = (struct claim_ask){0};
}

void claim_add_user(struct state *state, uint32_t id, pod_id pod)
{
    vec_push(&state->claims.items[id].users, pod);
}

void claim_remove_user(struct state *state, uint32_t id, pod_id pod)
{
    struct claim *claim = &state->claims.items[id];

    for (uint32_t i = claim->users.len; i-- > 0;)
        if (claim->users.items[i] == pod) {
            vec_swap_remove(&claim->users, i);
            break;
        }
    if (claim->is_plan && claim->users.len == 0)
        empty(state, claim);
    free_if_unused(state, id);
}

static int64_t claimed_gpus(const struct state *state, const struct pod *pod)
{
    int64_t gpus = 0;

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        if (pod->claims[i].claim == NO_ID)
            continue;
        const struct claim *claim = &state->claims.items[pod->claims[i].claim];
        if (claim->is_gpu)
            gpus = MIN(gpus + claim->count, AMOUNT_MAX / GPU_ONE);
    }
    return gpus * GPU_ONE;
}

/* What quotas are charged for the pod's claims above the GPUs that they count with; below 0 for parts of GPUs. */
static int64_t claimed_parts(const struct state *state, const struct pod *pod)
{
    int64_t parts = 0;

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        if (pod->claims[i].claim == NO_ID)
            continue;
        const struct claim *claim = &state->claims.items[pod->claims[i].claim];
        if (claim->has_charge)
            parts += claim->charge - (claim->is_gpu ? MIN(claim->count, AMOUNT_MAX / GPU_ONE) * GPU_ONE : 0);
    }
    return parts;
}

void pod_refresh_request(struct state *state, pod_id id)
{
    const struct pod *pod = &state->pods.items[id];
    int64_t dra_gpus = claimed_gpus(state, pod);
    /* Nothing is charged less than its parts: sums that went beyond the limit have been cut. */
    int64_t dra_parts = MAX(claimed_parts(state, pod), -dra_gpus);
    request_id request = request_with_dra(state, pod->request, dra_gpus, dra_parts);

    if (state->pods.items[id].request == request)
        return;
    pod_uncharge(state, id);
    state->pods.items[id].request = request;
}

uint32_t pod_gpu_devices(const struct state *state, pod_id id, struct device *ret_devices)
{
    const struct pod *pod = &state->pods.items[id];
    uint32_t count = 0;

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        if (pod->claims[i].claim == NO_ID)
            continue;
        const struct claim *claim = &state->claims.items[pod->claims[i].claim];
        for (uint32_t d = 0; claim->is_allocated && !claim->is_synthetic && d < claim->device_count; d++) {
            if (!name_says_gpu(state_name(state, claim->devices[d].driver)))
                continue;
            if (ret_devices)
                ret_devices[count] = claim->devices[d];
            count++;
        }
    }
    return count;
}

/* The claim came, went or changed: what its pods ask for and hold may have, too. */
static void refresh_users(struct state *state, uint32_t id)
{
    const struct claim *claim = &state->claims.items[id];

    vec_foreach (&claim->users, user) {
        struct pod *pod = &state->pods.items[*user];
        struct pod_claim *claims = (struct pod_claim *)(uintptr_t)pod->claims;

        for (uint32_t i = 0; i < pod->claim_count; i++)
            if (claims[i].slot == id)
                claims[i].claim = claim->is_present ? id : NO_ID;
        pod_refresh_request(state, *user);
        pod_touch(state, *user);
        if (pod->listed_node != NO_ID)
            node_mark_stale(state, pod->listed_node);
    }
}

static bool is_reserved_for(const struct claim *claim, name_id uid)
{
    for (uint32_t i = 0; i < claim->reserved_count; i++)
        if (claim->reserved_for[i] == uid)
            return true;
    return false;
}

void claim_leave(struct state *state, uint32_t id, name_id uid)
{
    struct claim *claim = &state->claims.items[id];
    uint32_t kept = 0;

    if (!is_reserved_for(claim, uid))
        return;
    claim_own_lists(state, id);
    for (uint32_t i = 0; claim->own_reserved && i < claim->reserved_count; i++)
        if (claim->own_reserved[i] != uid)
            claim->own_reserved[kept++] = claim->own_reserved[i];
    claim->reserved_count = kept;
    if (kept == 0) {
        claim->is_allocated = 0;
        claim->device_count = 0;
    }
    refresh_users(state, id);
}

void claims_leave(struct state *state, pod_id id)
{
    const struct pod *pod = &state->pods.items[id];

    for (uint32_t i = 0; i < pod->claim_count; i++)
        if (pod->claims[i].claim != NO_ID)
            claim_leave(state, pod->claims[i].claim, pod->uid);
}

static int check(const struct claim_spec *spec, struct err *err)
{
    if (is_empty(spec->name))
        return err_set(err, -EINVAL, "a resource claim needs a name");
    if (spec->count < 0)
        return err_set(err, -EINVAL, "resource claim '%s': it requests %lld devices; must not be negative", spec->name,
                       (long long)spec->count);
    if (spec->device_count > LIST_MAX || spec->reserved_count > LIST_MAX)
        return err_set(err, -EINVAL, "resource claim '%s': more than %d devices or pods", spec->name, LIST_MAX);
    for (size_t i = 0; i < spec->device_count; i++)
        if (spec->devices[i].amount_count > SHARE_AMOUNTS_MAX)
            return err_set(err, -EINVAL, "resource claim '%s': device %s has more than %d capacities", spec->name,
                           spec->devices[i].device, SHARE_AMOUNTS_MAX);
    return 0;
}

void state_charge_claim(struct state *state, uint32_t id, int64_t charge)
{
    struct claim *claim = &state->claims.items[id];
    bool has_charge = charge >= 0;

    BUG_ON(state->undo.is_recording);
    claim->charge_clock = state->device_clock + 1;
    claim->charged_devices = claim->is_allocated ? claim->device_count + 1 : 0;
    if (claim->has_charge == has_charge && (!has_charge || claim->charge == charge))
        return;
    claim->has_charge = has_charge;
    claim->charge = has_charge ? MIN(charge, AMOUNT_MAX) : 0;
    refresh_users(state, id);
}

int state_put_claim(struct state *state, const struct claim_spec *spec, struct err *err)
{
    int r = check(spec, err);

    BUG_ON(state->undo.is_recording);
    if (r < 0)
        return r;
    uint32_t id = claim_slot(state, name_add(state, spec->namespace), name_add(state, spec->name));
    labels_id labels = labels_add(state, spec->labels, spec->label_count);
    struct claim *claim = &state->claims.items[id];

    claim->is_present = true;
    claim->is_gpu = !spec->is_synthetic && !is_empty(spec->device_class) && name_says_gpu(spec->device_class);
    claim->is_synthetic = spec->is_synthetic;
    claim->device_class = name_add(state, spec->device_class);
    claim->labels = labels;
    claim->count = CLAMP(spec->count, INT64_C(1), AMOUNT_MAX);
    claim->is_allocated = spec->is_allocated;
    claim->charge_clock = 0;
    set_lists(state, claim, spec);
    /* The spec may say again what the state says: the new copy is made before the old one goes. */
    void *old_ask = claim->kept_ask;
    claim->kept_ask = claim_ask_keep(state, &spec->ask, &claim->ask);
    state_discard(state, old_ask);
    refresh_users(state, id);
    tap_tell(state, DELTA_PUT_CLAIM, spec);
    return 0;
}

void state_drop_claim(struct state *state, const char *namespace, const char *name)
{
    name_id namespace_id;
    name_id id_of_name;

    BUG_ON(state->undo.is_recording);
    if (!name_find(state, namespace, &namespace_id) || !name_find(state, name, &id_of_name))
        return;
    uint32_t id = map_find(&state->claim_by_name, name_pair(namespace_id, id_of_name));
    if (id == NO_ID || !state->claims.items[id].is_present)
        return;
    empty(state, &state->claims.items[id]);
    refresh_users(state, id);
    free_if_unused(state, id);
    tap_name(state, DELTA_DROP_CLAIM, namespace, name);
}

void claim_own_lists(struct state *state, uint32_t id)
{
    struct claim *claim = &state->claims.items[id];

    if (!claim->is_present)
        return;
    if (claim->devices != claim->own_devices) {
        struct device *copy = claim->device_count ? xcalloc(claim->device_count, sizeof *copy) : NULL;

        if (copy)
            memcpy(copy, claim->devices, claim->device_count * sizeof *copy);
        state_discard(state, claim->own_devices);
        claim->own_devices = copy;
        claim->devices = copy;
    }
    if (claim->amounts != claim->own_amounts) {
        struct device_amount *copy = claim->amount_count ? xcalloc(claim->amount_count, sizeof *copy) : NULL;

        if (copy)
            memcpy(copy, claim->amounts, claim->amount_count * sizeof *copy);
        state_discard(state, claim->own_amounts);
        claim->own_amounts = copy;
        claim->amounts = copy;
    }
    if (claim->reserved_for != claim->own_reserved) {
        name_id *copy = claim->reserved_count ? xcalloc(claim->reserved_count, sizeof *copy) : NULL;

        if (copy)
            memcpy(copy, claim->reserved_for, claim->reserved_count * sizeof *copy);
        state_discard(state, claim->own_reserved);
        claim->own_reserved = copy;
        claim->reserved_for = copy;
    }
    claim->lists_are_owned = 1;
    refresh_users(state, id);
}
