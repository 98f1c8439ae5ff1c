/* Network interfaces of a virtual machine. */
#ifndef ISOLA_INIT_NETWORK_H
#define ISOLA_INIT_NETWORK_H

#include "init_parse.h"

/* Brings up the loopback interface. Returns false with errno. */
bool init_network_loopback(void);
/* Brings up eth0 with its default route. Returns false with errno. */
bool init_network_up(const struct init_network *network);

#endif
