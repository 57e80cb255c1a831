/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/amounts.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "model/resources.h"
#include "objects/fields.h"
#include "objects/keys.h"
#include "text/quantity.h"

/* More devices than this on one node or in one pod is a slip, and would not fit the books in billionths. */
#define GPUS_MAX INT64_C(1000000)

void amounts_init(struct amounts_list *list, struct arena *arena)
{
    *list = (struct amounts_list){.arena = arena};
}

bool resource_is_gpu(const char *name)
{
    size_t len = strlen(name);

    return len >= 3 && strcmp(name + len - 3, "gpu") == 0;
}

bool resource_is_mig(const char *name)
{
    return strncmp(name, KEY_MIG_PREFIX, strlen(KEY_MIG_PREFIX)) == 0;
}

static bool is_in_ones(const char *resource)
{
    return strcmp(resource, "memory") == 0 || strcmp(resource, "pods") == 0 || resource_is_mig(resource);
}

/* Devices come whole: the API refuses parts of extended resources, and so do we. */
static int to_devices(const struct json_at *at, int64_t milli, int64_t *ret_amount, struct err *err)
{
    if (milli % 1000 != 0)
        return json_fail(
            at, err, -EINVAL,
            "expected a whole number of devices; request a part of a GPU by the annotation " KEY_GPU_FRACTION);
    if (milli / 1000 > GPUS_MAX)
        return json_fail(at, err, -ERANGE, "expected at most %lld devices", (long long)GPUS_MAX);
    *ret_amount = milli / 1000 * GPU_ONE;
    return 0;
}

int amount_decode(const struct json_at *at, const char *resource, int64_t *ret_amount, struct err *err)
{
    char number[NUMBER_TEXT_MAX];
    const char *text = number;
    struct err problem = {0};
    int64_t amount = 0;

    if (yyjson_is_num(at->val))
        (void)number_format(at->val, number);
    else
        TRY(json_str(at, &text, err));

    int r = quantity_parse(text, is_in_ones(resource) ? QUANTITY_ONE : QUANTITY_MILLI, &amount, &problem);
    if (r < 0)
        return json_fail(at, err, r, "%s", problem.text);
    if (resource_is_gpu(resource))
        return to_devices(at, amount, ret_amount, err);
    *ret_amount = amount;
    return 0;
}

static struct amount_spec *find(const struct amounts_list *list, const char *resource)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].resource, resource) == 0)
            return &list->items[i];
    }
    return NULL;
}

static struct amount_spec *find_or_append(struct amounts_list *list, const char *resource)
{
    struct amount_spec *item = find(list, resource);

    if (item)
        return item;
    if (list->count == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 8;
        struct amount_spec *items = arena_calloc(list->arena, cap, sizeof *items);

        if (list->count)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->cap = cap;
    }
    item = &list->items[list->count++];
    *item = (struct amount_spec){resource, 0};
    return item;
}

int amounts_add(struct amounts_list *list, const char *resource, int64_t amount, struct err *err)
{
    struct amount_spec *item = find_or_append(list, resource);

    if (__builtin_add_overflow(item->amount, amount, &item->amount))
        return err_set(err, -ERANGE, "%s: the sum over all containers is too large", resource);
    return 0;
}

int amounts_add_all(struct amounts_list *list, const struct amounts_list *other, struct err *err)
{
    for (size_t i = 0; i < other->count; i++)
        TRY(amounts_add(list, other->items[i].resource, other->items[i].amount, err));
    return 0;
}

void amounts_max_all(struct amounts_list *list, const struct amounts_list *other)
{
    for (size_t i = 0; i < other->count; i++) {
        struct amount_spec *item = find_or_append(list, other->items[i].resource);

        item->amount = MAX(item->amount, other->items[i].amount);
    }
}

int64_t amounts_get(const struct amounts_list *list, const char *resource)
{
    const struct amount_spec *item = find(list, resource);

    return item ? item->amount : 0;
}

int amounts_decode(struct amounts_list *list, const struct json_at *at, struct err *err)
{
    for (struct json_at item = {0}; json_next(at, &item);) {
        int64_t amount = 0;

        TRY(amount_decode(&item, item.key, &amount, err));
        TRY(amounts_add(list, item.key, amount, err));
    }
    return 0;
}
