/* SPDX-License-Identifier: Apache-2.0 */

/* A new workload: its project, its name, its spec, and the item that the cluster follows. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "console/data/items.h"
#include "console/org/place.h"
#include "console/org/pools.h"
#include "console/org/sync.h"
#include "console/rest/handlers.h"
#include "console/templates/reuse.h"
#include "console/workloads/kinds.h"
#include "console/workloads/make/distributed.h"
#include "console/workloads/phase.h"
#include "console/workloads/properties.h"
#include "console/workloads/spec.h"
#include "console/workloads/workloads.h"

/* Pods have the name of their Job and a suffix, and a container of that name. */
enum { WORKLOAD_NAME_MAX = 57, SUFFIX_LEN = 5 };

static bool is_name(const char *text, size_t max)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return len > 0 && len <= max && !text[len] && text[0] >= 'a' && text[len - 1] != '-';
}

/* Digits of a UUID are letters and digits of a name. */
static int make_name(const char *requested, bool is_prefix, char name[static 64], struct err *err)
{
    char id[UUID_TEXT_MAX];

    if (!is_name(requested, WORKLOAD_NAME_MAX - (is_prefix ? SUFFIX_LEN + 1 : 0)))
        return err_set(
            err, -EINVAL,
            "name: up to %d lower-case letters, digits and '-' are allowed, the first a letter and the last no '-'",
            WORKLOAD_NAME_MAX - (is_prefix ? SUFFIX_LEN + 1 : 0));
    uuid_make(id);
    if (is_prefix)
        (void)snprintf(name, 64, "%s-%.*s", requested, SUFFIX_LEN, id);
    else
        (void)snprintf(name, 64, "%s", requested);
    return 0;
}

static int find_project(struct request *request, const struct workload_kind *kind, const char *id,
                        struct place *ret_place, yyjson_doc **ret_doc, struct err *err)
{
    int r = place_of_project(request, id, ret_place, err);

    if (r < 0)
        return r;
    if (!place_allows(&request->caller->access, kind->resource, ACTION_CREATE, ret_place))
        return err_set(err, -EACCES, "'%.100s' may not submit a %s in this project", request->caller->name, kind->type);
    r = item_get(request->console->db, ITEM_PROJECT, id, ret_doc, err);
    if (r == 0 && yyjson_equals_str(yyjson_doc_ptr_get(*ret_doc, "/status/phase"), SYNC_DELETING))
        return err_set(err, -EINVAL, "projectId: the project is being deleted");
    return r;
}

static void put_from(struct request *request, yyjson_mut_val *item, const char *key, yyjson_doc *project,
                     const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_doc_ptr_get(project, pointer));

    put_text(request->doc, item, key, text ? text : "");
}

static int put_pool(struct request *request, yyjson_mut_val *spec, yyjson_mut_val *item, struct err *err)
{
    const char *name = yyjson_mut_get_str(yyjson_mut_arr_get_first(yyjson_mut_obj_get(spec, "nodePools")));
    struct pool_list pools = {0};
    int r = pools_load(request->console->db, &pools, err);

    if (r < 0)
        return r;
    const struct pool *pool = name ? pool_find(&pools, name) : NULL;
    if (name && !pool)
        r = err_set(err, -EINVAL, "spec.nodePools: there is no node pool '%.50s'", name);
    else
        put_text(request->doc, item, "nodePool", pool && !pool->is_default ? pool->name : "");
    pools_done(&pools);
    return r;
}

static void put_priority(struct request *request, const struct workload_defaults *defaults, yyjson_mut_val *spec,
                         yyjson_mut_val *item)
{
    const char *asked = yyjson_mut_get_str(yyjson_mut_obj_get(spec, "priorityClass"));
    const char *preemptibility = yyjson_mut_get_str(yyjson_mut_obj_get(spec, "preemptibility"));
    const struct workload_priority *priority = workload_priority_find(asked && *asked ? asked : defaults->priority);

    put_text(request->doc, item, "priorityClassName", priority->name);
    (void)yyjson_mut_obj_add_int(request->doc, item, "priority", priority->value);
    (void)yyjson_mut_obj_add_bool(request->doc, item, "preemptible",
                                  preemptibility ? strcmp(preemptibility, "preemptible") == 0
                                                 : priority->value < PRIORITY_NON_PREEMPTIBLE);
}

int workload_put_spec(struct request *request, const struct workload_kind *kind, yyjson_mut_val *spec,
                      yyjson_mut_val *item, struct err *err)
{
    static const char *const members[] = {"nodePool", "priorityClassName", "priority", "preemptible",
                                          "category", "updatedAt",         "spec"};
    const char *category = yyjson_mut_get_str(yyjson_mut_obj_get(spec, "category"));
    struct workload_defaults defaults;
    yyjson_mut_doc *doc = request->doc;
    int r = workload_defaults_load(request->console->db, kind, &defaults, err);

    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        (void)yyjson_mut_obj_remove_key(item, members[i]);
    if (r < 0 || (r = put_pool(request, spec, item, err)) < 0)
        return r;
    put_priority(request, &defaults, spec, item);
    put_text(doc, item, "category", category && *category ? category : defaults.category);
    put_now(doc, item, "updatedAt");
    (void)yyjson_mut_obj_add_val(doc, item, "spec", spec);
    return 0;
}

static void put_rest(struct request *request, const struct workload_kind *kind, yyjson_mut_val *item)
{
    yyjson_mut_doc *doc = request->doc;

    put_text(doc, item, "type", kind->type);
    put_text(doc, item, "createdBy", request->caller->name);
    put_now(doc, item, "createdAt");
    put_text(doc, item, "desired", DESIRED_RUNNING);
    workload_set_phase(doc, yyjson_mut_obj_add_obj(doc, item, "status"), PHASE_CREATING, "");
}

static int keep(struct request *request, yyjson_mut_val *item, const char *project, struct err *err)
{
    int r = item_insert(request->console->db, &(struct item_key){ITEM_WORKLOAD, request->id, project, request->name},
                        item, err);

    if (r < 0)
        return r;
    request->action = "create";
    request->sync_kind = ITEM_WORKLOAD;
    request->status = 202;
    yyjson_doc *copy = yyjson_mut_val_imut_copy(item, NULL);
    BUG_ON(!copy);
    workload_answer(request, yyjson_doc_get_root(copy));
    yyjson_doc_free(copy);
    return 0;
}

int workload_submit(struct request *request, const struct workload_kind *kind, const struct json_at *given,
                    struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *project = NULL;
    _cleanup_(json_doc_freep) yyjson_doc *filled = NULL;
    struct json_at whole = *given;
    const struct json_at *body = &whole;
    yyjson_mut_val *item = yyjson_mut_obj(request->doc);
    yyjson_mut_val *spec = NULL;
    const char *requested = NULL, *project_id = NULL, *cluster = NULL, *template = NULL;
    bool is_prefix = false;
    char name[64];
    struct place place;
    int r;

    if ((r = json_object(body, err)) < 0 || (r = json_member_str(body, "name", JSON_REQUIRED, &requested, err)) < 0 ||
        (r = json_member_str(body, "projectId", JSON_REQUIRED, &project_id, err)) < 0 ||
        (r = json_member_str(body, "clusterId", JSON_REQUIRED, &cluster, err)) < 0 ||
        (r = json_member_str(body, "templateId", JSON_OPTIONAL, &template, err)) < 0 ||
        (r = json_member_bool(body, "useGivenNameAsPrefix", JSON_OPTIONAL, &is_prefix, err)) < 0)
        return r;
    if (strcmp(cluster, request->console->cluster_id) != 0)
        return err_set(err, -EINVAL, "clusterId: there is no cluster '%.50s'", cluster);
    if ((r = find_project(request, kind, project_id, &place, &project, err)) < 0 ||
        (r = make_name(requested, is_prefix, name, err)) < 0 ||
        (template && (r = reuse_apply(request, kind, &place, template, body, &filled, err)) < 0))
        return r;
    if (filled)
        whole = json_root(filled);
    if ((r = spec_read(request, kind, &place, body, &spec, err)) < 0)
        return r;
    uuid_make(request->id);
    request->type = kind->type;
    request->place = place;
    (void)snprintf(request->name, sizeof request->name, "%s", name);
    put_text(request->doc, item, "id", request->id);
    put_text(request->doc, item, "name", name);
    put_text(request->doc, item, "requestedName", requested);
    put_from(request, item, "projectId", project, "/id");
    put_from(request, item, "projectName", project, "/name");
    put_from(request, item, "departmentId", project, "/parent/id");
    put_from(request, item, "departmentName", project, "/parent/name");
    put_from(request, item, "namespace", project, "/status/namespace");
    if (strcmp(kind->type, WORKLOAD_DISTRIBUTED) == 0 &&
        (r = distributed_read(request, kind, &place, body, spec, item, err)) < 0)
        return r;
    if ((r = workload_put_spec(request, kind, spec, item, err)) < 0)
        return r;
    put_rest(request, kind, item);
    return keep(request, item, place.project, err);
}

static int create_workload(struct request *request, struct err *err)
{
    const struct workload_kind *kind = workload_kind_at(http_exchange_path(request->exchange));

    BUG_ON(!kind);
    return workload_submit(request, kind, &request->body, err);
}
CHANGES(handle_create_workload, create_workload)
