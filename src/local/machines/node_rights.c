/* SPDX-License-Identifier: Apache-2.0 */
#include "local/machines/node_rights.h"

#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "kube/client/meta.h"
#include "local/api/kinds.h"
#include "local/api/selector.h"
#include "local/machines/joined.h"
#include "local/node/pod/sources.h"
#include "local/rights/identity.h"
#include "local/server/request.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"
#include "objects/keys.h"

#define NODE_TAG SELECTOR_FIELD "spec.nodeName"

enum { SELECTOR_MAX = 512 };

static uint32_t pods_number(struct server *server)
{
    return resource_number(server, builtin_kind_find("", "v1", "pods"));
}

static bool is_bound(const struct store_object *pod, const char *node)
{
    const char *bound = store_object_tag(pod, NODE_TAG);

    return bound && strcmp(bound, node) == 0;
}

bool node_has_pod(struct server *server, const char *node, const char *namespace, const char *pod)
{
    const struct store_object *object = store_latest(server->store, pods_number(server), namespace, pod);

    return object && is_bound(object, node);
}

static bool is_own(const struct request *request, const char *name)
{
    return strcmp(name, request->identity->node) == 0;
}

/* A new one has no name yet: node_limits.c looks at it. */
static bool is_own_lease(const struct request *request, const char *name)
{
    return strcmp(request->namespace, LEASE_NAMESPACE) == 0 && (!*name || is_own(request, name));
}

static bool is_own_pod(const struct request *request, const char *name)
{
    const struct store_object *object =
        store_latest(request->server->store, pods_number(request->server), request->namespace, name);

    return *name && (!object || is_bound(object, request->identity->node));
}

static bool is_own_reservation(const struct request *request, const char *name)
{
    return strcmp(request->namespace, KEY_RESERVATION_NAMESPACE) == 0 && is_own_pod(request, name);
}

/* A list or a watch that says itself that it wants no other pods. */
static bool selects_own_pods(const struct request *request, const char *name)
{
    char selector[SELECTOR_MAX];

    (void)name;
    (void)snprintf(selector, sizeof selector, "spec.nodeName=%s", request->identity->node);
    return strcmp(request_query(request, "fieldSelector"), selector) == 0;
}

/* --- What pods refer to --- */

struct search {
    const struct request *request;
    enum source_kind kind;
    const char *name;
    bool is_found;
};

static void look_at_pod(void *arg, const struct store_object *pod)
{
    struct search *search = arg;
    struct sources sources = {0};

    if (search->is_found || strcmp(pod->namespace, search->request->namespace) != 0)
        return;
    yyjson_doc *doc = yyjson_read(pod->body, pod->body_len, 0);

    sources_collect(&sources, yyjson_doc_get_root(doc), false);
    vec_foreach (&sources.items, source)
        search->is_found |= source->kind == search->kind && strcmp(source->name, search->name) == 0;
    sources_done(&sources);
    yyjson_doc_free(doc);
}

static bool is_referred_to(const struct request *request, enum source_kind kind, const char *name)
{
    struct search search = {.request = request, .kind = kind, .name = name};

    store_tagged(request->server->store, pods_number(request->server), NODE_TAG, request->identity->node, look_at_pod,
                 &search);
    return search.is_found;
}

static bool is_own_config_map(const struct request *request, const char *name)
{
    return is_referred_to(request, SOURCE_CONFIG_MAP, name);
}

static bool is_own_secret(const struct request *request, const char *name)
{
    return is_referred_to(request, SOURCE_SECRET, name);
}

static void look_for_account(void *arg, const struct store_object *pod)
{
    struct search *search = arg;
    yyjson_doc *doc =
        strcmp(pod->namespace, search->request->namespace) == 0 ? yyjson_read(pod->body, pod->body_len, 0) : NULL;

    search->is_found |=
        doc && strcmp(kube_text(yyjson_doc_get_root(doc), "spec", "serviceAccountName"), search->name) == 0;
    yyjson_doc_free(doc);
}

/* Which pod the token is bound to is checked where it is made (local/subresources/token.c). */
static bool is_own_account(const struct request *request, const char *name)
{
    struct search search = {.request = request, .name = name};

    store_tagged(request->server->store, pods_number(request->server), NODE_TAG, request->identity->node,
                 look_for_account, &search);
    return search.is_found;
}

static bool is_any(const struct request *request, const char *name)
{
    (void)request;
    (void)name;
    return true;
}

/* --- The table --- */

static const struct {
    const char *group, *plural, *subresource;
    const char *verbs[4];
    bool (*fits)(const struct request *request, const char *name);
} rules[] = {
    {"", "nodes", "", {"get", "list", "watch", "patch"}, is_own},
    {"", "nodes", "status", {"patch"}, is_own},
    {"coordination.k8s.io", "leases", "", {"get", "create", "patch"}, is_own_lease},
    {"", "pods", "", {"list", "watch"}, selects_own_pods},
    {"", "pods", "", {"get", "delete"}, is_own_pod},
    {"", "pods", "", {"patch"}, is_own_reservation},
    {"", "pods", "status", {"patch"}, is_own_pod},
    {"", "configmaps", "", {"get"}, is_own_config_map},
    {"", "secrets", "", {"get"}, is_own_secret},
    {"", "serviceaccounts", "token", {"create"}, is_own_account},
    {"", "events", "", {"create", "patch"}, is_any},
};

bool node_rights_allow(const struct request *request, const char *verb, const char *name)
{
    const struct api_kind *kind = request->kind;

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        bool has_verb = false;

        if (strcmp(rules[i].group, kind->group) != 0 || strcmp(rules[i].plural, kind->plural) != 0 ||
            strcmp(rules[i].subresource, request->subresource) != 0)
            continue;
        for (size_t k = 0; k < ARRAY_LEN(rules[i].verbs) && rules[i].verbs[k]; k++)
            has_verb |= strcmp(rules[i].verbs[k], verb) == 0;
        if (has_verb && rules[i].fits(request, name))
            return true;
    }
    return false;
}
