/* SPDX-License-Identifier: Apache-2.0 */

/* Kinds that are asked and not stored: who somebody is, and what they may do. */
#include "local/subresources/reviews.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/discovery/accept.h"
#include "local/rights/identity.h"
#include "local/rights/rights.h"
#include "local/server/routes.h"
#include "local/server/server_parts.h"
#include "local/subresources/review_answers.h"
#include "local/verbs/body.h"
#include "net/http_server.h"
#include "net/rest/errors.h"

enum { MESSAGE_MAX = 4096 };

#define AUTHENTICATION "authentication.k8s.io", "v1"
#define AUTHORIZATION "authorization.k8s.io", "v1"

static const struct review {
    struct api_kind kind;
    review_answer_fn answer;
    bool needs_right;  // the others are about the sender
} reviews[] = {
    {{AUTHENTICATION, "selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview", NULL, NULL, NULL, 0},
     review_self,
     false},
    {{AUTHENTICATION, "tokenreviews", "tokenreview", "TokenReview", NULL, NULL, NULL, 0}, review_token, true},
    {{AUTHORIZATION, "localsubjectaccessreviews", "localsubjectaccessreview", "LocalSubjectAccessReview", NULL, NULL,
      NULL, KIND_NAMESPACED},
     review_subject_access,
     true},
    {{AUTHORIZATION, "selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview", NULL, NULL, NULL,
      0},
     review_self_access,
     false},
    {{AUTHORIZATION, "selfsubjectrulesreviews", "selfsubjectrulesreview", "SelfSubjectRulesReview", NULL, NULL, NULL,
      0},
     review_self_rules,
     false},
    {{AUTHORIZATION, "subjectaccessreviews", "subjectaccessreview", "SubjectAccessReview", NULL, NULL, NULL, 0},
     review_subject_access,
     true},
};

const struct api_kind *review_kind_at(size_t index)
{
    return index < ARRAY_LEN(reviews) ? &reviews[index].kind : NULL;
}

bool review_is_kind(const struct api_kind *kind)
{
    for (size_t i = 0; i < ARRAY_LEN(reviews); i++) {
        if (kind == &reviews[i].kind)
            return true;
    }
    return false;
}

/* By the last segment of the path. */
static const struct review *find(const struct http_exchange *exchange)
{
    const char *slash = strrchr(http_exchange_path(exchange), '/');

    for (size_t i = 0; slash && i < ARRAY_LEN(reviews); i++) {
        if (strcmp(reviews[i].kind.plural, slash + 1) == 0)
            return &reviews[i];
    }
    return NULL;
}

static const char *namespace_of(const struct review *review, const struct http_exchange *exchange)
{
    return review->kind.flags & KIND_NAMESPACED ? rest_param(exchange, "namespace") : "";
}

/* False after an answer. */
static bool check_right(const struct review *review, const struct review_request *request,
                        struct http_exchange *exchange)
{
    const struct rights_question question = {.verb = "create",
                                             .group = review->kind.group,
                                             .resource = review->kind.plural,
                                             .subresource = "",
                                             .namespace = namespace_of(review, exchange),
                                             .name = ""};
    struct strbuf text;

    if (!review->needs_right || rights_allow(request->rights, request->identity, &question))
        return true;
    strbuf_init(&text, MESSAGE_MAX);
    strbuf_addf(&text, "%s.%s is forbidden: ", review->kind.plural, review->kind.group);
    rights_explain(&text, request->identity, &question);
    rest_fail_problem(exchange, &(struct rest_problem){.status = 403,
                                                       .reason = "Forbidden",
                                                       .message = text.text,
                                                       .group = review->kind.group,
                                                       .kind = review->kind.plural});
    strbuf_done(&text);
    return false;
}

/* The answer is the body with its status. */
static void answer_review(struct http_exchange *exchange, const struct review *review, struct review_request *request)
{
    yyjson_mut_doc *doc = request->doc;
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *status = yyjson_mut_obj(doc);
    char version[API_VERSION_MAX];
    size_t len = 0;

    (void)api_kind_version(&review->kind, version);
    (void)yyjson_mut_obj_put(root, yyjson_mut_str(doc, "kind"), yyjson_mut_str(doc, review->kind.kind));
    (void)yyjson_mut_obj_put(root, yyjson_mut_str(doc, "apiVersion"), yyjson_mut_str(doc, version));
    if (!yyjson_mut_obj_get(root, "metadata"))
        (void)yyjson_mut_obj_add_obj(doc, root, "metadata");
    (void)yyjson_mut_obj_put(root, yyjson_mut_str(doc, "status"), status);
    request->spec = yyjson_mut_obj_get(root, "spec");
    request->status = status;
    review->answer(request);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    http_reply(exchange, 201, "application/json", text, len);
    free(text);
}

void serve_review(void *arg, struct http_exchange *exchange)
{
    const struct review *review = find(exchange);
    struct server *server = arg;
    _cleanup_(identity_unrefp) struct identity *identity = NULL;
    struct review_request request = {.rights = server->rights};
    enum accept_form form = ACCEPT_OBJECT;
    struct err err = {0};

    if (!review) {
        rest_fail(exchange, -ENOENT, "the server could not find the requested resource");
        return;
    }
    /* A review is no object that could be shown as a table. */
    if (!accept_form(http_exchange_header(exchange, "Accept"), &form) || form != ACCEPT_OBJECT) {
        rest_fail_problem(exchange,
                          &(struct rest_problem){.status = 406, .has_details = true, .message = ACCEPT_NONE_MESSAGE});
        return;
    }
    if (rights_identify(server->rights, exchange, &identity) < 0) {
        rest_fail(exchange, -ENOKEY, "Unauthorized");
        return;
    }
    request.identity = identity;
    request.namespace = namespace_of(review, exchange);
    if (!check_right(review, &request, exchange))
        return;
    if (body_parse(exchange, &request.doc, &err) < 0) {
        rest_fail_err(exchange, &err);
        return;
    }
    answer_review(exchange, review, &request);
    yyjson_mut_doc_free(request.doc);
}
