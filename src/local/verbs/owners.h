/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

struct request;

/* Writes into the document who owns its fields: those that differ from `old`, NULL for a new object, belong to the client of
 * the request. Does nothing for an apply, which has said so itself. */
void owners_track(const struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);
