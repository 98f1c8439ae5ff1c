package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.EscapeProbe.Topic.NETWORK;

import java.util.List;

/**
 * Probes of servers and traffic of the host from a sandbox without a network. Nothing leaves the
 * machine.
 */
final class NetworkProbes {
  private NetworkProbes() {}

  static List<EscapeProbe> all() {
    return List.of(
        server("loopbackOfTheHostIsNotReachedByTcp", "tcp", "127.0.0.1", "tcp"),
        server("loopbackOfTheHostIsNotReachedByIpv6", "tcp", "::1", "tcp6"),
        server("loopbackOfTheHostIsNotReachedByUdp", "udp", "127.0.0.1", "udp"),
        EscapeProbe.of(
            "socketFilesOfTheHostAreNotReached",
            NETWORK,
            "a server of the host, by the path of its socket",
            context -> List.of("unix", context.one("unix"), context.id())),
        EscapeProbe.of(
                "abstractSocketsOfTheHostAreNotReached",
                NETWORK,
                "a server of the host, by an abstract Unix socket",
                context -> {
                  context.one("abstract");
                  return List.of("abstract", context.id());
                })
            .onlyOffline(),
        EscapeProbe.of(
            "daemonsAreNotReached",
            NETWORK,
            "daemons that accept unauthenticated requests",
            context ->
                List.of(
                    "sockets",
                    "/run/docker.sock",
                    "/var/run/docker.sock",
                    "/run/containerd/containerd.sock",
                    "/run/podman/podman.sock",
                    "/run/crio/crio.sock",
                    "/run/dbus/system_bus_socket",
                    "/run/systemd/private",
                    "/run/systemd/notify",
                    "/run/systemd/journal/socket",
                    "/run/udev/control",
                    "/run/snapd.socket",
                    "/run/libvirt/libvirt-sock",
                    "/dev/log")),
        EscapeProbe.of(
                "vsockOfTheHostIsNotReached",
                NETWORK,
                "a server of the host, by vsock, which has no namespaces",
                context -> List.of("vsock", context.one("vsock"), context.id()))
            .onlyOffline(),
        EscapeProbe.of(
                "onlyLoopbackIsThere",
                NETWORK,
                "a network interface other than loopback",
                context -> List.of("interfaces"))
            .onlyOffline(),
        EscapeProbe.of(
                "noRouteLeadsToTheMetadataService",
                NETWORK,
                "the metadata service of a cloud",
                context -> List.of("route", "169.254.169.254"))
            .onlyOffline(),
        EscapeProbe.of(
                "noRouteLeadsOut",
                NETWORK,
                "any other machine",
                context -> List.of("route", "198.51.100.1"))
            .onlyOffline(),
        traffic("trafficOfTheHostIsNotSeenByPackets", "sniff"),
        traffic("trafficOfTheHostIsNotSeenByRawSockets", "raw"),
        EscapeProbe.ofKernel(
                "interfacesAreNotChanged", NETWORK, "the network configuration", "links")
            .onlyOffline());
  }

  private static EscapeProbe server(String name, String program, String host, String port) {
    return EscapeProbe.of(
            name,
            NETWORK,
            "a server on the host's loopback",
            context -> List.of(program, host, context.one(port), context.id()))
        .onlyOffline();
  }

  private static EscapeProbe traffic(String name, String program) {
    return EscapeProbe.of(
            name, NETWORK, "the host's traffic", context -> List.of(program, context.id()))
        .onlyOffline();
  }
}
