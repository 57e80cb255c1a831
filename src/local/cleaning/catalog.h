/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/err.h"
#include "base/time.h"
#include "kube/client/client.h"

/*
 * All kinds of objects that the server has and that can be listed, watched and deleted, in their preferred versions. The
 * server is asked at the start, again soon after CRDs have changed, and once a minute.
 */
struct catalog;

struct catalog_options {
    void (*on_added)(void *arg, const struct kube_resource *resource);    // valid until it is removed
    void (*on_removed)(void *arg, const struct kube_resource *resource);  // may be NULL
    void (*on_complete)(void *arg);                                       // everything has been told; each time
    void (*on_problem)(void *arg, const struct err *err, nsec_t wait);
    void *arg;
};

struct catalog *catalog_new(struct kube_client *client, const struct catalog_options *options);

/* Nothing is called back any more. */
void catalog_free(struct catalog *catalog);

/* Whether everything has been told once. */
bool catalog_is_complete(const struct catalog *catalog);

/* How often a kind was added or removed. */
uint64_t catalog_changes(const struct catalog *catalog);

/* The kind of an apiVersion ("batch/v1"), in whichever version; NULL when there is none. */
const struct kube_resource *catalog_find(const struct catalog *catalog, const char *api_version, const char *kind);

/* NULL past the last one. */
const struct kube_resource *catalog_at(const struct catalog *catalog, size_t i);
