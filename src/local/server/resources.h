/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct api_kind;
struct request;
struct server;
struct store_tags;

/* All kinds that the server has: the built-in ones, then those of CustomResourceDefinitions. */

/* NULL when there is none. */
const struct api_kind *resource_find(const struct server *server, const char *group, const char *version,
                                     const char *plural);

/* All of them in the order of discovery; NULL past the last one. */
const struct api_kind *resource_at(const struct server *server, size_t index);

/* The number of the kind in the store, which all versions and forms of it share. */
uint32_t resource_number(struct server *server, const struct api_kind *kind);

/* The tags of an object, for selectors; a store_tag_fn whose argument is the server. */
void resource_tag(void *arg, const char *kind, const char *body, size_t len, struct store_tags *tags);

/* Answers a request for a subresource; false when the kind has no such one, and nothing has been answered. */
bool subresource_serves(struct request *request);
