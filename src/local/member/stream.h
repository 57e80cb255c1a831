/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

struct loop;

/*
 * One stream: a WebSocket to the control machine on one side, the process beside a pod or its log files on the other. It has
 * a thread of its own, because connecting takes its time.
 */
struct stream;

/* `order` is a line of /muster/streams, which is taken over. `on_end` comes from the loop, once; the stream is freed after it. */
struct stream *stream_start(struct loop *loop, const char *folder, yyjson_doc *order,
                            void (*on_end)(void *arg, struct stream *stream), void *arg);

/* Ends it soon; `on_end` comes. */
void stream_stop(struct stream *stream);
