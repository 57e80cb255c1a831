/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The group's account of GPU memory, as this process sees it: reserve before the driver is asked, cancel when the driver
 * said no, release when the memory is gone. The daemon is the only one that counts; most calls are served from credit
 * that it has given in advance. Every GPU of the group has a slot. */

#include <stdbool.h>
#include <stdint.h>

/* What memory is for. */
enum ledger_kind { LEDGER_PLAIN, LEDGER_CONTEXT };

/* Whether this process is a tenant at all: a daemon is there, or was, or has to be. */
bool ledger_is_managed(void);

/* The slot of the GPU with this UUID; -1 when the group has no such GPU, LEDGER_UNKNOWN before the daemon has said. */
enum { LEDGER_UNKNOWN = -2 };
int ledger_slot_of(const unsigned char uuid[16]);

/* Takes `bytes` from the account; false when the limit does not allow it. With LEDGER_CONTEXT and 0 bytes it is as much
 * as a context is known to cost; `ret_bytes` says how much was taken and may be NULL. May wait for others to give
 * something back. */
bool ledger_reserve(int slot, enum ledger_kind kind, uint64_t bytes, uint64_t *ret_bytes);

/* Gives back what was reserved, used or not. */
void ledger_release(int slot, enum ledger_kind kind, uint64_t bytes);

/* Accounts for memory that is already there and cannot be given back, even beyond the limit as far as the daemon
 * allows it. Returns how much it did. */
uint64_t ledger_force(int slot, uint64_t bytes);

/* The daemon has reserved so much for this process by itself. */
void ledger_take_over(int slot, uint64_t bytes);

struct ledger_view {
    uint64_t total;  // the limit
    uint64_t free;   // what would be granted now
};

/* False when the daemon cannot be asked and was never asked. */
bool ledger_look(int slot, struct ledger_view *ret_view);

/* What this process has reserved and not released on a slot, its credit not included. */
uint64_t ledger_used(int slot);

/* The process has grown by an amount that only the daemon can find out. Said at most ten times a second. */
void ledger_note_growth(int slot);

/* The driver gave out a function of this name that should have been ours. */
void ledger_note_unhooked(const char *name);

/* In a forked child: nothing is held, and the connection is the parent's. */
void ledger_forget(void);
