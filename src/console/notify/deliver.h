/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct console;

/*
 * Sends the notices that wait, by the console that leads. A notice that was not taken is tried again after longer and longer
 * times, for about a day, then dropped; the channel's `state` says so. Addresses are those of channels, which users gave: they are called as
 * console/outside/reach.h allows.
 *
 * A webhook's request is signed as Standard Webhooks has it: the headers webhook-id, webhook-timestamp and webhook-signature,
 * "v1," and the HMAC-SHA-256, in base64, of "ID.TIMESTAMP.BODY" under the bytes that follow "whsec_" in the secret, decoded.
 */
struct delivery;

struct delivery *delivery_new(struct console *console);

/* After the client that calls addresses outside has been freed. */
void delivery_free(struct delivery *delivery);
