/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"

struct err;

/* The membership of a machine that has joined another one; all owned. */
struct member {
    char *folder;
    char *server;      // "HOST:PORT"
    char *name;        // of the node
    char *owner_name;  // whose the daemon of the control machine is
    uint32_t owner;
};

#define MEMBER_KEYS "node.pem"
#define MEMBER_KUBECONFIG "kubeconfig"

/* The name by which the control machine's certificate is checked, whatever it is called on the network. */
#define MEMBER_SERVER_NAME "kubernetes.default.svc"

/* Where a membership is kept unless a flag says otherwise: /var/lib/muster-node for root, else $XDG_STATE_HOME/muster-node or
 * ~/.local/state/muster-node. To be freed by the caller. */
char *member_folder(const char *flag);

/* Returns 0, or -ENOENT when the machine has not joined. */
MUST_CHECK int member_read(const char *folder, struct member *ret_member, struct err *err);
void member_done(struct member *member);

/* Writes the files of a new membership; `member->folder` is made where it is missing. */
MUST_CHECK int member_write(const struct member *member, const char *authority_pem, const char *cert_pem,
                            const char *key_pem, struct err *err);

/* Certificate and key, replaced together. */
MUST_CHECK int member_write_keys(const char *folder, const char *cert_pem, const char *key_pem, struct err *err);

/* The node was removed: the machine can join again. */
void member_forget(const char *folder);
