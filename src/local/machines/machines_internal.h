/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/list.h"
#include "local/machines/join_tokens.h"
#include "local/machines/machines.h"
#include "store/store.h"

struct machines {
    struct server *server;
    struct certificate authority;
    nsec_t lifetime;  // of certificates
    struct join_tokens tokens;
    uint32_t number;  // of the kind of nodes
    struct store_follower follower;
    uint64_t position;
    struct list channels, relays;  // relay.c
};
