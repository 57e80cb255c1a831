/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/time.h"
#include "net/certificates/certificate.h"

struct err;
struct strbuf;

/*
 * The certificates of the webhooks: what the Secret holds, and what has to change in it. Pure; time is passed in.
 *
 * An authority of our own signs the certificate that the webhooks serve. API servers trust the authority through the
 * caBundle of the webhook configurations. Long before the authority expires a second one is made, and added to every
 * caBundle. Only when it is in all of them does it sign: whichever certificate an API server meets, it has the authority
 * for it. The first one stays in the caBundle until it expires.
 */
struct keyring {
    struct certificate server;     // what is served; without texts: none yet
    struct certificate authority;  // that has signed it
    struct certificate next;       // the authority to come
    char *previous_pem;            // the authority before; its key is gone
};

void keyring_done(struct keyring *keyring);

/* Reads the data of a Secret; what is missing or no text is left out. */
void keyring_read(yyjson_val *secret, struct keyring *ret_keyring);

/* The Secret with the keyring as its data, all else as in `secret`, NULL: a new one. To be freed by the caller. */
yyjson_mut_doc *keyring_write(const struct keyring *keyring, yyjson_val *secret, const char *namespace,
                              const char *name);

struct keyring_wishes {
    const char *const *dns_names;  // that clients reach the webhooks by
    size_t dns_name_count;
    nsec_t server_lifetime;
    nsec_t authority_lifetime;
    bool is_next_trusted;  // the authority to come is in every caBundle that there is
};

/* Makes, renews and replaces what is due. Returns 1 when something has changed, with what and why for the log in
 * `ret_why`; 0 when all is well; or a negative errno. */
enum { KEYRING_WHY_MAX = 200 };
MUST_CHECK int keyring_advance(struct keyring *keyring, const struct keyring_wishes *wishes, nsec_t now,
                               char ret_why[static KEYRING_WHY_MAX], struct err *err);

/* Whether the certificate that is served can be: it has its key and has not expired. */
bool keyring_can_serve(const struct keyring *keyring, nsec_t now);

/*
 * The caBundle for a configuration that has `bundle_pem` now, "" for none: our authorities, and those of the bundle that
 * we have made and that have not expired. Whoever has an older keyring takes nothing away from it so, and replicas do not
 * write in turns. NULL when the bundle is good as it is; else to be freed by the caller.
 */
char *keyring_bundle(const struct keyring *keyring, const char *bundle_pem, nsec_t now);

/* Whether the bundle has the authority to come, or there is none. */
bool keyring_bundle_has_next(const struct keyring *keyring, const char *bundle_pem);
