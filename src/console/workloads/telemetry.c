/* SPDX-License-Identifier: Apache-2.0 */

/* How many workloads there are now, and how many GPUs they have, in groups. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "console/data/items.h"
#include "console/org/pools.h"
#include "console/rest/handlers.h"
#include "console/workloads/follow.h"
#include "console/workloads/kinds.h"
#include "console/workloads/workloads.h"

enum { KEY_BYTES_MAX = 4096, NAME_BYTES = 64, WORDS_MAX = 32, WORD_BYTES = 32 };

/* What workloads can be grouped by, and where it is in an item. */
static const struct dimension {
    const char *key;
    const char *value;
    const char *name;  // NULL: it has none of its own
} dimensions[] = {
    {"ClusterId", NULL, NULL},
    {"DepartmentId", "/departmentId", "/departmentName"},
    {"ProjectId", "/projectId", "/projectName"},
    {"Type", "/type", NULL},
    {"CurrentNodepools", "/nodePool", NULL},
    {"Phase", "/status/phase", NULL},
    {"Category", "/category", NULL},
};

/* Words of a parameter that may come several times, or with commas. */
struct word_list {
    size_t count;
    char words[WORDS_MAX][WORD_BYTES];
};

struct group {
    char *key;
    double value;
    yyjson_mut_val *keys;
};

struct telemetry {
    struct request *request;
    bool is_count;
    struct word_list by;
    struct word_list phases;
    struct strmap groups;
    VEC(struct group *) order;  // as they were met: by the names of workloads
};

static const char *text_at(yyjson_val *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(item, pointer));

    return text ? text : "";
}

/* --- the query --- */

static int read_words(const struct http_exchange *exchange, const char *parameter, struct word_list *list,
                      struct err *err)
{
    const char *name, *value;

    for (size_t at = 0; rest_query_next(exchange, &at, &name, &value);) {
        while (strcmp(name, parameter) == 0 && *value) {
            size_t len = strcspn(value, ",");

            if (len == 0 || len >= WORD_BYTES || list->count == WORDS_MAX)
                return err_set(err, -EINVAL, "%s: expected up to %d words", parameter, WORDS_MAX);
            memcpy(list->words[list->count], value, len);
            list->words[list->count++][len] = '\0';
            value += len + (value[len] == ',');
        }
    }
    return 0;
}

static const struct dimension *dimension_find(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(dimensions); i++) {
        if (strcmp(dimensions[i].key, key) == 0)
            return &dimensions[i];
    }
    return NULL;
}

static int read_query(struct telemetry *telemetry, struct err *err)
{
    const struct http_exchange *exchange = telemetry->request->exchange;
    const char *type = rest_query(exchange, "telemetryType");
    int r;

    if (!type || (strcmp(type, "WORKLOADS_COUNT") != 0 && strcmp(type, "GPU_ALLOCATION") != 0))
        return type && strcmp(type, "PENDING_TIME_DISTRIBUTION") == 0
                   ? err_set(err, -ENOSYS, "telemetryType: %s is not supported yet", type)
                   : err_set(err, -EINVAL, "telemetryType: expected WORKLOADS_COUNT or GPU_ALLOCATION");
    telemetry->is_count = strcmp(type, "WORKLOADS_COUNT") == 0;
    if ((r = read_words(exchange, "groupBy", &telemetry->by, err)) < 0 ||
        (r = read_words(exchange, "filterByPhases", &telemetry->phases, err)) < 0)
        return r;
    for (size_t i = 0; i < telemetry->by.count; i++) {
        if (!dimension_find(telemetry->by.words[i]))
            return err_set(err, -EINVAL, "groupBy: there is no group '%s'", telemetry->by.words[i]);
    }
    return 0;
}

/* --- workloads --- */

static const char *pool_of(yyjson_val *item)
{
    return *text_at(item, "/nodePool") ? text_at(item, "/nodePool") : DEFAULT_POOL;
}

static bool is_wanted(const struct telemetry *telemetry, yyjson_val *item)
{
    const struct http_exchange *exchange = telemetry->request->exchange;
    const char *cluster = rest_query(exchange, "clusterId");
    const char *pool = rest_query(exchange, "nodepoolName");
    const char *department = rest_query(exchange, "departmentId");
    bool has_phase = telemetry->phases.count == 0;

    for (size_t i = 0; i < telemetry->phases.count; i++)
        has_phase = has_phase || strcmp(telemetry->phases.words[i], text_at(item, "/status/phase")) == 0;
    return has_phase && (!cluster || strcmp(cluster, telemetry->request->console->cluster_id) == 0) &&
           (!pool || strcmp(pool, pool_of(item)) == 0) &&
           (!department || strcmp(department, text_at(item, "/departmentId")) == 0) &&
           workload_is_listed(&telemetry->request->caller->access, item);
}

static const char *value_of(const struct telemetry *telemetry, const struct dimension *dimension, yyjson_val *item)
{
    if (strcmp(dimension->key, "ClusterId") == 0)
        return telemetry->request->console->cluster_id;
    if (strcmp(dimension->key, "CurrentNodepools") == 0)
        return pool_of(item);
    if (strcmp(dimension->key, "Type") == 0)
        return workload_kind_find(text_at(item, "/type"))->title;
    return text_at(item, dimension->value);
}

static void put_keys(const struct telemetry *telemetry, yyjson_val *item, yyjson_mut_val *keys)
{
    yyjson_mut_doc *doc = telemetry->request->doc;

    for (size_t i = 0; i < telemetry->by.count; i++) {
        const struct dimension *dimension = dimension_find(telemetry->by.words[i]);
        const char *value = value_of(telemetry, dimension, item);
        yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, keys);

        put_text(doc, row, "key", dimension->key);
        put_text(doc, row, "value", value);
        put_text(doc, row, "name", dimension->name ? text_at(item, dimension->name) : value);
    }
}

static double gpus_of(const struct telemetry *telemetry, yyjson_val *item)
{
    return workload_facts(telemetry->request->console->workloads, text_at(item, "/id")).gpus;
}

static int add_workload(void *arg, yyjson_val *item)
{
    struct telemetry *telemetry = arg;
    struct strbuf key;

    if (!is_wanted(telemetry, item))
        return 0;
    strbuf_init(&key, KEY_BYTES_MAX);
    strbuf_addstr(&key, "/");
    for (size_t i = 0; i < telemetry->by.count; i++)
        strbuf_addf(&key, "%s\n", value_of(telemetry, dimension_find(telemetry->by.words[i]), item));
    struct group *group = strmap_get(&telemetry->groups, "", key.text);
    if (!group) {
        group = xcalloc(1, sizeof *group);
        group->key = xstrdup(key.text);
        group->keys = yyjson_mut_arr(telemetry->request->doc);
        put_keys(telemetry, item, group->keys);
        (void)strmap_put(&telemetry->groups, "", group->key, group);
        vec_push(&telemetry->order, group);
    }
    group->value += telemetry->is_count ? 1 : gpus_of(telemetry, item);
    strbuf_done(&key);
    return 0;
}

/* --- the answer --- */

static void put_value(const struct telemetry *telemetry, double value, yyjson_mut_val *keys, yyjson_mut_val *list)
{
    yyjson_mut_doc *doc = telemetry->request->doc;
    yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, list);
    char text[NAME_BYTES];

    (void)snprintf(text, sizeof text, "%.6g", value);
    put_text(doc, row, "value", text);
    if (keys)
        (void)yyjson_mut_obj_add_val(doc, row, "groups", keys);
}

static void answer(struct telemetry *telemetry)
{
    struct request *request = telemetry->request;

    request->answer = yyjson_mut_obj(request->doc);
    put_text(request->doc, request->answer, "type", telemetry->is_count ? "WORKLOADS_COUNT" : "GPU_ALLOCATION");
    put_now(request->doc, request->answer, "timestamp");
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(request->doc, request->answer, "values");
    vec_foreach (&telemetry->order, group)
        put_value(telemetry, (*group)->value, telemetry->by.count > 0 ? (*group)->keys : NULL, list);
    if (telemetry->by.count == 0 && yyjson_mut_arr_size(list) == 0)
        put_value(telemetry, 0, NULL, list);
}

static int workloads_telemetry(struct request *request, struct err *err)
{
    struct telemetry telemetry = {.request = request};
    int r = read_query(&telemetry, err);

    if (r < 0)
        return r;
    strmap_init(&telemetry.groups);
    r = items_each(request->console->db, ITEM_WORKLOAD, NULL, add_workload, &telemetry, err);
    if (r == 0)
        answer(&telemetry);
    vec_foreach (&telemetry.order, group) {
        free((*group)->key);
        free(*group);
    }
    vec_done(&telemetry.order);
    strmap_done(&telemetry.groups);
    return r;
}
static const char *const queries[] = {
    "clusterId", "nodepoolName", "departmentId", "groupBy", "telemetryType", "filterByPhases", NULL};
READS_BY(handle_workloads_telemetry, workloads_telemetry, queries)
