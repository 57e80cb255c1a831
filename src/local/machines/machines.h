/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"
#include "base/time.h"
#include "net/certificates/certificate.h"

struct http_exchange;
struct http_peer;
struct identity;
struct server;

/*
 * Machines that join over the network. An administrator gets a token (POST /muster/node-token), the machine shows it with a
 * request for a certificate (POST /muster/join), and from then on its certificate, which it renews in time
 * (POST /muster/certificate). Its Node object is made here; deleting that object ends all of it.
 */
struct machines;

/* Takes over the authority. It is empty for a server without a port, which nobody can join. */
struct machines *machines_open(struct server *server, struct certificate *authority, nsec_t lifetime);
void machines_stop(struct machines *machines);  // before the store is closed; NULL is allowed
void machines_free(struct machines *machines);  // NULL is allowed

/* Who shows this certificate: a node that has joined and is still there. Returns 0 and a reference, or -ENOKEY. */
MUST_CHECK int machines_identify(struct machines *machines, const struct http_peer *peer,
                                 struct identity **ret_identity);

/* Handlers of routes; `arg` is the server. */
void serve_node_token(void *arg, struct http_exchange *exchange);
void serve_join(void *arg, struct http_exchange *exchange);
void serve_node_certificate(void *arg, struct http_exchange *exchange);
