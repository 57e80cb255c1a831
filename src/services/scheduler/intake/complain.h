/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "services/scheduler/intake/watching.h"

struct err;

/*
 * Tells whoever owns the object what is wrong with it, by an event on the object: the error, if there is one, and the
 * warnings that reading it left in the notes, which are empty afterwards.
 */
void complain(struct scheduler *s, enum watch_kind kind, const struct follow_event *event, const struct err *err);

/* What was found wrong before we led is told now; or never. */
void complaints_tell(struct scheduler *s);
void complaints_done(struct scheduler *s);
