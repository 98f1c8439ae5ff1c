package dev.isola.host.launch;

import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Violation;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The sockets of container engines on the host. A sandbox with access to one, even read-only, is
 * effectively root on the host, so no folder that contains one may be mounted in a sandbox.
 *
 * @param configured sockets named by the operator, whether they exist or not
 * @param wellKnown default sockets, which count only if they exist
 */
public record ContainerEngineSockets(List<Path> configured, List<Path> wellKnown) {
  private static final List<String> SYSTEM_SOCKETS =
      List.of(
          "/run/docker.sock",
          "/var/run/docker.sock",
          "/run/podman/podman.sock",
          "/run/containerd/containerd.sock",
          "/run/docker/containerd/containerd.sock",
          "/run/crio/crio.sock");
  private static final List<String> SESSION_SOCKETS = List.of("docker.sock", "podman/podman.sock");
  private static final List<String> HOME_SOCKETS =
      List.of(".docker/run/docker.sock", ".docker/desktop/docker.sock");
  private static final String UNIX = "unix://";

  /** Returns the sockets of the host according to the environment of this process. */
  public static ContainerEngineSockets ofHost() {
    return of(System.getenv(), Path.of(System.getProperty("user.home", "/")));
  }

  static ContainerEngineSockets of(Map<String, String> env, Path home) {
    List<Path> named = new ArrayList<>();
    for (String name : List.of("DOCKER_HOST", "CONTAINER_HOST")) {
      Optional.ofNullable(env.get(name))
          .filter(host -> host.startsWith(UNIX + "/"))
          .ifPresent(host -> named.add(Path.of(host.substring(UNIX.length()))));
    }
    List<Path> usual = new ArrayList<>();
    SYSTEM_SOCKETS.forEach(path -> usual.add(Path.of(path)));
    Optional.ofNullable(env.get("XDG_RUNTIME_DIR"))
        .ifPresent(run -> SESSION_SOCKETS.forEach(path -> usual.add(Path.of(run).resolve(path))));
    HOME_SOCKETS.forEach(path -> usual.add(home.resolve(path)));
    return new ContainerEngineSockets(List.copyOf(named), List.copyOf(usual));
  }

  /** Returns a copy with an additional configured socket. */
  public ContainerEngineSockets with(Path socket) {
    List<Path> more = new ArrayList<>(configured);
    more.add(socket);
    return new ContainerEngineSockets(List.copyOf(more), wellKnown);
  }

  /** Returns the fields of a spec that would expose such a socket to the sandbox. */
  public List<Violation> violations(SandboxSpec spec) {
    List<Violation> found = new ArrayList<>();
    spec.workspacePath().ifPresent(path -> check("workspacePath", path, found));
    for (VolumeMount volume : spec.volumes()) {
      if (volume.type() == VolumeMount.Type.BIND) {
        check("volumes", Path.of(volume.source()), found);
      }
    }
    return found;
  }

  private void check(String field, Path source, List<Violation> found) {
    exposedBy(source)
        .ifPresent(
            socket ->
                found.add(
                    new Violation(
                        field,
                        "would expose the socket of a container engine to the sandbox ("
                            + socket
                            + "), which is equivalent to root on the host: "
                            + source)));
  }

  private Optional<Path> exposedBy(Path source) {
    return configured.stream()
        .filter(socket -> exposes(source, socket))
        .findFirst()
        .or(
            () ->
                wellKnown.stream()
                    .filter(socket -> Files.exists(socket) && exposes(source, socket))
                    .findFirst());
  }

  /** Compares files instead of names, because symbolic links and mounts have other names. */
  private static boolean exposes(Path source, Path socket) {
    try {
      for (Path at = realPath(socket); at != null; at = at.getParent()) {
        if (Files.exists(at) && Files.isSameFile(at, source)) {
          return true;
        }
      }
      return false;
    } catch (IOException e) {
      return true; // unknown: assume the worst
    }
  }

  /** Resolves symbolic links of the part of a path that exists. */
  private static Path realPath(Path socket) {
    Path whole = socket.toAbsolutePath().normalize();
    try {
      return whole.toRealPath();
    } catch (IOException notThere) {
      @Nullable Path parent = whole.getParent();
      return parent == null ? whole : realPath(parent).resolve(whole.getFileName());
    }
  }
}
