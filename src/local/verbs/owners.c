/* SPDX-License-Identifier: Apache-2.0 */
#include "local/verbs/owners.h"

#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/apply/apply.h"
#include "local/builtin/builtin.h"
#include "local/custom/definitions.h"
#include "local/server/request.h"
#include "net/http_server.h"
#include "text/json.h"

#define APPLY_TYPE "application/apply-patch"
enum { MANAGER_MAX = 256 };

/* Replicas that are written through /scale. */
static void track_scale(const struct request *request, const struct apply_request *apply, yyjson_mut_doc *doc,
                        yyjson_mut_doc *old)
{
    const struct custom_kind *custom = custom_kind_of(request->kind);
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *place = json_new_object(&root);
    struct err err;

    if (!custom)
        (void)yyjson_mut_obj_add_int(place, yyjson_mut_obj_add_obj(place, root, "spec"), "replicas", 1);
    if (!custom || custom_scale_write(custom, place, 1, &err) == 0)
        apply_track_scale(apply, root, old, doc);
    yyjson_mut_doc_free(place);
}

static void track(const struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old, bool is_new)
{
    const struct custom_kind *custom = custom_kind_of(request->kind);
    const char *manager = request_query(request, "fieldManager");
    struct strbuf fallback;

    strbuf_init(&fallback, MANAGER_MAX);
    apply_default_manager(http_exchange_header(request->exchange, "User-Agent"), &fallback);
    const struct apply_request apply = {.kind = request->kind,
                                        .schema = custom ? custom->schema : NULL,
                                        .manager = *manager ? manager : fallback.text,
                                        .subresource = request->subresource,
                                        .is_new = is_new,
                                        .now = nsec_now_wall()};

    if (request->has_wrong_types)
        meta_remove(doc, "managedFields");
    else if (strcmp(request->subresource, "scale") == 0)
        track_scale(request, &apply, doc, old);
    else
        apply_track(&apply, old, doc);
    strbuf_done(&fallback);
}

void owners_track(const struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    const char *type = http_exchange_header(request->exchange, "Content-Type");
    yyjson_mut_doc *empty;

    if (type && strncmp(type, APPLY_TYPE, strlen(APPLY_TYPE)) == 0)
        return;
    if (old) {
        track(request, doc, old, false);
        return;
    }
    /* Structs without members have no owner. */
    empty = builtin_empty(request->kind);
    track(request, doc, empty, true);
    yyjson_mut_doc_free(empty);
}
