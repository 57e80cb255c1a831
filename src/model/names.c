/* SPDX-License-Identifier: Apache-2.0 */

/* Names and amounts as specs give them, turned into ids and vectors. */
#include <errno.h>

#include "base/err.h"
#include "model/parts.h"

/*
 * Slices of MIG are multiplied by their size and the unit of GPUs; the product must stay far from the end of int64_t.
 */
enum { MIG_COUNT_MAX = 1 << 16 };

name_id name_add(struct state *state, const char *text)
{
    return is_empty(text) ? 0 : intern_id(&state->names, text, strlen(text));
}

bool name_find(const struct state *state, const char *text, name_id *ret_name)
{
    *ret_name = 0;
    return is_empty(text) || intern_find(&state->names, text, strlen(text), ret_name);
}

name_id uid_add(struct state *state, const char *uid, const char *namespace, const char *name)
{
    if (!is_empty(uid))
        return name_add(state, uid);
    if (is_empty(namespace))
        return name_add(state, name);

    size_t namespace_len = strlen(namespace);
    size_t name_len = strlen(name);
    char small[512];
    size_t len = namespace_len + 1 + name_len;
    char *text = len < sizeof small ? small : xmalloc(len);
    for (size_t i = 0; i < namespace_len; i++)
        text[i] = namespace[i];
    text[namespace_len] = '/';
    for (size_t i = 0; i < name_len; i++)
        text[namespace_len + 1 + i] = name[i];
    name_id id = intern_id(&state->names, text, len);
    if (text != small)
        free(text);
    return id;
}

uint32_t map_find(const struct map64 *map, uint64_t key)
{
    uint64_t value;

    return map64_get(map, key, &value) ? (uint32_t)value : NO_ID;
}

static int read_amount(struct state *state, const struct amount_spec *spec, uint32_t *ret_dim, struct err *err)
{
    int r;

    if (is_empty(spec->resource))
        return err_set(err, -EINVAL, "a resource without a name");
    r = resources_add(&state->res, &state->names, spec->resource, ret_dim, err);
    if (r < 0)
        return r;
    state_fit_dimensions(state);

    int64_t most = state->res.mig_slices[*ret_dim] ? MIG_COUNT_MAX : AMOUNT_MAX;
    if (spec->amount < 0 || spec->amount > most)
        return err_set(err, -EINVAL, "resource '%s': amount %lld is out of range; must be 0 to %lld", spec->resource,
                       (long long)spec->amount, (long long)most);
    return 0;
}

int amounts_read(struct state *state, const struct amount_spec *specs, size_t count, int64_t *v, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t dim = 0;
        int r = read_amount(state, &specs[i], &dim, err);

        if (r < 0)
            return r;
        v[dim] = MIN(v[dim] + specs[i].amount, AMOUNT_MAX);
    }
    return 0;
}

int amounts_replace(struct state *state, const struct amount_spec *specs, size_t count, int64_t *v, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t dim = 0;
        int r = read_amount(state, &specs[i], &dim, err);

        if (r < 0)
            return r;
        v[dim] = specs[i].amount;
    }
    return 0;
}
