/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"
#include "base/vec.h"

struct err;

/* Where an API server is and who we are to it: one context of a kubeconfig, or what a pod finds in its own cluster. */

/* Given in place or by a file, which is read again from time to time since it may be rotated. Where there are both, the
 * file counts, and the other serves while it cannot be read. */
struct kube_secret {
    char *text;
    char *file;
};

/* A program that prints credentials (client.authentication.k8s.io). */
struct kube_exec {
    char *api_version;  // NULL: there is no such program
    char *command;
    struct kube_strings VEC_OF(char *) args;
    struct kube_strings env;  // "NAME=value", in addition to ours
    bool wants_cluster;
    char *hint;  // how to install it
};

struct kube_config {
    char *name;       // of the context, for people
    char *server;     // URL without a slash at its end
    char *unix_path;  // the socket that the server listens on, when it has no address; NULL: as the URL says
    char *namespace;
    char *proxy;            // NULL: that of the environment
    char *tls_server_name;  // NULL: the host of the server
    bool skips_verify;
    struct kube_secret ca;
    struct kube_secret cert;
    struct kube_secret key;
    struct kube_secret token;
    char *username;  // NULL: none
    char *password;
    char *as_user;  // to act as somebody else
    char *as_uid;
    struct kube_strings as_groups;
    struct kube_exec exec;
};

/* Nobody needs a larger one; embedded certificates are a few kilobytes. */
enum { KUBE_CONFIG_BYTES_MAX = 4 << 20, KUBE_SECRET_BYTES_MAX = 1 << 20 };

/* A server on this machine can be named by its socket: "unix:/run/user/1000/muster/api.sock". */
#define KUBE_UNIX_PREFIX "unix:"
#define KUBE_UNIX_SERVER "http://localhost"  // what its URLs begin with

/*
 * Finds and reads the configuration. `path` is that of one file, or "unix:" and a socket; NULL looks, as controllers do, at the files in
 * $KUBECONFIG, at the pod that we are in, and at ~/.kube/config, and takes the first that is there. `context` is NULL
 * for the current one. Returns 0; -ENOENT when there is none, -EINVAL when it is no good, or what the system says.
 */
MUST_CHECK int kube_config_load(const char *path, const char *context, struct kube_config **ret_config,
                                struct err *err);

/*
 * The same from texts: as with several files, the first to name a thing has it. `name` stands for a text in messages;
 * paths in it are relative to the folder of that name.
 */
struct kube_config_text {
    const char *name;
    const char *text;
    size_t len;
};
MUST_CHECK int kube_config_parse(const struct kube_config_text *texts, size_t count, const char *context,
                                 struct kube_config **ret_config, struct err *err);

/* What Kubernetes puts into `folder` of every pod, with the server from $KUBERNETES_SERVICE_HOST and _PORT. Returns
 * 0, or -ENOENT when we are in no pod. */
MUST_CHECK int kube_config_in_cluster(const char *folder, struct kube_config **ret_config, struct err *err);

void kube_config_free(struct kube_config *config);
void kube_config_freep(struct kube_config **config);
