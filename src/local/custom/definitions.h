/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/time.h"
#include "local/api/kinds.h"

struct err;
struct problems;
struct schema;
struct value_path;

/*
 * The custom kinds: what CustomResourceDefinitions add to the API. The registry follows the definitions in the store; the
 * objects of a custom kind are stored once and served in every version, since only the conversion None exists.
 *
 * A pointer to a custom kind holds until its definition is put again or dropped. Pure: no store, no server.
 */
struct definitions;

/* A column of `kubectl get`. */
struct custom_column {
    const char *name;
    const char *type;    // integer, number, string, boolean or date
    const char *format;  // "" when it is not given, and so for the description
    const char *description;
    int priority;  // above 0: only with -o wide
    const struct value_path *path;
};

/* One version of a custom kind that is served. */
struct custom_kind {
    struct api_kind api;     // first: a custom kind is used wherever a kind is
    const char *definition;  // "queues.scheduling.run.ai"
    const char *list_kind;
    const struct schema *schema;
    uint64_t version;                     // of the definition; objects that are older may lack some of its defaults
    const struct custom_column *columns;  // Age when the definition has none; the name comes before them
    size_t column_count;
    bool is_storage_version;
    bool is_deprecated;
    const char *deprecation_warning;  // of a deprecated version: the text of the Warning header
    bool has_scale;
    const struct value_path *scale_spec;      // replicas that are wanted
    const struct value_path *scale_status;    // replicas that there are
    const struct value_path *scale_selector;  // labels of the pods; NULL without it
};

struct definitions *definitions_new(void);
void definitions_free(struct definitions *definitions);

/* --- The objects of kind CustomResourceDefinition themselves --- */

/* Fills in what the API server fills in: singular, listKind, conversion. */
void definition_default(yyjson_mut_doc *doc);

/* Lists what is wrong with a definition that has its defaults, as something new or as the successor of `old`. */
void definition_validate(yyjson_mut_doc *doc, yyjson_mut_doc *old, struct problems *problems);

/*
 * Writes status: acceptedNames, storedVersions, and the conditions NamesAccepted and Established, which depend on the
 * names of all other kinds. The status that was there is continued.
 */
void definitions_set_status(const struct definitions *definitions, yyjson_mut_doc *doc, nsec_t now);

/* --- The registry --- */

/*
 * Adds the kinds of a definition that is valid, or replaces them. Kinds are served once the definition's condition
 * Established is true. Returns 0, or -EINVAL for a definition that definition_validate() refuses.
 */
MUST_CHECK int definitions_put(struct definitions *definitions, yyjson_mut_doc *doc, struct err *err);

/* Takes the kinds of a definition away, by its name. */
void definitions_drop(struct definitions *definitions, const char *name);

/* The kind with this path; NULL when there is none. */
const struct custom_kind *definitions_find(const struct definitions *definitions, const char *group,
                                           const char *version, const char *plural);

/* All kinds that are served, ordered by group, then plural, then version from the most preferred one on; NULL past the
 * last. */
const struct custom_kind *definitions_at(const struct definitions *definitions, size_t index);

/* Counts changes of the registry: whoever keeps discovery documents makes them again when it differs. */
uint64_t definitions_revision(const struct definitions *definitions);

/* Whether a is preferred over b: v2 over v1 over v1beta1 over v1alpha1 over anything else. <0, 0 or >0 as strcmp(). */
int version_compare(const char *a, const char *b);

/* --- What the subresources and tables of a custom kind need --- */

/* The custom kind behind a kind; NULL when it is built in. */
const struct custom_kind *custom_kind_of(const struct api_kind *kind);

/* The cell of a column for an object, made in `doc`: null when there is nothing at the path. */
yyjson_mut_val *custom_column_cell(const struct custom_column *column, yyjson_mut_val *object, nsec_t now,
                                   yyjson_mut_doc *doc);

/*
 * The object's scale: an autoscaling/v1 Scale, made in `doc`. NULL when the object has no replicas at the path, which the
 * API server reports as an internal error.
 */
yyjson_mut_val *custom_scale_read(const struct custom_kind *kind, yyjson_mut_val *object, yyjson_mut_doc *doc);

/* Writes spec.replicas of a Scale into the object. Returns 0, or -EINVAL when the path leads through something else. */
MUST_CHECK int custom_scale_write(const struct custom_kind *kind, yyjson_mut_doc *object, int64_t replicas,
                                  struct err *err);
