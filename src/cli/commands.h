/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

/*
 * The table of commands, one row each, in the order in which help lists them within their groups. Row X stands for the
 * `const struct command X_command`, which the command's own file defines together with its options, examples and verbs.
 */
#define ALL_COMMANDS(ROW) \
    ROW(up)               \
    ROW(down)             \
    ROW(status)           \
    ROW(simulate)         \
    ROW(why)              \
    ROW(compare)          \
    ROW(trace)            \
    ROW(replay)           \
    ROW(migrate)          \
    ROW(shadow)           \
    ROW(scheduler)        \
    ROW(grouper)          \
    ROW(binder)           \
    ROW(admission)        \
    ROW(operator)         \
    ROW(podgroups)        \
    ROW(queues)           \
    ROW(scaler)           \
    ROW(numa_exporter)    \
    ROW(controller)       \
    ROW(gpu)              \
    ROW(gpud)             \
    ROW(fencer)           \
    ROW(reservation)      \
    ROW(credential)       \
    ROW(scenario)         \
    ROW(jq)               \
    ROW(completion)       \
    ROW(complete)         \
    ROW(man)              \
    ROW(version)          \
    ROW(help)

#define DECLARE_COMMAND(name) extern const struct command name##_command;
ALL_COMMANDS(DECLARE_COMMAND)
#undef DECLARE_COMMAND

/* All commands, ended by NULL. */
extern const struct command *const commands[];
