/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "store/store.h"

struct api_kind;
struct request;
struct server;

/*
 * Storing objects. A change is checked against the newest state of its object, which may still wait for the disk, and is
 * answered when it is on the disk itself.
 */

/* The object of the request as it will be; NULL without one. */
const struct store_object *write_latest(const struct request *request);

/* Gives the document its version and stores it, or removes the object whose last state it is. */
struct write {
    uint32_t kind;
    const char *namespace;
    const char *name;
    int64_t expires;
    bool is_removal;
};
void write_doc(struct server *server, const struct write *write, yyjson_mut_doc *doc, store_done_fn done, void *arg);

/* Stores the document as the request's object and answers with it and `status`. A dry run only answers. */
void write_and_answer(struct request *request, const char *name, yyjson_mut_doc *doc, int status);

/* Removes the request's object, of which the document is the last state, and answers with it or with a Status. */
void write_removal_and_answer(struct request *request, yyjson_mut_doc *doc, bool shows_object);

/*
 * Answers an update: stores the document in place of the old one, unless nothing differs; removes an object that is to be
 * deleted and has no finalizers any more.
 */
void write_update(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);

/* Whether the object is to be deleted, and nothing is left to wait for. */
bool write_is_over(const struct api_kind *kind, yyjson_mut_doc *doc);

/* Reports to the client that a change could not be stored. */
void write_failed(struct request *request, int code, const struct err *err);
