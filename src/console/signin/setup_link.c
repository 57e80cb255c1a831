/* SPDX-License-Identifier: Apache-2.0 */
#include "console/signin/setup_link.h"

#include <errno.h>

#include "base/mem.h"
#include "console/data/db.h"

/* All consoles of a database know the newest link by its digest. */
#define SETUP_KEY "setup-code"

int setup_offer(struct console *console, const char *code, struct err *err)
{
    char digest[SECRET_TEXT_MAX];

    secret_digest(code, digest);
    return db_run(console->db,
                  DB_CALL("INSERT INTO meta(key, value) VALUES($1, $2) ON CONFLICT(key) DO UPDATE SET value = "
                          "excluded.value",
                          db_text(SETUP_KEY), db_text(digest)),
                  NULL, err);
}

int setup_check(struct console *console, const char *code, struct err *err)
{
    _cleanup_(freep) char *wanted = NULL;
    char digest[SECRET_TEXT_MAX];
    int r =
        db_query_text(console->db, DB_CALL("SELECT value FROM meta WHERE key = $1", db_text(SETUP_KEY)), &wanted, err);

    if (r < 0 && r != -ENOENT)
        return r;
    secret_digest(code ? code : "", digest);
    if (r == -ENOENT || !secret_equals(digest, wanted))
        return err_set(err, -ENOKEY, "the link was used already or is wrong: the console's log has the current one");
    return 0;
}

int setup_take(struct console *console, struct err *err)
{
    int64_t changed = 0;
    int r = db_run(console->db, DB_CALL("DELETE FROM meta WHERE key = $1", db_text(SETUP_KEY)), &changed, err);

    return r == 0 && changed == 0 ? err_set(err, -ENOKEY, "the link was used already") : r;
}
