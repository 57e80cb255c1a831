/* SPDX-License-Identifier: Apache-2.0 */

/* Claims said again, with what a change asks for. */
#include <string.h>

#include "model/retell/retell_internal.h"
#include "model/state.h"

static struct device_spec copy_device(struct copier *c, const struct claim *claim, const struct device *device)
{
    return (struct device_spec){
        .driver = copy_name(c, device->driver),
        .pool = copy_name(c, device->pool),
        .device = copy_name(c, device->name),
        .request = copy_name(c, device->request),
        .is_admin = device->is_admin != 0,
        .is_share = device->is_share != 0,
        .amounts = claim->amounts ? claim->amounts + device->first_amount : NULL,
        .amount_count = device->amount_count,
    };
}

/* Is the claim open, and of a waiting pod that the change is about? */
static bool claim_is_changed(const struct copier *c, const struct claim *claim)
{
    if (!c->change->claim_request || claim->is_allocated)
        return false;
    vec_foreach (&claim->users, user) {
        const struct pod *pod = &c->from->pods.items[*user];

        if (pod->gang == c->change->gang && pod->status == POD_PENDING)
            return true;
    }
    return false;
}

static struct device_request change_request(struct copier *c, const struct device_request *from,
                                            struct claim_spec *spec)
{
    struct device_ask *ask = ARENA_NEW(&c->scratch, struct device_ask);

    if (from->ask_count != 1 || strcmp(from->asks[0].full_name, c->change->claim_request) != 0)
        return *from;
    *ask = from->asks[0];
    if (c->change->claim_devices > 0) {
        /* It is the number of GPUs, which this request need not be for. */
        spec->count = MAX(spec->count - (ask->count - c->change->claim_devices), (int64_t)1);
        ask->count = c->change->claim_devices;
    }
    if (c->change->claim_class) {
        if (strcmp(spec->device_class, ask->device_class) == 0)
            spec->device_class = c->change->claim_class;
        ask->device_class = c->change->claim_class;
    }
    return (struct device_request){from->name, ask, 1};
}

static void change_claim(struct copier *c, struct claim_spec *spec)
{
    struct device_request *requests = arena_calloc(&c->scratch, spec->ask.request_count, sizeof *requests);

    for (size_t r = 0; r < spec->ask.request_count; r++)
        requests[r] = change_request(c, &spec->ask.requests[r], spec);
    spec->ask.requests = requests;
}

void copy_claims(struct copier *c)
{
    for (uint32_t i = 0; i < c->from->claims.len; i++) {
        const struct claim *claim = &c->from->claims.items[i];
        struct device_spec *devices = arena_calloc(&c->scratch, claim->device_count, sizeof *devices);
        struct claim_spec spec = {
            .namespace = copy_name(c, claim->namespace),
            .name = copy_name(c, claim->name),
            .device_class = copy_name(c, claim->device_class),
            .count = claim->count,
            .is_synthetic = claim->is_synthetic,
            .is_allocated = claim->is_allocated != 0,
            .devices = devices,
            .device_count = claim->device_count,
            .reserved_for = copy_names(c, claim->reserved_for, claim->reserved_count),
            .reserved_count = claim->reserved_count,
            .ask = claim->ask,
        };

        if (!claim->is_present)
            continue;
        for (uint32_t d = 0; d < claim->device_count; d++)
            devices[d] = copy_device(c, claim, &claim->devices[d]);
        /* With nobody else there, nobody else holds devices. */
        if (c->change->is_emptied) {
            spec.is_allocated = false;
            spec.device_count = spec.reserved_count = 0;
        }
        if (claim_is_changed(c, claim))
            change_claim(c, &spec);
        spec.labels = copy_labels(c, claim->labels, &spec.label_count);
        copy_say(c, DELTA_PUT_CLAIM, &spec);
        arena_clear(&c->scratch);
    }
}
