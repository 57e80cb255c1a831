/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/vec.h"
#include "local/discovery/accept.h"
#include "net/rest/url.h"

struct api_kind;
struct http_exchange;
struct identity;
struct problems;
struct rest_problem;
struct server;
struct store_object;

/*
 * One request for objects, from its head to its answer. Answering frees it, and so does every function here that answers;
 * a function that returns false has answered.
 */
enum request_verb {
    VERB_GET,
    VERB_LIST,
    VERB_WATCH,
    VERB_CREATE,
    VERB_UPDATE,
    VERB_PATCH,
    VERB_DELETE,
    VERB_DELETE_ALL,
};

struct request {
    struct server *server;
    struct http_exchange *exchange;
    struct identity *identity;  // who sends it; held
    struct url_path path;       // what the names below are borrowed from
    const struct api_kind *kind;
    const char *namespace;    // "" without one, and for all of them
    const char *name;         // "" without one
    const char *subresource;  // "" without one
    uint32_t number;          // of the kind in the store
    enum request_verb verb;
    enum accept_form form;
    bool is_dry_run;
    bool is_custom;        // its kind comes from a definition
    bool has_empty;        // lists without elements: see builtin_clear_empty()
    bool has_wrong_types;  // of the object that was sent: see apply_has_types()
    size_t kind_segment;   // of the path, where the kind is named
    int status;            // of a good answer that waits for the disk
    char *final;           // the object that it shows, when that is not the one on the disk; owned
    size_t final_len;
    VEC(char *) warnings;
};

/* Checks that a parameter of the query is a number or absent. False after an answer. */
bool request_check_number(struct request *request, const char *name);

struct request *request_begin(struct server *server, struct http_exchange *exchange);
void request_end(struct request *request);

/* A custom kind may have been defined anew, or be gone, while a request waited: to be called before it goes on. False after
 * an answer. */
bool request_resume(struct request *request);

/* A parameter of the query, "" where it is missing. */
const char *request_query(const struct request *request, const char *name);

/* Whether a parameter is there and is neither "false" nor "0": the Python client writes "True". */
bool request_query_is_true(const struct request *request, const char *name);

/* What clients are told beside the answer, as a header of its own each. Line ends are replaced. */
void request_warn(struct request *request, const char *text);

/* --- Answers; each frees the request --- */

/* One object, as text that begins with its kind and apiVersion, in the form that was asked for. */
void answer_object(struct request *request, int status, const char *body, size_t len);
void answer_doc(struct request *request, int status, yyjson_mut_doc *doc);

/* Adds the warnings to the answer; does not free the request. All others here call it. */
void answer_warnings(struct request *request);

/* Any other JSON. */
void answer_json(struct request *request, int status, const char *body, size_t len);

/* A Status that says that all is well: what became of a deletion. */
void answer_success(struct request *request, const char *uid);

/* Errors, in the words of the Kubernetes API server. */
void fail_problem(struct request *request, const struct rest_problem *problem);
void fail_bad(struct request *request, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fail_internal(struct request *request, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fail_not_found(struct request *request);
void fail_no_resource(struct request *request);  // a path that leads nowhere
void fail_method(struct request *request);
void fail_exists(struct request *request, const char *name, bool is_ending);
void fail_conflict(struct request *request, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fail_precondition(struct request *request, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fail_modified(struct request *request);
void fail_forbidden(struct request *request, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same where the sender has no right to do it; the name may be "". */
void fail_unallowed(struct request *request, const char *name, const char *reason);
void fail_invalid(struct request *request, const char *name, const struct problems *problems);
/* The same for a type of its own, such as "ListOptions.meta.k8s.io". */
void fail_invalid_type(struct request *request, const char *group, const char *kind, const char *name,
                       const struct problems *problems);
/* "pods" or "deployments.apps" */
enum { QUALIFIED_MAX = 512 };
const char *qualified_plural(const struct api_kind *kind, char text[static QUALIFIED_MAX]);

/* --- Verbs --- */

void verb_get(struct request *request);

/* Calls `answer` when the store has the version that the query asks for. */
void verb_get_then(struct request *request, void (*answer)(struct request *request));
void verb_list(struct request *request);
void verb_watch(struct request *request);
void verb_create(struct request *request);
void verb_update(struct request *request);
void verb_patch(struct request *request);
void verb_delete(struct request *request);
void verb_delete_all(struct request *request);
