package dev.isola.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** The CLI of a container engine, as a user types it: {@code docker run --rm IMAGE true}. */
final class EngineCli implements Peer {
  private static final int PACE = 40;
  private static final String SLEEP_SECONDS = "7200";

  private final String command;
  private final String version;
  private final String image;
  private final Map<String, String> environment;
  private final boolean bridged;
  private String container = "";

  private EngineCli(
      String command,
      String version,
      String image,
      Map<String, String> environment,
      boolean bridged) {
    this.command = command;
    this.version = version;
    this.image = image;
    this.environment = environment;
    this.bridged = bridged;
  }

  /**
   * @throws IOException if the command is not installed, no engine responds, or the engine lacks
   *     the image
   */
  static Peer docker(BenchPlan.Engines engines) throws IOException, InterruptedException {
    Map<String, String> environment = Map.of("DOCKER_HOST", engines.docker());
    LocalProgram.requireInstalled("docker");
    String version =
        LocalProgram.output(
            environment,
            List.of(
                "docker",
                "version",
                "--format",
                "client {{.Client.Version}}, engine {{.Server.Version}}"));
    return new EngineCli("docker", version.strip(), engines.image(), environment, true).withImage();
  }

  /** Like {@link #docker}; podman needs no running engine. */
  static Peer podman(BenchPlan.Engines engines) throws IOException, InterruptedException {
    LocalProgram.requireInstalled("podman");
    String version =
        LocalProgram.output(
            Map.of(),
            List.of(
                "podman", "info", "--format", "{{.Version.Version}}, {{.Host.OCIRuntime.Name}}"));
    return new EngineCli("podman", version.strip(), engines.image(), Map.of(), false).withImage();
  }

  private Peer withImage() throws IOException, InterruptedException {
    try {
      run("image", "inspect", "--format", "{{.Id}}", image);
    } catch (IOException e) {
      throw new IOException(
          "has no image " + image + "; " + command + " pull it, or name another with --image", e);
    }
    return this;
  }

  @Override
  public String version() {
    return version;
  }

  @Override
  public List<BenchSubject> createSubjects() {
    List<BenchSubject> subjects = new ArrayList<>();
    subjects.add(BenchSubject.timed(command + " run", () -> run("run", "--rm", image, "true")));
    if (bridged) {
      // The comparison for a sandbox without a network.
      subjects.add(
          BenchSubject.timed(
              command + " run, no net",
              () -> run("run", "--rm", "--network", "none", image, "true")));
    }
    return subjects;
  }

  @Override
  public List<BenchSubject> execSubjects() throws IOException, InterruptedException {
    if (container.isEmpty()) {
      String name = "isola-bench-" + HexFormat.of().toHexDigits(new SecureRandom().nextLong());
      run("run", "--detach", "--name", name, image, "sleep", SLEEP_SECONDS);
      container = name;
    }
    return List.of(
        BenchSubject.timed(command + " exec", () -> run("exec", container, "true")).withPace(PACE));
  }

  /**
   * Returns a subject that copies a file into or out of a container.
   *
   * @throws IOException if no container can be started
   */
  BenchSubject copySubject(Path from, Path to, boolean in)
      throws IOException, InterruptedException {
    execSubjects();
    String there = container + ":/tmp/isola-bench-file";
    if (in) {
      return BenchSubject.timed(
          command + " cp", () -> run("cp", "--quiet", from.toString(), there));
    }
    run("cp", "--quiet", from.toString(), there);
    return BenchSubject.timed(command + " cp", () -> run("cp", "--quiet", there, to.toString()));
  }

  /**
   * Returns a subject that copies a folder into a container, to a new path each time.
   *
   * @throws IOException if no container can be started
   */
  BenchSubject treeUploadSubject(Path from) throws IOException, InterruptedException {
    execSubjects();
    AtomicInteger round = new AtomicInteger();
    return BenchSubject.timed(
        command + " cp",
        () -> run("cp", "--quiet", from.toString(), tree() + round.incrementAndGet()));
  }

  /**
   * Returns a subject that copies the folder out again, each time to a new path from {@code
   * target}.
   */
  BenchSubject treeDownloadSubject(Path from, Target target)
      throws IOException, InterruptedException {
    execSubjects();
    run("cp", "--quiet", from.toString(), tree());
    return BenchSubject.timed(
        command + " cp", () -> run("cp", "--quiet", tree(), target.make().toString()));
  }

  /** Creates a local target folder. */
  interface Target {
    Path make() throws IOException;
  }

  private String tree() {
    return container + ":/tmp/isola-bench-tree";
  }

  private void run(String... arguments) throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(List.of(arguments));
    LocalProgram.run(environment, all);
  }

  @Override
  public void close() {
    if (!container.isEmpty()) {
      LocalProgram.cleanUp(environment, List.of(command, "rm", "--force", container));
      container = "";
    }
  }
}
