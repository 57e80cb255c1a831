/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/time.h"

struct api_kind;

/*
 * The metadata of an object that is being made: the members that the server alone writes, and the rules by which they
 * follow from the object before. `doc` holds the whole object; its root is an object.
 */

/* A member of the metadata as text, "" when it is missing or no text. Borrowed from the document. */
const char *meta_text(yyjson_mut_doc *doc, const char *member);
bool meta_has(yyjson_mut_doc *doc, const char *member);

void meta_set_text(yyjson_mut_doc *doc, const char *member, const char *value);
void meta_set_number(yyjson_mut_doc *doc, const char *member, int64_t value);
void meta_remove(yyjson_mut_doc *doc, const char *member);
void meta_set_annotation(yyjson_mut_doc *doc, const char *name, const char *value);
void meta_set_version(yyjson_mut_doc *doc, uint64_t version);

/* Whether there are finalizers. */
bool meta_has_finalizers(yyjson_mut_doc *doc);

/* Stamps an object that is new: apiVersion, kind, uid, times, generation; what clients may not set is taken out. */
void meta_stamp_new(yyjson_mut_doc *doc, const struct api_kind *kind, nsec_t now);

/* Writes apiVersion and kind. */
void meta_stamp_type(yyjson_mut_doc *doc, const struct api_kind *kind);

/* Stamps an object that replaces `old`: identity, times and generation stay as they are. */
void meta_stamp_update(yyjson_mut_doc *doc, const struct api_kind *kind, yyjson_mut_doc *old);

/* Counts the generation when anything but metadata and status differs from `old`. Both have their defaults: what a client
 * leaves out is no change. */
void meta_count_change(yyjson_mut_doc *doc, const struct api_kind *kind, yyjson_mut_doc *old);

/* Gives a member of the metadata the value that it has in `old`, or none. */
void meta_keep(yyjson_mut_doc *doc, const char *member, yyjson_mut_doc *old);

/* Takes over the status of the other document, or its absence. */
void meta_keep_status(yyjson_mut_doc *doc, yyjson_mut_doc *from);

/* Whether both are the same object but for the version. */
bool meta_is_same(yyjson_mut_doc *a, yyjson_mut_doc *b);

/* "2026-03-01T12:00:00Z": seconds, as all times of metadata. */
void meta_set_time(yyjson_mut_doc *doc, const char *member, nsec_t time);
