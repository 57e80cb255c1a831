/* SPDX-License-Identifier: Apache-2.0 */
#include "local/admission/limits.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "local/admission/ownership.h"
#include "local/admission/pod_limits.h"
#include "local/admission/queue_limits.h"
#include "local/admission/templates.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/owner_keys.h"
#include "local/builtin/members.h"
#include "local/rights/identity.h"
#include "local/rights/rights.h"
#include "local/rights/users.h"
#include "local/server/request.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"
#include "objects/keys.h"

enum { PROBLEMS_MAX = 3072, PREFIX_MAX = 64 };

static yyjson_mut_val *template_in(yyjson_mut_doc *doc, const char *path)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);

    return *path ? member_get(root, path) : root;
}

/* Whether the PodGroup that a pod names is another user's: the pod would count for that group's gang and queue. */
static void check_group(struct request *request, yyjson_mut_val *meta, uint32_t owner, struct strbuf *problems)
{
    struct server *server = request->server;
    const char *name = yyjson_mut_get_str(yyjson_mut_obj_get(yyjson_mut_obj_get(meta, "annotations"), KEY_POD_GROUP));
    const struct api_kind *kind = resource_find(server, "scheduling.run.ai", "v2alpha2", "podgroups");
    const struct store_object *object =
        name && kind ? store_latest(server->store, resource_number(server, kind), request->namespace, name) : NULL;

    if (!object)
        return;
    yyjson_doc *doc = yyjson_read(object->body, object->body_len, 0);
    uint32_t other = UID_NOBODY;

    if (owner_uid(yyjson_doc_get_root(doc), (uint32_t)geteuid(), &other, NULL) < 0 || other != owner)
        strbuf_addf(problems, "%smetadata.annotations[\"" KEY_POD_GROUP "\"]: PodGroup %.100s is another user's",
                    problems->len ? "; " : "", name);
    yyjson_doc_free(doc);
}

/* Pods get the rights of their account. That of the namespace is for all who may create pods in it. */
static void check_account(struct request *request, yyjson_mut_val *spec, uint32_t owner, const char *prefix,
                          struct strbuf *problems)
{
    struct server *server = request->server;
    const char *name = yyjson_mut_get_str(yyjson_mut_obj_get(spec, "serviceAccountName"));
    uint32_t number = resource_number(server, builtin_kind_find("", "v1", "serviceaccounts"));
    uint32_t other = UID_NOBODY;

    if (!name || !*name || strcmp(name, "default") == 0)
        return;
    const struct store_object *object = store_latest(server->store, number, request->namespace, name);
    yyjson_doc *doc = object ? yyjson_read(object->body, object->body_len, 0) : NULL;

    if (!object)
        strbuf_addf(problems, "%s%sspec.serviceAccountName: serviceaccount \"%.100s\" not found",
                    problems->len ? "; " : "", prefix, name);
    else if (owner_uid(yyjson_doc_get_root(doc), (uint32_t)geteuid(), &other, NULL) < 0 || other != owner)
        strbuf_addf(problems, "%s%sspec.serviceAccountName: account %.100s is another user's",
                    problems->len ? "; " : "", prefix, name);
    yyjson_doc_free(doc);
}

static void check_pod(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old, uint32_t owner,
                      struct strbuf *problems)
{
    const char *path = pod_template_of(request->kind);
    yyjson_mut_val *pod = path ? template_in(doc, path) : NULL;
    yyjson_mut_val *before = path && old ? template_in(old, path) : NULL;
    char prefix[PREFIX_MAX] = "";

    if (!pod)
        return;
    if (*path)
        (void)snprintf(prefix, sizeof prefix, "%s.", path);
    const struct pod_limits limits = {.user = rights_user(request->server->rights, owner),
                                      .folders = request->server->shared_folders,
                                      .prefix = prefix};
    yyjson_mut_val *meta = yyjson_mut_obj_get(pod, "metadata");

    pod_limits_check_keys(&limits, meta, yyjson_mut_obj_get(before, "metadata"), problems);
    /* The spec of a pod that is there has been admitted, and the binder has given it its node. */
    if (*path || !old) {
        pod_limits_check(&limits, pod, problems);
        check_account(request, yyjson_mut_obj_get(pod, "spec"), owner, prefix, problems);
    }
    if (!old)
        check_group(request, meta, owner, problems);
}

/* Whoever may change what an object runs, runs it as the object's user. */
static void check_sender(const struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old, uint32_t owner,
                         struct strbuf *problems)
{
    yyjson_mut_val *now = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "spec");
    yyjson_mut_val *before = yyjson_mut_obj_get(yyjson_mut_doc_get_root(old), "spec");

    if (owner == request->identity->owner || (!now && !before) || (now && before && yyjson_mut_equals(now, before)))
        return;
    strbuf_addstr(problems, "spec: only the user who has submitted the object, and administrators, may change it");
}

bool limits_check(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    struct rights *rights = request->server->rights;
    uint32_t owner = ownership_of(doc);
    bool is_admin = old ? request->identity->is_owned_by_admin : rights_is_admin(owner);
    struct strbuf problems;

    if (is_admin || !rights_serve_all(rights))
        return true;
    strbuf_init(&problems, PROBLEMS_MAX);
    if (old)
        check_sender(request, doc, old, owner, &problems);
    if (problems.len == 0) {
        check_pod(request, doc, old, owner, &problems);
        queue_limits_check(request, doc, old, rights_user(rights, owner), &problems);
    }
    bool is_good = problems.len == 0;

    if (!is_good)
        fail_forbidden(request, meta_text(doc, "name"), "%s", problems.text);
    strbuf_done(&problems);
    return is_good;
}
