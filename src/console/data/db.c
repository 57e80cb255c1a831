/* SPDX-License-Identifier: Apache-2.0 */

/* The parts that both back ends share: choosing one, transactions, results of one value. */
#include "console/data/db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "console/data/db_internal.h"

static const struct db_backend *backend_of(const char *url)
{
    bool is_postgres = strncmp(url, "postgresql://", 13) == 0 || strncmp(url, "postgres://", 11) == 0;

    return is_postgres ? &db_postgres : &db_sqlite;
}

int db_open(const char *url, enum db_mode mode, struct db **ret_db, struct err *err)
{
    _cleanup_(db_closep) struct db *db = xcalloc(1, sizeof *db);
    int r;

    db->backend = backend_of(url);
    r = db->backend->open(url, mode, &db->self, err);
    if (r < 0)
        return r;
    r = db_migrate(db, mode, err);
    if (r < 0)
        return r;
    *ret_db = TAKE_PTR(db);
    return 0;
}

void db_close(struct db *db)
{
    if (!db)
        return;
    if (db->self) {
        db_rollback(db);
        db->backend->close(db->self);
    }
    free(db);
}

void db_closep(struct db **db)
{
    db_close(*db);
}

static int call_backend(struct db *db, const struct db_call *call, db_row_fn fn, void *arg, int64_t *ret_changed,
                        struct err *err)
{
    int r = db->is_begun ? 0 : db->backend->ready(db->self, err);

    return r < 0 ? r : db->backend->query(db->self, call, fn, arg, ret_changed, err);
}

int db_run(struct db *db, struct db_call call, int64_t *ret_changed, struct err *err)
{
    return call_backend(db, &call, NULL, NULL, ret_changed, err);
}

int db_query(struct db *db, struct db_call call, db_row_fn fn, void *arg, struct err *err)
{
    return call_backend(db, &call, fn, arg, NULL, err);
}

struct first {
    bool is_there;
    int64_t number;
    char *text;
};

static int take_first(void *arg, const struct db_value *columns, size_t count)
{
    struct first *first = arg;

    if (first->is_there || count == 0)
        return 0;
    first->is_there = columns[0].type != DB_NULL;
    first->number = columns[0].number;
    first->text = columns[0].text ? xstrdup(columns[0].text) : NULL;
    return 0;
}

static int query_first(struct db *db, const struct db_call *call, struct first *ret_first, struct err *err)
{
    int r = call_backend(db, call, take_first, ret_first, NULL, err);

    if (r < 0)
        return r;
    return ret_first->is_there ? 0 : err_set(err, -ENOENT, "there is no such row");
}

int db_query_number(struct db *db, struct db_call call, int64_t *ret_number, struct err *err)
{
    struct first first = {0};
    int r = query_first(db, &call, &first, err);

    if (r == 0)
        *ret_number = first.number;
    free(first.text);
    return r;
}

int db_query_text(struct db *db, struct db_call call, char **ret_text, struct err *err)
{
    struct first first = {0};
    int r = query_first(db, &call, &first, err);

    if (r == 0)
        *ret_text = first.text ? first.text : xstrdup("");
    else
        free(first.text);
    return r;
}

int db_begin(struct db *db, struct err *err)
{
    BUG_ON(db->is_begun);
    int r = db->backend->ready(db->self, err);

    if (r == 0)
        r = db->backend->begin(db->self, err);
    if (r == 0)
        db->is_begun = true;
    return r;
}

int db_lead(struct db *db, bool *ret_leads, struct err *err)
{
    BUG_ON(db->is_begun);
    int r = db->backend->ready(db->self, err);

    return r < 0 ? r : db->backend->lead(db->self, ret_leads, err);
}

int db_commit(struct db *db, struct err *err)
{
    BUG_ON(!db->is_begun);
    int r = db_run(db, (struct db_call){.sql = "COMMIT"}, NULL, err);

    if (r == 0)
        db->is_begun = false;
    else
        db_rollback(db);
    return r;
}

void db_rollback(struct db *db)
{
    if (!db->is_begun)
        return;
    /* A connection that is lost has rolled back by itself. */
    (void)db->backend->query(db->self, &(struct db_call){.sql = "ROLLBACK"}, NULL, NULL, NULL, NULL);
    db->is_begun = false;
}

bool db_in_transaction(const struct db *db)
{
    return db->is_begun;
}
