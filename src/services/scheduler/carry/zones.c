/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/carry/zones.h"

#include <inttypes.h>
#include <stdio.h>
#include <yyjson.h>

#include "base/macros.h"
#include "model/devices/numa.h"
#include "model/state.h"

enum { QUANTITY_TEXT_MAX = 32 };

/* From the model's unit to a quantity: whole where it is. */
static const char *quantity_text(const struct resources *res, uint32_t dim, int64_t amount,
                                 char text[static QUANTITY_TEXT_MAX])
{
    bool is_in_ones = dim == RES_MEMORY || dim == RES_PODS || res->mig_slices[dim] > 0;
    int64_t one = is_in_ones ? 1 : dim == RES_GPU ? GPU_ONE : 1000;
    const char *suffix = "";

    if (amount % one == 0)
        amount /= one;
    else
        suffix = dim == RES_GPU ? "n" : "m";
    (void)snprintf(text, QUANTITY_TEXT_MAX, "%" PRId64 "%s", amount, suffix);
    return text;
}

char *zones_encode(const struct state *state, const struct numa_placement *numa)
{
    if (!numa || numa->count == 0)
        return NULL;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    BUG_ON(!doc);
    yyjson_mut_val *zones = yyjson_mut_arr(doc);
    yyjson_mut_doc_set_root(doc, zones);
    yyjson_mut_val *amount = NULL;
    for (uint32_t i = 0; i < numa->count; i++) {
        const struct numa_draw *draw = &numa->draws[i];
        char text[QUANTITY_TEXT_MAX];

        /* Draws of one zone follow each other. */
        if (i == 0 || draw->zone != numa->draws[i - 1].zone) {
            yyjson_mut_val *zone = yyjson_mut_arr_add_obj(doc, zones);

            (void)yyjson_mut_obj_add_str(doc, zone, "zone", state_name(state, draw->zone));
            amount = yyjson_mut_obj_add_obj(doc, zone, "amount");
        }
        (void)yyjson_mut_obj_add_strcpy(doc, amount, state_name(state, state->res.name[draw->dim]),
                                        quantity_text(&state->res, draw->dim, draw->amount, text));
    }
    char *encoded = yyjson_mut_write(doc, 0, NULL);
    BUG_ON(!encoded);
    yyjson_mut_doc_free(doc);
    return encoded;
}
