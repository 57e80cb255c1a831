/* SPDX-License-Identifier: Apache-2.0 */
#include "local/verbs/body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/server/request.h"
#include "local/verbs/rules.h"
#include "local/wire/types.h"
#include "local/wire/wire.h"
#include "net/http_server.h"
#include "net/rest/errors.h"
#include "text/json.h"
#include "text/yaml.h"

enum body_type { BODY_JSON, BODY_YAML, BODY_PROTOBUF, BODY_OTHER };

static bool is_type(const char *header, const char *type)
{
    size_t len = strcspn(header, "; \t");

    return strlen(type) == len && strncasecmp(header, type, len) == 0;
}

static enum body_type type_of(const struct http_exchange *exchange)
{
    const char *header = http_exchange_header(exchange, "Content-Type");

    if (!header || !*header || is_type(header, "application/json"))
        return BODY_JSON;
    if (is_type(header, "application/yaml"))
        return BODY_YAML;
    return is_type(header, WIRE_MEDIA_TYPE) ? BODY_PROTOBUF : BODY_OTHER;
}

static int read_json(const char *body, size_t len, yyjson_mut_doc **ret_doc, struct err *err)
{
    yyjson_doc *doc = NULL;
    int r = json_parse(body, len, "body", &doc, err);

    if (r < 0)
        return r;
    *ret_doc = yyjson_doc_mut_copy(doc, NULL);
    yyjson_doc_free(doc);
    return 0;
}

static int read_yaml(const char *body, size_t len, yyjson_mut_doc **ret_doc, struct err *err)
{
    struct yaml_docs docs = {0};
    int r = yaml_parse(body, len, "body", &docs, err);

    if (r == 0 && docs.len == 0)
        r = err_set(err, -EINVAL, "the body is empty");
    if (r == 0)
        *ret_doc = yyjson_doc_mut_copy(docs.items[0].json, NULL);
    yaml_docs_done(&docs);
    return r;
}

static int read_as(enum body_type type, const char *body, size_t len, yyjson_mut_doc **ret_doc, struct err *err)
{
    switch (type) {
    case BODY_YAML:
        return read_yaml(body, len, ret_doc, err);
    case BODY_PROTOBUF:
        return wire_read(body, len, ret_doc, err);
    default:
        return read_json(body, len, ret_doc, err);
    }
}

int body_parse(struct http_exchange *exchange, yyjson_mut_doc **ret_doc, struct err *err)
{
    enum body_type type = type_of(exchange);
    size_t len = 0;
    const char *body = http_exchange_body(exchange, &len);
    int r;

    if (type == BODY_OTHER)
        return err_set(err, -EMEDIUMTYPE,
                       "the body of the request was in an unknown format - accepted media types include: "
                       "application/json, application/yaml, " WIRE_MEDIA_TYPE);
    r = read_as(type, body, len, ret_doc, err);
    if (r < 0)
        return r;
    if (!yyjson_mut_is_obj(yyjson_mut_doc_get_root(*ret_doc))) {
        yyjson_mut_doc_free(*ret_doc);
        *ret_doc = NULL;
        return err_set(err, -EINVAL, "the body is not an object");
    }
    return 0;
}

bool body_read(struct request *request, yyjson_mut_doc **ret_doc)
{
    struct err err = {0};
    bool is_custom = request->kind->flags & KIND_IS_CUSTOM;
    int r = is_custom && type_of(request->exchange) == BODY_PROTOBUF
                ? err_set(&err, -EMEDIUMTYPE,
                          "the body of the request was in an unknown format - accepted media types include: "
                          "application/json, application/yaml")
                : body_parse(request->exchange, ret_doc, &err);

    if (r == -EMEDIUMTYPE)
        fail_problem(request, &(struct rest_problem){.status = 415, .message = err.text});
    else if (r < 0)
        fail_bad(request, "the object provided is unrecognized (must be of type %s): couldn't get version/kind; %s",
                 request->kind->kind, err.text);
    return r == 0;
}

bool body_read_optional(struct request *request, yyjson_mut_doc **ret_doc)
{
    size_t len = 0;

    (void)http_exchange_body(request->exchange, &len);
    *ret_doc = NULL;
    return len == 0 || body_read(request, ret_doc);
}

static const char *text_of(yyjson_mut_doc *doc, const char *member)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), member));

    return text ? text : "";
}

enum { SHOWN_MAX = 30 };

/* Objects of custom kinds say what they are. */
static void fail_no_kind(struct request *request, yyjson_mut_doc *doc)
{
    size_t len = 0;
    const char *body = http_exchange_body(request->exchange, &len);
    bool is_yaml = type_of(request->exchange) == BODY_YAML;
    char *text = is_yaml ? yyjson_mut_write(doc, 0, &len) : NULL;

    if (is_yaml)
        body = text;
    fail_bad(request,
             "the object provided is unrecognized (must be of type %s): Object 'Kind' is missing in '%.*s' (%.*s%s)",
             request->kind->kind, (int)len, body, (int)MIN(len, (size_t)SHOWN_MAX), body,
             len > SHOWN_MAX ? " ..." : "");
    free(text);
}

/* The kinds of a body that says none are those of the path. */
static bool check_type(struct request *request, yyjson_mut_doc *doc)
{
    char expected[API_VERSION_MAX];
    const char *kind = text_of(doc, "kind");
    const char *version = text_of(doc, "apiVersion");

    (void)api_kind_version(request->kind, expected);
    if (!*kind && request->is_custom) {
        fail_no_kind(request, doc);
        return false;
    }
    if (!*version)
        version = expected;
    if ((!*kind || strcmp(kind, request->kind->kind) == 0) && strcmp(version, expected) == 0)
        return true;
    if (!*kind)
        kind = request->kind->kind;
    if (strcmp(version, expected) != 0 && !request->is_custom && type_find_in(version, kind))
        fail_bad(request, "the API version in the data (%s) does not match the expected API version (%s)", version,
                 expected);
    else if (strcmp(version, expected) != 0)
        fail_bad(request,
                 "%s in version \"%s\" cannot be handled as a %s: no kind \"%s\" is registered for version \"%s\"",
                 kind, version, request->kind->kind, kind, version);
    else
        fail_bad(request, "%s in version \"%s\" cannot be handled as a %s: unknown conversion", kind, version,
                 request->kind->kind);
    return false;
}

bool body_is_placed(struct request *request, const char *namespace)
{
    if (!*namespace || !*request->namespace || strcmp(namespace, request->namespace) == 0)
        return true;
    fail_bad(request, "the namespace of the provided object does not match the namespace sent on the request");
    return false;
}

static bool check_namespace(struct request *request, yyjson_mut_doc *doc)
{
    const char *namespace = meta_text(doc, "namespace");

    if (!body_is_placed(request, namespace))
        return false;
    if (*request->namespace)
        meta_set_text(doc, "namespace", request->namespace);
    else if (*namespace)
        meta_remove(doc, "namespace");
    return true;
}

bool body_check(struct request *request, yyjson_mut_doc *doc)
{
    return check_type(request, doc) && rules_check_fields(request, doc) && check_namespace(request, doc);
}
