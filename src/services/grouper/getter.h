/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct discovery;
struct err;
struct kube_client;

/*
 * Objects of any kind, by name or by labels. What many ask for at the same moment, such as the owner of a thousand
 * pods, is asked of the server once: an answer serves those who come within a second of it, and nobody after. A list
 * serves only those who wait for it.
 */
struct object_getter;

/* An answer that somebody holds. */
struct got;

struct get_request {
    const char *api_version;
    const char *kind;
    const char *namespace;
    const char *name;
    const char *selector;  // of labels, instead of a name: the answer is a list
    bool is_metadata_only;
};

/*
 * `got` is NULL when there is no such object or it could not be had; `status` is that of HTTP, 0 when the kind is not
 * served or no answer came. Otherwise it is the caller's, to be given back by got_unref().
 */
typedef void (*got_fn)(void *arg, struct got *got, int status, const struct err *err);

struct object_getter *getter_new(struct kube_client *client, struct discovery *discovery);

/* Nobody is called back any more. */
void getter_free(struct object_getter *getter);

/* Calls back from the loop, once, unless it is cancelled. */
struct get_wait *getter_get(struct object_getter *getter, const struct get_request *request, got_fn fn, void *arg);
void getter_cancel(struct get_wait *wait);

/* Nobody is answered by what has failed so far. */
void getter_forget_failures(struct object_getter *getter);

yyjson_val *got_object(const struct got *got);
void got_unref(struct got *got);
