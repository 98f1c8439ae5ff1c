package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.Probe.Topic.NETWORK;

import java.util.List;

/**
 * Servers and traffic of the host, from a sandbox without a network. Nothing leaves the machine.
 */
final class NetworkProbes {
  private NetworkProbes() {}

  static List<Probe> all() {
    return List.of(
        server("loopbackOfTheHostIsNotReachedByTcp", "tcp", "127.0.0.1", "tcp"),
        server("loopbackOfTheHostIsNotReachedByIpv6", "tcp", "::1", "tcp6"),
        server("loopbackOfTheHostIsNotReachedByUdp", "udp", "127.0.0.1", "udp"),
        Probe.of(
            "socketFilesOfTheHostAreNotReached",
            NETWORK,
            "a server of the host, by the path of its socket",
            scene -> List.of("unix", scene.one("unix"), scene.id())),
        Probe.of(
                "abstractSocketsOfTheHostAreNotReached",
                NETWORK,
                "a server of the host, by a name that is in no file system",
                scene -> {
                  scene.one("abstract");
                  return List.of("abstract", scene.id());
                })
            .whereOffline(),
        Probe.of(
            "daemonsAreNotReached",
            NETWORK,
            "daemons that do as they are told",
            scene ->
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
        Probe.of(
                "vsockOfTheHostIsNotReached",
                NETWORK,
                "a server of the host, by vsock, which knows no namespace",
                scene -> List.of("vsock", scene.one("vsock"), scene.id()))
            .whereOffline(),
        Probe.of(
                "onlyLoopbackIsThere",
                NETWORK,
                "an interface that leads further",
                scene -> List.of("interfaces"))
            .whereOffline(),
        Probe.of(
                "noRouteLeadsToTheMetadataService",
                NETWORK,
                "the credentials of a cloud's machine",
                scene -> List.of("route", "169.254.169.254"))
            .whereOffline(),
        Probe.of(
                "noRouteLeadsOut",
                NETWORK,
                "any other machine",
                scene -> List.of("route", "198.51.100.1"))
            .whereOffline(),
        traffic("trafficOfTheHostIsNotSeenByPackets", "sniff"),
        traffic("trafficOfTheHostIsNotSeenByRawSockets", "raw"),
        Probe.ofKernel("interfacesAreNotChanged", NETWORK, "the set-up of the network", "links")
            .whereOffline());
  }

  private static Probe server(String name, String program, String host, String port) {
    return Probe.of(
            name,
            NETWORK,
            "a server on the host's loopback",
            scene -> List.of(program, host, scene.one(port), scene.id()))
        .whereOffline();
  }

  private static Probe traffic(String name, String program) {
    return Probe.of(name, NETWORK, "the host's traffic", scene -> List.of(program, scene.id()))
        .whereOffline();
  }
}
