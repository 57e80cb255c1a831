/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/list.h"
#include "picture/asks.h"

struct asks {
    struct service *service;
    struct picture *picture;
    struct list waits;     // requests that wait until the picture is ready
    struct list programs;  // processes that answer
    struct list readings;  // lists of events that are being read
};

void programs_end(struct asks *asks);
void readings_end(struct asks *asks);
