/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct http_exchange;
struct machines;
struct request;
struct server;

/*
 * Streams of pods on machines that have joined: pods/log, pods/exec and pods/attach. Nothing connects to such a machine.
 * Its agent holds one request open, GET /muster/streams, whose answer has a line for each stream that is wanted:
 *
 *     {"id": "...", "pod": UID, "name": NAME, "order": {"op": "log", ...}}
 *
 * The agent answers each by a WebSocket of its own, GET /muster/streams/ID. Its first message is {} or {"message": why not}.
 * The others are passed on to the client: of logs the bytes, of commands a channel and bytes (local/shim/shim.h), these in
 * both directions.
 */
enum relay_kind { RELAY_LOG, RELAY_V4, RELAY_V5 };

#define RELAY_PROTOCOL "stream.muster.scheduler"

/* Whether the pod runs on a machine that has joined. */
bool relay_is_needed(struct server *server, yyjson_mut_doc *pod);

/* Answers the request, at once or later. */
void relay_start(struct request *request, yyjson_mut_doc *pod, const char *order, enum relay_kind kind);

/* Ends everything; for machines.c. */
void relays_stop(struct machines *machines);

/* Handlers of routes; `arg` is the server. */
void serve_node_streams(void *arg, struct http_exchange *exchange);
void serve_node_stream(void *arg, struct http_exchange *exchange);
