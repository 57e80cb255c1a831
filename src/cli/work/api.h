/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/vec.h"
#include "cli/command.h"
#include "kube/client/client.h"
#include "views/objects.h"

/*
 * The API server that commands for people talk to, one request after the other. It is the one of --kubeconfig and --context,
 * of $KUBECONFIG, of the Muster that runs on this machine, or of ~/.kube/config, in this order.
 */
struct api {
    struct loop *loop;
    struct kube_client *client;
    struct discovery *discovery;  // NULL until a kind has to be found
    const char *namespace;        // where workloads are unless a name says otherwise
    const char *name;             // of the server, for messages
};

/* Where it is, as the options say. */
struct api_place {
    const char *kubeconfig;
    const char *context;
    const char *namespace;  // NULL: that of the context
};

/* The rows of these options, for the first rows of a command's table, and reading them. */
#define API_OPTIONS                                                                                               \
    {0, "kubeconfig", "FILE", NULL, "kubeconfig (default: $KUBECONFIG, Muster on this machine, ~/.kube/config)"}, \
        {0, "context", "NAME", NULL, "context of the kubeconfig"},                                                \
        {'n', "namespace", "NAME", NULL, "namespace of workloads (default: that of the context)"}
enum { API_OPTION_KUBECONFIG, API_OPTION_CONTEXT, API_OPTION_NAMESPACE, API_OPTION_COUNT };

/* Takes the option, if it is one of these. */
bool api_place_set(struct api_place *place, int option, const char *value);

/*
 * The server of this machine as a kubeconfig would be named, for a place that names neither a file nor a context while
 * $KUBECONFIG is not set. NULL: none runs here, or another one is named. The caller frees it.
 */
char *api_local_config(const struct api_place *place);

/* Finds the server and reads how to reach it; sends nothing. Returns 0, -ENOENT when there is none, or -EINVAL. */
MUST_CHECK int api_open(struct api *api, const struct api_place *place, struct err *err);
void api_close(struct api *api);

/*
 * For commands that take no options but those of the place: reads them, wants at least one operand ("NODE"), and opens the
 * server. Returns true; or false with the status to exit with, as after --help. api_close() follows in both cases.
 */
bool api_begin(const struct command *command, struct arguments *arguments, const char *operand, struct api *api,
               int *ret_status);

/* The answer to a request. */
struct api_answer {
    int status;       // of HTTP; 0: none came
    yyjson_doc *doc;  // NULL: it was no JSON
};
void api_answer_done(struct api_answer *answer);

/*
 * Sends a request, whose callbacks are set here, and waits for the answer. Returns 0; -EINVAL when the server refuses what
 * was asked for as invalid, -EIO for all else. `ret` may be NULL.
 */
MUST_CHECK int api_send(struct api *api, const struct kube_request *request, struct api_answer *ret, struct err *err);

/* The same with a document as its body. */
MUST_CHECK int api_send_doc(struct api *api, const struct kube_request *request, const yyjson_mut_doc *doc,
                            struct api_answer *ret, struct err *err);

/* The resource of a kind that is not known by name ("ray.io/v1", "RayCluster"); borrowed until api_close(). Returns 0, -EINVAL or -EIO. */
MUST_CHECK int api_find_kind(struct api *api, const char *api_version, const char *kind,
                             const struct kube_resource **ret, struct err *err);

/* Documents, each with one object. */
struct api_objects VEC_OF(yyjson_doc *);
void api_objects_done(struct api_objects *objects);

/* Adds all objects of a kind; `namespace` and `selector` may be NULL. Fails as api_send() does. */
MUST_CHECK int api_list(struct api *api, const struct kube_resource *resource, const char *namespace,
                        const char *selector, struct api_objects *ret, struct err *err);

/* What views are made from, with its documents. */
struct api_view {
    struct view_objects objects;
    struct api_objects docs[_VIEW_KIND_MAX];
};
void api_view_done(struct api_view *view);

/*
 * Lists the kinds of `kinds`, a set of bits 1 << VIEW_..., all at the same time. Kinds with a namespace are limited to
 * `namespace`, NULL for all. Kinds that the server does not have are empty. Fails as api_send() does.
 */
MUST_CHECK int api_read_view(struct api *api, unsigned int kinds, const char *namespace, struct api_view *ret,
                             struct err *err);

#define VIEW_OF_WORKLOADS (1u << VIEW_JOBS | 1u << VIEW_POD_GROUPS | 1u << VIEW_PODS)
#define VIEW_OF_EVERYTHING ((1u << _VIEW_KIND_MAX) - 1)
