/* SPDX-License-Identifier: Apache-2.0 */

/* What a client may do, and who it is: whoever is let in owns the server, and may do everything. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/macros.h"
#include "local/api/kinds.h"
#include "local/server/routes.h"
#include "local/subresources/reviews.h"
#include "local/verbs/body.h"
#include "net/http_server.h"

static void add_access(yyjson_mut_doc *doc, yyjson_mut_val *status)
{
    (void)yyjson_mut_obj_add_bool(doc, status, "allowed", true);
}

static void add_all(yyjson_mut_doc *doc, yyjson_mut_val *rule, const char *const *members, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, rule, members[i]), "*");
}

static void add_rules(yyjson_mut_doc *doc, yyjson_mut_val *status)
{
    static const char *const of_resources[] = {"verbs", "apiGroups", "resources"};
    static const char *const of_paths[] = {"verbs", "nonResourceURLs"};

    add_all(doc, yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, status, "resourceRules")), of_resources,
            ARRAY_LEN(of_resources));
    add_all(doc, yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, status, "nonResourceRules")), of_paths,
            ARRAY_LEN(of_paths));
    (void)yyjson_mut_obj_add_bool(doc, status, "incomplete", false);
}

static void add_user(yyjson_mut_doc *doc, yyjson_mut_val *status)
{
    const struct passwd *user = getpwuid(geteuid());
    yyjson_mut_val *info = yyjson_mut_obj_add_obj(doc, status, "userInfo");
    yyjson_mut_val *groups;

    (void)yyjson_mut_obj_add_strcpy(doc, info, "username", user ? user->pw_name : "owner");
    groups = yyjson_mut_obj_add_arr(doc, info, "groups");
    (void)yyjson_mut_arr_add_str(doc, groups, "system:masters");
    (void)yyjson_mut_arr_add_str(doc, groups, "system:authenticated");
}

static const struct review {
    struct api_kind kind;
    void (*add)(yyjson_mut_doc *doc, yyjson_mut_val *status);
} reviews[] = {
    {{"authentication.k8s.io", "v1", "selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview", NULL, NULL, NULL,
      0},
     add_user},
    {{"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview",
      NULL, NULL, NULL, 0},
     add_access},
    {{"authorization.k8s.io", "v1", "selfsubjectrulesreviews", "selfsubjectrulesreview", "SelfSubjectRulesReview", NULL,
      NULL, NULL, 0},
     add_rules},
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

/* The answer is the body with its status. */
static void answer_review(struct http_exchange *exchange, const struct review *review, yyjson_mut_doc *doc)
{
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
    review->add(doc, status);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    http_reply(exchange, 201, "application/json", text, len);
    free(text);
}

void serve_review(void *arg, struct http_exchange *exchange)
{
    const struct review *review = find(exchange);
    struct err err = {0};
    yyjson_mut_doc *doc = NULL;

    (void)arg;
    if (!review) {
        rest_fail(exchange, -ENOENT, "the server could not find the requested resource");
        return;
    }
    if (body_parse(exchange, &doc, &err) < 0) {
        rest_fail_err(exchange, &err);
        return;
    }
    answer_review(exchange, review, doc);
    yyjson_mut_doc_free(doc);
}
