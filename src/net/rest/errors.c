/* SPDX-License-Identifier: Apache-2.0 */
#include "net/rest/errors.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

#include "base/macros.h"
#include "net/http_server.h"
#include "net/rest/rest_internal.h"

static const struct {
    int code;
    int status;
} statuses[] = {
    {EINVAL, 400},    {EILSEQ, 400},    {EBADMSG, 400},       {ENAMETOOLONG, 400}, {ENOKEY, 401},      {EACCES, 403},
    {EPERM, 403},     {ENOENT, 404},    {ENOTTY, 405},        {EEXIST, 409},       {EBUSY, 409},       {ESTALE, 410},
    {ENOTEMPTY, 412}, {EFBIG, 413},     {E2BIG, 413},         {EMSGSIZE, 413},     {EMEDIUMTYPE, 415}, {ENOTSUP, 422},
    {EDOM, 422},      {ERANGE, 422},    {EAGAIN, 429},        {EUSERS, 429},       {ENOSYS, 501},      {ESHUTDOWN, 503},
    {ECANCELED, 503}, {ETIMEDOUT, 504}, {EADDRNOTAVAIL, 421},
};

/* The reasons of Kubernetes. Where a status has two, EEXIST is the first of them. */
static const struct {
    int status;
    const char *reason;
} reasons[] = {
    {400, "BadRequest"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "NotFound"},
    {405, "MethodNotAllowed"},
    {406, "NotAcceptable"},
    {409, "Conflict"},
    {410, "Expired"},
    {412, "PreconditionFailed"},
    {413, "RequestEntityTooLarge"},
    {415, "UnsupportedMediaType"},
    {422, "Invalid"},
    {429, "TooManyRequests"},
    {503, "ServiceUnavailable"},
    {504, "Timeout"},
};

int rest_status_of(int code)
{
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        if (statuses[i].code == -code)
            return statuses[i].status;
    }
    return 500;
}

static const char *reason_of(const struct rest_problem *problem)
{
    if (problem->reason)
        return problem->reason;
    if (problem->code == -EEXIST && problem->status == 409)
        return "AlreadyExists";
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        if (reasons[i].status == problem->status)
            return reasons[i].reason;
    }
    return problem->status >= 500 ? "InternalError" : "BadRequest";
}

static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, const char *value)
{
    if (value && *value)
        (void)yyjson_mut_obj_add_str(doc, to, key, value);
}

static void add_causes(yyjson_mut_doc *doc, yyjson_mut_val *details, const struct rest_problem *problem)
{
    if (problem->cause_count == 0)
        return;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, details, "causes");

    for (size_t i = 0; i < problem->cause_count; i++) {
        yyjson_mut_val *cause = yyjson_mut_arr_add_obj(doc, list);

        add_text(doc, cause, "reason", problem->causes[i].reason);
        add_text(doc, cause, "message", problem->causes[i].message);
        add_text(doc, cause, "field", problem->causes[i].field);
    }
}

static void add_status(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct rest_problem *problem)
{
    yyjson_mut_val *details = yyjson_mut_obj(doc);

    (void)yyjson_mut_obj_add_str(doc, root, "kind", "Status");
    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    add_text(doc, yyjson_mut_obj_add_obj(doc, root, "metadata"), "continue", problem->continue_token);
    (void)yyjson_mut_obj_add_str(doc, root, "status", "Failure");
    (void)yyjson_mut_obj_add_str(doc, root, "message", problem->message);
    add_text(doc, root, "reason", reason_of(problem));
    add_text(doc, details, "name", problem->name);
    add_text(doc, details, "group", problem->group);
    add_text(doc, details, "kind", problem->kind);
    add_text(doc, details, "uid", problem->uid);
    add_causes(doc, details, problem);
    if (problem->retry_after > 0)
        (void)yyjson_mut_obj_add_int(doc, details, "retryAfterSeconds", problem->retry_after);
    if (problem->has_details || yyjson_mut_obj_size(details) > 0)
        (void)yyjson_mut_obj_add_val(doc, root, "details", details);
    (void)yyjson_mut_obj_add_int(doc, root, "code", problem->status);
}

static void reply(struct http_exchange *exchange, const struct rest_problem *problem)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    size_t len = 0;

    yyjson_mut_doc_set_root(doc, root);
    enum rest_error_form form = rest_error_form(exchange);
    if (form == REST_ERRORS_STATUS)
        add_status(doc, root, problem);
    if (form == REST_ERRORS_CODE) {
        (void)yyjson_mut_obj_add_int(doc, root, "code", problem->status);
        (void)yyjson_mut_obj_add_str(doc, root, "message", problem->message);
    }
    if (form == REST_ERRORS_JSON)
        (void)yyjson_mut_obj_add_str(doc, root, "error", problem->message);
    char *json = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    BUG_ON(!json);
    http_reply(exchange, problem->status, "application/json", json, len);
    free(json);
    yyjson_mut_doc_free(doc);
}

void rest_fail_problem(struct http_exchange *exchange, const struct rest_problem *problem)
{
    struct rest_problem full = *problem;
    char text[32];

    if (!full.status)
        full.status = rest_status_of(full.code);
    if (!full.message)
        full.message = reason_of(&full);
    if (full.status == 429 && full.retry_after <= 0)
        full.retry_after = 1;
    if (full.retry_after > 0) {
        (void)snprintf(text, sizeof text, "%d", full.retry_after);
        http_reply_header(exchange, "Retry-After", text);
    }
    if (full.status == 401)
        http_reply_header(exchange, "WWW-Authenticate", "Bearer");
    reply(exchange, &full);
}

void rest_fail_err(struct http_exchange *exchange, const struct err *err)
{
    rest_fail_problem(exchange, &(struct rest_problem){.code = err->code, .message = err->text});
}

void rest_fail(struct http_exchange *exchange, int code, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rest_fail_problem(exchange, &(struct rest_problem){.code = code, .message = text});
}
