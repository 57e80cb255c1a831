/* SPDX-License-Identifier: Apache-2.0 */

/* What the parts that read a scenario share: names, seconds, lists, and amounts in the units of the model. */
#include <errno.h>
#include <string.h>

#include "model/state.h"
#include "sim/scenario/scenario_internal.h"

/* Sums of amounts stay below this, so that books can add and take away without a care. */
#define TOTAL_MAX (INT64_C(1) << 61)

/* Counts in the file; the factor of the unit is at most a billion. */
enum { OTHER_COUNT_MAX = 1000000 };

int scenario_seconds(const struct json_at *at, const char *key, double min, double max, nsec_t *ret, struct err *err)
{
    double seconds = 0;
    int r = json_member_double(at, key, JSON_OPTIONAL, min, max, &seconds, err);

    if (r > 0)
        *ret = (nsec_t)(seconds * (double)NSEC_PER_SEC);
    return r;
}

int scenario_name(const struct json_at *at, const char *key, const char **ret, struct err *err)
{
    int r = json_member_str(at, key, JSON_REQUIRED, ret, err);

    if (r < 0)
        return r;
    if (**ret == '\0')
        return scenario_fail(at, key, err, "is empty, expected a name");
    return 0;
}

int scenario_wrap(const struct json_at *at, int code, struct err *err)
{
    char path[256];

    return code < 0 ? err_wrap(err, code, "%s", json_path(at, path, sizeof path)) : code;
}

int scenario_pairs(struct scenario_reader *r, const struct json_at *at, const char *key, size_t extra,
                   struct str_pair **ret, size_t *ret_count, struct err *err)
{
    struct json_at object;
    struct str_pair *pairs;
    size_t count = 0;
    int rc = json_member_object(at, key, JSON_OPTIONAL, &object, err);

    if (rc < 0)
        return rc;
    pairs = arena_calloc(&r->scratch, yyjson_obj_size(object.val) + extra, sizeof *pairs);
    for (struct json_at item = {0}; json_next(&object, &item);) {
        pairs[count].key = item.key;
        rc = json_str(&item, &pairs[count++].value, err);
        if (rc < 0)
            return rc;
    }
    *ret = pairs;
    *ret_count = count;
    return 0;
}

int scenario_strings(struct scenario_reader *r, const struct json_at *at, const char *key, const char *const **ret,
                     size_t *ret_count, struct err *err)
{
    struct json_at array;
    const char **texts;
    size_t count = 0;
    int rc = json_member_array(at, key, JSON_OPTIONAL, &array, err);

    if (rc < 0)
        return rc;
    texts = arena_calloc(&r->scratch, yyjson_arr_size(array.val), sizeof *texts);
    for (struct json_at item = {0}; json_next(&array, &item);) {
        rc = json_str(&item, &texts[count++], err);
        if (rc < 0)
            return rc;
    }
    *ret = texts;
    *ret_count = count;
    return 0;
}

static const char *model_name(const char *name)
{
    static const struct {
        const char *file;
        const char *model;
    } names[] = {{"cpu_milli", "cpu"}, {"memory_bytes", "memory"}, {"gpus", "nvidia.com/gpu"}};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(name, names[i].file) == 0)
            return names[i].model;
    }
    return name;
}

/* `count` of the resource called `name` in the unit that the model counts it in. */
static int read_amount(struct scenario_reader *r, const struct json_at *at, const char *name, int64_t count,
                       struct amount_spec *ret, struct err *err)
{
    const char *resource = model_name(name);
    int64_t unit = 1;
    uint32_t dim;
    int rc = resources_add(&r->state->res, &r->state->names, resource, &dim, err);

    if (rc < 0)
        return scenario_wrap(at, rc, err);
    if (dim == RES_GPU)
        unit = GPU_ONE;
    else if (dim >= RES_FIXED && r->state->res.mig_slices[dim] == 0)
        unit = 1000;
    if (unit > 1 && count > OTHER_COUNT_MAX)
        return json_fail(at, err, -EINVAL, "expected at most %d, found %lld", OTHER_COUNT_MAX, (long long)count);
    *ret = (struct amount_spec){resource, count * unit};
    return 0;
}

int scenario_amounts(struct scenario_reader *r, const struct json_at *at, const char *key, size_t extra,
                     struct amount_spec **ret, size_t *ret_count, struct err *err)
{
    struct json_at object;
    struct amount_spec *amounts;
    size_t count = extra;
    int rc = json_member_object(at, key, JSON_OPTIONAL, &object, err);

    if (rc < 0)
        return rc;
    amounts = arena_calloc(&r->scratch, extra + yyjson_obj_size(object.val), sizeof *amounts);
    for (struct json_at item = {0}; json_next(&object, &item);) {
        int64_t value;

        rc = json_int64(&item, 0, TOTAL_MAX, &value, err);
        if (rc >= 0)
            rc = read_amount(r, &item, item.key, value, &amounts[count++], err);
        if (rc < 0)
            return rc;
    }
    *ret = amounts;
    *ret_count = count;
    return 0;
}

int scenario_count(struct scenario_reader *r, const struct json_at *at, const struct amount_spec *amounts, size_t count,
                   struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t dim;

        if (!resources_find(&r->state->res, &r->state->names, amounts[i].resource, &dim) || dim >= RES_FIXED)
            continue;
        r->total[dim] += amounts[i].amount;
        if (r->total[dim] > TOTAL_MAX)
            return json_fail(at, err, -EINVAL, "the sum of %s over all nodes is too large", amounts[i].resource);
    }
    return 0;
}

int scenario_take_name(struct scenario_reader *r, enum scenario_name_kind kind, const struct json_at *at,
                       const char *namespace, const char *name, struct err *err)
{
    static const char *const words[] = {
        [NAME_JOB] = "job",
        [NAME_TASK] = "task",
        [NAME_TOPOLOGY] = "topology",
        [NAME_SLICE] = "resource slice",
        [NAME_CLAIM] = "resource claim",
    };
    _Static_assert(ARRAY_LEN(words) == _NAME_KIND_MAX, "every kind has a word");
    struct intern *names = &r->state->names;
    uint64_t id = intern_id(names, name, strlen(name));

    if (namespace)
        id |= (uint64_t)intern_id(names, namespace, strlen(namespace)) << 32;
    if (map64_get(&r->taken[kind], id, NULL))
        return scenario_fail(at, "name", err, "%s '%s' is defined twice", words[kind], name);
    map64_put(&r->taken[kind], id, 1);
    return 0;
}
