/* SPDX-License-Identifier: Apache-2.0 */

/* serviceaccounts/token: a token for an account, for a time, and perhaps for as long as a pod is there. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "local/admission/ownership.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/problems.h"
#include "local/builtin/builtin.h"
#include "local/machines/node_rights.h"
#include "local/rights/account_tokens.h"
#include "local/rights/identity.h"
#include "local/rights/rights.h"
#include "local/rights/users.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"
#include "local/subresources/subresources_internal.h"
#include "local/verbs/body.h"
#include "local/verbs/write.h"
#include "net/rest/errors.h"

enum { LIFETIME_DEFAULT = 3600, LIFETIME_MIN = 600, MESSAGE_MAX = 512 };
#define TOKEN_REQUEST_VERSION "authentication.k8s.io/v1"
#define LIFETIME_MAX (INT64_C(1) << 32)

static yyjson_mut_val *part(yyjson_mut_doc *doc, const char *name)
{
    return yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), name);
}

static const char *text_at(yyjson_mut_val *object, const char *member)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, member));

    return text ? text : "";
}

/* False after an answer. */
static bool read_lifetime(struct request *request, yyjson_mut_val *spec, int64_t *ret_seconds)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(spec, "expirationSeconds");
    int64_t seconds = yyjson_mut_is_int(value) ? yyjson_mut_get_sint(value) : LIFETIME_DEFAULT;
    const struct field field = field_member(NULL, "spec");
    struct problems problems = {0};

    if (seconds < LIFETIME_MIN)
        problem_invalid_number(&problems, FIELD(&field, "expirationSeconds"), seconds,
                               "may not specify a duration less than 10 minutes");
    else if (seconds > LIFETIME_MAX)
        problem_invalid_number(&problems, FIELD(&field, "expirationSeconds"), seconds,
                               "may not specify a duration larger than 2^32 seconds");
    bool is_good = !problems_any(&problems);

    if (!is_good)
        fail_invalid_type(request, "authentication.k8s.io", "TokenRequest", request->name, &problems);
    problems_done(&problems);
    *ret_seconds = seconds;
    return is_good;
}

/* Who gets a token acts for its user. */
static bool check_owner(struct request *request, uint32_t owner, const char *what)
{
    if (request->identity->is_admin || request->identity->node || request->identity->owner == owner)
        return true;
    fail_forbidden(request, request->name, "the %s belongs to user \"%s\", who alone gets tokens for it", what,
                   rights_user(request->server->rights, owner)->name);
    return false;
}

static bool check_pod(struct request *request, yyjson_mut_doc *pod, const char *uid)
{
    const char *account = text_at(part(pod, "spec"), "serviceAccountName");

    if (strcmp(account, request->name) != 0) {
        fail_bad(request,
                 "cannot bind token for serviceaccount \"%s\" to pod running with different serviceaccount name.",
                 request->name);
        return false;
    }
    if (*uid && strcmp(uid, meta_text(pod, "uid")) != 0) {
        fail_conflict(request,
                      "the UID in the bound object reference (%s) does not match the UID in record. The object might "
                      "have been deleted and then recreated",
                      uid);
        return false;
    }
    return check_owner(request, ownership_of(pod), "pod");
}

/* A joined machine gets tokens for the pods that are bound to it. */
static bool check_node(struct request *request, yyjson_mut_doc *pod)
{
    const char *node = request->identity->node;

    if (!node || (pod && node_has_pod(request->server, node, request->namespace, meta_text(pod, "name"))))
        return true;
    fail_forbidden(request, request->name, "a node gets tokens for the pods that are bound to it alone");
    return false;
}

/* The pod that the token is bound to, NULL when it is bound to none; false after an answer. */
static bool read_bound(struct request *request, yyjson_mut_val *spec, yyjson_mut_doc **ret_pod)
{
    yyjson_mut_val *bound = yyjson_mut_obj_get(spec, "boundObjectRef");
    const char *name = text_at(bound, "name");
    uint32_t number = resource_number(request->server, builtin_kind_find("", "v1", "pods"));
    char message[MESSAGE_MAX];

    *ret_pod = NULL;
    if (!yyjson_mut_is_obj(bound))
        return true;
    if (strcmp(text_at(bound, "kind"), "Pod") != 0) {
        fail_bad(request, "cannot bind token for object of type %s", text_at(bound, "kind"));
        return false;
    }
    const struct store_object *object = store_latest(request->server->store, number, request->namespace, name);

    if (!object) {
        (void)snprintf(message, sizeof message, "pods \"%s\" not found", name);
        fail_problem(request, &(struct rest_problem){.status = 404, .message = message, .name = name, .kind = "pods"});
        return false;
    }
    *ret_pod = object_doc(object);
    if (check_pod(request, *ret_pod, text_at(bound, "uid")))
        return true;
    yyjson_mut_doc_free(*ret_pod);
    return false;
}

static void read_audiences(yyjson_mut_doc *doc, yyjson_mut_val *spec, struct account_claims *claims)
{
    yyjson_mut_val *list = yyjson_mut_obj_get(spec, "audiences");

    if (yyjson_mut_arr_size(list) == 0) {
        list = yyjson_mut_arr(doc);
        (void)yyjson_mut_arr_add_str(doc, list, ACCOUNT_TOKEN_AUDIENCE);
        (void)yyjson_mut_obj_put(spec, yyjson_mut_str(doc, "audiences"), list);
    }
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    for (yyjson_mut_val *one; (one = yyjson_mut_arr_iter_next(&iter));) {
        if (yyjson_mut_is_str(one))
            vec_push(&claims->audiences, xstrdup(yyjson_mut_get_str(one)));
    }
}

static void set_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *member, const char *value)
{
    (void)yyjson_mut_obj_put(object, yyjson_mut_str(doc, member), yyjson_mut_strcpy(doc, value));
}

/* The answer is the request with its status. */
static void answer(struct request *request, yyjson_mut_doc *doc, const struct account_claims *claims)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *meta = yyjson_mut_obj(doc);
    yyjson_mut_val *status = yyjson_mut_obj(doc);
    char *token = rights_make_token(request->server->rights, claims);
    char time[TIME_TEXT_MAX];
    size_t len = 0;

    set_text(doc, root, "kind", "TokenRequest");
    set_text(doc, root, "apiVersion", TOKEN_REQUEST_VERSION);
    set_text(doc, meta, "name", request->name);
    set_text(doc, meta, "namespace", request->namespace);
    set_text(doc, meta, "creationTimestamp", time_format(claims->issued * NSEC_PER_SEC, time));
    (void)yyjson_mut_obj_put(root, yyjson_mut_str(doc, "metadata"), meta);
    set_text(doc, status, "token", token);
    set_text(doc, status, "expirationTimestamp", time_format(claims->expires * NSEC_PER_SEC, time));
    (void)yyjson_mut_obj_put(root, yyjson_mut_str(doc, "status"), status);
    char *text = yyjson_mut_write(doc, 0, &len);

    answer_json(request, 201, text, len);
    free(text);
    free(token);
}

static void make_token(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *account)
{
    yyjson_mut_val *spec = part(doc, "spec");
    yyjson_mut_doc *pod = NULL;
    int64_t seconds = 0;

    if (!yyjson_mut_is_obj(spec)) {
        spec = yyjson_mut_obj(doc);
        (void)yyjson_mut_obj_put(yyjson_mut_doc_get_root(doc), yyjson_mut_str(doc, "spec"), spec);
    }
    if (!read_lifetime(request, spec, &seconds) || !read_bound(request, spec, &pod))
        return;
    if (!check_node(request, pod) || !check_owner(request, ownership_of(account), "account")) {
        yyjson_mut_doc_free(pod);
        return;
    }
    struct account_claims claims = {.namespace = xstrdup(request->namespace),
                                    .name = xstrdup(request->name),
                                    .uid = xstrdup(meta_text(account, "uid")),
                                    .issued = nsec_now_wall() / NSEC_PER_SEC};

    claims.expires = claims.issued + seconds;
    claims.pod = pod ? xstrdup(meta_text(pod, "name")) : NULL;
    claims.pod_uid = pod ? xstrdup(meta_text(pod, "uid")) : NULL;
    read_audiences(doc, spec, &claims);
    (void)yyjson_mut_obj_put(spec, yyjson_mut_str(doc, "expirationSeconds"), yyjson_mut_sint(doc, seconds));
    answer(request, doc, &claims);
    account_claims_done(&claims);
    yyjson_mut_doc_free(pod);
}

/* Whether the members have the types that they should have; false after an answer. */
static bool check_types(struct request *request, yyjson_mut_doc *doc)
{
    struct field_faults faults = {0};
    struct err err = {0};
    int r = builtin_check_body(TOKEN_REQUEST_VERSION, "TokenRequest", doc, &faults, &err);

    if (r < 0)
        fail_bad(request, "%s", err.text);
    field_faults_done(&faults);
    return r == 0;
}

void serve_account_token(struct request *request)
{
    const struct store_object *latest = write_latest(request);
    yyjson_mut_doc *doc = NULL;

    if (request->verb != VERB_CREATE) {
        fail_method(request);
        return;
    }
    if (!body_read(request, &doc))
        return;
    if (!latest) {
        fail_not_found(request);
    } else if (check_types(request, doc)) {
        yyjson_mut_doc *account = object_doc(latest);

        make_token(request, doc, account);
        yyjson_mut_doc_free(account);
    }
    yyjson_mut_doc_free(doc);
}
