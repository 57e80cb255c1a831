/* SPDX-License-Identifier: Apache-2.0 */

/* From the words of a call to the command that runs: the tables themselves are in the files of the commands. */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/slurm/slurm.h"
#include "text/suggest.h"
#include "text/terminal.h"

#define COMMAND_ROW(name) &name##_command,
const struct command *const commands[] = {ALL_COMMANDS(COMMAND_ROW) NULL};

const char *command_word(const struct command *command)
{
    const char *space = strrchr(command->name, ' ');

    return space ? space + 1 : command->name;
}

static const struct command *find_word(const struct command *const *among, const char *word)
{
    for (; *among; among++) {
        if (strcmp(command_word(*among), word) == 0)
            return *among;
    }
    return NULL;
}

/* The command or verb that was not found, with the nearest one. */
static int unknown_word(const struct command *above, const char *word)
{
    const struct command *const *among = above ? above->verbs : commands;
    struct suggestion suggestion;
    char hint[SUGGESTION_MAX];

    suggestion_init(&suggestion, word);
    for (; *among; among++)
        suggestion_offer(&suggestion, command_word(*among));
    return command_wrong(above, "there is no %s '%s'%s", above ? "verb" : "command", word,
                         suggestion_text(&suggestion, "", hint));
}

int command_find(const char *const *words, size_t count, const struct command **ret)
{
    const struct command *found = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct command *above = found;

        if (above && !above->verbs)
            return command_wrong(NULL, "'muster %s' has no verbs, found '%s'", above->name, words[i]);
        found = find_word(above ? above->verbs : commands, words[i]);
        if (!found)
            return unknown_word(above, words[i]);
    }
    *ret = found;
    return EXIT_FINE;
}

static int no_verb(const struct command *command)
{
    char names[128] = "";

    for (const struct command *const *verb = command->verbs; *verb; verb++) {
        size_t len = strlen(names);

        (void)snprintf(names + len, sizeof names - len, "%s%s", len ? ", " : "", command_word(*verb));
    }
    return command_wrong(command, "a verb is missing: one of %s", names);
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Runs the command with the words behind its name; the first of them can be a verb. */
static int run(const struct command *command, int argc, const char *const *argv)
{
    struct arguments arguments;
    int status;

    if (command->verbs && argc == 0 && !command->has_default_verb)
        return no_verb(command);
    if (command->verbs && argc > 0 && is_help(argv[0]))
        return command_help(command);
    if (command->verbs && command->has_default_verb && (argc == 0 || argv[0][0] == '-'))
        return run(command->verbs[0], argc, argv);
    if (command->verbs) {
        const struct command *verb = find_word(command->verbs, argv[0]);

        if (!verb && argv[0][0] == '-')
            return command_wrong(command, "options follow the verb; found '%s' before it", argv[0]);
        return verb ? run(verb, argc - 1, argv + 1) : unknown_word(command, argv[0]);
    }
    arguments_init(&arguments, command, argc, argv);
    status = command->run(command, &arguments);
    arguments_done(&arguments);
    return status;
}

int command_main(int argc, char **argv)
{
    const struct command *command = &help_command;
    const struct command *called = argc > 0 ? slurm_command_find(argv[0]) : NULL;
    const char *name = argc > 1 ? argv[1] : NULL;
    int status;

    if (called) {
        status = run(called, argc - 1, (const char *const *)argv + 1);
        return status == EXIT_FINE && (fflush(stdout) != 0 || ferror(stdout)) ? command_failed_to_write() : status;
    }

    if (!name) {
        (void)command_help(NULL);
        return EXIT_WRONG_CALL;
    }
    if (strcmp(name, "--version") == 0)
        command = &version_command;
    else if (!is_help(name))
        command = find_word(commands, name);
    if (!command)
        return name[0] == '-' ? command_wrong(NULL, "there is no option %s", name) : unknown_word(NULL, name);
    status = run(command, argc - 2, (const char *const *)argv + 2);
    return status == EXIT_FINE && (fflush(stdout) != 0 || ferror(stdout)) ? command_failed_to_write() : status;
}
