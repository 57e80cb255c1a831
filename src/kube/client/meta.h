/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

/* What every object of the API says of itself. All borrowed from the document; "" where something is missing. */
struct kube_meta {
    const char *namespace;
    const char *name;
    const char *uid;
    const char *resource_version;
};

/* Whether the object has a name at least. */
bool kube_meta_read(yyjson_val *object, struct kube_meta *ret_meta);

/* The string at a path of keys, such as kube_text(pod, "spec", "nodeName"); "" when it is not there or is none. */
#define kube_text(object, ...) kube_text_at((object), (const char *const[]){__VA_ARGS__, NULL})
const char *kube_text_at(yyjson_val *object, const char *const *keys);

/* A copy that can be changed; to be freed with yyjson_mut_doc_free(). NULL for no object. */
yyjson_mut_doc *kube_copy(yyjson_val *object);
