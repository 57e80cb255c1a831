/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct request;

/* pods/log: what a container has printed, and what it goes on to print. */
void serve_log(struct request *request);

/* pods/exec and pods/attach: a command in a container, or its first process, over a WebSocket. */
void serve_remote(struct request *request);

/* pods/portforward: connections to ports of the pod, which are those of the machine. */
void serve_port_forward(struct request *request);
