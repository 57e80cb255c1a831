/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"

struct err;
struct image;
struct machine;
struct strbuf;
struct sources;
struct user;

/* What the environment of a container is made of. */
struct env_request {
    yyjson_val *pod, *container;
    const struct sources *sources;
    const struct user *user;
    const struct machine *machine;
    const struct image *image;  // that the container runs in; NULL: none
    const char *const *extra;   // variables that come before the container's own: NAME, value, ... up to a NULL
    const char *const *last;    // likewise, and those of the container do not replace them
    const char *preload;        // a library that is loaded before those that the container wants so; NULL: none
};

/*
 * The environment of a container and its command with variables in place, as members of its plan: `env`, an array of
 * "NAME=value", and `argv`. Returns 0, or -EINVAL or -ENOENT with the reason: a ConfigMap or a key that is not there, a
 * field that there is not.
 */
MUST_CHECK int env_add(yyjson_mut_doc *doc, yyjson_mut_val *plan, const struct env_request *request, struct err *err);

/* Adds a text with the container's variables in place; one that is not known is -EINVAL. */
MUST_CHECK int env_expand(const struct env_request *request, const char *text, struct strbuf *to, struct err *err);
