/* SPDX-License-Identifier: Apache-2.0 */

/* The parts of objects that have paths of their own. */
#include <string.h>

#include "base/macros.h"
#include "local/api/kinds.h"
#include "local/custom/definitions.h"
#include "local/server/request.h"
#include "local/server/resources.h"
#include "local/streams/streams.h"
#include "local/subresources/subresources_internal.h"
#include "local/verbs/write.h"

void subresource_written(void *arg, int result, const struct store_object *object, const struct err *err)
{
    static const char done[] =
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\",\"code\":201}";
    struct request *request = arg;

    (void)object;
    if (result < 0)
        write_failed(request, result, err);
    else
        answer_json(request, 201, done, sizeof done - 1);
}

typedef void (*serve_fn)(struct request *request);

/* The finalizers in the spec of a namespace, which only its controller takes away. */
static void serve_finalize(struct request *request)
{
    if (request->verb == VERB_UPDATE)
        verb_update(request);
    else
        fail_method(request);
}

static void serve_status(struct request *request)
{
    if (request->verb == VERB_GET)
        verb_get(request);
    else if (request->verb == VERB_UPDATE)
        verb_update(request);
    else if (request->verb == VERB_PATCH)
        verb_patch(request);
    else
        fail_method(request);
}

static const struct {
    const char *group;
    const char *plural;
    const char *name;
    serve_fn serve;
} rows[] = {
    {"", "pods", "attach", serve_remote},
    {"", "pods", "exec", serve_remote},
    {"", "pods", "log", serve_log},
    {"", "pods", "portforward", serve_port_forward},
    {"", "pods", "binding", serve_binding},
    {"", "pods", "eviction", serve_eviction},
    {"", "serviceaccounts", "token", serve_account_token},
    {"", "namespaces", "finalize", serve_finalize},
    {"", "replicationcontrollers", "scale", serve_scale},
    {"apps", "deployments", "scale", serve_scale},
    {"apps", "replicasets", "scale", serve_scale},
    {"apps", "statefulsets", "scale", serve_scale},
};

bool subresource_serves(struct request *request)
{
    const struct api_kind *kind = request->kind;

    if (strcmp(request->subresource, "status") == 0 && (kind->flags & KIND_STATUS)) {
        serve_status(request);
        return true;
    }
    const struct custom_kind *custom = custom_kind_of(kind);

    if (custom && custom->has_scale && strcmp(request->subresource, "scale") == 0) {
        serve_scale(request);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].name, request->subresource) == 0 && strcmp(rows[i].plural, kind->plural) == 0 &&
            strcmp(rows[i].group, kind->group) == 0) {
            rows[i].serve(request);
            return true;
        }
    }
    return false;
}
