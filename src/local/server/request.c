/* SPDX-License-Identifier: Apache-2.0 */

/* From the path and the query of a request to the verb that answers it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "local/api/kinds.h"
#include "local/api/problems.h"
#include "local/rights/identity.h"
#include "local/rights/rights.h"
#include "local/server/request.h"
#include "local/server/resources.h"
#include "local/server/routes.h"
#include "local/server/server_parts.h"
#include "local/verbs/patch.h"
#include "net/rest/rest.h"

enum { WARNINGS_MAX = 100 };

struct request *request_begin(struct server *server, struct http_exchange *exchange)
{
    struct request *request = xcalloc(1, sizeof *request);

    *request = (struct request){
        .server = server, .exchange = exchange, .namespace = "", .name = "", .subresource = "", .status = 200};
    return request;
}

void request_end(struct request *request)
{
    url_path_done(&request->path);
    identity_unref(request->identity);
    vec_foreach (&request->warnings, warning)
        free(*warning);
    vec_done(&request->warnings);
    free(request->final);
    free(request);
}

const char *request_query(const struct request *request, const char *name)
{
    const char *value = rest_query(request->exchange, name);

    return value ? value : "";
}

bool request_query_is_true(const struct request *request, const char *name)
{
    const char *value = rest_query(request->exchange, name);

    return value && strcmp(value, "0") != 0 && strcasecmp(value, "false") != 0;
}

bool request_check_number(struct request *request, const char *name)
{
    const char *text = request_query(request, name);
    char *end = NULL;

    errno = 0;
    (void)strtoll(text, &end, 10);
    if (!*text || (*end == '\0' && errno == 0 && strchr("+-0123456789", *text)))
        return true;
    fail_bad(request, "strconv.ParseInt: parsing \"%.200s\": %s", text,
             errno == ERANGE ? "value out of range" : "invalid syntax");
    return false;
}

void request_warn(struct request *request, const char *text)
{
    _cleanup_(freep) char *copy = xstrndup(text, 1024);

    if (request->warnings.len >= WARNINGS_MAX)
        return;
    for (char *at = copy; *at; at++) {
        if ((unsigned char)*at < ' ')
            *at = ' ';
    }
    /* Each is said once. */
    vec_foreach (&request->warnings, other)
        if (strcmp(*other, copy) == 0)
            return;
    vec_push(&request->warnings, TAKE_PTR(copy));
}

/* The segments behind the group and version: [namespaces/NS/]PLURAL[/NAME[/SUBRESOURCE]]. */
static bool read_place(struct request *request, const char *group, const char *version, size_t at)
{
    size_t count = request->path.count - at;
    const char *first = url_path_segment(&request->path, at);
    bool is_in_namespace = count >= 3 && strcmp(first, "namespaces") == 0;

    /* namespaces/NAME/status is a part of the namespace, and there is no such kind of objects in it. */
    if (is_in_namespace && count == 3 && strcmp(group, "") == 0) {
        const char *third = url_path_segment(&request->path, at + 2);
        is_in_namespace = strcmp(third, "status") != 0 && strcmp(third, "finalize") != 0;
    }
    if (is_in_namespace) {
        request->namespace = url_path_segment(&request->path, at + 1);
        at += 2;
        count -= 2;
    }
    if (count > 3)
        return false;
    request->kind_segment = at;
    request->kind = resource_find(request->server, group, version, url_path_segment(&request->path, at));
    if (!request->kind)
        return false;
    request->is_custom = request->kind->flags & KIND_IS_CUSTOM;
    request->name = count > 1 ? url_path_segment(&request->path, at + 1) : "";
    request->subresource = count > 2 ? url_path_segment(&request->path, at + 2) : "";
    /* A namespace is no object of itself. */
    bool is_namespaced = request->kind->flags & KIND_NAMESPACED;
    return is_namespaced || !*request->namespace;
}

static bool read_resource(struct request *request)
{
    const struct url_path *path = &request->path;
    bool is_core = strcmp(url_path_segment(path, 0), "api") == 0;
    size_t at = is_core ? 2 : 3;

    if (path->count <= at)
        return false;
    const char *group = is_core ? "" : url_path_segment(path, 1);

    return read_place(request, group, url_path_segment(path, at - 1), at);
}

bool request_resume(struct request *request)
{
    const struct url_path *path = &request->path;

    if (!request->is_custom)
        return true;
    request->kind = resource_find(request->server, url_path_segment(path, 1), url_path_segment(path, 2),
                                  url_path_segment(path, request->kind_segment));
    if (!request->kind)
        fail_no_resource(request);
    return request->kind;
}

/* The verb of an object, and whether its path has what the verb needs. */
static bool read_verb(struct request *request)
{
    const char *method = http_exchange_method(request->exchange);
    bool is_one = *request->name;
    /* Objects of a namespace are written in their namespace alone. */
    bool is_placed = *request->namespace || !(request->kind->flags & KIND_NAMESPACED);

    if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0) {
        bool is_watch = request_query_is_true(request, "watch");
        request->verb = is_one ? VERB_GET : is_watch ? VERB_WATCH : VERB_LIST;
        return is_placed || !is_one;
    }
    if (!is_placed)
        return false;
    if (strcmp(method, "POST") == 0) {
        request->verb = VERB_CREATE;
        return !is_one || *request->subresource;
    }
    if (strcmp(method, "DELETE") == 0) {
        request->verb = is_one ? VERB_DELETE : VERB_DELETE_ALL;
        return !*request->subresource;
    }
    request->verb = strcmp(method, "PUT") == 0 ? VERB_UPDATE : VERB_PATCH;
    return is_one;
}

static void run_verb(struct request *request)
{
    static void (*const verbs[])(struct request *request) = {
        [VERB_GET] = verb_get,       [VERB_LIST] = verb_list,
        [VERB_WATCH] = verb_watch,   [VERB_CREATE] = verb_create,
        [VERB_UPDATE] = verb_update, [VERB_PATCH] = verb_patch,
        [VERB_DELETE] = verb_delete, [VERB_DELETE_ALL] = verb_delete_all,
    };

    verbs[request->verb](request);
}

static const char *options_kind(enum request_verb verb)
{
    switch (verb) {
    case VERB_CREATE:
        return "CreateOptions";
    case VERB_UPDATE:
        return "UpdateOptions";
    case VERB_PATCH:
        return "PatchOptions";
    default:
        return "DeleteOptions";
    }
}

/* dryRun is "All" or absent. */
static void check_dry_run(struct request *request, struct problems *problems)
{
    const char *value = request_query(request, "dryRun");

    request->is_dry_run = strcmp(value, "All") == 0;
    if (!*value || request->is_dry_run)
        return;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc);

    (void)yyjson_mut_arr_add_str(doc, list, value);
    problem_not_supported(problems, FIELD(NULL, "dryRun"), list, "All");
    yyjson_mut_doc_free(doc);
}

/* How members that a kind does not have are reported. */
static void check_field_validation(const struct request *request, struct problems *problems)
{
    static const char *const levels[] = {"", "Ignore", "Strict", "Warn"};
    const char *value = request_query(request, "fieldValidation");

    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        if (strcmp(levels[i], value) == 0)
            return;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

    problem_not_supported(problems, FIELD(NULL, "fieldValidation"), yyjson_mut_str(doc, value), " Ignore Strict Warn");
    yyjson_mut_doc_free(doc);
}

/* Checks the options of a request that writes. False after an answer. */
static bool check_options(struct request *request)
{
    struct problems problems = {0};

    if (request->verb == VERB_PATCH && !patch_check_type(request))
        return false;
    check_dry_run(request, &problems);
    if (request->verb <= VERB_PATCH)
        check_field_validation(request, &problems);
    bool is_good = !problems_any(&problems);

    if (!is_good)
        fail_invalid_type(request, "meta.k8s.io", options_kind(request->verb), "", &problems);
    problems_done(&problems);
    return is_good;
}

void request_serve(struct server *server, struct http_exchange *exchange)
{
    struct request *request = request_begin(server, exchange);

    /* The guard has identified the sender before. */
    if (rights_identify(server->rights, exchange, &request->identity) < 0) {
        fail_problem(request, &(struct rest_problem){.status = 401, .message = "Unauthorized"});
        return;
    }
    if (url_path_parse(http_exchange_path(exchange), &request->path) < 0 || !read_resource(request)) {
        fail_no_resource(request);
        return;
    }
    if (!accept_form(http_exchange_header(exchange, "Accept"), &request->form)) {
        fail_problem(request,
                     &(struct rest_problem){.status = 406, .has_details = true, .message = ACCEPT_NONE_MESSAGE});
        return;
    }
    request->number = resource_number(server, request->kind);
    if (!read_verb(request)) {
        fail_method(request);
        return;
    }
    if (strcmp(request->kind->plural, "endpoints") == 0 && !request->is_custom)
        request_warn(request, "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice");
    if (!rights_check_request(request) || (request->verb >= VERB_CREATE && !check_options(request)))
        return;
    if (!*request->subresource)
        run_verb(request);
    else if (!subresource_serves(request))
        fail_no_resource(request);
}
