/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/vec.h"

struct err;
struct strbuf;
struct type;

/*
 * The form in which the API server stores an object, whatever the form in which it came: only members that its type has,
 * each once; null and empty members gone where Kubernetes omits them, and there where it writes them; quantities, times
 * and durations written in one way.
 */

/* What fieldValidation lists: `unknown field "spec.nodname"`, `duplicate field "spec.replicas"`; each once, in the order of
 * the document, at most FIELD_FAULTS_MAX. All zeros is empty. */
enum { FIELD_FAULTS_MAX = 100 };

struct field_faults {
    VEC(char *) texts;
    bool has_empty;  // lists or maps without elements are left in the document: see normal_clear_empty()
};

void field_faults_done(struct field_faults *faults);

/* All of them as one text: `strict decoding error: unknown field "spec.a", unknown field "spec.b"`. */
void field_faults_format(const struct field_faults *faults, struct strbuf *text);

/*
 * Brings the root of the document, an object, into the form of its type. `faults` may be NULL.
 * Returns 0, or -EINVAL for a value of the wrong type, in the words of a Go client's decoder; the document is not usable
 * then.
 */
MUST_CHECK int normal_form(const struct type *type, yyjson_mut_doc *doc, struct field_faults *faults, struct err *err);

/* Turns lists and maps without elements into null, as the API server stores them. Until then a client that has sent one owns
 * it. normal_form() does so by itself where nobody asks for faults. */
void normal_clear_empty(const struct type *type, yyjson_mut_doc *doc);

/* The same for the metadata of an object of any kind, also of one whose type is not in the tables. */
MUST_CHECK int normal_metadata(yyjson_mut_doc *doc, struct field_faults *faults, struct err *err);
