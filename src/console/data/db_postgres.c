/* SPDX-License-Identifier: Apache-2.0 */

/*
 * PostgreSQL by libpq, for several consoles at once. Each transaction holds an advisory lock, so that transactions come one
 * after the other: nothing that one has read changes under it, and the audit log stays one chain. A second lock, of the
 * connection, makes one console the leader and ends with the connection.
 */
#include <errno.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "console/data/db_internal.h"

enum { PARAMETERS_MAX = 16, COLUMNS_MAX = 16, NUMBER_TEXT_MAX = 24, INT8_OID = 20, INT4_OID = 23 };

#define UNIQUE_VIOLATION "23505"

struct server_db {
    PGconn *connection;  // NULL or a broken one: to be made again
    char *url;
    bool leads;  // by a lock of this connection
};

/* What every connection begins with: nothing may hang for ever. */
static const char *const settings[] = {
    "SET statement_timeout = '10s'",
    "SET lock_timeout = '5s'",
    "SET idle_in_transaction_session_timeout = '30s'",
    "SET client_min_messages = warning",
    /* A leader whose machine is gone holds its lock until the server notices; the default is two hours. */
    "SET tcp_keepalives_idle = 10",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 3",
};

static const char lead_sql[] = "SELECT pg_try_advisory_lock(1299412852, 1)::int";
/* Each statement after the lock sees what was committed before it was had. */
static const char begin_sql[] = "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(1299412852, 2)";

static int fail(struct err *err, const PGconn *connection, const PGresult *result)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *text = state ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : PQerrorMessage(connection);
    int code = -EIO;

    if (state && strcmp(state, UNIQUE_VIOLATION) == 0)
        code = -EEXIST;
    /* Classes 08, 53, 55 and 57: connection, resources, locks, operator intervention. */
    else if (!state || PQstatus(connection) != CONNECTION_OK || strncmp(state, "08", 2) == 0 ||
             strncmp(state, "53", 2) == 0 || strncmp(state, "55", 2) == 0 || strncmp(state, "57", 2) == 0)
        code = -ESHUTDOWN;
    return err_set(err, code, "the database: %.*s", (int)strcspn(text ? text : "", "\n"), text ? text : "");
}

/* One or more statements without results of interest. */
static int execute(struct server_db *self, const char *sql, struct err *err)
{
    PGresult *result = PQexec(self->connection, sql);
    ExecStatusType status = PQresultStatus(result);
    int r = status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK ? fail(err, self->connection, result) : 0;

    PQclear(result);
    return r;
}

static int set_up(struct server_db *self, struct err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(settings); i++)
        r = execute(self, settings[i], err);
    return r;
}

static void close_server(void *arg)
{
    struct server_db *self = arg;

    PQfinish(self->connection);
    free(self->url);
    free(self);
}

static int connect_server(struct server_db *self, struct err *err)
{
    const char *const keys[] = {"dbname", "connect_timeout", "application_name", "client_encoding", NULL};
    const char *const values[] = {self->url, "5", "muster console", "UTF8", NULL};
    int r;

    self->leads = false;
    PQfinish(self->connection);
    self->connection = PQconnectdbParams(keys, values, 1);
    r = PQstatus(self->connection) == CONNECTION_OK ? set_up(self, err) : fail(err, self->connection, NULL);
    if (r < 0) {
        PQfinish(self->connection);
        self->connection = NULL;
    }
    return r;
}

static int open_server(const char *url, enum db_mode mode, void **ret_self, struct err *err)
{
    struct server_db *self = xcalloc(1, sizeof *self);
    int r;

    (void)mode;  // a reader sends no statements that write
    self->url = xstrdup(url);
    r = connect_server(self, err);
    if (r < 0) {
        close_server(self);
        return r;
    }
    *ret_self = self;
    return 0;
}

static int ready(void *arg, struct err *err)
{
    struct server_db *self = arg;

    return PQstatus(self->connection) == CONNECTION_OK ? 0 : connect_server(self, err);
}

static int give_rows(const PGresult *result, db_row_fn fn, void *arg)
{
    int count = MIN(PQnfields(result), (int)COLUMNS_MAX);

    for (int row = 0; fn && row < PQntuples(result); row++) {
        struct db_value columns[COLUMNS_MAX];

        for (int i = 0; i < count; i++) {
            const char *text = PQgetvalue(result, row, i);
            bool is_number = PQftype(result, i) == INT8_OID || PQftype(result, i) == INT4_OID;

            columns[i] = (struct db_value){.type = DB_NULL};
            if (!PQgetisnull(result, row, i))
                columns[i] = is_number ? db_number(strtoll(text, NULL, 10)) : db_text(text);
        }
        int r = fn(arg, columns, (size_t)count);
        if (r < 0)
            return r;
    }
    return 0;
}

static int query(void *arg, const struct db_call *call, db_row_fn fn, void *fn_arg, int64_t *ret_changed,
                 struct err *err)
{
    struct server_db *self = arg;
    char numbers[PARAMETERS_MAX][NUMBER_TEXT_MAX];
    const char *values[PARAMETERS_MAX];
    Oid types[PARAMETERS_MAX] = {0};
    int r = 0;

    BUG_ON(call->count > PARAMETERS_MAX);
    for (size_t i = 0; i < call->count; i++) {
        values[i] = call->values[i].text;
        if (call->values[i].type == DB_NUMBER) {
            (void)snprintf(numbers[i], sizeof numbers[i], "%lld", (long long)call->values[i].number);
            values[i] = numbers[i];
            types[i] = INT8_OID;
        }
    }
    PGresult *result = PQexecParams(self->connection, call->sql, (int)call->count, types, values, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        r = fail(err, self->connection, result);
    /* PostgreSQL ends a transaction that has failed as if COMMIT had succeeded, and only its tag says so. */
    if (r == 0 && strcmp(call->sql, "COMMIT") == 0 && strcmp(PQcmdStatus(result), "COMMIT") != 0)
        r = err_set(err, -EIO, "the database: the transaction was rolled back");
    if (r == 0 && ret_changed)
        *ret_changed = strtoll(PQcmdTuples(result), NULL, 10);
    if (r == 0)
        r = give_rows(result, fn, fn_arg);
    PQclear(result);
    return r;
}

/* When the lock is not to be had in time, the transaction has begun and failed. */
static int begin(void *arg, struct err *err)
{
    struct server_db *self = arg;
    int r = execute(self, begin_sql, err);

    if (r < 0)
        PQclear(PQexec(self->connection, "ROLLBACK"));
    return r;
}

static int take_lead(void *arg, const struct db_value *columns, size_t count)
{
    (void)count;
    *(bool *)arg = columns[0].number != 0;
    return 0;
}

/* Asking a leader's connection shows that it is there still. */
static int lead(void *arg, bool *ret_leads, struct err *err)
{
    struct server_db *self = arg;
    struct db_call call = {.sql = self->leads ? "SELECT 1" : lead_sql};
    int r = query(self, &call, take_lead, &self->leads, NULL, err);

    if (r < 0)
        self->leads = false;
    *ret_leads = self->leads;
    return r;
}

const struct db_backend db_postgres = {
    .open = open_server,
    .close = close_server,
    .query = query,
    .ready = ready,
    .begin = begin,
    .lead = lead,
};
