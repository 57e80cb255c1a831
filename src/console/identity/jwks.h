/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;

/*
 * The public keys of an identity provider (RFC 7517) and the signatures of its tokens (RFC 7515, 7518), by OpenSSL. The key
 * decides which algorithms a token may name: RS256, RS384, RS512 and PS256 with RSA of 2048 bits or more, ES256 with P-256,
 * ES384 with P-384. Neither "none" nor an HMAC is among them.
 */
struct jwks;

enum { JWKS_KEYS_MAX = 64, JWT_TEXT_MAX = 32 << 10 };

/* Keys that are for encryption, or of a kind that is not listed above, are left out. Returns 0, or -EINVAL. */
MUST_CHECK int jwks_parse(const char *text, size_t len, struct jwks **ret_jwks, struct err *err);
void jwks_free(struct jwks *jwks);
size_t jwks_count(const struct jwks *jwks);

/*
 * Checks the signature and returns the claims, to be freed with yyjson_doc_free(). Returns 0; -ENOKEY for a token that is
 * malformed or whose signature is wrong; -ESRCH when the key that it names is not there, which a provider with new keys has.
 */
MUST_CHECK int jwks_verify(const struct jwks *jwks, const char *token, yyjson_doc **ret_claims, struct err *err);
