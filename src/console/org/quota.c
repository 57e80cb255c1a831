/* SPDX-License-Identifier: Apache-2.0 */
#include "console/org/quota.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "console/org/pools.h"
#include "console/rest/context.h"

/* More than any cluster has, and small enough to be exact. */
#define AMOUNT_MAX 1e12
#define UNLIMITED (-1.0)

/* Resources and how a Queue counts them: CPUs in thousandths, as the REST does, and memory in megabytes. */
static const struct {
    const char *name;
    bool has_units;
    bool is_required;
} resources[] = {{"gpu", false, true}, {"cpu", false, false}, {"memory", true, false}};

static const struct {
    const char *name;
    double megabytes;
} units[] = {{"Mib", 1.048576}, {"MB", 1}, {"GB", 1000}};

static int read_units(const struct json_at *resource, const char **ret_units, struct err *err)
{
    int r = json_member_str(resource, "units", JSON_OPTIONAL, ret_units, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (strcmp(units[i].name, *ret_units) == 0)
            return 0;
    }
    return json_fail(resource, err, -EINVAL, "units: expected Mib, MB or GB");
}

static yyjson_mut_val *number_or_null(yyjson_mut_doc *doc, double number)
{
    return number < 0 ? yyjson_mut_null(doc) : yyjson_mut_real(doc, number);
}

static double old_number(yyjson_mut_val *before, const char *key, double fallback)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(before, key);

    return yyjson_mut_is_num(value) ? yyjson_mut_get_num(value) : fallback;
}

/* null stands for no limit, and so does -1. */
static int read_amount(const struct json_at *resource, const char *key, double fallback, double *ret_amount,
                       struct err *err)
{
    yyjson_val *value = resource->val ? yyjson_obj_get(resource->val, key) : NULL;

    *ret_amount = fallback;
    if (value && yyjson_is_null(value))
        *ret_amount = UNLIMITED;
    int r = json_member_double(resource, key, JSON_OPTIONAL, UNLIMITED, AMOUNT_MAX, ret_amount, err);
    if (r >= 0 && *ret_amount < 0 && *ret_amount != UNLIMITED)
        return json_fail(resource, err, -EINVAL, "%s: expected -1 or a number that is not negative", key);
    return r < 0 ? r : 0;
}

static int read_resource(const struct json_at *row, size_t i, yyjson_mut_doc *doc, yyjson_mut_val *before,
                         yyjson_mut_val *to, struct err *err)
{
    struct json_at resource = {0};
    yyjson_mut_val *old = yyjson_mut_obj_get(before, resources[i].name);
    const char *unit = yyjson_mut_get_str(yyjson_mut_obj_get(old, "units"));
    double deserved, limit, weight;
    int r;

    unit = unit ? unit : "MB";
    double first = resources[i].is_required ? 0 : UNLIMITED;
    if ((r = json_member_object(row, resources[i].name, JSON_OPTIONAL, &resource, err)) < 0 ||
        (r = read_amount(&resource, "deserved", old_number(old, "deserved", old ? UNLIMITED : first), &deserved, err)) <
            0 ||
        (r = read_amount(&resource, "limit", old_number(old, "limit", UNLIMITED), &limit, err)) < 0 ||
        (r = read_amount(&resource, "overQuotaWeight", old_number(old, "overQuotaWeight", 1), &weight, err)) < 0 ||
        (resources[i].has_units && resource.val && (r = read_units(&resource, &unit, err)) < 0))
        return r;
    if (limit >= 0 && deserved > limit)
        return json_fail(&resource, err, -EINVAL, "deserved is more than the limit");
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, to, resources[i].name);
    (void)yyjson_mut_obj_add_val(doc, object, "deserved",
                                 resources[i].is_required && deserved < 0 ? yyjson_mut_real(doc, UNLIMITED)
                                                                          : number_or_null(doc, deserved));
    (void)yyjson_mut_obj_add_val(doc, object, "limit", number_or_null(doc, limit));
    (void)yyjson_mut_obj_add_val(doc, object, "overQuotaWeight", yyjson_mut_real(doc, weight < 0 ? 1 : weight));
    if (resources[i].has_units)
        put_text(doc, object, "units", unit);
    return 0;
}

/* The pool that a row names, by its identifier, its name or both. */
static int find_pool(const struct json_at *row, const struct pool_list *pools, const struct pool **ret_pool,
                     struct err *err)
{
    struct json_at at = {0};
    const char *id = NULL;
    const char *name = NULL;
    const char *rank = NULL;
    int r;

    if ((r = json_member_object(row, "nodePool", JSON_OPTIONAL, &at, err)) < 0 ||
        (r = json_member_str(&at, "id", JSON_OPTIONAL, &id, err)) < 0 ||
        (r = json_member_str(&at, "name", JSON_OPTIONAL, &name, err)) < 0 ||
        (r = json_member_str(row, "priority", JSON_OPTIONAL, &rank, err)) < 0)
        return r;
    const char *key = id ? id : name ? name : DEFAULT_POOL;
    const struct pool *pool = pool_find(pools, key);
    if (!pool || (name && strcmp(pool->name, name) != 0))
        return json_fail(&at, err, -EINVAL, "there is no node pool '%.50s'", pool ? name : key);
    *ret_pool = pool;
    return rank ? json_fail(row, err, -ENOSYS, "priority: ranks are not supported yet") : 0;
}

static yyjson_mut_val *row_of(yyjson_mut_val *rows, const struct pool *pool)
{
    yyjson_mut_val *row;
    yyjson_mut_arr_iter iter;

    yyjson_mut_arr_iter_init(rows, &iter);
    while (rows && (row = yyjson_mut_arr_iter_next(&iter))) {
        if (yyjson_mut_equals_str(yyjson_mut_obj_get(yyjson_mut_obj_get(row, "nodePool"), "id"), pool->id))
            return row;
    }
    return NULL;
}

/* A row may be without a value: then it has what `before` has. */
static int read_row(const struct json_at *row, const struct pool *pool, yyjson_mut_doc *doc, yyjson_mut_val *before,
                    yyjson_mut_val **ret_row, struct err *err)
{
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_val *at = yyjson_mut_obj_add_obj(doc, object, "nodePool");
    int r = 0;

    put_text(doc, at, "id", pool->id);
    put_text(doc, at, "name", pool->name);
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(resources); i++)
        r = read_resource(row, i, doc, before, object, err);
    (void)yyjson_mut_obj_add_null(doc, object, "priority");
    *ret_row = object;
    return r;
}

int quota_read(const struct json_at *rows, const struct pool_list *pools, yyjson_mut_doc *doc, yyjson_mut_val *before,
               yyjson_mut_val **ret_rows, struct err *err)
{
    yyjson_mut_val *fresh = yyjson_mut_arr(doc);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    yyjson_mut_val *object = NULL;
    const struct pool *named = NULL;
    int r = rows->val ? json_array(rows, err) : 0;

    for (struct json_at row = {0}; r >= 0 && json_next(rows, &row);) {
        if ((r = json_object(&row, err)) < 0 || (r = find_pool(&row, pools, &named, err)) < 0)
            return r;
        if (row_of(fresh, named))
            return json_fail(&row, err, -EINVAL, "a node pool can have one row only");
        r = read_row(&row, named, doc, row_of(before, named), &object, err);
        (void)yyjson_mut_arr_append(fresh, object);
    }
    if (r < 0)
        return r;
    vec_foreach (pools, pool) {
        yyjson_mut_val *row = row_of(fresh, pool);

        row = row ? row : row_of(before, pool);
        if (!row && pool->is_default && (r = read_row(&(struct json_at){0}, pool, doc, NULL, &row, err)) < 0)
            return r;
        if (row)
            (void)yyjson_mut_arr_append(list, yyjson_mut_val_mut_copy(doc, row));
    }
    *ret_rows = list;
    return 0;
}

yyjson_mut_val *quota_complete(yyjson_mut_doc *doc, yyjson_mut_val *rows, const struct pool_list *pools)
{
    yyjson_mut_val *list = yyjson_mut_arr(doc);

    vec_foreach (pools, pool) {
        yyjson_mut_val *row = row_of(rows, pool);

        if (!row)
            BUG_ON(read_row(&(struct json_at){0}, pool, doc, NULL, &row, NULL) < 0);
        (void)yyjson_mut_arr_append(list, yyjson_mut_val_mut_copy(doc, row));
    }
    return list;
}

/* 1 for what has no unit. */
static double megabytes_of(const char *unit)
{
    for (size_t i = 0; unit && i < ARRAY_LEN(units); i++) {
        if (strcmp(units[i].name, unit) == 0)
            return units[i].megabytes;
    }
    return 1;
}

/* A pool without a limit makes a sum without one. */
yyjson_mut_val *quota_totals(yyjson_mut_doc *doc, yyjson_mut_val *rows)
{
    static const char *const keys[] = {"gpuQuota", "cpuQuota", "memoryQuota"};
    yyjson_mut_val *totals = yyjson_mut_obj(doc);
    yyjson_mut_val *row;
    size_t index, max;

    for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
        double sum = 0;

        yyjson_mut_arr_foreach(rows, index, max, row)
        {
            yyjson_mut_val *resource = yyjson_mut_obj_get(row, resources[i].name);
            double deserved = old_number(resource, "deserved", UNLIMITED);
            double factor = megabytes_of(yyjson_mut_get_str(yyjson_mut_obj_get(resource, "units")));

            sum = sum < 0 || deserved < 0 ? UNLIMITED : sum + deserved * factor;
        }
        (void)yyjson_mut_obj_add_val(doc, totals, keys[i], number_or_null(doc, sum));
    }
    return totals;
}

static void add_amount(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, double value, double factor)
{
    double amount = value >= 0 ? value * factor : UNLIMITED;

    (void)yyjson_mut_obj_add_val(
        doc, to, key, amount == floor(amount) ? yyjson_mut_sint(doc, (int64_t)amount) : yyjson_mut_real(doc, amount));
}

yyjson_mut_val *quota_queue(yyjson_mut_doc *doc, yyjson_mut_val *row)
{
    yyjson_mut_val *object = yyjson_mut_obj(doc);

    for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
        yyjson_mut_val *resource = yyjson_mut_obj_get(row, resources[i].name);
        yyjson_mut_val *to = yyjson_mut_obj_add_obj(doc, object, resources[i].name);
        double factor = megabytes_of(yyjson_mut_get_str(yyjson_mut_obj_get(resource, "units")));

        add_amount(doc, to, "quota", old_number(resource, "deserved", UNLIMITED), factor);
        add_amount(doc, to, "limit", old_number(resource, "limit", UNLIMITED), factor);
        add_amount(doc, to, "overQuotaWeight", old_number(resource, "overQuotaWeight", UNLIMITED), 1);
    }
    return object;
}
