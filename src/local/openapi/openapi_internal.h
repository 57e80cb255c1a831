/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct openapi_kind;

/* A document in the making, with the structs that it has described. */
struct openapi {
    yyjson_mut_doc *doc;
    yyjson_mut_val *schemas;
    bool *is_described;  // by the number of the struct
};

/* {group, version, kind}, as clients look for kinds. */
yyjson_mut_val *openapi_gvk(yyjson_mut_doc *doc, const char *group, const char *version, const char *kind);

/* Adds the schema of a kind, and those of all structs that it has. */
void openapi_add_schema(struct openapi *openapi, const struct openapi_kind *kind);
