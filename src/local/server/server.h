/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"

struct err;
struct log;
struct loop;

/*
 * The API server of a single machine: the paths of Kubernetes over the objects of a store. It listens on a Unix socket in
 * the state folder, whose clients the kernel identifies, and with TLS on TCP, where clients show a token that they got
 * over the socket.
 *
 *     STATE/                 0700
 *       objects.db           the store
 *       api.sock             the socket
 *       authority.pem        certificate and key of the authority that signs the server's certificates
 *       tokens.key           key that signs the tokens of ServiceAccounts
 *       kubeconfig           for kubectl and other clients
 *
 * A daemon of root serves all users of the machine. Its folder can then be passed through (0711), the socket can be written
 * and the kubeconfig be read by all; everything else is root's alone.
 */
struct server;

struct server_settings {
    const char *folder;                // made where it is missing
    const char *address;               // of the interface to listen on; NULL: not on TCP
    uint16_t port;                     // 0: that of the last time, or one that is free
    bool has_own_kinds;                // the CRDs of this release are there from the first moment
    nsec_t node_certificate_lifetime;  // of machines that join
    const char *shared_folders;        // that pods of all users may mount, separated by commas; NULL: none
};

/* Opens the store, listens, and writes the kubeconfig. Returns 0, the error of store_open(), or that of the system. */
MUST_CHECK int server_open(struct loop *loop, struct log *log, const struct server_settings *settings,
                           struct server **ret_server, struct err *err);

/* Ends all requests, finishes the changes that wait, and frees the server; then calls `done`. */
void server_close(struct server *server, void (*done)(void *arg), void *arg);

/* The port that it listens on; 0: none. */
uint16_t server_port(const struct server *server);

/* The names of files in the state folder. */
#define SERVER_SOCKET "api.sock"
#define SERVER_KUBECONFIG "kubeconfig"
