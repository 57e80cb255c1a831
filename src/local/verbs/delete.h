/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

struct api_kind;
struct request;

/* How an object is to be deleted. Texts are borrowed from the body and the query. */
enum delete_policy { DELETE_DEFAULT, DELETE_BACKGROUND, DELETE_FOREGROUND, DELETE_ORPHAN };

struct delete_options {
    enum delete_policy policy;
    bool has_grace;
    int64_t grace_s;
    const char *uid;      // "" or what the object must have
    const char *version;  // likewise
};

/* Reads the options from the body, or where there is none from the query. False after an answer. `*ret_body` holds what the
 * options borrow, and may be NULL. */
bool delete_options_read(struct request *request, struct delete_options *ret_options, yyjson_mut_doc **ret_body);

/* The same from an object DeleteOptions in a body, NULL without one. */
bool delete_options_of(struct request *request, yyjson_mut_val *object, struct delete_options *ret_options);

/* Warns of children that stay because the client has not said what becomes of them, whether there is an object or not. */
void delete_warn(struct request *request, const struct delete_options *options);

/* What deleting an object comes to. */
enum delete_step {
    DELETE_REMOVE,  // it goes
    DELETE_MARK,    // it stays for now, as the document says
    DELETE_LEAVE,   // it is being deleted already, and nothing changes
};

/* Marks the document, the newest state of an object, as deleted. */
enum delete_step delete_mark(const struct api_kind *kind, const struct delete_options *options, yyjson_mut_doc *doc);

/* Deletes the request's object by the options, and answers. */
void delete_object(struct request *request, const struct delete_options *options);
