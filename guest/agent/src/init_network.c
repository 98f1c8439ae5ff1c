#include "init_network.h"

#include <errno.h>
#include <net/if.h>
#include <net/route.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

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
