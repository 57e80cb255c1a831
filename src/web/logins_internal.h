/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/macros.h"
#include "base/strmap.h"
#include "base/time.h"

/*
 * Who may look at the page. A program of the user asks for a code over the Unix socket, where the kernel says who it is; the
 * user's browser exchanges the code, once, for a session. Both live in memory alone: after a restart a new link is needed.
 *
 * A session has two secrets. `path` is a part of the page's address, and `key` is in a cookie that is sent to this address
 * alone. Browsers send cookies to every port of a host, so that a cookie for all paths would be given to whoever else
 * listens on this machine.
 */
enum { LOGIN_TEXT_MAX = 36, LOGIN_CODES_MAX = 256, LOGIN_SESSIONS_MAX = 256 };

#define LOGIN_CODE_LIFETIME (5 * NSEC_PER_MIN)
#define LOGIN_SESSION_LIFETIME (12 * NSEC_PER_HOUR)  // since it was used last

struct session {
    char path[LOGIN_TEXT_MAX];
    char key[LOGIN_TEXT_MAX];
    uid_t uid;
    nsec_t expires;
};

/* All zeros is the beginning: nobody may look. */
struct logins {
    struct strmap codes;     // by text
    struct strmap sessions;  // by path
};

void logins_done(struct logins *logins);

/* Makes a code for a user. Returns 0, or -EUSERS when too many wait to be used. */
MUST_CHECK int logins_make_code(struct logins *logins, uid_t uid, nsec_t now, char code[static LOGIN_TEXT_MAX]);

/* Exchanges a code for a session, which stays the logins'. Returns 0; -ENOKEY for a code that is unknown, was used or has
 * expired. The session that was used least recently makes room when there are too many. */
MUST_CHECK int logins_begin(struct logins *logins, const char *code, nsec_t now, const struct session **ret_session);

/* Whether the path and the key are those of a session, which lasts longer by this. Returns 0 or -ENOKEY. */
MUST_CHECK int logins_check(struct logins *logins, const char *path, const char *key, nsec_t now);

/* Ends a session; nothing when there is none. */
void logins_end(struct logins *logins, const char *path);
