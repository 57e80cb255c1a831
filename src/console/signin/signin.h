/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "console/rest/context.h"

/* What somebody signs in for. */
enum purpose { FOR_TOKEN, FOR_OAUTH_TOKEN, FOR_SESSION, FOR_CHANGE, FOR_SETUP };

/* Looks at a password in another thread and then answers the request, with tokens or a session. Returns 0, or a negative errno
 * when the request is still to be answered. */
MUST_CHECK int signin_begin(struct console *console, struct http_exchange *exchange, enum purpose purpose,
                            const char *name, const char *password, struct err *err);

/* Notes the time in the item of a user or an application. */
MUST_CHECK int note_login(struct console *console, const char *kind, const char *id, struct err *err);
