/* SPDX-License-Identifier: Apache-2.0 */

/* One verb for many workloads: those that can be changed are, and the answer says why the others are not. */
#include <errno.h>
#include <string.h>

#include "console/data/items.h"
#include "console/rest/handlers.h"
#include "console/workloads/workloads.h"
#include "net/rest/errors.h"

enum { BATCH_MAX = 500 };

struct batch {
    struct request *request;
    const struct workload_verb *verb;
    yyjson_mut_val *succeeded;
    yyjson_mut_val *failed;
};

/* A workload that cannot be changed ends nothing; a database that fails does. */
static bool is_of_one(int r)
{
    return r == -ENOENT || r == -EACCES || r == -EINVAL;
}

static int change_one(struct batch *batch, const char *id, struct err *err)
{
    struct request *request = batch->request;
    struct err own = {0};
    int r = workload_change(request, NULL, id, batch->verb, &own);

    if (is_of_one(r)) {
        yyjson_mut_val *row = yyjson_mut_arr_add_obj(request->doc, batch->failed);

        put_text(request->doc, row, "id", id);
        (void)yyjson_mut_obj_add_int(request->doc, row, "code", rest_status_of(r));
        put_text(request->doc, row, "message", own.text);
        return 0;
    }
    if (r < 0)
        return err_set(err, r, "%s", own.text);
    request->sync_kind = ITEM_WORKLOAD;
    (void)yyjson_mut_arr_add_strcpy(request->doc, batch->succeeded, id);
    return request_audit(request, err);
}

static int batch_workloads(struct request *request, struct err *err)
{
    struct batch batch = {
        .request = request, .succeeded = yyjson_mut_arr(request->doc), .failed = yyjson_mut_arr(request->doc)};
    struct json_at ids = {0};
    const char *action = NULL, *id = NULL;
    char own[UUID_TEXT_MAX];
    int r;

    if ((r = json_object(&request->body, err)) < 0 ||
        (r = json_member_str(&request->body, "action", JSON_REQUIRED, &action, err)) < 0 ||
        (r = json_member_array(&request->body, "ids", JSON_REQUIRED, &ids, err)) < 0)
        return r;
    if (!(batch.verb = workload_verb_find(action)))
        return err_set(err, -EINVAL, "action: expected delete, suspend or resume");
    if (yyjson_arr_size(ids.val) > BATCH_MAX)
        return err_set(err, -EINVAL, "ids: more than %d workloads", BATCH_MAX);
    for (struct json_at item = {0}; json_next(&ids, &item);) {
        if ((r = json_str(&item, &id, err)) < 0 || (r = change_one(&batch, id, err)) < 0)
            return r;
    }
    /* Each workload has an entry of its own in the audit log. */
    request->action = NULL;
    request->sync_kind = NULL;
    request->status = 200;
    request->answer = yyjson_mut_obj(request->doc);
    uuid_make(own);
    put_text(request->doc, request->answer, "id", own);
    (void)yyjson_mut_obj_add_val(request->doc, request->answer, "succeeded", batch.succeeded);
    (void)yyjson_mut_obj_add_val(request->doc, request->answer, "failed", batch.failed);
    return 0;
}
CHANGES(handle_batch_workloads, batch_workloads)
