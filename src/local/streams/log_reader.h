/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "base/macros.h"
#include "local/streams/log_options.h"

struct err;
struct loop;

/*
 * Reads what a container has printed. The files of a run are read one after the other, the renamed ones first; a follower
 * then waits until the newest file grows, is replaced, or its run is over.
 */
struct log_reader;

struct log_place {
    const char *folder;     // of the pod
    const char *container;  // its name
    const char *pod;        // its name, for messages
};

/* Where the lines go. */
struct log_sink {
    void (*write)(void *arg, const char *bytes, size_t len);
    size_t (*unsent)(void *arg);  // when there are many, the reader waits for log_reader_pump()
    void (*end)(void *arg);       // everything has been written; the reader is gone
    void *arg;
};

/* The number of the run that is asked for. Returns 0, or -EINVAL with what is said to the client. */
MUST_CHECK int log_run_find(const struct log_place *place, const struct log_options *options, unsigned *ret_run,
                            struct err *err);

/* Begins with the first log_reader_pump(). */
struct log_reader *log_reader_new(struct loop *loop, const struct log_place *place, const struct log_options *options,
                                  unsigned run, const struct log_sink *sink);

/* Goes on as far as the sink takes it; may end it. */
void log_reader_pump(struct log_reader *reader);

/* Stops reading; the sink is not told. */
void log_reader_free(struct log_reader *reader);
