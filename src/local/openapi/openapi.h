/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <yyjson.h>

struct api_kind;

/*
 * The description of the API as OpenAPI 3, one document for each group and version: what kubectl and Helm ask for before
 * they create anything, and what `kubectl explain` shows. Built-in kinds are described by the tables of their types, custom
 * ones by the schema of their definition.
 */
struct openapi_kind {
    const struct api_kind *api;
    yyjson_val *schema;  // openAPIV3Schema of a custom kind; NULL for a built-in one, or when there is none
};

/* The document for kinds of one group and version, as text of `*ret_len` bytes that the caller frees. */
char *openapi_document(const char *group, const char *version, const struct openapi_kind *kinds, size_t count,
                       size_t *ret_len);

/* The hash of a document, by which clients know whether they have it: the ETag without quotes. */
enum { OPENAPI_HASH_MAX = 33 };
const char *openapi_hash(const char *document, size_t len, char hash[static OPENAPI_HASH_MAX]);

/* A document in the index. */
struct openapi_entry {
    const char *path;  // "api/v1" or "apis/batch/v1"
    const char *hash;
};

/* The index at /openapi/v3, likewise. */
char *openapi_index(const struct openapi_entry *entries, size_t count, size_t *ret_len);
