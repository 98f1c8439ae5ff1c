#include "init_network.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/route.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "netlink.h"

enum { DEVICE_MS = 5000 };

static bool set_up(int fd, const char *name)
{
    struct ifreq request = {0};
    strcpy(request.ifr_name, name);
    if (ioctl(fd, SIOCGIFFLAGS, &request) != 0) return false;
    request.ifr_flags |= IFF_UP;
    return ioctl(fd, SIOCSIFFLAGS, &request) == 0;
}

static bool set_address(int fd, unsigned long request_number, struct in_addr address)
{
    struct ifreq request = {.ifr_name = "eth0"};
    struct sockaddr_in value = {.sin_family = AF_INET, .sin_addr = address};
    memcpy(&request.ifr_addr, &value, sizeof value);
    return ioctl(fd, request_number, &request) == 0;
}

static bool add_default_route(int fd, struct in_addr gateway)
{
    struct rtentry route = {.rt_flags = RTF_UP | RTF_GATEWAY};
    struct sockaddr_in any = {.sin_family = AF_INET}, value = {.sin_family = AF_INET, .sin_addr = gateway};
    memcpy(&route.rt_dst, &any, sizeof any);
    memcpy(&route.rt_genmask, &any, sizeof any);
    memcpy(&route.rt_gateway, &value, sizeof value);
    return ioctl(fd, SIOCADDRT, &route) == 0;
}

/* The device appears some time after its driver is loaded. */
static bool await_device(int fd)
{
    static const struct timespec pause = {0, 5000000};
    struct ifreq request = {.ifr_name = "eth0"};
    for (int waited = 0; ioctl(fd, SIOCGIFINDEX, &request) != 0; waited += 5) {
        if (waited >= DEVICE_MS) return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

bool init_network_loopback(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && set_up(fd, "lo");
    int error = errno;
    if (fd >= 0) close(fd);
    errno = error;
    return ok;
}

static bool remove_interface(unsigned index)
{
    struct netlink n = {.length = 0};
    struct ifinfomsg link = {.ifi_family = AF_UNSPEC, .ifi_index = (int)index};
    netlink_message(&n, RTM_DELLINK, NLM_F_ACK, &link, sizeof link);
    return netlink_send(&n, NETLINK_ROUTE);
}

static bool is_loopback(int fd, const char *name)
{
    struct ifreq request = {0};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    return ioctl(fd, SIOCGIFFLAGS, &request) == 0 && request.ifr_flags & IFF_LOOPBACK;
}

/* Kernels add interfaces of tunnels to each namespace, which cannot be removed. */
static bool set_down(int fd, const char *name)
{
    struct ifreq request = {0};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (ioctl(fd, SIOCGIFFLAGS, &request) != 0) return errno == ENODEV; /* removed with another one */
    if (!(request.ifr_flags & IFF_UP)) return true;
    request.ifr_flags &= (short)~IFF_UP;
    return ioctl(fd, SIOCSIFFLAGS, &request) == 0;
}

bool init_network_isolate(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct if_nameindex *all = fd >= 0 ? if_nameindex() : NULL;
    bool ok = all;
    for (struct if_nameindex *i = all; ok && i->if_index; i++)
        ok = is_loopback(fd, i->if_name) || remove_interface(i->if_index) || set_down(fd, i->if_name);
    int error = errno;
    if (all) if_freenameindex(all);
    if (fd >= 0) close(fd);
    errno = error;
    return ok;
}

bool init_network_up(const struct init_network *network)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    bool ok = await_device(fd) && set_address(fd, SIOCSIFADDR, network->address)
              && set_address(fd, SIOCSIFNETMASK, network->mask) && set_up(fd, "eth0")
              && add_default_route(fd, network->gateway);
    int error = errno;
    close(fd);
    errno = error;
    return ok;
}
