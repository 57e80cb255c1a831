/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/list.h"
#include "local/controllers/controller.h"

/*
 * The book of owners and their children, by uid. A family is there as long as its owner or one of its children is, since
 * the watches of both are not in step.
 */
struct family {
    char *uid;   // of the owner
    char *name;  // of the owner, as its children have it; NULL: not known
    struct owner *owner;
    struct list children;
};

struct families;

struct families *families_new(void);

/* Everything in it was removed. */
void families_free(struct families *families);

/* The family of the owner, which is created. */
struct family *families_get(struct families *families, const char *uid);
struct family *families_find(const struct families *families, const char *uid);

/* Frees it if nobody is left in it. */
void families_release(struct families *families, struct family *family);

struct child *families_child(const struct families *families, const char *uid);
void families_add_child(struct families *families, struct family *family, struct child *child);

/* Frees the child, and its family if that was the last of it. */
void families_drop_child(struct families *families, struct child *child);

/* Walks over all families; `*cursor` starts at 0. The book must not change on the way. */
struct family *families_next(const struct families *families, size_t *cursor);
