/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/strmap.h"
#include "frame/work.h"
#include "objects/resource_list.h"

struct kube_call;

/*
 * The account of every PodGroup: what its pods ask for and were given, kept as sums that a change of a pod adds to or
 * takes from. It knows nothing of the API: it is told of objects, and says which groups have another status than they
 * should have.
 */
struct book;

/* The resource lists of a group's status. */
enum group_list { LIST_REQUESTED, LIST_ALLOCATED, LIST_NON_PREEMPTIBLE, _GROUP_LIST_MAX };
extern const char *const group_list_keys[_GROUP_LIST_MAX];

/* A PodGroup, or what pods say of one that is not there. */
struct group {
    struct work_item work;
    void *owner;             // the options' arg
    struct kube_call *call;  // that writes its status
    char *namespace, *name;
    char *uid;  // NULL: there is no such PodGroup
    uint64_t version;
    const struct resource_list *status[_GROUP_LIST_MAX];  // as the API server has them
    struct resource_sum requested, allocated;
    char *priority_class;
    char *preemptibility;
    uint32_t pods;
};

struct book_options {
    void (*on_differs)(void *arg, struct group *group);  // the status has to be written, or may have to
    void (*on_gone)(void *arg, struct group *group);     // the PodGroup is gone: nothing is written any more
    void *arg;
};

struct book *book_new(const struct book_options *options);
void book_free(struct book *book);  // without calling back
struct resource_lists *book_lists(struct book *book);

/*
 * Objects were added or changed, or are gone. A pod without a group counts nowhere. book_put_pod() returns what the pod
 * says that cannot be read and was left out; NULL: nothing, or it has been said before.
 */
const char *book_put_pod(struct book *book, const char *uid, yyjson_val *pod);
void book_drop_pod(struct book *book, const char *uid);
void book_put_group(struct book *book, yyjson_val *group);
void book_drop_group(struct book *book, const char *namespace, const char *name);
void book_put_claim(struct book *book, yyjson_val *claim);
void book_drop_claim(struct book *book, const char *namespace, const char *name);
void book_put_node(struct book *book, const char *name, yyjson_val *node);
void book_drop_node(struct book *book, const char *name);
void book_put_class(struct book *book, const char *name, yyjson_val *priority_class);
void book_drop_class(struct book *book, const char *name);

/* The merge patch that makes the group's status what it should be, to be freed; NULL: it is. */
char *book_patch(struct book *book, struct group *group, size_t *ret_len);

/* For metrics. */
uint64_t book_pods(const struct book *book);
