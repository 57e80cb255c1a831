/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "services/scheduler/intake/watching.h"

struct err;
struct log;
struct object_notes;
struct pace;
struct recorder;
struct state;

/*
 * Problems of objects, told to their owners by an event on the object. Those that are found before we lead wait until we
 * do.
 */
struct complaints;

/* Borrows all. Without a recorder problems are logged alone. */
struct complaints *complaints_new(struct state *state, struct recorder *recorder, const struct pace *pace,
                                  const uint32_t *device_version, struct log *log);
void complaints_free(struct complaints *complaints);

/* Tells the error, if there is one, and the warnings that reading the object left in the notes, which are empty
 * afterwards. */
void complain(struct complaints *complaints, enum watch_kind kind, const struct follow_event *event,
              const struct err *err, struct object_notes *notes);

/* A doubt about an object that is valid: in the log alone. */
void complaints_log(struct complaints *complaints, enum watch_kind kind, const struct follow_event *event,
                    const char *text);

/* We lead: what was found wrong before is told now. */
void complaints_tell(struct complaints *complaints);
