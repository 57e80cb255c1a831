/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

/* Members of a CustomResourceDefinition. Each gives "" or NULL when a member is missing or has another type. */
static inline yyjson_mut_val *definition_spec(yyjson_mut_doc *doc)
{
    return yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "spec");
}

static inline yyjson_mut_val *definition_status(yyjson_mut_doc *doc)
{
    return yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "status");
}

static inline const char *definition_text(yyjson_mut_val *object, const char *member)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, member));

    return text ? text : "";
}

static inline bool definition_is_true(yyjson_mut_val *object, const char *member)
{
    return yyjson_mut_is_true(yyjson_mut_obj_get(object, member));
}

/* spec.versions */
static inline yyjson_mut_val *definition_versions(yyjson_mut_doc *doc)
{
    return yyjson_mut_obj_get(definition_spec(doc), "versions");
}

/* The schema of a version. */
static inline yyjson_mut_val *definition_schema(yyjson_mut_val *version)
{
    return yyjson_mut_obj_get(yyjson_mut_obj_get(version, "schema"), "openAPIV3Schema");
}
