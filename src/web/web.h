/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The page for people, and the REST that it is made of, as a service of the frame. It is a client of the API like every
 * other service, so that it shows a single machine and a cluster alike.
 *
 * The page is served on loopback, without TLS: a browser would warn of a certificate that it does not know, and nothing
 * leaves the machine. Programs of the user reach the same REST over a Unix socket, and get links to the page there.
 */
struct service_kind;

extern const struct service_kind web_service;

/* The socket's name in a state folder. */
#define WEB_SOCKET "page.sock"

/* The path that makes a link: POST over the socket, answered with {"url": ...}. */
#define WEB_LINK_PATH "/api/muster/v1/link"
