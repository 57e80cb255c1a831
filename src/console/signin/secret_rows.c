/* SPDX-License-Identifier: Apache-2.0 */
#include "console/signin/secret_rows.h"

#include <stdio.h>

#include "console/data/db.h"

enum { FAILURES_MAX = 5 };

static int take_secret(void *arg, const struct db_value *columns, size_t count)
{
    struct secret_row *row = arg;

    (void)count;
    (void)snprintf(row->hash, sizeof row->hash, "%s", columns[0].text);
    row->failures = columns[1].number;
    row->locked_until = columns[2].number;
    return 0;
}

int read_secret(struct console *console, const char *subject, struct secret_row *ret_row, struct err *err)
{
    return db_query(console->db,
                    DB_CALL("SELECT hash, failures, locked_until FROM secrets WHERE subject = $1", db_text(subject)),
                    take_secret, ret_row, err);
}

int set_secret(struct console *console, const char *subject, const char *hash, bool must_change, struct err *err)
{
    return db_run(
        console->db,
        DB_CALL("INSERT INTO secrets(subject, hash, failures, locked_until, must_change) VALUES($1, $2, 0, 0, $3) "
                "ON CONFLICT(subject) DO UPDATE SET hash = excluded.hash, failures = 0, locked_until = 0, "
                "must_change = excluded.must_change",
                db_text(subject), db_text(hash), db_number(must_change)),
        NULL, err);
}

int delete_secret(struct console *console, const char *subject, struct err *err)
{
    return db_run(console->db, DB_CALL("DELETE FROM secrets WHERE subject = $1", db_text(subject)), NULL, err);
}

int count_failure(struct console *console, const char *subject, struct err *err)
{
    return db_run(
        console->db,
        DB_CALL("UPDATE secrets SET locked_until = CASE WHEN failures + 1 >= $2 THEN $3 ELSE locked_until END, "
                "failures = CASE WHEN failures + 1 >= $2 THEN 0 ELSE failures + 1 END WHERE subject = $1",
                db_text(subject), db_number(FAILURES_MAX), db_number(nsec_now_wall() + LOCK_TIME)),
        NULL, err);
}

int forget_failures(struct console *console, const char *subject, struct err *err)
{
    return db_run(console->db,
                  DB_CALL("UPDATE secrets SET failures = 0, locked_until = 0 WHERE subject = $1", db_text(subject)),
                  NULL, err);
}
