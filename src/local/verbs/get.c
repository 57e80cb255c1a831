/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/verbs/version_wait_internal.h"

static void show(struct request *request)
{
    const struct store_object *object =
        store_get(request->server->store, request->number, request->namespace, request->name);

    if (object)
        answer_object(request, 200, object->body, object->body_len);
    else
        fail_not_found(request);
}

void verb_get_then(struct request *request, void (*answer)(struct request *request))
{
    uint64_t version = 0;

    if (version_read(request, request_query(request, "resourceVersion"), &version))
        version_wait(request, version, answer);
}

void verb_get(struct request *request)
{
    verb_get_then(request, show);
}
