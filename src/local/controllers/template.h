/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "base/map.h"
#include "local/controllers/controller.h"

/*
 * A new child of the owner with the metadata that all children have: name, labels and annotations of the template, and a
 * reference to the owner as its controller. `prefix` is its generateName, NULL for none; `template` may be NULL.
 * To be freed with yyjson_mut_doc_free().
 */
yyjson_mut_doc *template_child(const struct owner *owner, uint32_t kind, yyjson_val *template, const char *name,
                               const char *prefix, yyjson_mut_val **ret_object);

/* The same for a pod, with the spec of the template. */
yyjson_mut_doc *template_pod(const struct owner *owner, yyjson_val *template, const char *name, const char *prefix,
                             yyjson_mut_val **ret_pod);

/* A member of an object that is an object; it is created where there is none. */
yyjson_mut_val *object_member(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key);

/* Sets a label or an annotation ("labels", "annotations") of an object. Both texts are copied. */
void template_mark(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *where, const char *key, const char *value);

/*
 * Names for new children: a prefix and five characters. They come from a fixed sequence for each owner and prefix, and the
 * first one that no child has is the next. So a controller which is killed and started again asks for the children that
 * the killed one has asked for, and the server refuses those that it has got already.
 */
struct child_names {
    const struct owner *owner;
    struct map64 taken;  // hashes of the names of all children
    char *prefix;        // of the last name
    uint32_t next;       // its place in the sequence, and one more
};

void child_names_init(struct child_names *names, const struct owner *owner);
void child_names_done(struct child_names *names);

/* Returns `name`. */
const char *child_names_next(struct child_names *names, const char *prefix, char name[static CHILD_NAME_MAX]);

/* Five characters or more that stand for a number, of those that names have and that spell no words. */
enum { HASH_TEXT_MAX = 16 };
const char *hash_text(uint64_t hash, char text[static HASH_TEXT_MAX], uint32_t len);
