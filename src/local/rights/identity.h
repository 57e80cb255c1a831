/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/*
 * Who sends a request: a Unix user, whom the kernel or a token of `muster credential` names, or a ServiceAccount, by a
 * token of its own, or the node of a machine that has joined, by its certificate. Never changed once it is made, shared by counting.
 *
 * The owner of an identity is the Unix user whose objects it creates, and as whom their pods run: the user itself, or of
 * an account the user who has made it.
 */
struct identity {
    uint32_t refs;
    char *name;               // "alice", or "system:serviceaccount:NAMESPACE:NAME"
    char *uid;                // of an account's object; "" for a user
    VEC(char *) groups;       // "system:authenticated" and others
    char *account_namespace;  // NULL for a user
    char *account;            // NULL for a user
    char *pod;                // that the account's token is bound to; NULL: none
    char *pod_uid;
    char *node;  // of a joined machine, by its certificate; NULL for all others
    uint32_t owner;
    bool is_admin;           // may do everything; never an account
    bool is_owned_by_admin;  // its owner may do everything
};

/* A new identity without groups; all is copied. */
struct identity *identity_new(const char *name, uint32_t owner) __attribute__((returns_nonnull));
void identity_add_group(struct identity *identity, const char *group);

/* Makes it the identity of an account. */
void identity_set_account(struct identity *identity, const char *namespace, const char *name, const char *uid);

struct identity *identity_ref(struct identity *identity);
void identity_unref(struct identity *identity);  // may be NULL
void identity_unrefp(struct identity **identity);

#define GROUP_ADMINS "system:masters"
#define GROUP_ALL "system:authenticated"
#define GROUP_ACCOUNTS "system:serviceaccounts"
#define GROUP_USERS "muster:users"  // all users of this machine
#define ACCOUNT_PREFIX "system:serviceaccount:"
