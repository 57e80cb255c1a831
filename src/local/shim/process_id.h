/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * A process is known by its number, the time of its start and the boot of the machine: numbers alone are given out again.
 */
enum { BOOT_ID_MAX = 40 };

/* In ticks since the boot; 0 when there is no such process. */
unsigned long long process_start_time(pid_t pid);

/* Returns `text`; "" when it is not known. */
const char *boot_id(char text[static BOOT_ID_MAX]);

/* Kills every process whose number is in the file, separated by white space. */
void processes_kill_listed(const char *path);

/* Kills the process and its group if it is still the same one, and waits until it is gone. It need not be our child. */
void process_kill_same(pid_t pid, unsigned long long start_time);
