/* SPDX-License-Identifier: Apache-2.0 */

/* pods/eviction: a deletion that the client asks for politely, which budgets may refuse. */
#include <string.h>

#include "local/api/meta.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/subresources/budgets_internal.h"
#include "local/subresources/subresources_internal.h"
#include "local/verbs/body.h"
#include "local/verbs/delete.h"
#include "local/verbs/write.h"
#include "net/rest/errors.h"

static void fail_budget(struct request *request, const char *budget)
{
    const struct rest_cause cause = {.reason = "DisruptionBudget", .message = budget};

    fail_problem(request, &(struct rest_problem){
                              .status = 429,
                              .message = "Cannot evict pod as it would violate the pod's disruption budget.",
                              .causes = &cause,
                              .cause_count = 1,
                              .retry_after = 10,
                          });
}

static void evict(struct request *request, const struct store_object *latest, const struct delete_options *options)
{
    yyjson_mut_doc *pod = object_doc(latest);
    const char *budget = NULL;
    enum delete_step step = DELETE_LEAVE;
    bool is_ending = meta_has(pod, "deletionTimestamp");

    /* A pod that is going already counts for no budget. */
    if (!is_ending)
        budget = budget_that_refuses(request->server, latest);
    if (!budget)
        step = delete_mark(request->kind, options, pod);
    if (budget)
        fail_budget(request, budget);
    else if (step == DELETE_LEAVE || request->is_dry_run)
        subresource_written(request, 0, NULL, NULL);
    else
        write_doc(request->server,
                  &(struct write){.kind = request->number,
                                  .namespace = request->namespace,
                                  .name = request->name,
                                  .is_removal = step == DELETE_REMOVE},
                  pod, subresource_written, request);
    yyjson_mut_doc_free(pod);
}

void serve_eviction(struct request *request)
{
    const struct store_object *latest = write_latest(request);
    struct delete_options options;
    yyjson_mut_doc *body = NULL;

    if (request->verb != VERB_CREATE) {
        fail_method(request);
        return;
    }
    if (!body_read(request, &body))
        return;
    if (*meta_text(body, "name") && strcmp(meta_text(body, "name"), request->name) != 0) {
        fail_bad(request, "name in URL does not match name in Eviction object: %s", request->name);
    } else if (!latest) {
        fail_not_found(request);
    } else if (delete_options_of(request, yyjson_mut_obj_get(yyjson_mut_doc_get_root(body), "deleteOptions"),
                                 &options)) {
        evict(request, latest, &options);
    }
    yyjson_mut_doc_free(body);
}
