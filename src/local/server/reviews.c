/* SPDX-License-Identifier: Apache-2.0 */

/* What a client may do, and who it is: whoever is let in owns the server, and may do everything. */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/macros.h"
#include "local/server/body_internal.h"
#include "local/server/request_internal.h"
#include "local/server/reviews_internal.h"
#include "local/server/routes_internal.h"
#include "local/server/server_internal.h"
#include "net/http_server.h"

static void add_access(yyjson_mut_doc *doc, yyjson_mut_val *status, struct http_exchange *exchange)
{
    (void)exchange;
    (void)yyjson_mut_obj_add_bool(doc, status, "allowed", true);
}

static void add_all(yyjson_mut_doc *doc, yyjson_mut_val *rule, const char *const *members, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, rule, members[i]), "*");
}

static void add_rules(yyjson_mut_doc *doc, yyjson_mut_val *status, struct http_exchange *exchange)
{
    static const char *const of_resources[] = {"verbs", "apiGroups", "resources"};
    static const char *const of_paths[] = {"verbs", "nonResourceURLs"};

    (void)exchange;
    add_all(doc, yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, status, "resourceRules")), of_resources,
            ARRAY_LEN(of_resources));
    add_all(doc, yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, status, "nonResourceRules")), of_paths,
            ARRAY_LEN(of_paths));
    (void)yyjson_mut_obj_add_bool(doc, status, "incomplete", false);
}

static void add_user(yyjson_mut_doc *doc, yyjson_mut_val *status, struct http_exchange *exchange)
{
    const struct passwd *user = getpwuid(geteuid());
    yyjson_mut_val *info = yyjson_mut_obj_add_obj(doc, status, "userInfo");
    yyjson_mut_val *groups;

    (void)exchange;
    (void)yyjson_mut_obj_add_strcpy(doc, info, "username", user ? user->pw_name : "owner");
    groups = yyjson_mut_obj_add_arr(doc, info, "groups");
    (void)yyjson_mut_arr_add_str(doc, groups, "system:masters");
    (void)yyjson_mut_arr_add_str(doc, groups, "system:authenticated");
}

static const struct review {
    struct review_kind shown;
    void (*add)(yyjson_mut_doc *doc, yyjson_mut_val *status, struct http_exchange *exchange);
} reviews[] = {
    {{"authentication.k8s.io", "selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview"}, add_user},
    {{"authorization.k8s.io", "selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview"},
     add_access},
    {{"authorization.k8s.io", "selfsubjectrulesreviews", "selfsubjectrulesreview", "SelfSubjectRulesReview"},
     add_rules},
};

const struct review_kind *review_kind_at(size_t index)
{
    return index < ARRAY_LEN(reviews) ? &reviews[index].shown : NULL;
}

static const struct review *find(const char *group, const char *plural)
{
    for (size_t i = 0; i < ARRAY_LEN(reviews); i++) {
        if (strcmp(reviews[i].shown.plural, plural) == 0 && strcmp(reviews[i].shown.group, group) == 0)
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

    (void)snprintf(version, sizeof version, "%s/v1", review->shown.group);
    (void)yyjson_mut_obj_put(root, yyjson_mut_str(doc, "kind"), yyjson_mut_str(doc, review->shown.kind));
    (void)yyjson_mut_obj_put(root, yyjson_mut_str(doc, "apiVersion"), yyjson_mut_str(doc, version));
    if (!yyjson_mut_obj_get(root, "metadata"))
        (void)yyjson_mut_obj_add_obj(doc, root, "metadata");
    (void)yyjson_mut_obj_put(root, yyjson_mut_str(doc, "status"), status);
    review->add(doc, status, exchange);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    http_reply(exchange, 201, "application/json", text, len);
    free(text);
}

void serve_review(void *arg, struct http_exchange *exchange)
{
    const struct review *review = find(rest_param(exchange, "group"), rest_param(exchange, "review"));
    struct err err = {0};
    yyjson_mut_doc *doc = NULL;

    (void)arg;
    if (body_parse(exchange, &doc, &err) < 0) {
        rest_fail_err(exchange, &err);
        return;
    }
    answer_review(exchange, review, doc);
    yyjson_mut_doc_free(doc);
}
