/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"

struct err;

/*
 * Tokens of ServiceAccounts: JSON Web Tokens with the claims that Kubernetes writes, signed with a key of this machine
 * (HMAC with SHA-256). Nothing is kept of them; whether the account and the pod still exist is for the caller to check.
 */
enum { TOKEN_KEY_BYTES = 32 };

#define ACCOUNT_TOKEN_AUDIENCE "https://kubernetes.default.svc"  // also who issues them

struct token_key {
    unsigned char bytes[TOKEN_KEY_BYTES];
};

struct account_claims {
    char *namespace;
    char *name;
    char *uid;  // of the account
    char *pod;  // the token ends with it; NULL: it is bound to none
    char *pod_uid;
    VEC(char *) audiences;
    int64_t issued;  // seconds since 1970
    int64_t expires;
};

void account_claims_done(struct account_claims *claims);

/* Reads the key from a file, or makes a new one there. */
MUST_CHECK int token_key_open(const char *path, struct token_key *ret_key, struct err *err);

/* The token with these claims; to be freed by the caller. */
char *account_token_make(const struct token_key *key, const struct account_claims *claims);

/* Returns 0; -ENOKEY for a text that is no token of this key, or one that has expired. */
MUST_CHECK int account_token_read(const struct token_key *key, const char *text, nsec_t now,
                                  struct account_claims *ret_claims);
