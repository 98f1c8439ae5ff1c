package dev.isola.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** An OCI runtime alone: {@code runc run} of a bundle, without an engine. */
final class BareRuntime implements Peer {
  private static final int PACE = 20;
  private static final String UP = "isola-bench-up";

  private final String runtime;
  private final List<String> command;
  private final Bundle once;
  private final Bundle upBundle;
  private final String version;
  private final AtomicInteger runs = new AtomicInteger();
  private boolean up;

  private BareRuntime(
      String runtime, List<String> command, Bundle once, Bundle upBundle, String version) {
    this.runtime = runtime;
    this.command = command;
    this.once = once;
    this.upBundle = upBundle;
    this.version = version;
  }

  /**
   * @throws IOException if the runtime is not installed or does not work on this machine
   */
  static Peer open(String runtime, BenchEnvironment environment)
      throws IOException, InterruptedException {
    LocalProgram.requireInstalled(runtime);
    RawProgram raw =
        environment
            .program()
            .orElseThrow(() -> new IOException("isola-raw is not built (make -C bench)"));
    Path folder = environment.folder().resolve(runtime);
    Path root = Bundle.root(environment.folder(), raw);
    Bundle once = Bundle.make(folder.resolve("true"), root, "/bin/true");
    Bundle up = Bundle.make(folder.resolve("pause"), root, "/bin/pause");
    String version =
        LocalProgram.output(Map.of(), List.of(runtime, "--version")).lines().findFirst().orElse("");
    List<String> plain = command(runtime, folder.resolve("state"));
    BareRuntime found = new BareRuntime(runtime, plain, once, up, version);
    try {
      found.runOnce();
      return found;
    } catch (IOException e) {
      // Some runtimes refuse a host with both cgroup versions mounted; they work without the
      // second.
      List<String> alone = new ArrayList<>(List.of(raw.path().toString(), "without-cgroup2"));
      alone.addAll(plain);
      BareRuntime second = new BareRuntime(runtime, alone, once, up, version + " (cgroup2 hidden)");
      try {
        second.runOnce();
        return second;
      } catch (IOException again) {
        e.addSuppressed(again);
        throw e;
      }
    }
  }

  private static List<String> command(String runtime, Path state) {
    List<String> arguments = new ArrayList<>(List.of(runtime, "--root", state.toString()));
    if (runtime.equals("runsc")) {
      arguments.add("--network=none");
    }
    return arguments;
  }

  @Override
  public String version() {
    return version;
  }

  @Override
  public List<BenchSubject> createSubjects() {
    return List.of(BenchSubject.timed(runtime + " run", this::runOnce));
  }

  private void runOnce() throws IOException, InterruptedException {
    run("run", "--bundle", once.path().toString(), "isola-bench-" + runs.incrementAndGet());
  }

  @Override
  public List<BenchSubject> execSubjects() throws IOException, InterruptedException {
    if (!up) {
      up = true;
      run("run", "--detach", "--bundle", upBundle.path().toString(), UP);
    }
    return List.of(
        BenchSubject.timed(runtime + " exec", () -> run("exec", UP, "/bin/true")).withPace(PACE));
  }

  private void run(String... arguments) throws IOException, InterruptedException {
    LocalProgram.run(Map.of(), arguments(arguments));
  }

  private List<String> arguments(String... arguments) {
    List<String> all = new ArrayList<>(command);
    all.addAll(List.of(arguments));
    return all;
  }

  @Override
  public void close() {
    if (up) {
      LocalProgram.cleanUp(Map.of(), arguments("delete", "--force", UP));
      up = false;
    }
  }
}
