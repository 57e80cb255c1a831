/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "services/scheduler/intake/watching.h"

/*
 * An object was added, changed or deleted: brings the state up to date, and whatever else depends on it. An object that
 * makes no sense is left out, or counts for what of it does; an event on it says what is wrong.
 */
void intake_event(struct scheduler *s, enum watch_kind kind, const struct follow_event *event);
