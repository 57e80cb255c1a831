/* SPDX-License-Identifier: Apache-2.0 */

/* pods/eviction: a deletion that the client asks for politely, which budgets may refuse. */
#include <stdio.h>
#include <string.h>

#include "base/time.h"
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

static void fail_budget(struct request *request, const struct budget_refusal *refusal)
{
    char text[512];
    const struct rest_cause cause = {.reason = "DisruptionBudget", .message = text};

    (void)snprintf(text, sizeof text, "The disruption budget %s needs %lld healthy pods and has %lld currently",
                   refusal->budget, (long long)refusal->needed, (long long)refusal->healthy);
    fail_problem(request, &(struct rest_problem){
                              .status = 429,
                              .message = "Cannot evict pod as it would violate the pod's disruption budget.",
                              .causes = &cause,
                              .cause_count = 1,
                          });
}

/* Says on the pod why it goes: policies of Jobs ask for it. */
static void add_condition(yyjson_mut_doc *pod)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(pod), *status = yyjson_mut_obj_get(root, "status");
    nsec_t now = nsec_now_wall();
    char text[TIME_TEXT_MAX];

    if (!status)
        status = yyjson_mut_obj_add_obj(pod, root, "status");
    yyjson_mut_val *conditions = yyjson_mut_obj_get(status, "conditions");
    if (!conditions)
        conditions = yyjson_mut_obj_add_arr(pod, status, "conditions");
    yyjson_mut_val *condition = yyjson_mut_arr_add_obj(pod, conditions);
    (void)yyjson_mut_obj_add_str(pod, condition, "type", "DisruptionTarget");
    (void)yyjson_mut_obj_add_str(pod, condition, "status", "True");
    (void)yyjson_mut_obj_add_null(pod, condition, "lastProbeTime");
    (void)yyjson_mut_obj_add_strcpy(pod, condition, "lastTransitionTime", time_format(now - now % NSEC_PER_SEC, text));
    (void)yyjson_mut_obj_add_str(pod, condition, "reason", "EvictionByEvictionAPI");
    (void)yyjson_mut_obj_add_str(pod, condition, "message", "Eviction API: evicting");
}

static bool is_marked(yyjson_mut_doc *pod)
{
    yyjson_mut_val *status = yyjson_mut_obj_get(yyjson_mut_doc_get_root(pod), "status");
    size_t i, max;
    yyjson_mut_val *condition;

    yyjson_mut_arr_foreach(yyjson_mut_obj_get(status, "conditions"), i, max, condition)
    {
        if (yyjson_mut_equals_str(yyjson_mut_obj_get(condition, "type"), "DisruptionTarget"))
            return true;
    }
    return false;
}

static void evict(struct request *request, const struct store_object *latest, const struct delete_options *options)
{
    struct budget_refusal refusal;

    if (budget_refuses(request->server, latest, &refusal)) {
        fail_budget(request, &refusal);
        return;
    }
    yyjson_mut_doc *pod = object_doc(latest);
    bool is_new = !is_marked(pod);
    if (is_new)
        add_condition(pod);
    enum delete_step step = delete_mark(request->kind, options, pod);

    if ((step == DELETE_LEAVE && !is_new) || request->is_dry_run)
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
