/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/macros.h"
#include "local/rights/bootstrap.h"
#include "local/rights/policy.h"

struct account_claims;
struct err;
struct http_exchange;
struct identity;
struct request;
struct server;
struct user;

/*
 * Who may do what. The owner of the daemon and root are administrators. A daemon of root serves all users of the machine:
 * each has a namespace of its own. Everything else follows from Roles and bindings, as in a cluster.
 */
struct rights;

/* Reads roles, bindings and the key of tokens, and makes the roles that every cluster has. */
MUST_CHECK int rights_open(struct server *server, struct rights **ret_rights, struct err *err);

/* Stops following the store, which can then be closed. */
void rights_stop(struct rights *rights);
void rights_free(struct rights *rights);

/* Whether users other than the owner of the daemon are served. */
bool rights_serve_all(const struct rights *rights);

/* --- Identities --- */

/* Who sends this. Returns 0 and a reference, or -ENOKEY. */
MUST_CHECK int rights_identify(struct rights *rights, struct http_exchange *exchange, struct identity **ret_identity);

/* Whose token it is. Returns 0 and a reference, or -ENOKEY. `ret_claims` may be NULL; it is filled for accounts. */
MUST_CHECK int rights_read_token(struct rights *rights, const char *token, struct identity **ret_identity,
                                 struct account_claims *ret_claims);

/* The token with these claims; to be freed by the caller. */
char *rights_make_token(const struct rights *rights, const struct account_claims *claims);

/* A Unix user, as the system has it; borrowed until the next call. */
const struct user *rights_user(struct rights *rights, uint32_t uid);

/* The namespace that somebody works in unless they say another one: a user's own, an account's, "default". */
enum { OWN_NAMESPACE_MAX = HOME_NAME_MAX };
const char *rights_own_namespace(struct rights *rights, const struct identity *identity,
                                 char name[static OWN_NAMESPACE_MAX]);

/* Whether the Unix user may do everything. */
bool rights_is_admin(uint32_t uid);

/* --- Rights --- */

/* Whether the identity may do it. */
bool rights_allow(const struct rights *rights, const struct identity *identity, const struct rights_question *question);

/* Whether the sender may do what the request says; false after an answer. */
bool rights_check_request(struct request *request);

/* The same for another verb on the request's object: an update that creates it. */
bool rights_check_verb(struct request *request, const char *verb, const char *name);

/* Appends "User "alice" cannot list resource "pods" in API group "" in the namespace "default"". */
struct strbuf;
void rights_explain(struct strbuf *text, const struct identity *identity, const struct rights_question *question);

/* Shows all rules that hold for the identity in a namespace. */
struct policies;
const struct policies *rights_policies(const struct rights *rights);
