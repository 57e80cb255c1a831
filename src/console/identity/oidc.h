/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/time.h"
#include "console/identity/secrets.h"

struct err;

/*
 * OpenID Connect without the network: what a discovery document says, the address that a browser is sent to, and what the
 * claims of a verified token say about a person.
 */
enum { OIDC_URL_MAX = 2048, OIDC_GROUPS_MAX = 256, OIDC_NAME_MAX = 255 };

/* How far the provider's clock may be from ours, and how old a token may be. */
#define OIDC_SKEW (60 * NSEC_PER_SEC)
#define OIDC_AGE_MAX (10 * NSEC_PER_MIN)

struct oidc_provider {
    char issuer[OIDC_URL_MAX];
    char authorize[OIDC_URL_MAX];
    char token[OIDC_URL_MAX];
    char keys[OIDC_URL_MAX];
    bool posts_secret;  // client_secret_post and not client_secret_basic
};

/* `url` is where the document was read: its issuer has to be the one that the document belongs to. */
MUST_CHECK int oidc_parse_provider(const char *text, size_t len, const char *url, struct oidc_provider *ret_provider,
                                   struct err *err);

/*
 * One login. All values follow from one secret, which the browser keeps in a cookie: whoever has not begun the login cannot end
 * it, and nothing of it has to be kept but the digest of `state`.
 */
struct oidc_login {
    char state[SECRET_TEXT_MAX];
    char nonce[SECRET_TEXT_MAX];
    char verifier[SECRET_TEXT_MAX];
    char challenge[SECRET_TEXT_MAX];  // S256 of the verifier
};

void oidc_login_from(const char *secret, struct oidc_login *ret_login);

/* The address that the browser is sent to, to be freed. */
char *oidc_authorize_url(const struct oidc_provider *provider, const char *client, const char *scopes,
                         const char *redirect, const struct oidc_login *login);

/* Appends a text in the encoding of forms. */
struct strbuf;
void oidc_add_form(struct strbuf *form, const char *name, const char *value);

/* Which claims say what; "" for none. */
struct oidc_mapping {
    const char *email, *groups, *uid, *gid, *supplementary_groups;
    const char *mandatory_claim;   // NULL: none
    yyjson_val *mandatory_values;  // one of them has to be there
};

/* Who has signed in. The texts are borrowed from the claims. */
struct oidc_person {
    const char *subject;
    const char *email;
    const char *groups[OIDC_GROUPS_MAX];
    size_t group_count;
    int64_t uid, gid;  // -1: none
    int64_t supplementary[OIDC_GROUPS_MAX];
    size_t supplementary_count;
};

/* Whether the claims are for us, now, and for this login. -ENOKEY otherwise. */
MUST_CHECK int oidc_check_claims(yyjson_val *claims, const char *issuer, const char *client, const char *nonce,
                                 nsec_t now, struct err *err);

/* -ENOKEY when a claim that is needed is missing or malformed. */
MUST_CHECK int oidc_read_person(yyjson_val *claims, const struct oidc_mapping *mapping, struct oidc_person *ret_person,
                                struct err *err);
