/* SPDX-License-Identifier: Apache-2.0 */

/* What a request for objects asks to be allowed, and how it is refused. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/machines/node_rights.h"
#include "local/rights/identity.h"
#include "local/rights/rights.h"
#include "local/server/namespaces.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"

enum { REASON_MAX = 4096, NAME_TEXT_MAX = 256 };

static const char *const verbs[] = {
    [VERB_GET] = "get",       [VERB_LIST] = "list",   [VERB_WATCH] = "watch",   [VERB_CREATE] = "create",
    [VERB_UPDATE] = "update", [VERB_PATCH] = "patch", [VERB_DELETE] = "delete", [VERB_DELETE_ALL] = "deletecollection",
};

/* Parts of pods that run something there: whoever may read a pod may not yet do that, although the method is GET. */
static const char *const orders[] = {"exec", "attach", "portforward"};

static const char *verb_of(const struct request *request)
{
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        if (strcmp(request->subresource, orders[i]) == 0)
            return "create";
    }
    return verbs[request->verb];
}

/* A list of one name is asked about as that object, so that rights to one name are enough to watch it. */
static const char *name_of(const struct request *request, char text[static NAME_TEXT_MAX])
{
    static const char field[] = "metadata.name=";
    const char *selector = request_query(request, "fieldSelector");

    if (*request->name || strncmp(selector, field, sizeof field - 1) != 0)
        return request->name;
    selector += sizeof field - 1;
    selector += *selector == '=';
    if (strpbrk(selector, ",=!") || strlen(selector) >= NAME_TEXT_MAX)
        return "";
    (void)snprintf(text, NAME_TEXT_MAX, "%s", selector);
    return text;
}

/* An object that is new to the client has no name in the refusal. */
static void refuse(struct request *request, const struct rights_question *question)
{
    struct strbuf reason;

    strbuf_init(&reason, REASON_MAX);
    rights_explain(&reason, request->identity, question);
    fail_unallowed(request, request->name, reason.text);
    strbuf_done(&reason);
}

static bool check(struct request *request, const char *verb, const char *name)
{
    const struct api_kind *kind = request->kind;
    const struct rights_question question = {
        .verb = verb,
        .group = kind->group,
        .resource = kind->plural,
        .subresource = request->subresource,
        /* A namespace is in itself. */
        .namespace = namespace_is_kind(kind) ? request->name : request->namespace,
        .name = name,
    };

    bool is_allowed = request->identity->node ? node_rights_allow(request, verb, name)
                                              : rights_allow(request->server->rights, request->identity, &question);

    if (is_allowed)
        return true;
    refuse(request, &question);
    return false;
}

bool rights_check_request(struct request *request)
{
    char text[NAME_TEXT_MAX];

    return check(request, verb_of(request), name_of(request, text));
}

bool rights_check_verb(struct request *request, const char *verb, const char *name)
{
    return check(request, verb, name);
}
