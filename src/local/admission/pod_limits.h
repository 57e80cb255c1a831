/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

struct strbuf;
struct user;

/* The limits of one user's pods; pure. */
struct pod_limits {
    const struct user *user;
    const char *folders;  // that all users may mount beside their homes, separated by commas; "": none
    const char *prefix;   // of fields in messages: "spec.template." or ""
};

/* Appends a sentence for everything in the pod or template that only an administrator may ask for. */
void pod_limits_check(const struct pod_limits *limits, yyjson_mut_val *pod, struct strbuf *problems);

/* The same for labels and annotations of Muster's services that differ from the old ones; `before` may be NULL. */
void pod_limits_check_keys(const struct pod_limits *limits, yyjson_mut_val *meta, yyjson_mut_val *before,
                           struct strbuf *problems);
