/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/vec.h"

struct kube_client;

/* The ConfigMaps, Secrets and tokens that a pod refers to, as they were when they were asked for. */
enum source_kind { SOURCE_CONFIG_MAP, SOURCE_SECRET, SOURCE_TOKEN };

struct source {
    enum source_kind kind;
    char *name;
    char *audience;   // of a token
    int64_t seconds;  // and its life
    yyjson_doc *doc;  // NULL: there is none
};

struct sources {
    VEC(struct source) items;
};

/* Adds everything that the pod refers to, each once; tokens of its account only where they are wanted. */
void sources_collect(struct sources *sources, yyjson_val *pod, bool has_tokens);
void sources_done(struct sources *sources);

/* The object; NULL when it is not there. */
yyjson_val *source_find(const struct sources *sources, enum source_kind kind, const char *name);

/* The answer with a token; NULL when it is not there. */
yyjson_val *source_find_token(const struct sources *sources, const char *audience, int64_t seconds);

/* The life of a token that a volume asks for. */
int64_t token_seconds(yyjson_val *from);

/* Reads all of them, of which there is at least one, and calls `on_done`: `err` has a code when the server could not be asked.
 * The pod is borrowed. */
struct fetching;
struct fetching *sources_fetch(struct sources *sources, struct kube_client *client, yyjson_val *pod,
                               void (*on_done)(void *arg, const struct err *err), void *arg);
void fetching_cancel(struct fetching *fetching);

/* The value of a key, decoded; to be freed by the caller. NULL when there is no such key. */
char *source_value(yyjson_val *object, enum source_kind kind, const char *key, size_t *ret_len);

/* Walks over all keys of an object: `*at` starts at 0. NULL past the last one. */
const char *source_key(yyjson_val *object, enum source_kind kind, size_t *at);
