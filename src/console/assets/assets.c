/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The handlers of all kinds of assets: kinds.c says what a kind is. An item has the members `meta` and `spec` as answers show
 * them, and `place`, `owner` and `refs` (assets that it names), which are not shown. Secrets are in the vault.
 */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "console/assets/assets.h"
#include "console/assets/kinds.h"
#include "console/assets/vault.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/policies/policy.h"
#include "console/rest/handlers.h"
#include "console/rest/listing.h"

enum { NAME_MAX_BYTES = 200, DESCRIPTION_MAX = 250 };

/* In answers that have to have a secret; in a change it stands for the secret that there is. */
#define MASK "********"

static const char *text_at(yyjson_val *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(item, pointer));

    return text ? text : "";
}

static const struct asset_kind *kind_of(const struct request *request)
{
    const struct asset_kind *kind = asset_kind_at(http_exchange_path(request->exchange));

    BUG_ON(!kind);
    return kind;
}

/* --- what may be seen --- */

static int is_visible(const struct request *request, const struct asset_kind *kind, yyjson_val *item, bool *ret_visible,
                      struct err *err)
{
    struct place place;

    *ret_visible = false;
    if (yyjson_get_bool(yyjson_ptr_get(item, "/meta/private")) &&
        strcmp(text_at(item, "/owner"), request->caller->id) != 0)
        return 0;
    place_load(yyjson_obj_get(item, "place"), &place);
    return place_is_visible(request, kind->type, &place, ret_visible, err);
}

/* --- use by other assets --- */

/* Rows {id, name} of the templates that name an asset and that the caller sees, by its identifier. Made once for a whole list. */
struct usage {
    struct request *request;
    yyjson_mut_val *by_asset;  // NULL: nobody asks
    struct err *err;
};

static int add_template(void *arg, yyjson_val *item)
{
    struct usage *usage = arg;
    yyjson_mut_doc *doc = usage->request->doc;
    yyjson_val *ref;
    yyjson_arr_iter iter;
    bool is_shown = false;
    int r = is_visible(usage->request, asset_kind_find("workload-template"), item, &is_shown, usage->err);

    if (r < 0 || !is_shown)
        return r;
    yyjson_arr_iter_init(yyjson_obj_get(item, "refs"), &iter);
    while ((ref = yyjson_arr_iter_next(&iter))) {
        yyjson_mut_val *rows = yyjson_mut_obj_get(usage->by_asset, yyjson_get_str(ref));

        if (!rows) {
            rows = yyjson_mut_arr(doc);
            (void)yyjson_mut_obj_add(usage->by_asset, yyjson_val_mut_copy(doc, ref), rows);
        }
        yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, rows);
        put_text(doc, row, "id", text_at(item, "/meta/id"));
        put_text(doc, row, "name", text_at(item, "/meta/name"));
    }
    return 0;
}

static int load_usage(struct request *request, struct usage *ret_usage, struct err *err)
{
    *ret_usage = (struct usage){.request = request, .err = err};
    if (!rest_query_is_true(request->exchange, "usageInfo"))
        return 0;
    ret_usage->by_asset = yyjson_mut_obj(request->doc);
    return items_each(request->console->db, asset_kind_find("workload-template")->item, NULL, add_template, ret_usage,
                      err);
}

static void put_usage(const struct usage *usage, yyjson_mut_val *to, const char *id)
{
    static const char *const workloads[] = {"workspaces", "trainings", "distributed", "inferences"};
    yyjson_mut_doc *doc = usage->request->doc;
    yyjson_mut_val *used = yyjson_mut_obj_add_obj(doc, to, "usedBy");
    yyjson_mut_val *rows = yyjson_mut_obj_get(usage->by_asset, id);

    for (size_t i = 0; i < ARRAY_LEN(workloads); i++)
        (void)yyjson_mut_obj_add_arr(doc, used, workloads[i]);
    (void)yyjson_mut_obj_add_val(doc, used, "templates",
                                 rows ? yyjson_mut_val_mut_copy(doc, rows) : yyjson_mut_arr(doc));
}

struct user_count {
    const char *id;
    size_t count;
};

static int count_user(void *arg, yyjson_val *item)
{
    struct user_count *users = arg;
    yyjson_val *ref;
    yyjson_arr_iter iter;

    yyjson_arr_iter_init(yyjson_obj_get(item, "refs"), &iter);
    while ((ref = yyjson_arr_iter_next(&iter))) {
        if (yyjson_equals_str(ref, users->id)) {
            users->count++;
            return 0;
        }
    }
    return 0;
}

static int count_users(struct request *request, struct user_count *users, struct err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < asset_kind_count; i++)
        r = items_each(request->console->db, asset_kinds[i].item, NULL, count_user, users, err);
    for (size_t i = 0; r == 0 && i < policy_kind_count; i++)
        r = items_each(request->console->db, policy_kinds[i].item, NULL, count_user, users, err);
    return r;
}

/* --- answers --- */

static bool is_credential(const struct asset_kind *kind)
{
    return kind->group == ASSET_CREDENTIAL;
}

/* The name of an asset that another one names; it cannot be deleted, so that it is there. */
static int put_asset_name(struct request *request, const char *name, const char *id, yyjson_mut_val *to,
                          struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const struct asset_kind *kind = asset_kind_find(name);
    int r = kind ? item_get(request->console->db, kind->item, id, &doc, err) : -ENOENT;

    if (r == 0)
        put_text(request->doc, to, "name", text_at(yyjson_doc_get_root(doc), "/meta/name"));
    return r;
}

/* Requests have the identifiers of a template's assets, answers their names as well. */
static int expand_template(struct request *request, yyjson_mut_val *spec, struct err *err)
{
    static const char *const members[] = {"environment", "compute"};
    yyjson_mut_val *assets = yyjson_mut_obj_get(spec, "assets");
    yyjson_mut_val *source;
    yyjson_mut_arr_iter iter;
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(members); i++) {
        const char *id = yyjson_mut_get_str(yyjson_mut_obj_get(assets, members[i]));

        if (!id)
            continue;
        yyjson_mut_val *object = yyjson_mut_obj(request->doc);
        put_text(request->doc, object, "id", id);
        r = put_asset_name(request, members[i], id, object, err);
        (void)yyjson_mut_obj_replace(assets, yyjson_mut_str(request->doc, members[i]), object);
    }
    yyjson_mut_arr_iter_init(yyjson_mut_obj_get(assets, "datasources"), &iter);
    while (r == 0 && (source = yyjson_mut_arr_iter_next(&iter)))
        r = put_asset_name(request, yyjson_mut_get_str(yyjson_mut_obj_get(source, "kind")),
                           yyjson_mut_get_str(yyjson_mut_obj_get(source, "id")), source, err);
    return r;
}

/* The name of the asset's objects, and how far the cluster is. */
static void put_cluster_info(const struct request *request, const struct asset_kind *kind, yyjson_val *item,
                             yyjson_mut_val *asset)
{
    _cleanup_(freep) char *name = asset_object_name(kind, item);
    yyjson_mut_doc *doc = request->doc;
    yyjson_val *status = yyjson_obj_get(item, "status");

    if (name) {
        yyjson_mut_val *info = yyjson_mut_obj_add_obj(doc, asset, "clusterInfo");
        put_text(doc, yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, info, "resources")), "name", name);
    }
    if (!rest_query_is_true(request->exchange, "statusInfo"))
        return;
    if (status)
        (void)yyjson_mut_obj_add_val(doc, asset, "status", copy_item(doc, status));
    else
        put_text(doc, yyjson_mut_obj_add_obj(doc, asset, "status"), "status", "No status");
}

static int render(const struct usage *usage, const struct asset_kind *kind, yyjson_val *item, bool is_grouped,
                  yyjson_mut_val **ret_asset, struct err *err)
{
    struct request *request = usage->request;
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *asset = yyjson_mut_obj(doc);
    yyjson_mut_val *spec = copy_item(doc, yyjson_obj_get(item, "spec"));
    yyjson_mut_val *group = yyjson_mut_obj(doc);
    int r = strcmp(kind->name, "workload-template") == 0 ? expand_template(request, spec, err) : 0;

    if (r < 0)
        return r;
    (void)yyjson_mut_obj_add_val(doc, asset, "meta", copy_item(doc, yyjson_obj_get(item, "meta")));
    if (is_credential(kind))
        (void)yyjson_mut_obj_add_sint(doc, spec, "keyId", vault_key_id(request->console->vault));
    if (strcmp(kind->name, "registry") == 0)
        put_text(doc, spec, "password", MASK);
    if (is_grouped)
        (void)yyjson_mut_obj_add_val(doc, group, kind->group_key, spec);
    (void)yyjson_mut_obj_add_val(doc, asset, "spec", is_grouped ? group : spec);
    put_cluster_info(request, kind, item, asset);
    *ret_asset = asset;
    if (usage->by_asset)
        put_usage(usage, asset, text_at(item, "/meta/id"));
    return 0;
}

/* --- lists --- */

struct walk {
    struct request *request;
    const struct asset_kind *kind;
    const struct place_query *query;
    struct usage usage;
    struct listing_rows *rows;
    struct err *err;
    bool is_grouped;
};

static bool is_in_place(const struct walk *walk, yyjson_val *item)
{
    const struct place_query *query = walk->query;
    bool descends = rest_query_is_true(walk->request->exchange, "includeDescendants");
    struct place place;

    place_load(yyjson_obj_get(item, "place"), &place);
    if (query->has_scope && place.scope != query->scope)
        return false;
    if (!query->has_place)
        return true;
    return place_holds(&place, &query->place) || (descends && place_holds(&query->place, &place));
}

/* A kind of workload that the asset supports: all where it names none. */
static bool supports(const struct walk *walk, yyjson_val *item)
{
    static const char *const types[][2] = {{"isInference", "inference"},
                                           {"isWorkspace", "workspace"},
                                           {"isTraining", "training"},
                                           {"isDistributed", "distributed"}};
    yyjson_val *supported = yyjson_ptr_get(item, "/meta/workloadSupportedTypes");
    const char *framework = rest_query(walk->request->exchange, "distributedFramework");

    for (size_t i = 0; supported && i < ARRAY_LEN(types); i++) {
        if (rest_query_is_true(walk->request->exchange, types[i][0]) &&
            !yyjson_get_bool(yyjson_obj_get(supported, types[i][1])))
            return false;
    }
    yyjson_val *own = yyjson_obj_get(supported, "distFramework");
    return !framework || !own || yyjson_equals_str(own, framework);
}

static bool is_listed(const char *list, const char *id)
{
    size_t len = strlen(id);

    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strcspn(at, ",") == len && strncmp(at, id, len) == 0)
            return true;
    }
    return false;
}

static int add_asset(void *arg, yyjson_val *item)
{
    struct walk *walk = arg;
    struct http_exchange *exchange = walk->request->exchange;
    const char *name = rest_query(exchange, "name");
    const char *ids = rest_query(exchange, "assetIds");
    yyjson_mut_val *asset = NULL;
    bool is_shown = false;

    if ((name && strcmp(name, text_at(item, "/meta/name")) != 0) ||
        (ids && !is_listed(ids, text_at(item, "/meta/id"))) || !is_in_place(walk, item) || !supports(walk, item))
        return 0;
    int r = is_visible(walk->request, walk->kind, item, &is_shown, walk->err);
    if (r < 0 || !is_shown)
        return r;
    r = render(&walk->usage, walk->kind, item, walk->is_grouped, &asset, walk->err);
    if (r == 0)
        vec_push(walk->rows, asset);
    return r;
}

static int list(struct request *request, const struct asset_kind *only, enum asset_group group, struct err *err)
{
    struct listing_rows rows = {0};
    struct place_query query;
    struct walk walk = {.request = request, .query = &query, .rows = &rows, .err = err, .is_grouped = only == NULL};
    int r = place_query(request, &query, err);

    if (r == 0 && query.has_scope && rest_query_is_true(request->exchange, "includeDescendants"))
        r = err_set(err, -EINVAL, "scope and includeDescendants cannot be used together");
    if (r == 0)
        r = load_usage(request, &walk.usage, err);
    for (size_t i = 0; r == 0 && i < asset_kind_count; i++) {
        walk.kind = &asset_kinds[i];
        if (only ? only == walk.kind : walk.kind->group == group)
            r = items_each(request->console->db, walk.kind->item, NULL, add_asset, &walk, err);
    }
    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_val(request->doc, request->answer, "entries", rows_array(request, &rows));
    vec_done(&rows);
    return r;
}

static const char *const list_names[] = {"name",        "scope",
                                         "projectId",   "departmentId",
                                         "clusterId",   "usageInfo",
                                         "statusInfo",  "includeDescendants",
                                         "assetIds",    "isDistributed",
                                         "isTraining",  "isWorkspace",
                                         "isInference", "distributedFramework",
                                         NULL};

static int list_assets(struct request *request, struct err *err)
{
    return list(request, kind_of(request), ASSET_PLAIN, err);
}
READS_BY(handle_list_assets, list_assets, list_names)

static int list_data_sources(struct request *request, struct err *err)
{
    return list(request, NULL, ASSET_DATA_SOURCE, err);
}
READS_BY(handle_list_data_sources, list_data_sources, list_names)

static int list_credentials(struct request *request, struct err *err)
{
    return list(request, NULL, ASSET_CREDENTIAL, err);
}
READS_BY(handle_list_credentials, list_credentials, list_names)

/* --- one asset --- */

/* What the caller may not see is not there. */
static int take(struct request *request, enum action action, yyjson_doc **ret_doc, struct err *err)
{
    const struct asset_kind *kind = kind_of(request);
    const char *id = rest_param(request->exchange, "AssetId");
    bool is_shown = false;
    struct place place;
    int r = item_get(request->console->db, kind->item, id, ret_doc, err);

    if (r < 0)
        return r == -ENOENT ? err_set(err, -ENOENT, "there is no %s '%.50s'", kind->name, id) : r;
    yyjson_val *item = yyjson_doc_get_root(*ret_doc);
    r = is_visible(request, kind, item, &is_shown, err);
    if (r < 0)
        return r;
    if (!is_shown)
        return err_set(err, -ENOENT, "there is no %s '%.50s'", kind->name, id);
    place_load(yyjson_obj_get(item, "place"), &place);
    request->place = place;
    request->is_private = yyjson_get_bool(yyjson_ptr_get(item, "/meta/private"));
    if (action != ACTION_READ && !place_allows(&request->caller->access, kind->type, action, &place))
        return err_set(err, -EACCES, "'%.100s' may not change this %s", request->caller->name, kind->name);
    request->type = kind->name;
    (void)snprintf(request->id, sizeof request->id, "%s", text_at(item, "/meta/id"));
    (void)snprintf(request->name, sizeof request->name, "%s", text_at(item, "/meta/name"));
    return 0;
}

static int get_asset(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct usage usage = {0};
    int r = take(request, ACTION_READ, &doc, err);

    if (r == 0)
        r = load_usage(request, &usage, err);
    return r < 0 ? r : render(&usage, kind_of(request), yyjson_doc_get_root(doc), false, &request->answer, err);
}
static const char *const get_names[] = {"usageInfo", "statusInfo", NULL};
READS_BY(handle_get_asset, get_asset, get_names)

/* --- what a request says --- */

static int read_description(struct request *request, const struct json_at *meta, yyjson_mut_val *to, struct err *err)
{
    const char *text = NULL;
    int r = json_member_str(meta, "description", JSON_OPTIONAL, &text, err);

    if (r < 0)
        return r;
    if (text && strlen(text) > DESCRIPTION_MAX)
        return err_set(err, -EINVAL, "meta.description: longer than %d bytes", DESCRIPTION_MAX);
    (void)yyjson_mut_obj_remove_key(to, "description");
    if (text && *text)
        put_text(request->doc, to, "description", text);
    return 0;
}

static int read_name(const struct json_at *meta, const char **ret_name, struct err *err)
{
    int r = json_member_str(meta, "name", JSON_REQUIRED, ret_name, err);

    if (r < 0)
        return r;
    if (!**ret_name || strlen(*ret_name) > NAME_MAX_BYTES)
        return err_set(err, -EINVAL, "meta.name: expected 1 to %d bytes", NAME_MAX_BYTES);
    return 0;
}

static int read_meta(struct request *request, const struct asset_kind *kind, const struct json_at *meta,
                     yyjson_mut_val *to, struct err *err)
{
    struct json_at types = {0};
    struct field_reading reading = {.doc = request->doc};
    bool deletes = false;
    bool is_private = false;
    int r;

    if ((r = read_description(request, meta, to, err)) < 0 ||
        (r = json_member_bool(meta, "autoDelete", JSON_OPTIONAL, &deletes, err)) < 0 ||
        (r = json_member_bool(meta, "private", JSON_OPTIONAL, &is_private, err)) < 0 ||
        (r = json_member_object(meta, "workloadSupportedTypes", JSON_OPTIONAL, &types, err)) < 0)
        return r;
    if (deletes)
        return err_set(err, -ENOSYS, "meta.autoDelete: it is not supported");
    if (is_private && !kind->can_be_private)
        return err_set(err, -EINVAL, "meta.private: only docker registries and generic secrets can be private");
    (void)yyjson_mut_obj_add_bool(request->doc, to, "autoDelete", false);
    (void)yyjson_mut_obj_add_bool(request->doc, to, "private", is_private);
    if (!types.val)
        return 0;
    return asset_members_read(&types, supported_types_fields, &reading,
                              yyjson_mut_obj_add_obj(request->doc, to, "workloadSupportedTypes"), err);
}

/* An asset that is named has to be there, visible to the caller, and in a scope that holds this one. */
static int check_ref(struct request *request, const struct field_ref *ref, const struct place *place, struct err *err)
{
    for (size_t i = 0; ref->field->options[i]; i++) {
        _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
        const struct asset_kind *kind = asset_kind_find(ref->field->options[i]);
        struct place there;
        bool is_shown = false;
        int r = item_get(request->console->db, kind->item, ref->id, &doc, err);

        if (r == -ENOENT)
            continue;
        if (r == 0)
            r = is_visible(request, kind, yyjson_doc_get_root(doc), &is_shown, err);
        if (r < 0)
            return r;
        if (!is_shown)
            break;
        if (ref->kind && strcmp(ref->kind, kind->name) != 0)
            return err_set(err, -EINVAL, "spec: the asset '%.50s' is of kind %s", ref->id, kind->name);
        place_load(yyjson_doc_ptr_get(doc, "/place"), &there);
        if (!place_holds(&there, place))
            return err_set(err, -EINVAL, "spec: the asset '%.50s' is not available in the whole scope of this one",
                           ref->id);
        return 0;
    }
    return err_set(err, -EINVAL, "spec: there is no asset '%.50s' for %s", ref->id, ref->field->name);
}

int asset_check_source(struct request *request, const char *id, const struct place *place, struct err *err)
{
    static const char *const sources[] = {"pvc", "git", "nfs", "s3", "hostPath", "config-map", "secret-volume", NULL};
    static const struct field imposed = {.name = "imposedAssets", .type = FIELD_ASSET, .options = sources};

    return check_ref(request, &(struct field_ref){&imposed, id, NULL}, place, err);
}

/* The spec that is kept, with `refs`; secrets go to the vault. `old` is NULL for a new asset. */
static int read_spec(struct request *request, const struct asset_kind *kind, const struct place *place,
                     yyjson_mut_val *item, yyjson_val *old, struct err *err)
{
    const struct field *fields = old && kind->update ? kind->update : kind->spec;
    struct json_at at = {0};
    struct field_refs refs = {0};
    yyjson_mut_doc *doc = request->doc;
    struct field_reading reading = {doc, yyjson_mut_obj(doc), &refs};
    yyjson_mut_val *spec = old && kind->update ? copy_item(doc, old) : yyjson_mut_obj(doc);
    yyjson_mut_val *fresh = yyjson_mut_obj(doc);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    size_t index, max;
    yyjson_mut_val *key, *value;
    int r = json_member_object(&request->body, "spec", JSON_REQUIRED, &at, err);

    if (r >= 0)
        r = asset_members_read(&at, fields, &reading, fresh, err);
    if (r == 0) {
        yyjson_mut_obj_foreach(fresh, index, max, key, value)
        {
            (void)yyjson_mut_obj_remove_key(spec, yyjson_mut_get_str(key));
            (void)yyjson_mut_obj_add_val(doc, spec, yyjson_mut_get_str(key), yyjson_mut_val_mut_copy(doc, value));
        }
    }
    if (r == 0 && kind->check)
        r = kind->check(request, spec, reading.secrets, err);
    for (uint32_t i = 0; r == 0 && i < refs.len; i++) {
        r = check_ref(request, &refs.items[i], place, err);
        (void)yyjson_mut_arr_add_strcpy(doc, list, refs.items[i].id);
    }
    vec_done(&refs);
    if (r < 0)
        return r;
    (void)yyjson_mut_obj_remove_key(item, "spec");
    (void)yyjson_mut_obj_add_val(doc, item, "spec", spec);
    (void)yyjson_mut_obj_remove_key(item, "refs");
    (void)yyjson_mut_obj_add_val(doc, item, "refs", list);
    bool keeps = old && yyjson_mut_equals_str(yyjson_mut_obj_get(reading.secrets, "password"), MASK);
    if (yyjson_mut_obj_size(reading.secrets) == 0 || keeps)
        return 0;
    char *text = yyjson_mut_val_write(reading.secrets, 0, NULL);
    BUG_ON(!text);
    r = vault_put(request->console->vault, request->id, text, err);
    sodium_memzero(text, strlen(text));
    free(text);
    return r;
}

/* --- changes --- */

/* The cluster follows; objects for workloads alone have no status. */
static void follow(struct request *request, const struct asset_kind *kind, yyjson_mut_val *item, const char *status)
{
    bool is_private = yyjson_mut_get_bool(yyjson_mut_ptr_get(item, "/meta/private"));
    bool is_ephemeral = yyjson_mut_get_bool(yyjson_mut_ptr_get(item, "/spec/ephemeral"));

    if (!asset_has_objects(kind) || is_private || is_ephemeral)
        return;
    request->sync_kind = kind->item;
    (void)yyjson_mut_obj_remove_key(item, "status");
    put_text(request->doc, yyjson_mut_obj_add_obj(request->doc, item, "status"), "status", status);
}

/* The answer is the asset as a reading would show it. */
static int answer_item(struct request *request, const struct asset_kind *kind, yyjson_mut_val *item, struct err *err)
{
    yyjson_doc *doc = yyjson_mut_val_imut_copy(item, NULL);
    BUG_ON(!doc);
    int r = render(&(struct usage){.request = request}, kind, yyjson_doc_get_root(doc), false, &request->answer, err);

    yyjson_doc_free(doc);
    return r;
}

static void put_update(struct request *request, yyjson_mut_val *meta, int64_t count)
{
    (void)yyjson_mut_obj_remove_key(meta, "updatedBy");
    (void)yyjson_mut_obj_remove_key(meta, "updatedAt");
    (void)yyjson_mut_obj_remove_key(meta, "updateCount");
    put_text(request->doc, meta, "updatedBy", request->caller->name);
    put_now(request->doc, meta, "updatedAt");
    (void)yyjson_mut_obj_add_sint(request->doc, meta, "updateCount", count);
}

static int create_asset(struct request *request, struct err *err)
{
    const struct asset_kind *kind = kind_of(request);
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, item, "meta");
    struct json_at from = {0};
    char key[PLACE_KEY_MAX];
    const char *name = NULL;
    struct place place;
    int r;

    if ((r = json_object(&request->body, err)) < 0 ||
        (r = json_member_object(&request->body, "meta", JSON_REQUIRED, &from, err)) < 0 ||
        (r = read_name(&from, &name, err)) < 0 || (r = place_read(request, &from, &place, err)) < 0)
        return r;
    if (!place_allows(&request->caller->access, kind->type, ACTION_CREATE, &place))
        return err_set(err, -EACCES, "'%.100s' may not create a %s in this scope", request->caller->name, kind->name);
    uuid_make(request->id);
    put_text(doc, meta, "id", request->id);
    put_text(doc, meta, "kind", kind->name);
    put_text(doc, meta, "name", name);
    place_put(request, meta, &place);
    (void)yyjson_mut_obj_add_int(doc, meta, "tenantId", TENANT_ID);
    put_text(doc, meta, "createdBy", request->caller->name);
    put_now(doc, meta, "createdAt");
    put_update(request, meta, 0);
    place_save(request, yyjson_mut_obj_add_obj(doc, item, "place"), &place);
    put_text(doc, item, "owner", request->caller->id);
    if ((r = read_meta(request, kind, &from, meta, err)) < 0 ||
        (r = read_spec(request, kind, &place, item, NULL, err)) < 0)
        return r;
    follow(request, kind, item, "Creating");
    if ((r = item_insert(request->console->db,
                         &(struct item_key){kind->item, request->id, place_key(&place, key), name}, item, err)) < 0)
        return r;
    request->action = "create";
    request->type = kind->name;
    request->place = place;
    request->is_private = yyjson_mut_get_bool(yyjson_mut_obj_get(meta, "private"));
    request->status = kind->created ? kind->created : 202;
    (void)snprintf(request->name, sizeof request->name, "%s", name);
    return answer_item(request, kind, item, err);
}
CHANGES(handle_create_asset, create_asset)

static int update_asset(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const struct asset_kind *kind = kind_of(request);
    struct json_at from = {0};
    struct place place;
    int r;

    if ((r = take(request, ACTION_UPDATE, &doc, err)) < 0 || (r = json_object(&request->body, err)) < 0 ||
        (r = json_member_object(&request->body, "meta", is_credential(kind) ? JSON_OPTIONAL : JSON_REQUIRED, &from,
                                err)) < 0)
        return r;
    yyjson_mut_val *item = copy_item(request->doc, yyjson_doc_get_root(doc));
    yyjson_mut_val *meta = yyjson_mut_obj_get(item, "meta");
    const char *name = text_at(yyjson_doc_get_root(doc), "/meta/name");
    int64_t count = yyjson_get_sint(yyjson_doc_ptr_get(doc, "/meta/updateCount"));
    place_load(yyjson_doc_ptr_get(doc, "/place"), &place);
    if ((from.val && (r = read_description(request, &from, meta, err)) < 0) ||
        (!is_credential(kind) && (r = read_name(&from, &name, err)) < 0) ||
        (!is_credential(kind) &&
         (r = read_spec(request, kind, &place, item, yyjson_doc_ptr_get(doc, "/spec"), err)) < 0))
        return r;
    (void)yyjson_mut_obj_remove_key(meta, "name");
    put_text(request->doc, meta, "name", name);
    put_update(request, meta, count + 1);
    follow(request, kind, item, "Updating");
    r = item_replace(request->console->db, &(struct item_key){kind->item, request->id, NULL, name}, item, err);
    if (r < 0)
        return r;
    request->action = "update";
    request->status = kind->updated ? kind->updated : 202;
    (void)snprintf(request->name, sizeof request->name, "%s", name);
    return answer_item(request, kind, item, err);
}
CHANGES(handle_update_asset, update_asset)

static int delete_asset(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const struct asset_kind *kind = kind_of(request);
    struct user_count users = {rest_param(request->exchange, "AssetId"), 0};
    int r;

    if ((r = take(request, ACTION_DELETE, &doc, err)) < 0 || (r = count_users(request, &users, err)) < 0)
        return r;
    if (users.count > 0)
        return err_set(err, -ENOTEMPTY, "%zu assets and policies use this %s: change or delete them first", users.count,
                       kind->name);
    if ((r = vault_delete(request->console->vault, request->id, err)) < 0 ||
        (r = item_delete(request->console->db, kind->item, request->id, err)) < 0)
        return r;
    request->action = "delete";
    if (asset_has_objects(kind))
        request->sync_kind = kind->item;
    request->status = kind->deleted ? kind->deleted : 202;
    if (request->status == 204)
        return 0;
    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_int(request->doc, request->answer, "code", request->status);
    put_text(request->doc, request->answer, "message", "The asset is deleted.");
    return 0;
}
CHANGES(handle_delete_asset, delete_asset)

int assets_delete_in(struct console *console, const char *scope, const char *id, struct err *err)
{
    char key[PLACE_KEY_MAX];
    int r;

    (void)snprintf(key, sizeof key, "%s/%s", scope, id);
    r = db_run(console->db,
               DB_CALL("DELETE FROM sealed WHERE owner IN (SELECT id FROM items WHERE place = $1 AND kind LIKE $2)",
                       db_text(key), db_text("asset:%")),
               NULL, err);
    if (r < 0)
        return r;
    return db_run(console->db,
                  DB_CALL("DELETE FROM items WHERE place = $1 AND (kind LIKE $2 OR kind LIKE $3 OR kind LIKE $4)",
                          db_text(key), db_text("asset:%"), db_text("policy:%"), db_text("template:%")),
                  NULL, err);
}
