package dev.isola.host.launch;

import dev.isola.host.image.Image;
import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The properties in which a sandbox must equal another to continue its processes, one in each line.
 */
public record SandboxShape(List<String> lines) {
  /** Every change of packages replaces it. */
  private static final Path PACKAGES = Path.of("/var/lib/dpkg/status");

  private static final String OBSTACLE = "obstacle: ";

  /**
   * @param runtime what restores it
   * @param agent the program of its agent, whose name has its digest
   */
  public static SandboxShape of(SandboxSpec spec, Optional<Image> image, String runtime, Path agent)
      throws IOException {
    return new SandboxShape(
        List.of(
            "runtime: " + runtime,
            "architecture: " + System.getProperty("os.arch"),
            "agent: " + agent.getFileName(),
            "image: " + image.map(Image::digest).orElse("the host's root" + hostRoot()),
            "workspace: " + spec.workspaceMount(),
            "working folder: " + spec.workingFolder(),
            "user: " + spec.user().orElse("default"),
            "limits: " + spec.limits(),
            "network: " + NetworkRecord.of(spec).mode(),
            "volumes: " + spec.volumes(),
            OBSTACLE + obstacleOf(spec)));
  }

  /**
   * Returns what changes when packages of the host are changed: processes have its programs and
   * libraries in memory.
   */
  private static String hostRoot() throws IOException {
    return Files.exists(PACKAGES) ? " of " + Files.getLastModifiedTime(PACKAGES) : "";
  }

  private static String obstacleOf(SandboxSpec spec) {
    if (spec.workspacePath().isPresent()) {
      return "its workspace is a folder of the host";
    }
    if (spec.volumes().stream().anyMatch(volume -> volume.type() != VolumeMount.Type.TMPFS)) {
      return "it uses a volume";
    }
    return switch (NetworkRecord.of(spec).mode()) {
      case NONE, FILTERED -> ""; // what a copy has open ends with the agent's connection
      case BRIDGE, HOST -> "it uses a network";
    };
  }

  /** Returns why such a sandbox cannot be saved; empty if it can. */
  public Optional<String> obstacle() {
    return Optional.of(lines.getLast().substring(OBSTACLE.length()))
        .filter(text -> !text.isEmpty());
  }

  /** Returns the first property in which another shape differs. */
  public Optional<String> difference(SandboxShape other) {
    for (int i = 0; i < lines.size() && i < other.lines.size(); i++) {
      if (!lines.get(i).equals(other.lines.get(i))) {
        return Optional.of(lines.get(i) + ", not " + other.lines.get(i));
      }
    }
    return Optional.empty();
  }

  public void write(Path folder) throws IOException {
    Files.write(folder.resolve("shape"), lines);
  }

  public static SandboxShape read(Path folder) throws IOException {
    return new SandboxShape(Files.readAllLines(folder.resolve("shape")));
  }

  static SandboxShape read(SandboxFolder folder) throws IOException {
    return read(folder.path());
  }
}
