package dev.isola.testing.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A real Kubernetes cluster: the one in whose environment the tests run ({@code
 * testing/cluster-here.sh COMMAND}), otherwise, in {@code ./check --long}, a private one, which the
 * tests of a JVM share, if its programs are cached. Building them takes a quarter of an hour, so a
 * test never does.
 *
 * @param kubeconfig the file with which an administrator reaches it
 * @param path the search path with kubectl
 * @param image an image with a shell and Python that the nodes have
 */
public record TestCluster(Path kubeconfig, String path, String image) {
  private static final String SCRIPT = "testing/cluster-here.sh";
  private static final long END_SECONDS = 60;

  private static final class Shared {
    static final Outcome OUTCOME = find();
  }

  /** Either a cluster, or why there is none. */
  private record Outcome(@Nullable TestCluster cluster, String missing) {}

  /** Returns why there is no cluster, or empty if there is one. Starts it. */
  public static Optional<String> missing() {
    return Shared.OUTCOME.cluster() == null
        ? Optional.of("NOT RUN: no cluster: " + Shared.OUTCOME.missing())
        : Optional.empty();
  }

  /** Returns the cluster; {@link #missing} must have returned empty. */
  public static TestCluster get() {
    return Objects.requireNonNull(Shared.OUTCOME.cluster(), "missing() was not asked");
  }

  private static Outcome find() {
    String kubeconfig = System.getenv("KUBECONFIG");
    String image = System.getenv("ISOLA_TEST_IMAGE");
    String path = Objects.requireNonNullElse(System.getenv("PATH"), "");
    if (kubeconfig != null && image != null) {
      return new Outcome(new TestCluster(Path.of(kubeconfig), path, image), "");
    }
    if (!Boolean.getBoolean("isola.long")) {
      return new Outcome(null, "./check --long starts one, and so does " + SCRIPT);
    }
    Optional<Path> root = root();
    if (root.isEmpty()) {
      return new Outcome(null, "there is no " + SCRIPT);
    }
    Optional<String> missing = missingHere(root.get());
    return missing.isPresent() ? new Outcome(null, missing.get()) : start(root.get());
  }

  private static Optional<Path> root() {
    Path folder = Path.of("").toAbsolutePath();
    while (folder != null && !Files.isExecutable(folder.resolve(SCRIPT))) {
      folder = folder.getParent();
    }
    return Optional.ofNullable(folder);
  }

  private static Optional<String> missingHere(Path root) {
    if (!System.getProperty("user.name", "").equals("root")) {
      return Optional.of("a node needs root");
    }
    String cache =
        Objects.requireNonNullElse(
            System.getenv("XDG_CACHE_HOME"), System.getProperty("user.home") + "/.cache");
    Path programs = Path.of(cache, "isola/cluster", version(root));
    if (!Files.isDirectory(programs)) {
      return Optional.of("its programs are not built; " + SCRIPT + " true builds them");
    }
    boolean tree =
        Files.exists(root.resolve("target/debian/cluster.tar"))
            || Files.isExecutable(Path.of("/usr/bin/mmdebstrap"));
    return tree ? Optional.empty() : Optional.of("mmdebstrap is not installed");
  }

  private static String version(Path root) {
    try {
      Process shell =
          new ProcessBuilder("sh", "-c", ". testing/cluster/versions.sh; echo $CLUSTER_VERSION")
              .directory(root.toFile())
              .start();
      return new String(shell.getInputStream().readAllBytes(), UTF_8).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Two nodes. The cluster ends when the standard input of its command does, at the latest with
   * this JVM.
   */
  private static Outcome start(Path root) {
    try {
      ProcessBuilder builder =
          new ProcessBuilder(
                  root.resolve(SCRIPT).toString(),
                  "sh",
                  "-c",
                  "echo $KUBECONFIG; echo $PATH; echo $ISOLA_TEST_IMAGE; exec cat > /dev/null")
              .redirectError(ProcessBuilder.Redirect.INHERIT);
      builder.environment().put("ISOLA_CLUSTER_NODES", "2");
      builder.environment().put("ISOLA_CLUSTER_AGENT_SANDBOX", "cached");
      Process script = builder.start();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> end(script)));
      BufferedReader out =
          new BufferedReader(new InputStreamReader(script.getInputStream(), UTF_8));
      String kubeconfig = out.readLine();
      String path = out.readLine();
      String image = out.readLine();
      return kubeconfig == null || path == null || image == null
          ? new Outcome(null, "it did not start")
          : new Outcome(new TestCluster(Path.of(kubeconfig), path, image), "");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void end(Process script) {
    try {
      script.getOutputStream().close();
      if (!script.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        script.destroy();
      }
    } catch (IOException | InterruptedException e) {
      script.destroy();
    }
  }

  /** Returns kubectl with these arguments, as an administrator of the cluster. */
  public ProcessBuilder kubectlProcess(String... words) {
    List<String> command = new ArrayList<>(List.of("sh", "-c", "exec kubectl \"$@\"", "sh"));
    command.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("KUBECONFIG", kubeconfig.toString());
    builder.environment().put("PATH", path);
    return builder;
  }

  /**
   * Runs kubectl and returns its output.
   *
   * @throws IOException if it fails
   */
  public String kubectl(String... words) throws IOException, InterruptedException {
    Process process = kubectlProcess(words).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
    if (process.waitFor() != 0) {
      throw new IOException("kubectl " + String.join(" ", words) + ": " + output);
    }
    return output;
  }

  /**
   * Sends a signal to the kubelet of a node of a private cluster.
   *
   * @param signal as kill names it: STOP cuts the node off, CONT brings it back
   */
  public void signalKubelet(String node, String signal) throws IOException, InterruptedException {
    String config = kubeconfig.resolveSibling(node).resolve("kubelet.yaml").toString();
    List<String> command = new ArrayList<>(List.of("kill", "-" + signal));
    ProcessHandle.allProcesses()
        .filter(process -> process.info().commandLine().orElse("").contains(config))
        .forEach(process -> command.add(Long.toString(process.pid())));
    Process kill = new ProcessBuilder(command).inheritIO().start();
    if (kill.waitFor() != 0) {
      throw new IOException("no kubelet of " + node + " got the signal " + signal);
    }
  }
}
