/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Complains of a command that is not there, with the nearest one. Returns EXIT_WRONG_CALL. */
int command_unknown(const char *name);
