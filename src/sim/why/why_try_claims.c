/* SPDX-License-Identifier: Apache-2.0 */

/* Claims that ask for less, or for something else: fewer devices, or those of another class. */
#include <string.h>

#include "model/state.h"
#include "sim/why/why_internal.h"

enum { CLASSES_TRIED = 16, CLASSES_NAMED = 3 };

static void set_devices(struct retell_change *change, int64_t number, void *context)
{
    (void)context;
    change->claim_devices = number;
}

static void try_fewer(struct why *why, const struct device_ask *ask)
{
    struct retell_change change = why_change_new(why);

    if (ask->is_all || ask->count <= 1 || change.claim_request)
        return;
    change.claim_request = ask->full_name;
    change.claim_devices = 1;
    if (!why_works(why, &change, why->now))
        return;
    int64_t found = why_edge(why, &change, 1, ask->count, set_devices, NULL);
    why_keep(why, (struct why_remedy){
                      .kind = WHY_CLAIM_DEVICES,
                      .change = change,
                      .step = {(double)ask->count, (double)found, (double)found + 1},
                  });
}

static void try_classes(struct why *why, const struct device_ask *ask)
{
    struct retell_change change = why_change_new(why);
    uint32_t tried = 0;
    uint32_t named = 0;

    if (change.claim_request)
        return;
    change.claim_request = ask->full_name;
    vec_foreach (&why->state->device_classes, class) {
        change.claim_class = state_name(why->state, class->name);
        if (strcmp(change.claim_class, ask->device_class) == 0 || named == CLASSES_NAMED)
            continue;
        if (tried++ == CLASSES_TRIED)
            return;
        if (!why_works(why, &change, why->now))
            continue;
        named++;
        why_keep(why, (struct why_remedy){.kind = WHY_CLAIM_CLASS, .change = change, .class_from = ask->device_class});
    }
}

/* The pod that waits, in the asked state. */
static const struct pod *waiting_pod(const struct why *why)
{
    if (why->explanation.pod == NO_ID)
        return NULL;
    const struct pod *settled = &why->settled->pods.items[why->explanation.pod];
    pod_id pod = state_find_pod(why->state, state_name(why->settled, settled->namespace),
                                state_name(why->settled, settled->name));
    return pod == NO_ID ? NULL : &why->state->pods.items[pod];
}

void why_try_claims(struct why *why)
{
    const struct pod *pod = waiting_pod(why);

    for (uint32_t i = 0; pod && i < pod->claim_count; i++) {
        const struct claim *claim =
            pod->claims[i].claim == NO_ID ? NULL : &why->state->claims.items[pod->claims[i].claim];

        for (size_t r = 0; claim && !claim->is_allocated && !claim->is_plan && r < claim->ask.request_count; r++) {
            /* Of several ways any will do already. */
            if (claim->ask.requests[r].ask_count != 1)
                continue;
            try_fewer(why, &claim->ask.requests[r].asks[0]);
            try_classes(why, &claim->ask.requests[r].asks[0]);
        }
    }
}
