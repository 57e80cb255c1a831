/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

struct api_kind;

/*
 * Events are in two groups: in the core, and in events.k8s.io, where some members have other names. The objects are the same,
 * and are stored in the form of the core. A request works in the form of its own group:
 *
 *     stored -> event_form_enter() -> patches, owners, defaults, admission -> event_form_store() -> stored
 *
 * All functions leave objects of other kinds alone.
 */

/* Brings an event, in whichever form, into that of the kind. */
void event_form_enter(const struct api_kind *kind, yyjson_mut_doc *doc);

/* Brings an event of the kind, in whichever form, into the one that is stored. */
void event_form_store(const struct api_kind *kind, yyjson_mut_doc *doc);

/* The name, in the stored form, of a field by which objects of the kind are selected: "involvedObject.kind" for
 * "regarding.kind". `field` itself where both are the same. */
const char *event_form_field(const struct api_kind *kind, const char *field);
