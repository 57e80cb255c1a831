/* SPDX-License-Identifier: Apache-2.0 */

/* One workload of its kind: found, shown, stopped, run again, deleted. */
#include "console/workloads/workloads.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "console/changes/changes.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/org/place.h"
#include "console/rest/handlers.h"
#include "console/workloads/follow.h"
#include "console/workloads/kinds.h"
#include "console/workloads/phase.h"

static const char *text_at(yyjson_val *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(item, pointer));

    return text ? text : "";
}

/* --- items --- */

struct workload_walk {
    workload_fn fn;
    void *arg;
};

static int give(void *arg, yyjson_val *item)
{
    const struct workload_walk *walk = arg;

    walk->fn(walk->arg, text_at(item, "/id"));
    return 0;
}

int workloads_each(struct db *db, const char *project, workload_fn fn, void *arg, struct err *err)
{
    struct workload_walk walk = {fn, arg};

    return items_each(db, ITEM_WORKLOAD, project, give, &walk, err);
}

int workloads_delete_in(struct console *console, const char *project, struct err *err)
{
    return db_run(console->db,
                  DB_CALL("DELETE FROM items WHERE kind = $1 AND place = $2", db_text(ITEM_WORKLOAD), db_text(project)),
                  NULL, err);
}

void workload_place(yyjson_val *item, struct place *ret_place)
{
    *ret_place = (struct place){.scope = SCOPE_PROJECT};
    (void)snprintf(ret_place->department, sizeof ret_place->department, "%s", text_at(item, "/departmentId"));
    (void)snprintf(ret_place->project, sizeof ret_place->project, "%s", text_at(item, "/projectId"));
    (void)snprintf(ret_place->name, sizeof ret_place->name, "%s", text_at(item, "/projectName"));
}

bool workload_is_listed(const struct access *access, yyjson_val *item)
{
    struct place place;

    workload_place(item, &place);
    return place_allows(access, RESOURCE_WORKLOADS, ACTION_READ, &place);
}

int workload_note_change(struct console *console, yyjson_val *item, const char *action, struct err *err)
{
    return change_add(console->db, console->process,
                      &(struct change_row){
                          .type = text_at(item, "/type"),
                          .action = action,
                          .id = text_at(item, "/id"),
                          .name = text_at(item, "/name"),
                          .scope = SCOPE_PROJECT,
                          .department = text_at(item, "/departmentId"),
                          .project = text_at(item, "/projectId"),
                      },
                      err);
}

static int missing(const char *id, struct err *err)
{
    return err_set(err, -ENOENT, "there is no such workload '%.50s'", id);
}

/* What anybody may do is said for each kind; reading alone, for all of them as well. */
static int take(struct request *request, const struct workload_kind *kind, const char *id, enum action action,
                yyjson_doc **ret_doc, struct err *err)
{
    const struct access *access = &request->caller->access;
    struct place place;
    int r = item_get(request->console->db, ITEM_WORKLOAD, id, ret_doc, err);

    if (r < 0)
        return r == -ENOENT ? missing(id, err) : r;
    yyjson_val *item = yyjson_doc_get_root(*ret_doc);
    const struct workload_kind *own = workload_kind_find(text_at(item, "/type"));
    BUG_ON(!own);
    workload_place(item, &place);
    if ((kind && kind != own) || !place_allows(access, kind ? own->resource : RESOURCE_WORKLOADS, ACTION_READ, &place))
        return missing(id, err);
    if (action != ACTION_READ && !place_allows(access, own->resource, action, &place))
        return err_set(err, -EACCES, "'%.100s' may not change this workload", request->caller->name);
    request->type = own->type;
    request->place = place;
    (void)snprintf(request->id, sizeof request->id, "%s", text_at(item, "/id"));
    (void)snprintf(request->name, sizeof request->name, "%s", text_at(item, "/name"));
    return 0;
}

int workload_take(struct request *request, enum action action, yyjson_doc **ret_doc, struct err *err)
{
    return take(request, workload_kind_at(http_exchange_path(request->exchange)),
                rest_param(request->exchange, "workloadId"), action, ret_doc, err);
}

/* --- answers --- */

void workload_answer(struct request *request, yyjson_val *item)
{
    static const char *const members[] = {"name",         "requestedName", "projectId",
                                          "departmentId", "createdBy",     "createdAt"};
    static const char *const of_master[] = {"masterSpecSameAsWorker", "masterSpec"};
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *answer = yyjson_mut_obj(doc);

    put_text(doc, answer, "workloadId", text_at(item, "/id"));
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        (void)yyjson_mut_obj_add_val(doc, answer, members[i], copy_item(doc, yyjson_obj_get(item, members[i])));
    put_text(doc, answer, "clusterId", request->console->cluster_id);
    put_text(doc, answer, "desiredPhase", text_at(item, "/desired"));
    put_text(doc, answer, "actualPhase", text_at(item, "/status/phase"));
    (void)yyjson_mut_obj_add_null(doc, answer, "deletedAt");
    (void)yyjson_mut_obj_add_val(doc, answer, "spec", copy_item(doc, yyjson_obj_get(item, "spec")));
    for (size_t i = 0; i < ARRAY_LEN(of_master); i++) {
        if (yyjson_obj_get(item, of_master[i]))
            (void)yyjson_mut_obj_add_val(doc, answer, of_master[i], copy_item(doc, yyjson_obj_get(item, of_master[i])));
    }
    request->answer = answer;
}

static int get_workload_kind(struct request *request, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = workload_take(request, ACTION_READ, &doc, err);

    if (r == 0)
        workload_answer(request, yyjson_doc_get_root(doc));
    return r;
}
READS(handle_get_workload_kind, get_workload_kind)

/* --- changes --- */

static const struct workload_verb verbs[] = {
    {"delete", ACTION_DELETE, "delete", DESIRED_DELETED},
    {"suspend", ACTION_UPDATE, "update", DESIRED_STOPPED},
    {"resume", ACTION_UPDATE, "update", DESIRED_RUNNING},
};

const struct workload_verb *workload_verb_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    }
    return NULL;
}

static void replace_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, const char *text)
{
    (void)yyjson_mut_obj_remove_key(object, key);
    put_text(doc, object, key, text);
}

/* The cluster follows what somebody wants from now on. */
static int write_desired(struct request *request, yyjson_val *item, const char *desired, struct err *err)
{
    yyjson_mut_doc *doc = request->doc;
    struct workload_facts facts = workload_facts(request->console->workloads, request->id);
    const char *phase = workload_phase(desired, &facts);
    yyjson_mut_val *copy = copy_item(doc, item);
    yyjson_mut_val *status = yyjson_mut_obj_get(copy, "status");

    (void)yyjson_mut_obj_remove_key(copy, "updatedAt");
    put_now(doc, copy, "updatedAt");
    replace_text(doc, copy, "desired", desired);
    if (!yyjson_mut_equals_str(yyjson_mut_obj_get(status, "phase"), phase))
        workload_set_phase(doc, status, phase, "");
    return item_update(request->console->db, ITEM_WORKLOAD, request->id, copy, err);
}

int workload_change(struct request *request, const struct workload_kind *kind, const char *id,
                    const struct workload_verb *verb, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    bool is_deletion = strcmp(verb->desired, DESIRED_DELETED) == 0;
    int r = take(request, kind, id, verb->action, &doc, err);

    if (r < 0)
        return r;
    yyjson_val *item = yyjson_doc_get_root(doc);
    if (!is_deletion && workload_kind_find(text_at(item, "/type"))->is_server)
        return err_set(err, -EINVAL, "an %s cannot be stopped: change its replicas or delete it",
                       text_at(item, "/type"));
    if (!is_deletion && strcmp(text_at(item, "/desired"), DESIRED_DELETED) == 0)
        return err_set(err, -EINVAL, "the workload is being deleted");
    if (!is_deletion && phase_is_end(text_at(item, "/status/phase")))
        return err_set(err, -EINVAL, "the workload has ended: submit it again");
    if ((r = write_desired(request, item, verb->desired, err)) < 0)
        return r;
    request->action = verb->audited;
    request->status = 202;
    return 0;
}

/* One workload of the kind and the identifier that the path names. */
static int change_one(struct request *request, const char *name, struct err *err)
{
    int r = workload_change(request, workload_kind_at(http_exchange_path(request->exchange)),
                            rest_param(request->exchange, "workloadId"), workload_verb_find(name), err);

    if (r < 0)
        return r;
    request->sync_kind = ITEM_WORKLOAD;
    request->answer = yyjson_mut_obj(request->doc);
    (void)yyjson_mut_obj_add_int(request->doc, request->answer, "code", request->status);
    put_text(request->doc, request->answer, "message", "The change is applied to the cluster.");
    return 0;
}

#define CHANGE_HANDLER(name)                                             \
    static int name##_workload(struct request *request, struct err *err) \
    {                                                                    \
        return change_one(request, #name, err);                          \
    }                                                                    \
    CHANGES(handle_##name##_workload, name##_workload)

CHANGE_HANDLER(delete)
CHANGE_HANDLER(suspend)
CHANGE_HANDLER(resume)
