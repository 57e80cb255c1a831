/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"
#include "console/identity/oidc.h"

struct console;
struct err;

/* An identity provider as an administrator has set it up; the texts are borrowed from its item. */
struct idp {
    yyjson_doc *doc;
    const char *alias;
    const char *discovery;
    const char *client;
    char *client_secret;
    char *scopes;  // "openid email ..."
    struct oidc_mapping mapping;
};

/* -ENOENT when there is none. */
MUST_CHECK int idp_load(struct console *console, const char *alias, struct idp *ret_idp, struct err *err);
void idp_done(struct idp *idp);

/* Where the provider sends the browser back to. */
void idp_redirect_uri(struct console *console, const char *alias, char uri[static OIDC_URL_MAX]);
