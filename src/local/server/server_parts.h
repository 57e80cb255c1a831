/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/list.h"
#include "base/vec.h"
#include "local/discovery/openapi_pages.h"
#include "local/server/server.h"
#include "local/server/tokens_internal.h"
#include "local/verbs/pages.h"
#include "net/loop.h"
#include "store/store.h"

struct definitions;
struct http_server;
struct machines;
struct rights;

enum {
    SERVER_LISTENERS_MAX = 3,
    SERVER_BODY_MAX = 3 << 20,
    SERVER_CONNECTIONS_MAX = 16384,  // each watch holds one
};

struct server {
    struct loop *loop;
    struct log *log;
    struct store *store;
    struct definitions *definitions;  // custom kinds, as the store has them
    struct store_follower follows_definitions;
    uint64_t definitions_position;
    uint64_t definitions_made;   // version up to which new definitions are known already
    struct list custom_watches;  // they end when their kind is defined anew, and clients begin again
    char *folder;
    char *address;  // that TCP clients use; NULL: there are none
    uint16_t port;
    struct http_server *listeners[SERVER_LISTENERS_MAX];
    size_t listener_count;
    struct tokens tokens;
    struct rights *rights;
    struct machines *machines;  // that have joined; NULL before the server listens
    nsec_t node_certificate_lifetime;
    char *shared_folders;  // that all users may mount, separated by commas
    struct pages pages;
    struct openapi_pages openapi;
    struct loop_timer sweep;  // removes objects that have expired
    void (*closed)(void *arg);
    void *closed_arg;
};

/* Starts the sockets, with a new certificate; `server->port` is the wanted one, and the real one after it. */
int server_listen(struct server *server, struct err *err);

/* Writes the kubeconfig for the certificate of the authority. */
int kubeconfig_write(const struct server *server, const char *authority_pem, struct err *err);

/* The port that the kubeconfig of the last time has; 0 when there is none. */
uint16_t kubeconfig_port(const char *folder);

/* Makes the namespaces that every cluster has. */
void server_make_namespaces(struct server *server);

/* Takes custom kinds from the definitions in the store, now and whenever they change. */
void custom_kinds_start(struct server *server);
void custom_kinds_stop(struct server *server);

/* Makes the CRDs of this release where they are missing, so that services find their kinds when they start. */
void custom_kinds_make(struct server *server);

/* The object of a definition; NULL when it is gone. */
const struct store_object *custom_definition(struct server *server, const char *name);

/* Ends the watches of the kinds of a definition. */
void custom_watches_end(struct server *server, const char *definition);

/* Removes objects whose time is over, now and then. */
void expiry_start(struct server *server);
