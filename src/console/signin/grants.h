/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "console/rest/context.h"

/* A grant: who may come back with the secret of which `id` is the digest, for how long. */
struct grant_row {
    const char *kind;
    const char *id;
    const char *subject;
    nsec_t lifetime;
    const char *csrf;
    const char *credential;  // that it ends with; "": none
};
MUST_CHECK int grant_add(struct console *console, const struct grant_row *row, struct err *err);

/* Begins a session in the transaction that is under way: sets the cookie, and the answer with its CSRF token. */
MUST_CHECK int session_begin(struct request *request, const char *subject, const char *credential, struct err *err);

/* Answers with an access token, and a refresh token that is good for one more; OAuth names the members in its own way. */
MUST_CHECK int tokens_begin(struct request *request, bool is_oauth, const char *subject, const char *credential,
                            struct err *err);

/* Removes grants that are over; and all of a subject, or of one credential. */
MUST_CHECK int grants_revoke(struct console *console, const char *subject, struct err *err);
MUST_CHECK int grants_revoke_credential(struct console *console, const char *credential, struct err *err);
