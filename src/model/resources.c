/* SPDX-License-Identifier: Apache-2.0 */
#include "model/resources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/intern.h"

static const char *const fixed_names[RES_FIXED] = {
    [RES_CPU] = "cpu",
    [RES_MEMORY] = "memory",
    [RES_GPU] = "nvidia.com/gpu",
    [RES_PODS] = "pods",
};

void resources_init(struct resources *res, struct intern *names)
{
    *res = (struct resources){.count = RES_FIXED};
    for (uint32_t d = 0; d < RES_FIXED; d++)
        res->name[d] = intern_id(names, fixed_names[d], strlen(fixed_names[d]));
}

static bool ends_in_gpu(const char *name)
{
    size_t len = strlen(name);

    return len >= 3 && strcmp(name + len - 3, "gpu") == 0;
}

/* A number of one to four digits, which no MIG profile exceeds; NULL when there is none. */
static const char *parse_number(const char *text, int32_t *ret_number)
{
    const char *at = text;

    for (*ret_number = 0; *at >= '0' && *at <= '9' && at - text < 4; at++)
        *ret_number = *ret_number * 10 + (*at - '0');
    return at > text ? at : NULL;
}

/* nvidia.com/mig-<g>g.<m>gb, to the last character: profiles with a suffix count no GPUs, as in KAI. */
static bool parse_mig(const char *name, int32_t *ret_slices, int32_t *ret_gigabytes)
{
    static const char prefix[] = "nvidia.com/mig-";
    const char *at;

    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    at = parse_number(name + sizeof prefix - 1, ret_slices);
    if (!at || strncmp(at, "g.", 2) != 0)
        return false;
    at = parse_number(at + 2, ret_gigabytes);
    return at && strcmp(at, "gb") == 0;
}

static bool find_named(const struct resources *res, name_id name, uint32_t *ret_dim)
{
    for (uint32_t d = 0; d < res->count; d++)
        if (res->name[d] == name) {
            *ret_dim = d;
            return true;
        }
    return false;
}

bool resources_find(const struct resources *res, const struct intern *names, const char *name, uint32_t *ret_dim)
{
    name_id id;

    if (ends_in_gpu(name)) {
        *ret_dim = RES_GPU;
        return true;
    }
    return intern_find(names, name, strlen(name), &id) && find_named(res, id, ret_dim);
}

int resources_add(struct resources *res, struct intern *names, const char *name, uint32_t *ret_dim, struct err *err)
{
    int32_t slices = 0;
    int32_t gigabytes = 0;

    if (resources_find(res, names, name, ret_dim))
        return 0;
    if (res->count == RES_MAX)
        return err_set(err, -ENOSPC, "resource '%s': more than %d kinds of resources", name, RES_MAX);

    uint32_t dim = res->count++;
    res->name[dim] = intern_id(names, name, strlen(name));
    if (parse_mig(name, &slices, &gigabytes)) {
        res->mig_slices[dim] = slices;
        res->mig_gigabytes[dim] = gigabytes;
    }
    *ret_dim = dim;
    return 0;
}

int64_t resources_total_gpu(const struct resources *res, const int64_t *v)
{
    int64_t total = v[RES_GPU];

    for (uint32_t d = RES_FIXED; d < res->count; d++)
        total += res->mig_slices[d] * v[d] * GPU_ONE;
    return total;
}
