/* Network interfaces of a virtual machine or a pod. */
#ifndef ISOLA_INIT_NETWORK_H
#define ISOLA_INIT_NETWORK_H

#include "init_parse.h"

/* Brings up the loopback interface. Returns false with errno. */
bool init_network_loopback(void);
/* Removes all other interfaces, and turns off those that cannot be removed. Returns false with errno if one is left. */
bool init_network_isolate(void);
/* Brings up eth0 with its default route. Returns false with errno. */
bool init_network_up(const struct init_network *network);

#endif
