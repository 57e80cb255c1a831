/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The kinds of the embedded API, a row each: how they are named, and how their rules differ from those of most kinds.
 */
enum kind_flags {
    KIND_NAMESPACED = 1 << 0,
    KIND_STATUS = 1 << 1,         // a status that only /status writes
    KIND_GENERATION = 1 << 2,     // metadata.generation counts changes of the spec
    KIND_PUT_CREATES = 1 << 3,    // PUT of a missing object creates it
    KIND_NEEDS_VERSION = 1 << 4,  // PUT without a resourceVersion is refused
    KIND_SHOWS_DELETED = 1 << 5,  // DELETE answers with the object instead of a Status
    KIND_ORPHANS = 1 << 6,        // without a policy, DELETE leaves dependents behind
    KIND_GRACE = 1 << 7,          // the node ends it, after a time of grace
    KIND_IS_CUSTOM = 1 << 8,      // from a CustomResourceDefinition: no strategic patches
    KIND_STATUS_ALONE = 1 << 9,   // a write to /status leaves the metadata alone, as it does for custom kinds
    KIND_OTHER_FORM = 1 << 10,    // the same objects as those of the core's kind of that name, in another form
};

struct api_kind {
    const char *group;  // "" for the core
    const char *version;
    const char *plural;
    const char *singular;
    const char *kind;
    const char *short_names;  // separated by spaces; NULL: none
    const char *categories;   // likewise
    const char *fields;       // that can be selected beside the name and the namespace, separated by spaces; NULL: none
    uint32_t flags;
};

/* "v1" or "apps/v1"; in `text`, which is returned. */
enum { API_VERSION_MAX = 320 };
const char *api_kind_version(const struct api_kind *kind, char text[static API_VERSION_MAX]);

/* The built-in kinds. NULL past the last one, and for a name that none has. */
const struct api_kind *builtin_kind_at(size_t index);
const struct api_kind *builtin_kind_find(const char *group, const char *version, const char *plural);

/* The kind in whose form, and under whose name, the objects of a kind are stored: mostly the kind itself. */
const struct api_kind *api_kind_stored(const struct api_kind *kind);

/* Whether one of the words of a list that is separated by spaces is `word`. */
bool kind_list_has(const char *list, const char *word);
