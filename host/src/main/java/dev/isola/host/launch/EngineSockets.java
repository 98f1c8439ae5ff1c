package dev.isola.host.launch;

import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Violation;
import dev.isola.spi.spec.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The sockets of container engines on this machine. A sandbox that has one is root of the machine,
 * also where it is mounted read only, so no folder is given to a sandbox in which one is.
 *
 * @param named by an operator: whether they are there now or not
 * @param usual where engines listen: those that are there
 */
public record EngineSockets(List<Path> named, List<Path> usual) {
  private static final List<String> EVERYBODYS =
      List.of(
          "/run/docker.sock",
          "/var/run/docker.sock",
          "/run/podman/podman.sock",
          "/run/containerd/containerd.sock",
          "/run/docker/containerd/containerd.sock",
          "/run/crio/crio.sock");
  private static final List<String> OF_A_SESSION = List.of("docker.sock", "podman/podman.sock");
  private static final List<String> OF_A_HOME =
      List.of(".docker/run/docker.sock", ".docker/desktop/docker.sock");
  private static final String UNIX = "unix://";

  /** Returns those of this machine, as this process sees it. */
  public static EngineSockets here() {
    return of(System.getenv(), Path.of(System.getProperty("user.home", "/")));
  }

  static EngineSockets of(Map<String, String> env, Path home) {
    List<Path> named = new ArrayList<>();
    for (String name : List.of("DOCKER_HOST", "CONTAINER_HOST")) {
      Optional.ofNullable(env.get(name))
          .filter(host -> host.startsWith(UNIX + "/"))
          .ifPresent(host -> named.add(Path.of(host.substring(UNIX.length()))));
    }
    List<Path> usual = new ArrayList<>();
    EVERYBODYS.forEach(path -> usual.add(Path.of(path)));
    Optional.ofNullable(env.get("XDG_RUNTIME_DIR"))
        .ifPresent(run -> OF_A_SESSION.forEach(path -> usual.add(Path.of(run).resolve(path))));
    OF_A_HOME.forEach(path -> usual.add(home.resolve(path)));
    return new EngineSockets(List.copyOf(named), List.copyOf(usual));
  }

  /** Returns these and one more that is used. */
  public EngineSockets and(Path socket) {
    List<Path> more = new ArrayList<>(named);
    more.add(socket);
    return new EngineSockets(List.copyOf(more), usual);
  }

  /** Returns what of the host a spec would show to a sandbox although such a socket is in it. */
  public List<Violation> violations(SandboxSpec spec) {
    List<Violation> found = new ArrayList<>();
    spec.workspacePath().ifPresent(path -> look("workspacePath", path, found));
    for (Volume volume : spec.volumes()) {
      if (volume.type() == Volume.Type.BIND) {
        look("volumes", Path.of(volume.source()), found);
      }
    }
    return found;
  }

  private void look(String field, Path source, List<Violation> found) {
    shown(source)
        .ifPresent(
            socket ->
                found.add(
                    new Violation(
                        field,
                        "would give the sandbox the socket of a container engine ("
                            + socket
                            + "), by which it is root of this machine: "
                            + source)));
  }

  private Optional<Path> shown(Path source) {
    return named.stream()
        .filter(socket -> shows(source, socket))
        .findFirst()
        .or(
            () ->
                usual.stream()
                    .filter(socket -> Files.exists(socket) && shows(source, socket))
                    .findFirst());
  }

  /** By what the folders are and not by their names: links and mounts have others. */
  private static boolean shows(Path source, Path socket) {
    try {
      for (Path at = real(socket); at != null; at = at.getParent()) {
        if (Files.exists(at) && Files.isSameFile(at, source)) {
          return true;
        }
      }
      return false;
    } catch (IOException e) {
      return true; // nobody knows, so it is not given
    }
  }

  /** Returns where it really is, as far as it is there. */
  private static Path real(Path socket) {
    Path whole = socket.toAbsolutePath().normalize();
    try {
      return whole.toRealPath();
    } catch (IOException notThere) {
      @Nullable Path parent = whole.getParent();
      return parent == null ? whole : real(parent).resolve(whole.getFileName());
    }
  }
}
