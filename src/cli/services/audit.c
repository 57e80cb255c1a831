/* SPDX-License-Identifier: Apache-2.0 */

/* muster audit verify: whether the audit log of a console is whole. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/commands.h"
#include "console/audit/audit.h"
#include "console/console.h"
#include "console/data/db.h"

enum { OPTION_DATABASE, OPTION_HEAD };
enum { PATH_TEXT_MAX = 4096 };

static const struct command_option options[] = {
    [OPTION_DATABASE] = {0, "database", "URL", NULL,
                         "file of SQLite, or postgresql://USER@HOST/NAME; default: " CONSOLE_DATABASE},
    [OPTION_HEAD] = {0, "audit-head", "FILE", NULL, "file with the newest entry; default: next to the database's file"},
};

static int verify(const char *database, const char *head, struct err *err)
{
    _cleanup_(db_closep) struct db *db = NULL;
    int64_t count = db_open(database, DB_READ, &db, err);

    if (count == 0)
        count = audit_verify(db, head, err);
    if (count < 0)
        return (int)count;
    (void)printf("%lld entries, none changed, removed or added.\n", (long long)count);
    return 0;
}

static int run_verify(const struct command *command, struct arguments *arguments)
{
    const char *database = CONSOLE_DATABASE;
    const char *head = NULL;
    struct strbuf beside;
    struct err err = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (option == OPTION_DATABASE)
            database = arguments->value;
        else
            head = arguments->value;
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (!head && strstr(database, "://"))
        return command_wrong(command, "--audit-head: with PostgreSQL, say where the head of the audit log is");
    strbuf_init(&beside, PATH_TEXT_MAX);
    strbuf_addf(&beside, "%s" CONSOLE_HEAD_SUFFIX, database);
    int code = verify(database, head ? head : beside.text, &err);
    strbuf_done(&beside);
    return code < 0 ? command_failed(code, &err) : EXIT_FINE;
}

static const char *const verify_examples[] = {
    "muster audit verify --database console.db",
    NULL,
};

static const struct command verify_verb = {
    .name = "audit verify",
    .summary = "check that the audit log of a console is whole",
    .usage = "[--database URL] [--audit-head FILE]",
    .text =
        "Reads the audit log and checks that no entry was changed, removed or added, and that its end was not cut.\n"
        "The console may be running. Exits with status 2 and the first wrong entry when the log is not whole.\n",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = verify_examples,
    .operands = OPERANDS_NONE,
    .run = run_verify,
};

static const struct command *const verbs[] = {&verify_verb, NULL};

const struct command audit_command = {
    .name = "audit",
    .summary = "verify the audit log of a console",
    .usage = "VERB",
    .text = "The console records every change and sign-in in its audit log.\n",
    .group = GROUP_CLUSTER,
    .examples = verify_examples,
    .verbs = verbs,
    .operands = OPERANDS_NONE,
};
