/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A request for all devices fails once another request has one of them, which the search would find out for every choice
 * of the other devices. It ends in the same way when nobody else tries them, as long as nothing ends it on the way: an
 * error, a constraint on such a request, or an alternative that has more devices than a claim may have.
 */
#include "engine/devices/allocate_internal.h"

static bool is_constrained(const struct claim *claim, const struct device_request *request)
{
    for (size_t i = 0; i < claim->ask.constraint_count; i++) {
        const struct device_constraint *constraint = &claim->ask.constraints[i];

        if (constraint->request_count == 0)
            return true;
        for (size_t r = 0; r < constraint->request_count; r++)
            if (constraint->requests[r] == request->name)
                return true;
    }
    return false;
}

/* Takes all of its devices, which nobody shares. */
static bool takes_all(const struct option *option)
{
    return option->ask->is_all && !option->ask->is_admin;
}

static bool is_simple(const struct wanted_claim *wanted, bool *ret_has_all)
{
    if (wanted->is_plain)
        return false;
    for (uint32_t r = 0; r < wanted->request_count; r++) {
        const struct option *option = &wanted->requests[r].options[0];

        if (wanted->requests[r].option_count != 1 || option->has_error)
            return false;
        if (option->ask->is_all && is_constrained(wanted->claim, option->request))
            return false;
        *ret_has_all |= takes_all(option);
    }
    return true;
}

bool candidates_spare(const struct allocator *allocator, const struct wanted_claim *claims, uint32_t count,
                      struct bitset *ret_spares)
{
    bool has_all = false;

    for (uint32_t c = 0; c < count; c++)
        if (!is_simple(&claims[c], &has_all))
            return false;
    if (!has_all)
        return false;
    bitset_resize(ret_spares, allocator->inventory->device_count);
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t r = 0; r < claims[c].request_count; r++) {
            const struct option *option = &claims[c].requests[r].options[0];

            for (uint32_t i = 0; takes_all(option) && i < option->candidate_count; i++)
                if (!option->candidates[i].is_share)
                    bitset_set(ret_spares, option->candidates[i].number);
        }
    return true;
}
