/* SPDX-License-Identifier: Apache-2.0 */

/* Errors as the Kubernetes API server words them: people search for these texts, and programs compare them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/problems.h"
#include "local/server/request.h"
#include "net/http_server.h"
#include "net/rest/errors.h"

enum { MESSAGE_MAX = 4096, INVALID_MAX = 64 << 10 };

const char *qualified_plural(const struct api_kind *kind, char text[static QUALIFIED_MAX])
{
    (void)snprintf(text, QUALIFIED_MAX, "%s%s%s", kind->plural, *kind->group ? "." : "", kind->group);
    return text;
}

void fail_problem(struct request *request, const struct rest_problem *problem)
{
    answer_warnings(request);
    http_reply_header(request->exchange, "Cache-Control", "no-cache, private");
    rest_fail_problem(request->exchange, problem);
    request_end(request);
}

static void __attribute__((format(printf, 3, 0))) fail_formatted(struct request *request, int status,
                                                                 const char *format, va_list args)
{
    char message[MESSAGE_MAX];

    (void)vsnprintf(message, sizeof message, format, args);
    fail_problem(request, &(struct rest_problem){.status = status, .message = message});
}

void fail_bad(struct request *request, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail_formatted(request, 400, format, args);
    va_end(args);
}

void fail_internal(struct request *request, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail_formatted(request, 500, format, args);
    va_end(args);
}

/* About an object of the request's kind. */
static void fail_about(struct request *request, int status, const char *reason, const char *name, const char *message)
{
    fail_problem(request, &(struct rest_problem){
                              .status = status,
                              .reason = reason,
                              .message = message,
                              .name = name,
                              .group = request->kind->group,
                              .kind = request->kind->plural,
                          });
}

void fail_not_found(struct request *request)
{
    char message[MESSAGE_MAX];
    char plural[QUALIFIED_MAX];

    (void)snprintf(message, sizeof message, "%s \"%s\" not found", qualified_plural(request->kind, plural),
                   request->name);
    fail_about(request, 404, "NotFound", request->name, message);
}

void fail_no_resource(struct request *request)
{
    fail_problem(request, &(struct rest_problem){
                              .status = 404,
                              .message = "the server could not find the requested resource",
                              .has_details = true,
                          });
}

void fail_method(struct request *request)
{
    fail_problem(request, &(struct rest_problem){
                              .status = 405,
                              .message = "the server does not allow this method on the requested resource",
                              .has_details = true,
                          });
}

void fail_exists(struct request *request, const char *name, bool is_ending)
{
    char message[MESSAGE_MAX];
    char plural[QUALIFIED_MAX];

    (void)snprintf(message, sizeof message, "%s%s \"%s\" already exists", is_ending ? "object is being deleted: " : "",
                   qualified_plural(request->kind, plural), name);
    fail_about(request, 409, "AlreadyExists", name, message);
}

void fail_conflict(struct request *request, const char *format, ...)
{
    char message[MESSAGE_MAX];
    char plural[QUALIFIED_MAX];
    int len = snprintf(message, sizeof message,
                       "Operation cannot be fulfilled on %s \"%s\": ", qualified_plural(request->kind, plural),
                       request->name);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message + len, sizeof message - (size_t)len, format, args);
    va_end(args);
    fail_about(request, 409, "Conflict", request->name, message);
}

/* A deletion speaks of the kind by its other name. */
void fail_precondition(struct request *request, const char *format, ...)
{
    const struct api_kind *kind = request->kind;
    char message[MESSAGE_MAX];
    int len = snprintf(message, sizeof message, "Operation cannot be fulfilled on %s%s%s \"%s\": ", kind->kind,
                       *kind->group ? "." : "", kind->group, request->name);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message + len, sizeof message - (size_t)len, format, args);
    va_end(args);
    fail_problem(
        request,
        &(struct rest_problem){
            .status = 409, .message = message, .name = request->name, .group = kind->group, .kind = kind->kind});
}

void fail_modified(struct request *request)
{
    fail_conflict(request,
                  "the object has been modified; please apply your changes to the latest version and try again");
}

void fail_forbidden(struct request *request, const char *name, const char *format, ...)
{
    char message[MESSAGE_MAX];
    char plural[QUALIFIED_MAX];
    int len =
        snprintf(message, sizeof message, "%s \"%s\" is forbidden: ", qualified_plural(request->kind, plural), name);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message + len, sizeof message - (size_t)len, format, args);
    va_end(args);
    fail_about(request, 403, "Forbidden", name, message);
}

void fail_unallowed(struct request *request, const char *name, const char *reason)
{
    char message[MESSAGE_MAX];
    char plural[QUALIFIED_MAX];
    bool has_name = *name;

    (void)snprintf(message, sizeof message, "%s%s%s%s is forbidden: %s", qualified_plural(request->kind, plural),
                   has_name ? " \"" : "", name, has_name ? "\"" : "", reason);
    fail_about(request, 403, "Forbidden", name, message);
}

void fail_invalid_type(struct request *request, const char *group, const char *kind, const char *name,
                       const struct problems *problems)
{
    struct rest_cause *causes = xcalloc(problems->list.len, sizeof *causes);
    struct strbuf message;

    strbuf_init(&message, INVALID_MAX);
    problems_message(problems, group, kind, name, &message);
    for (uint32_t i = 0; i < problems->list.len; i++) {
        const struct problem *problem = &problems->list.items[i];
        causes[i] = (struct rest_cause){
            .reason = problem_reason_name(problem->reason), .message = problem->message, .field = problem->field};
    }
    fail_problem(request, &(struct rest_problem){
                              .status = 422,
                              .message = message.text,
                              .name = name,
                              .group = group,
                              .kind = kind,
                              .causes = causes,
                              .cause_count = problems->list.len,
                          });
    strbuf_done(&message);
    free(causes);
}

void fail_invalid(struct request *request, const char *name, const struct problems *problems)
{
    /* It is checked as it is stored, and named so. */
    fail_invalid_type(request, api_kind_stored(request->kind)->group, request->kind->kind, name, problems);
}
