/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "model/delta.h"
#include "objects/fields.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "objects/object.h"
#include "objects/owners.h"

struct object_options;

/* Makes what a workload's controller would make. */
struct maker {
    struct object_set *set;
    const struct object_options *options;
    struct object_notes *notes;
    struct arena *arena;  // for names, of one workload
};

/* A child of a workload: metadata and spec of its template, with labels and annotations of its own put over them. */
struct child {
    const char *api_version;  // NULL: a Pod
    const char *kind;
    const char *name;
    const struct json_at *template;  // {metadata, spec}; without a value: nothing
    const struct json_at *metadata;  // labels and annotations; NULL: the template's
    const struct json_at *spec;      // NULL: the template's
    struct str_pair labels[8];       // up to the first without a key
    struct str_pair annotations[4];
};

/* Adds the child to the set, owned by `owner`. Pods of other schedulers are left out, with one warning a workload. */
MUST_CHECK int make_child(struct maker *maker, const struct object *owner, const struct child *child, struct err *err);

/* A decimal number as text in the maker's arena. */
const char *make_number(struct maker *maker, int64_t number);

/* Lower case, in the maker's arena. */
const char *make_lower(struct maker *maker, const char *text);

/* The document as one that is only read; `doc` is freed. */
yyjson_doc *make_finish(yyjson_mut_doc *doc);

/* A pod template, or the like, of a controller that writes it itself: {metadata: {labels, annotations}, spec}. */
struct draft {
    yyjson_mut_doc *doc;
    yyjson_mut_val *labels;
    yyjson_mut_val *annotations;
    yyjson_mut_val *spec;
};

void draft_init(struct draft *draft);

/* Puts a copy of `from`, or a text, under `key` of `into`, in the place of what is there. Nothing without a value. */
void draft_put(struct draft *draft, yyjson_mut_val *into, const char *key, const struct json_at *from);
void draft_put_str(struct draft *draft, yyjson_mut_val *into, const char *key, const char *text);

/* Puts each member of `from`, an object or nothing, into `into`. */
void draft_put_all(struct draft *draft, yyjson_mut_val *into, const struct json_at *from);

/* Puts those members of `from` that say where a pod may go: its scheduler, selectors, tolerations, volumes, ... */
void draft_put_placement(struct draft *draft, const struct json_at *from);

/* Adds a container with the resources, which may be without a value, to `containers` of the spec. Returns it. */
yyjson_mut_val *draft_container(struct draft *draft, const char *name, const struct json_at *resources);

/* make_child() with the draft as its template. The draft is done with. */
MUST_CHECK int make_drafted(struct maker *maker, const struct object *owner, struct child *child, struct draft *draft,
                            struct err *err);

/* Has the workload ended, or is it told to wait? Then it has no pods. */
bool workload_is_over(const struct object *workload);
bool workload_is_suspended(const struct json_at *at);
