/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The marks of a machine that has joined. Its agent promises to end the pods before its lease is over: when the lease has
 * run out, nothing of the machine runs any more, and its pods may be started elsewhere.
 */
#define KEY_JOINED "muster.scheduler/joined"      // annotation of its Node object: "true"
#define LEASE_FINALIZER "muster.scheduler/lease"  // the Node object stays until the lease is over
#define LEASE_NAMESPACE "kube-node-lease"

#define NODE_USER_PREFIX "system:node:"
#define GROUP_NODES "system:nodes"
#define NODE_UID_PREFIX "muster:node:"  // organisation of a certificate: the UID of the Node object

/* A certificate's common name has 64 bytes. */
enum { JOINED_NAME_MAX = 64 - (int)sizeof NODE_USER_PREFIX + 1 };
