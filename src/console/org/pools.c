/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Node pools over the REST. An item has the members id, name, labelKey, labelValue, gpu and cpu (placement strategies),
 * minGuaranteedRuntime, phase, nodes and isDefault; answers show them in the form of Run:ai's REST.
 */
#include "console/org/pools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/data/items.h"
#include "console/org/apply.h"
#include "console/org/pool_objects.h"
#include "console/org/sync.h"
#include "console/rest/handlers.h"
#include "console/rest/listing.h"

enum { LABEL_PART_MAX = 63, LABEL_PREFIX_MAX = 253, POOLS_MAX = 64 };

static const char *text_of(yyjson_mut_val *object, const char *key)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, key));

    return text ? text : "";
}

/* --- answers --- */

static yyjson_mut_val *encode_strategy(yyjson_mut_doc *doc, yyjson_mut_val *item)
{
    yyjson_mut_val *strategy = yyjson_mut_obj(doc);

    put_text(doc, strategy, "cpu", text_of(item, "cpu"));
    put_text(doc, strategy, "gpu", text_of(item, "gpu"));
    return strategy;
}

static yyjson_mut_val *render(struct request *request, yyjson_mut_val *item)
{
    static const char *const texts[] = {"id",        "name",      "labelKey",  "labelValue", "phase",
                                        "createdBy", "createdAt", "updatedBy", "updatedAt"};
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *pool = yyjson_mut_obj(doc);

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        put_text(doc, pool, texts[i], text_of(item, texts[i]));
    put_text(doc, pool, "clusterId", request->console->cluster_id);
    put_text(doc, pool, "clusterName", request->console->flags->cluster_name);
    (void)yyjson_mut_obj_add_int(doc, pool, "tenantId", TENANT_ID);
    (void)yyjson_mut_obj_add_bool(doc, pool, "isDefault", yyjson_mut_get_bool(yyjson_mut_obj_get(item, "isDefault")));
    if (*text_of(item, "phaseMessage"))
        put_text(doc, pool, "phaseMessage", text_of(item, "phaseMessage"));
    (void)yyjson_mut_obj_add_int(doc, pool, "overProvisioningRatio", 1);
    (void)yyjson_mut_obj_add_val(doc, pool, "placementStrategy", encode_strategy(doc, item));
    yyjson_mut_val *scheduling = yyjson_mut_obj_add_obj(doc, pool, "schedulingConfiguration");
    (void)yyjson_mut_obj_add_val(doc, scheduling, "placementStrategy", encode_strategy(doc, item));
    if (*text_of(item, "minGuaranteedRuntime"))
        put_text(doc, scheduling, "minGuaranteedRuntime", text_of(item, "minGuaranteedRuntime"));
    yyjson_mut_val *nodes = yyjson_mut_obj_get(item, "nodes");
    yyjson_mut_val *status = yyjson_mut_obj_add_obj(doc, pool, "status");
    (void)yyjson_mut_obj_add_val(doc, status, "nodes",
                                 nodes ? yyjson_mut_val_mut_copy(doc, nodes) : yyjson_mut_arr(doc));
    return pool;
}

static const struct listing_field fields[] = {
    {"name", "/name"},           {"clusterId", "/clusterId"}, {"phase", "/phase"},
    {"createdAt", "/createdAt"}, {"updatedAt", "/updatedAt"}, {NULL, NULL},
};
static const struct listing_kind pool_kind = {fields, "/name", 50, 500};

static int load(struct request *request, struct listing_rows *rows, int64_t *ret_total, struct err *err)
{
    int64_t next;
    int r = load_rows(request, ITEM_NODE_POOL, NULL, rows, err);

    for (uint32_t i = 0; r == 0 && i < rows->len; i++)
        rows->items[i] = render(request, rows->items[i]);
    return r < 0 ? r : listing_apply(request->exchange, &pool_kind, rows, ret_total, &next, err);
}

static int list_node_pools(struct request *request, struct err *err)
{
    struct listing_rows rows = {0};
    int64_t total = 0;
    int r = load(request, &rows, &total, err);

    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_val(request->doc, request->answer, "nodepools", rows_array(request, &rows));
    vec_done(&rows);
    return r;
}
READS(handle_list_node_pools, list_node_pools)

static int count_node_pools(struct request *request, struct err *err)
{
    struct listing_rows rows = {0};
    int64_t total = 0;
    int r = load(request, &rows, &total, err);

    answer_count(request, total);
    vec_done(&rows);
    return r;
}
READS(handle_count_node_pools, count_node_pools)

static void take_item(struct request *request, yyjson_mut_val *item)
{
    request->type = ITEM_NODE_POOL;
    (void)snprintf(request->id, sizeof request->id, "%s", text_of(item, "id"));
    (void)snprintf(request->name, sizeof request->name, "%s", text_of(item, "name"));
}

static int take(struct request *request, yyjson_mut_val **ret_item, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *id = rest_param(request->exchange, "nodepoolId");
    int r = item_get(request->console->db, ITEM_NODE_POOL, id, &doc, err);

    if (r < 0)
        return r == -ENOENT ? err_set(err, -ENOENT, "there is no node pool '%.50s'", id) : r;
    *ret_item = copy_item(request->doc, yyjson_doc_get_root(doc));
    take_item(request, *ret_item);
    return 0;
}

static int get_node_pool(struct request *request, struct err *err)
{
    yyjson_mut_val *item = NULL;
    int r = take(request, &item, err);

    if (r == 0)
        request->answer = render(request, item);
    return r;
}
READS(handle_get_node_pool, get_node_pool)

/* --- what a request says --- */

/* Values live as long as the request's document: the text may be the one that is replaced. */
static void set_text(struct request *request, yyjson_mut_val *item, const char *key, const char *text)
{
    (void)yyjson_mut_obj_remove_key(item, key);
    put_text(request->doc, item, key, text);
}

/* A part of a label: letters, digits, '-', '_' and '.', not at the ends. */
static bool is_label_part(const char *text, size_t len)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static const char inside[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

    return len > 0 && len <= LABEL_PART_MAX && strspn(text, inside) >= len && strchr(letters, text[0]) &&
           strchr(letters, text[len - 1]);
}

static bool is_label_key(const char *text)
{
    const char *slash = strchr(text, '/');
    const char *name = slash ? slash + 1 : text;
    size_t prefix = slash ? (size_t)(slash - text) : 0;

    return is_label_part(name, strlen(name)) &&
           (!slash || (prefix > 0 && prefix <= LABEL_PREFIX_MAX &&
                       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.") == prefix));
}

static int read_labels(struct request *request, yyjson_mut_val *item, enum json_need need, struct err *err)
{
    const char *key = text_of(item, "labelKey");
    const char *value = text_of(item, "labelValue");
    const char *old_key = key, *old_value = value;
    int r;

    if ((r = json_member_str(&request->body, "labelKey", need, &key, err)) < 0 ||
        (r = json_member_str(&request->body, "labelValue", need, &value, err)) < 0)
        return r;
    if (!is_label_key(key))
        return err_set(err, -EINVAL, "labelKey: '%.100s' is not a label key", key);
    if (!is_label_part(value, strlen(value)))
        return err_set(err, -EINVAL, "labelValue: '%.100s' is not a label value", value);
    if (strcmp(text_of(item, "id"), DEFAULT_POOL) == 0 && (strcmp(key, old_key) != 0 || strcmp(value, old_value) != 0))
        return err_set(err, -EINVAL,
                       "labelKey: the default pool has no label: it has the nodes that are in no other pool");
    if (strcmp(key, POOL_LABEL) == 0 && strcmp(value, text_of(item, "name")) != 0)
        return err_set(err, -EINVAL, "labelValue: with the key " POOL_LABEL " it must be the name of the pool");
    if (strncmp(key, "console.muster/", strlen("console.muster/")) == 0)
        return err_set(err, -EINVAL, "labelKey: labels of console.muster are reserved for the console");
    set_text(request, item, "labelKey", key);
    set_text(request, item, "labelValue", value);
    return 0;
}

static int read_strategy(struct request *request, const struct json_at *at, const char *key, yyjson_mut_val *item,
                         struct err *err)
{
    struct json_at strategy = {0};
    static const char *const names[] = {"cpu", "gpu"};
    int r = json_member_object(at, key, JSON_OPTIONAL, &strategy, err);

    for (size_t i = 0; r >= 0 && strategy.val && i < ARRAY_LEN(names); i++) {
        const char *text = NULL;

        r = json_member_str(&strategy, names[i], JSON_OPTIONAL, &text, err);
        if (r < 0 || !text)
            continue;
        if (strcmp(text, "binpack") != 0 && strcmp(text, "spread") != 0)
            return json_fail(&strategy, err, -EINVAL, "%s: expected binpack or spread", names[i]);
        set_text(request, item, names[i], text);
    }
    return r < 0 ? r : 0;
}

static int read_scheduling(struct request *request, yyjson_mut_val *item, struct err *err)
{
    struct json_at scheduling = {0};
    const char *runtime = NULL;
    nsec_t duration = 0;
    int r;

    if ((r = read_strategy(request, &request->body, "placementStrategy", item, err)) < 0 ||
        (r = json_member_object(&request->body, "schedulingConfiguration", JSON_OPTIONAL, &scheduling, err)) < 0 ||
        (r = read_strategy(request, &scheduling, "placementStrategy", item, err)) < 0 ||
        (r = json_member_str(&scheduling, "minGuaranteedRuntime", JSON_OPTIONAL, &runtime, err)) < 0)
        return r;
    if (!runtime)
        return 0;
    if ((r = runtime_parse(runtime, &duration, err)) < 0)
        return json_fail(&scheduling, err, r, "minGuaranteedRuntime: expected a duration such as 5d8h40m");
    set_text(request, item, "minGuaranteedRuntime", runtime);
    return 0;
}

/* Members that have no effect yet are refused rather than kept without one. */
static int check_unsupported(const struct json_at *body, struct err *err)
{
    struct json_at memory = {0};
    const char *detection = "Auto", *label = NULL, *topology = NULL, *size = NULL, *reserved = NULL;
    bool swaps = false, has_scheduler = false;
    int64_t ratio = 1;
    int r;

    if ((r = json_member_int64(body, "overProvisioningRatio", JSON_OPTIONAL, 1, 5, &ratio, err)) < 0 ||
        (r = json_member_str(body, "gpuNetworkAccelerationDetection", JSON_OPTIONAL, &detection, err)) < 0 ||
        (r = json_member_str(body, "gpuNetworkAccelerationLabelKey", JSON_OPTIONAL, &label, err)) < 0 ||
        (r = json_member_str(body, "networkTopologyId", JSON_OPTIONAL, &topology, err)) < 0 ||
        (r = json_member_object(body, "gpuResourceOptimization", JSON_OPTIONAL, &memory, err)) < 0 ||
        (r = json_member_bool(&memory, "swapEnabled", JSON_OPTIONAL, &swaps, err)) < 0 ||
        (r = json_member_bool(&memory, "nodeLevelSchedulerEnabled", JSON_OPTIONAL, &has_scheduler, err)) < 0 ||
        (r = json_member_str(&memory, "cpuSwapMemorySize", JSON_OPTIONAL, &size, err)) < 0 ||
        (r = json_member_str(&memory, "reservedGpuMemoryForSwapOperations", JSON_OPTIONAL, &reserved, err)) < 0)
        return r;
    if (strcmp(detection, "Auto") != 0 && strcmp(detection, "DontUse") != 0 && strcmp(detection, "Use") != 0)
        return err_set(err, -EINVAL, "gpuNetworkAccelerationDetection: expected Use, DontUse or Auto");
    if (ratio != 1 || swaps || has_scheduler || size || reserved)
        return err_set(err, -ENOSYS, "overProvisioningRatio, gpuResourceOptimization: they are not supported yet");
    if (strcmp(detection, "Use") == 0 || (label && *label))
        return err_set(err, -ENOSYS, "gpuNetworkAcceleration...: it is not supported yet");
    if (topology && *topology)
        return err_set(err, -ENOSYS, "networkTopologyId: network topologies are not supported yet");
    return 0;
}

/* --- changes --- */

static int save(struct request *request, yyjson_mut_val *item, const char *phase, struct err *err)
{
    set_text(request, item, "updatedBy", request->caller->name);
    (void)yyjson_mut_obj_remove_key(item, "updatedAt");
    put_now(request->doc, item, "updatedAt");
    (void)yyjson_mut_obj_remove_key(item, "phaseMessage");
    set_text(request, item, "phase", phase);
    request->sync_kind = ITEM_NODE_POOL;
    request->syncs_all = true;
    return item_update(request->console->db, ITEM_NODE_POOL, request->id, item, err);
}

static int check_name(const char *name, struct err *err)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

    if (len == 0 || len > POOL_NAME_MAX || name[len] || name[0] == '-' || name[len - 1] == '-')
        return err_set(
            err, -EINVAL,
            "name: up to %d lower-case letters, digits and '-' are allowed, the first and last a letter or digit",
            POOL_NAME_MAX);
    return 0;
}

static int create_node_pool(struct request *request, struct err *err)
{
    struct console *console = request->console;
    struct pool_list pools = {0};
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    const char *name = NULL;
    const char *cluster = NULL;
    int r;

    if ((r = json_object(&request->body, err)) < 0 ||
        (r = json_member_str(&request->body, "name", JSON_REQUIRED, &name, err)) < 0 ||
        (r = check_name(name, err)) < 0 ||
        (r = json_member_str(&request->body, "clusterId", JSON_REQUIRED, &cluster, err)) < 0 ||
        (r = pools_load(console->db, &pools, err)) < 0)
        return r;
    uint32_t count = pools.len;
    pools_done(&pools);
    if (strcmp(cluster, console->cluster_id) != 0)
        return err_set(err, -EINVAL, "clusterId: there is no cluster '%.50s'", cluster);
    if (count >= POOLS_MAX)
        return err_set(err, -EINVAL, "a cluster has up to %d node pools", POOLS_MAX);
    uuid_make(request->id);
    put_text(doc, item, "id", request->id);
    put_text(doc, item, "name", name);
    put_text(doc, item, "gpu", "binpack");
    put_text(doc, item, "cpu", "binpack");
    put_text(doc, item, "phase", "Creating");
    (void)yyjson_mut_obj_add_bool(doc, item, "isDefault", false);
    put_text(doc, item, "createdBy", request->caller->name);
    put_text(doc, item, "updatedBy", request->caller->name);
    put_now(doc, item, "createdAt");
    put_now(doc, item, "updatedAt");
    if ((r = read_labels(request, item, JSON_REQUIRED, err)) < 0 || (r = read_scheduling(request, item, err)) < 0 ||
        (r = check_unsupported(&request->body, err)) < 0)
        return r;
    request->answer = render(request, item);
    request->status = 201;
    request->action = "create";
    request->type = ITEM_NODE_POOL;
    request->sync_kind = ITEM_NODE_POOL;
    request->syncs_all = true;
    (void)snprintf(request->name, sizeof request->name, "%s", name);
    return item_insert(console->db, &(struct item_key){ITEM_NODE_POOL, request->id, console->cluster_id, name}, item,
                       err);
}
CHANGES(handle_create_node_pool, create_node_pool)

static int check_not_deleting(const struct request *request, yyjson_mut_val *item, struct err *err)
{
    if (strcmp(text_of(item, "phase"), SYNC_DELETING) == 0)
        return err_set(err, -EINVAL, "'%s' is being deleted", request->name);
    return 0;
}

static int read_all(struct request *request, yyjson_mut_val *item, struct err *err)
{
    int r;

    if ((r = read_labels(request, item, JSON_OPTIONAL, err)) < 0 || (r = read_scheduling(request, item, err)) < 0)
        return r;
    return check_unsupported(&request->body, err);
}

static void reset(struct request *request, yyjson_mut_val *item)
{
    set_text(request, item, "gpu", "binpack");
    set_text(request, item, "cpu", "binpack");
    (void)yyjson_mut_obj_remove_key(item, "minGuaranteedRuntime");
}

/* PUT sets what it does not name back to the defaults; labels stay. */
static int update_node_pool(struct request *request, struct err *err)
{
    yyjson_mut_val *item = NULL;
    int r;

    if ((r = take(request, &item, err)) < 0 || (r = check_not_deleting(request, item, err)) < 0 ||
        (r = json_object(&request->body, err)) < 0)
        return r;
    if (strcmp(http_exchange_method(request->exchange), "PUT") == 0)
        reset(request, item);
    if ((r = read_all(request, item, err)) < 0 || (r = save(request, item, "Updating", err)) < 0)
        return r;
    request->action = "update";
    request->answer = render(request, item);
    return 0;
}
CHANGES(handle_update_node_pool, update_node_pool)

int pool_apply(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct console *console = request->console;
    const char *name = NULL;
    int r = json_member_str(&request->body, "name", JSON_REQUIRED, &name, err);

    if (r >= 0)
        r = item_find(console->db, ITEM_NODE_POOL, console->cluster_id, name, &doc, err);
    if (r == -ENOENT)
        return create_node_pool(request, err);
    if (r < 0)
        return r;
    yyjson_mut_val *item = copy_item(request->doc, yyjson_doc_get_root(doc));
    yyjson_mut_val *before = copy_item(request->doc, yyjson_doc_get_root(doc));
    take_item(request, item);
    reset(request, item);
    if ((r = check_not_deleting(request, item, err)) < 0 || (r = read_all(request, item, err)) < 0 ||
        yyjson_mut_equals(before, item))
        return r;
    request->action = "update";
    return save(request, item, "Updating", err);
}

static int delete_node_pool(struct request *request, struct err *err)
{
    yyjson_mut_val *item = NULL;
    int r = take(request, &item, err);

    if (r < 0)
        return r;
    if (yyjson_mut_get_bool(yyjson_mut_obj_get(item, "isDefault")))
        return err_set(err, -EINVAL, "the default node pool cannot be deleted");
    r = save(request, item, SYNC_DELETING, err);
    request->action = "delete";
    request->status = 202;
    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_int(request->doc, request->answer, "code", request->status);
    put_text(request->doc, request->answer, "message", "The node pool is being deleted.");
    return r;
}
CHANGES(handle_delete_node_pool, delete_node_pool)
