/* SPDX-License-Identifier: Apache-2.0 */

/* muster backup and muster restore: all objects of a server in one file, and back. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/local/local.h"
#include "local/server/service.h"
#include "store/store.h"
#include "text/json.h"

/* What both commands are called with. */
struct call {
    char *folder;
    const char *file;
    bool is_replacing;
};

/* Returns true, or false with the exit status. */
static bool read_call(struct arguments *arguments, struct call *call, int *ret_status)
{
    const char *state = NULL;
    int option;

    *call = (struct call){0};
    while ((option = arguments_next(arguments)) >= 0) {
        if (option == 0)
            state = arguments->value;
        else
            call->is_replacing = true;
    }
    *ret_status = EXIT_WRONG_CALL;
    if (option == ARGUMENT_HELP)
        *ret_status = command_help(arguments->command);
    else if (option != ARGUMENT_WRONG && arguments->operand_count == 0)
        *ret_status = command_wrong(arguments->command, "a file is missing");
    else if (option != ARGUMENT_WRONG && arguments->operand_count > 1)
        *ret_status = command_wrong(arguments->command, "unexpected argument '%s'", arguments->operands[1]);
    if (option == ARGUMENT_HELP || option == ARGUMENT_WRONG || arguments->operand_count != 1)
        return false;
    call->folder = state_folder(state);
    call->file = arguments->operands[0];
    return true;
}

/* The server has a working folder of its own. */
static int whole_path(const char *file, char **ret_path, struct err *err)
{
    char here[PATH_MAX];

    if (file[0] == '/') {
        *ret_path = xstrdup(file);
        return 0;
    }
    if (!getcwd(here, sizeof here))
        return err_set(err, -errno, "the current folder: %s", strerror(errno));
    *ret_path = local_path(here, file);
    return 0;
}

static int order_backup(const char *folder, const char *path, struct err *err)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_str(doc, root, "path", path);
    _cleanup_(freep) char *body = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    yyjson_mut_doc_free(doc);
    return local_order(folder, "/muster/backup", body, err);
}

static int run_backup(const struct command *command, struct arguments *arguments)
{
    _cleanup_(freep) char *path = NULL;
    struct err err = {0};
    struct call call;
    int status;

    (void)command;
    if (!read_call(arguments, &call, &status))
        return status;
    int r = whole_path(call.file, &path, &err);
    if (r == 0)
        r = order_backup(call.folder, path, &err);
    free(call.folder);
    if (r < 0)
        return command_failed(-EIO, &err);
    printf("All objects are in %s.\n", path);
    return EXIT_FINE;
}

static const struct command_option backup_options[] = {
    {0, "state", "FOLDER", NULL, "state folder of the server (default: that of 'muster up')"}};
static const char *const backup_examples[] = {"muster backup objects.backup", NULL};

const struct command backup_command = {
    .name = "backup",
    .summary = "write all objects of this machine to a file",
    .usage = "[--state FOLDER] FILE",
    .text = "Writes all objects of the running 'muster up' to a new file, as of one moment, while work continues. The "
            "file holds\n"
            "Secrets, so only its owner may read it. 'muster restore' reads it.\n",
    .group = GROUP_LOCAL,
    .options = backup_options,
    .option_count = ARRAY_LEN(backup_options),
    .examples = backup_examples,
    .operands = OPERANDS_PATHS,
    .run = run_backup,
};

/* --- restore --- */

static int restore(const struct call *call, struct err *err)
{
    _cleanup_(freep) char *store = local_path(call->folder, "objects.db");

    if (local_server_pid(call->folder) > 0)
        return err_set(err, -EBUSY, "Muster is running in %s: stop it with 'muster down' first", call->folder);
    if (!call->is_replacing && access(store, F_OK) == 0)
        return err_set(err, -EEXIST, "%s already holds objects: use --replace to replace them", call->folder);
    return store_restore(call->folder, call->file, err);
}

static int run_restore(const struct command *command, struct arguments *arguments)
{
    struct err err = {0};
    struct call call;
    int status;

    (void)command;
    if (!read_call(arguments, &call, &status))
        return status;
    int r = restore(&call, &err);
    if (r == 0)
        printf("The objects of %s are in %s. Start it with 'muster up'.\n", call.file, call.folder);
    free(call.folder);
    return r < 0 ? command_failed(-EIO, &err) : EXIT_FINE;
}

static const struct command_option restore_options[] = {
    {0, "state", "FOLDER", NULL, "folder for the objects (default: that of 'muster up')"},
    {0, "replace", NULL, NULL, "replace the objects that the folder holds"},
};
static const char *const restore_examples[] = {"muster restore objects.backup",
                                               "muster restore --replace objects.backup", NULL};

const struct command restore_command = {
    .name = "restore",
    .summary = "restore the objects of a backup",
    .usage = "[--state FOLDER] [--replace] FILE",
    .text = "Fills a state folder from a file of 'muster backup'. The server must not be running. With --replace, the\n"
            "previous objects are kept in the folder as objects.db.before-restore.\n",
    .group = GROUP_LOCAL,
    .options = restore_options,
    .option_count = ARRAY_LEN(restore_options),
    .examples = restore_examples,
    .operands = OPERANDS_PATHS,
    .run = run_restore,
};
