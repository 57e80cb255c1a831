/* SPDX-License-Identifier: Apache-2.0 */

/* The handlers of policies: one policy for a type of workloads in a scope, and what follows from all scopes above. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "console/assets/assets.h"
#include "console/data/items.h"
#include "console/policies/policy.h"
#include "console/rest/handlers.h"

enum { NAME_BYTES_MAX = 200, RESETS_MAX = 256, IMPOSED_MAX = 64 };

/* There is one for each type in a scope. */
#define ITEM_NAME "policy"

static const struct policy_kind *kind_of(const struct request *request)
{
    const struct policy_kind *kind = policy_kind_at(http_exchange_path(request->exchange));

    BUG_ON(!kind);
    return kind;
}

static int find_policy(struct request *request, const struct policy_kind *kind, const struct place *place,
                       yyjson_doc **ret_doc, struct err *err)
{
    char key[PLACE_KEY_MAX];

    return item_find(request->console->db, kind->item, place_key(place, key), ITEM_NAME, ret_doc, err);
}

/* --- the effective policy --- */

/* The places above one and itself, from the tenant down. */
static size_t places_to(const struct place *place, struct place places[static _SCOPE_MAX])
{
    size_t count = 0;

    for (int scope = SCOPE_TENANT; scope <= (int)place->scope; scope++) {
        places[count] = *place;
        places[count].scope = (enum scope)scope;
        if (scope != SCOPE_PROJECT)
            places[count].project[0] = '\0';
        if (scope < SCOPE_DEPARTMENT)
            places[count].department[0] = '\0';
        count++;
    }
    return count;
}

static void add_imposed(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *from)
{
    yyjson_val *id;
    yyjson_arr_iter iter;

    yyjson_arr_iter_init(from, &iter);
    while ((id = yyjson_arr_iter_next(&iter)))
        (void)yyjson_mut_arr_append(to, yyjson_val_mut_copy(doc, id));
}

static yyjson_mut_val *ensure_list(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key)
{
    yyjson_mut_val *there = yyjson_mut_obj_get(to, key);

    return there ? there : yyjson_mut_obj_add_arr(doc, to, key);
}

static void add_all_imposed(const struct policy_kind *kind, yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *from)
{
    static const char *const parts[] = {"master", "worker"};
    yyjson_val *imposed = yyjson_obj_get(from, "imposedAssets");

    if (!imposed)
        return;
    if (!kind->has_parts) {
        add_imposed(doc, ensure_list(doc, to, "imposedAssets"), imposed);
        return;
    }
    yyjson_mut_val *object = yyjson_mut_obj_get(to, "imposedAssets");
    if (!object)
        object = yyjson_mut_obj_add_obj(doc, to, "imposedAssets");
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        add_imposed(doc, ensure_list(doc, object, parts[i]), yyjson_obj_get(imposed, parts[i]));
}

static yyjson_mut_val *encode_source(struct request *request, const struct place *place)
{
    yyjson_mut_val *source = yyjson_mut_obj(request->doc);

    place_put(request, source, place);
    (void)yyjson_mut_obj_remove_key(source, "projectName");
    return source;
}

/* `instead`, where it is not NULL, stands for the policy of the place itself. `ret_updated` is the newest change. */
static int make_effective(struct request *request, const struct policy_kind *kind, const struct place *place,
                          yyjson_val *instead, yyjson_mut_val **ret_effective, char updated[static TIME_TEXT_MAX],
                          struct err *err)
{
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *effective = yyjson_mut_obj(doc);
    yyjson_mut_val *defaults = yyjson_mut_obj_add_obj(doc, effective, "defaults");
    yyjson_mut_val *rules = yyjson_mut_obj_add_obj(doc, effective, "rules");
    struct place places[_SCOPE_MAX];
    size_t count = places_to(place, places);

    *updated = '\0';
    for (size_t i = 0; i < count; i++) {
        _cleanup_(json_doc_freep) yyjson_doc *found = NULL;
        bool is_own = instead && i + 1 == count;
        int r = is_own ? 0 : find_policy(request, kind, &places[i], &found, err);

        if (r == -ENOENT)
            continue;
        if (r < 0)
            return r;
        yyjson_val *policy = is_own ? instead : yyjson_doc_ptr_get(found, "/policy");
        const char *time = is_own ? NULL : yyjson_get_str(yyjson_doc_ptr_get(found, "/meta/updatedAt"));
        if (time && strcmp(time, updated) > 0)
            (void)snprintf(updated, TIME_TEXT_MAX, "%s", time);
        policy_add_defaults(kind->fields, doc, defaults, yyjson_obj_get(policy, "defaults"));
        policy_add_rules(kind->fields, doc, rules, yyjson_obj_get(policy, "rules"), encode_source(request, &places[i]));
        add_all_imposed(kind, doc, effective, policy);
    }
    *ret_effective = effective;
    return 0;
}

int policy_effective(struct request *request, const struct policy_kind *kind, const struct place *place,
                     yyjson_mut_val **ret_effective, struct err *err)
{
    char updated[TIME_TEXT_MAX];

    return make_effective(request, kind, place, NULL, ret_effective, updated, err);
}

/* --- readings --- */

static int answer_policy(struct request *request, const struct policy_kind *kind, const struct place *place,
                         yyjson_val *item, bool is_kept, struct err *err)
{
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *effective = NULL;
    char updated[TIME_TEXT_MAX];
    yyjson_val *policy = yyjson_obj_get(item, "policy");
    int r = make_effective(request, kind, place, is_kept ? NULL : policy, &effective, updated, err);

    if (r < 0)
        return r;
    request->answer = yyjson_mut_obj(doc);
    if (item) {
        (void)yyjson_mut_obj_add_val(doc, request->answer, "meta", copy_item(doc, yyjson_obj_get(item, "meta")));
        (void)yyjson_mut_obj_add_val(doc, request->answer, "policy", copy_item(doc, policy));
    }
    (void)yyjson_mut_obj_add_val(doc, request->answer, "effective", effective);
    if (*updated)
        put_text(doc, request->answer, "effectiveUpdatedAt", updated);
    return item || *updated ? 0 : err_set(err, -ENOENT, "there is no policy for %s here or above", kind->type);
}

static int query_place(struct request *request, struct place *ret_place, struct err *err)
{
    struct place_query query;
    int r = place_query(request, &query, err);

    if (r < 0)
        return r;
    if (!query.has_scope)
        return err_set(err, -EINVAL, "scope: it is required");
    *ret_place = query.place;
    if (query.scope > SCOPE_CLUSTER && query.place.scope != query.scope)
        return err_set(err, -EINVAL, "%sId: it is required in this scope", scope_name(query.scope));
    if (query.scope <= SCOPE_CLUSTER)
        *ret_place = (struct place){.scope = query.scope};
    return 0;
}

static int check_seen(struct request *request, const struct place *place, struct err *err)
{
    bool is_shown = false;
    int r = place_is_visible(request, RESOURCE_POLICIES, place, &is_shown, err);

    return r == 0 && !is_shown ? err_set(err, -ENOENT, "there is no such policy") : r;
}

static const char *const place_names[] = {
    "scope", "departmentId", "projectId", "clusterId", "workloadType", "includeFallbackPolicies", NULL};

static int get_policy(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const struct policy_kind *kind = kind_of(request);
    struct place place;
    int r;

    if ((r = query_place(request, &place, err)) < 0 || (r = check_seen(request, &place, err)) < 0)
        return r;
    r = find_policy(request, kind, &place, &doc, err);
    if (r < 0 && r != -ENOENT)
        return r;
    return answer_policy(request, kind, &place, yyjson_doc_get_root(doc), true, err);
}
READS_BY(handle_get_policy, get_policy, place_names)

struct policy_walk {
    struct request *request;
    const struct policy_kind *kind;
    struct place_query query;
    yyjson_mut_val *list;
    struct err *err;
};

static int add_policy(void *arg, yyjson_val *item)
{
    struct policy_walk *walk = arg;
    yyjson_mut_doc *doc = walk->request->doc;
    struct place place;
    bool is_shown = false;

    place_load(yyjson_obj_get(item, "place"), &place);
    if ((walk->query.has_scope && walk->query.scope != place.scope) ||
        (walk->query.has_place && !place_holds(&place, &walk->query.place)))
        return 0;
    int r = place_is_visible(walk->request, RESOURCE_POLICIES, &place, &is_shown, walk->err);
    if (r < 0 || !is_shown)
        return r;
    yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, walk->list);
    put_text(doc, row, "type", walk->kind->type);
    (void)yyjson_mut_obj_add_val(doc, row, "meta", copy_item(doc, yyjson_obj_get(item, "meta")));
    return 0;
}

static int list_policies(struct request *request, struct err *err)
{
    const char *type = rest_query(request->exchange, "workloadType");
    struct policy_walk walk = {.request = request, .list = yyjson_mut_arr(request->doc), .err = err};
    int r = place_query(request, &walk.query, err);

    if (r == 0 && type && !policy_kind_find(type))
        r = err_set(err, -EINVAL, "workloadType: '%.50s' is unknown", type);
    for (size_t i = 0; r == 0 && i < policy_kind_count; i++) {
        walk.kind = &policy_kinds[i];
        if (!type || strcmp(type, walk.kind->type) == 0)
            r = items_each(request->console->db, walk.kind->item, NULL, add_policy, &walk, err);
    }
    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_val(request->doc, request->answer, "policies", walk.list);
    return r;
}
READS_BY(handle_list_policies, list_policies, place_names)

/* --- changes --- */

static int read_imposed_list(struct request *request, const struct json_at *at, const struct place *place,
                             yyjson_mut_val *to, yyjson_mut_val *refs, struct err *err)
{
    const char *id = NULL;
    int r = json_array(at, err);

    if (r == 0 && yyjson_arr_size(at->val) > IMPOSED_MAX)
        r = json_fail(at, err, -EINVAL, "more than %d assets", IMPOSED_MAX);
    for (struct json_at item = {0}; r == 0 && json_next(at, &item);) {
        if ((r = json_str(&item, &id, err)) < 0 || (r = asset_check_source(request, id, place, err)) < 0)
            return r;
        (void)yyjson_mut_arr_add_strcpy(request->doc, to, id);
        (void)yyjson_mut_arr_add_strcpy(request->doc, refs, id);
    }
    return r;
}

static int read_imposed(struct request *request, const struct policy_kind *kind, const struct json_at *policy,
                        const struct place *place, yyjson_mut_val *to, yyjson_mut_val *refs, struct err *err)
{
    static const char *const parts[] = {"master", "worker"};
    struct json_at at = {yyjson_obj_get(policy->val, "imposedAssets"), policy, "imposedAssets", 0};
    int r = 0;

    if (!at.val || yyjson_is_null(at.val))
        return 0;
    if (!kind->has_parts)
        return read_imposed_list(request, &at, place, yyjson_mut_obj_add_arr(request->doc, to, "imposedAssets"), refs,
                                 err);
    if ((r = json_object(&at, err)) < 0)
        return r;
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(request->doc, to, "imposedAssets");
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(parts); i++) {
        struct json_at part = {yyjson_obj_get(at.val, parts[i]), &at, parts[i], 0};

        if (part.val && !yyjson_is_null(part.val))
            r = read_imposed_list(request, &part, place, yyjson_mut_obj_add_arr(request->doc, object, parts[i]), refs,
                                  err);
    }
    return r;
}

static int read_policy(struct request *request, const struct policy_kind *kind, const struct json_at *policy,
                       const struct place *place, yyjson_mut_val *item, struct err *err)
{
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *to = yyjson_mut_obj_add_obj(doc, item, "policy");
    yyjson_mut_val *refs = yyjson_mut_obj_add_arr(doc, item, "refs");
    struct json_at defaults = {0};
    struct json_at rules = {0};
    int r;

    if ((r = json_member_object(policy, "defaults", JSON_OPTIONAL, &defaults, err)) < 0 ||
        (r = json_member_object(policy, "rules", JSON_OPTIONAL, &rules, err)) < 0)
        return r;
    if (defaults.val &&
        (r = policy_read_defaults(&defaults, kind->fields, doc, yyjson_mut_obj_add_obj(doc, to, "defaults"), err)) < 0)
        return r;
    if (rules.val &&
        (r = policy_read_rules(&rules, kind->fields, doc, yyjson_mut_obj_add_obj(doc, to, "rules"), err)) < 0)
        return r;
    return read_imposed(request, kind, policy, place, to, refs, err);
}

static void fill_meta(struct request *request, const struct place *place, const char *name, yyjson_val *old,
                      yyjson_mut_val *item)
{
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, item, "meta");
    const char *id = yyjson_get_str(yyjson_ptr_get(old, "/meta/id"));
    const char *by = yyjson_get_str(yyjson_ptr_get(old, "/meta/createdBy"));
    const char *at = yyjson_get_str(yyjson_ptr_get(old, "/meta/createdAt"));

    uuid_make(request->id);
    if (id)
        (void)snprintf(request->id, sizeof request->id, "%s", id);
    put_text(doc, meta, "id", request->id);
    put_text(doc, meta, "name", name);
    (void)yyjson_mut_obj_add_int(doc, meta, "tenantId", TENANT_ID);
    place_put(request, meta, place);
    (void)yyjson_mut_obj_remove_key(meta, "projectName");
    put_text(doc, meta, "createdBy", by ? by : request->caller->name);
    if (at)
        put_text(doc, meta, "createdAt", at);
    else
        put_now(doc, meta, "createdAt");
    put_text(doc, meta, "updatedBy", request->caller->name);
    put_now(doc, meta, "updatedAt");
    place_save(request, yyjson_mut_obj_add_obj(doc, item, "place"), place);
}

/* "compute.gpuDevicesRequest": the member of defaults and rules goes. */
static int reset_one(yyjson_mut_val *policy, const char *path, struct err *err)
{
    static const char *const parts[] = {"/defaults/", "/rules/"};
    char pointer[256];

    if (strlen(path) > 200 || strpbrk(path, "/~"))
        return err_set(err, -EINVAL, "reset: '%.50s' is not a path", path);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        (void)snprintf(pointer, sizeof pointer, "%s%s", parts[i], path);
        for (char *at = strchr(pointer, '.'); at; at = strchr(at, '.'))
            *at = '/';
        (void)yyjson_mut_ptr_remove(policy, pointer);
    }
    return 0;
}

/* What a PATCH leaves out stays as it was; what it resets goes. Gives a document with the whole policy. */
static int patch_policy(struct request *request, yyjson_val *old, const struct json_at *policy, yyjson_doc **ret_doc,
                        struct err *err)
{
    struct json_at resets = {0};
    const char *path = NULL;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *merged = yyjson_val_mut_copy(doc, old);
    int r = json_member_array(&request->body, "reset", JSON_OPTIONAL, &resets, err);

    if (r >= 0 && yyjson_arr_size(resets.val) > RESETS_MAX)
        r = err_set(err, -EINVAL, "reset: more than %d paths", RESETS_MAX);
    for (struct json_at item = {0}; r >= 0 && json_next(&resets, &item);) {
        r = json_str(&item, &path, err);
        if (r == 0)
            r = reset_one(merged, path, err);
    }
    if (r >= 0) {
        yyjson_mut_val *patch = policy->val ? yyjson_val_mut_copy(doc, policy->val) : yyjson_mut_obj(doc);
        yyjson_mut_doc_set_root(doc, yyjson_mut_merge_patch(doc, merged, patch));
        *ret_doc = yyjson_mut_doc_imut_copy(doc, NULL);
        BUG_ON(!*ret_doc);
        r = 0;
    }
    yyjson_mut_doc_free(doc);
    return r;
}

static int keep_policy(struct request *request, const struct policy_kind *kind, const struct place *place, bool is_new,
                       yyjson_mut_val *item, struct err *err)
{
    char key[PLACE_KEY_MAX];

    request->action = is_new ? "create" : "update";
    request->type = "policy";
    request->place = *place;
    (void)snprintf(request->name, sizeof request->name, "%s in %s", kind->type, place_key(place, key));
    if (!is_new)
        return item_update(request->console->db, kind->item, request->id, item, err);
    return item_insert(request->console->db, &(struct item_key){kind->item, request->id, key, ITEM_NAME}, item, err);
}

static int answer_kept(struct request *request, const struct policy_kind *kind, const struct place *place,
                       yyjson_mut_val *item, bool is_kept, struct err *err)
{
    yyjson_doc *copy = yyjson_mut_val_imut_copy(item, NULL);
    BUG_ON(!copy);
    int r = answer_policy(request, kind, place, yyjson_doc_get_root(copy), is_kept, err);

    yyjson_doc_free(copy);
    return r;
}

static int set_policy(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *old = NULL;
    _cleanup_(json_doc_freep) yyjson_doc *merged = NULL;
    const struct policy_kind *kind = kind_of(request);
    bool is_patch = strcmp(http_exchange_method(request->exchange), "PATCH") == 0;
    bool is_kept = !rest_query_is_true(request->exchange, "validateOnly");
    yyjson_mut_val *item = yyjson_mut_obj(request->doc);
    struct json_at meta = {0};
    struct json_at policy = {0};
    const char *name = NULL;
    struct place place;
    int r;

    if ((r = json_object(&request->body, err)) < 0 ||
        (r = json_member_object(&request->body, "meta", JSON_REQUIRED, &meta, err)) < 0 ||
        (r = json_member_str(&meta, "name", JSON_REQUIRED, &name, err)) < 0 ||
        (r = json_member_object(&request->body, "policy", is_patch ? JSON_OPTIONAL : JSON_REQUIRED, &policy, err)) <
            0 ||
        (r = place_read(request, &meta, &place, err)) < 0)
        return r;
    if (!*name || strlen(name) > NAME_BYTES_MAX)
        return err_set(err, -EINVAL, "meta.name: expected 1 to %d bytes", NAME_BYTES_MAX);
    if (!place_allows(&request->caller->access, RESOURCE_POLICIES, ACTION_UPDATE, &place))
        return err_set(err, -EACCES, "'%.100s' may not change policies of this scope", request->caller->name);
    r = find_policy(request, kind, &place, &old, err);
    if (r < 0 && r != -ENOENT)
        return r;
    if (is_patch && old) {
        if ((r = patch_policy(request, yyjson_doc_ptr_get(old, "/policy"), &policy, &merged, err)) < 0)
            return r;
        policy = json_root(merged);
    }
    fill_meta(request, &place, name, yyjson_doc_get_root(old), item);
    if ((r = read_policy(request, kind, &policy, &place, item, err)) < 0 ||
        (is_kept && (r = keep_policy(request, kind, &place, old == NULL, item, err)) < 0))
        return r;
    return answer_kept(request, kind, &place, item, is_kept, err);
}
CHANGES(handle_set_policy, set_policy)

static int delete_policy(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const struct policy_kind *kind = kind_of(request);
    char key[PLACE_KEY_MAX];
    struct place place;
    int r;

    if ((r = query_place(request, &place, err)) < 0 || (r = check_seen(request, &place, err)) < 0 ||
        (r = find_policy(request, kind, &place, &doc, err)) < 0)
        return r;
    if (!place_allows(&request->caller->access, RESOURCE_POLICIES, ACTION_DELETE, &place))
        return err_set(err, -EACCES, "'%.100s' may not change policies of this scope", request->caller->name);
    (void)snprintf(request->id, sizeof request->id, "%s", yyjson_get_str(yyjson_doc_ptr_get(doc, "/meta/id")));
    (void)snprintf(request->name, sizeof request->name, "%s in %s", kind->type, place_key(&place, key));
    request->action = "delete";
    request->type = "policy";
    request->place = place;
    request->status = 204;
    return item_delete(request->console->db, kind->item, request->id, err);
}
CHANGES(handle_delete_policy, delete_policy)

/* --- a workload against its policy --- */

static int check_workload(struct request *request, struct err *err)
{
    const char *type = NULL;
    struct json_at workload = {0};
    struct place place;
    yyjson_mut_val *effective = NULL;
    int r;

    if ((r = json_object(&request->body, err)) < 0 ||
        (r = json_member_str(&request->body, "workloadType", JSON_REQUIRED, &type, err)) < 0 ||
        (r = json_member_object(&request->body, "spec", JSON_REQUIRED, &workload, err)) < 0 ||
        (r = place_read(request, &request->body, &place, err)) < 0)
        return r;
    const struct policy_kind *kind = policy_kind_find(type);
    if (!kind)
        return err_set(err, -EINVAL, "workloadType: '%.50s' is unknown", type);
    if ((r = check_seen(request, &place, err)) < 0 ||
        (r = policy_effective(request, kind, &place, &effective, err)) < 0)
        return r;
    yyjson_mut_val *reasons = yyjson_mut_arr(request->doc);
    policy_check(kind->fields, request->doc, effective, workload.val, reasons);
    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_bool(request->doc, request->answer, "compliance", yyjson_mut_arr_size(reasons) == 0);
    (void)yyjson_mut_obj_add_val(request->doc, request->answer, "reason", reasons);
    return 0;
}
CHANGES(handle_check_workload, check_workload)
