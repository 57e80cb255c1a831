/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct http_exchange;

/*
 * Server-Sent Events, as all servers send them. An event's id is "EPOCH-SEQUENCE": the epoch names what the numbers belong to, so
 * that a client which comes back with a number of something else begins anew. A stream that tells of several such things has ids of
 * several parts, with dots between them.
 */

/* Begins the answer. Clients come back a second after it was cut. */
void event_stream_begin(struct http_exchange *exchange);

/* The sequence of the last event that the client has seen, by the header Last-Event-ID or the parameter `after`; 0: none. */
uint64_t event_stream_seen(const struct http_exchange *exchange, const char *epoch);

/* The sequence of the epoch in an id; 0: it has none. */
uint64_t event_stream_sequence(const char *id, const char *epoch);

/* A silent server and one that is gone look the same: a word now and then tells them apart. Not for clients with unsent bytes. */
void event_stream_beat(struct http_exchange *exchange);
