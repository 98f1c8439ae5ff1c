package dev.isola.bench;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The environment of a benchmark run: the providers, the comparators and peers, and a scratch
 * folder.
 */
final class BenchEnvironment implements AutoCloseable {
  private final BenchPlan plan;
  private final TemporaryFolder scratch = TemporaryFolder.create("isola-bench");
  private final Thread hook = Thread.ofPlatform().unstarted(this::cleanUp);
  private final Optional<RawProgram> program;
  private final Map<String, Peer> peers = new LinkedHashMap<>();
  private final List<BenchProvider> benchProviders = new ArrayList<>();
  private final Map<String, BenchEngine> benchEngine = new LinkedHashMap<>();
  private final Map<String, BenchServer> benchServer = new LinkedHashMap<>();
  private final List<SkippedSubject> skippedSubjects = new ArrayList<>();
  private final List<ServerProcess> servers = new ArrayList<>();
  private final List<SnapshotBenchmarks.SnapshotTool> tools = new ArrayList<>();

  private BenchEnvironment(BenchPlan plan) throws IOException {
    this.plan = plan;
    Runtime.getRuntime().addShutdownHook(hook);
    program = RawProgram.install(scratch.path());
  }

  static BenchEnvironment open(BenchPlan plan) throws IOException, InterruptedException {
    BenchEnvironment environment = new BenchEnvironment(plan);
    try {
      environment.openProviders();
      return environment;
    } catch (RuntimeException | InterruptedException e) {
      environment.close();
      throw e;
    }
  }

  private void openProviders() throws InterruptedException {
    if (plan.against().contains("raw") && program.isEmpty()) {
      skippedSubjects.add(
          new SkippedSubject(
              "raw", "not built for " + System.getProperty("os.arch") + " (make -C bench)"));
    }
    for (String tool : List.of("cp", "tar", "restic")) {
      if (plan.against().contains(tool) && !LocalProgram.isInstalled(tool)) {
        skippedSubjects.add(new SkippedSubject(tool, "not installed"));
      }
    }
    if (plan.benchmarks().stream()
        .anyMatch(List.of("create", "warm", "exec", "files", "api")::contains)) {
      peers.putAll(Peers.open(plan, this, skippedSubjects));
    }
    for (ProviderFactory factory : plan.providers()) {
      try {
        benchProviders.add(BenchProvider.of(factory));
      } catch (RuntimeException e) {
        skippedSubjects.add(new SkippedSubject(factory.name(), String.valueOf(e.getMessage())));
      }
    }
  }

  Path folder() {
    return scratch.path();
  }

  /** Returns the static C program, for subjects that need a program without dependencies. */
  Optional<RawProgram> program() {
    return program;
  }

  /** Returns the C program as a comparator, if it is enabled. */
  Optional<RawProgram> raw() {
    return program.filter(found -> plan.against().contains("raw"));
  }

  /** Returns the peers by name. */
  Map<String, Peer> peers() {
    return peers;
  }

  /** Creates a subject from the Docker CLI. A failure is recorded as a skipped subject. */
  interface SubjectFactory {
    BenchSubject of(EngineCli docker) throws IOException, InterruptedException;
  }

  /**
   * Returns {@code docker cp} as a subject if it is enabled and works; otherwise records why it was
   * skipped.
   */
  List<BenchSubject> dockerCopySubjects(SubjectFactory making) {
    if (!(peers.get("docker") instanceof EngineCli docker)) {
      return List.of();
    }
    try {
      return List.of(making.of(docker));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      skippedSubjects.add(new SkippedSubject("docker cp", "interrupted"));
    } catch (IOException e) {
      skippedSubjects.add(new SkippedSubject("docker cp", String.valueOf(e.getMessage())));
    }
    return List.of();
  }

  /** Returns the versions of the peers, by name. */
  Map<String, String> versions() {
    Map<String, String> versions = new LinkedHashMap<>();
    peers.forEach((name, peer) -> versions.put(name, peer.version()));
    return versions;
  }

  /** Tells whether a comparator that is a local program is enabled. */
  boolean isEnabled(String comparator) {
    return plan.against().contains(comparator)
        && (comparator.equals("processbuilder")
            || comparator.equals("engine")
            || LocalProgram.isInstalled(comparator));
  }

  List<BenchProvider> providers() {
    return benchProviders;
  }

  /** Returns an engine with the provider; if there is none, records why it was skipped. */
  Optional<BenchEngine> engine(BenchProvider benchProvider) {
    try {
      return Optional.of(
          benchEngine.computeIfAbsent(
              benchProvider.name(),
              name ->
                  BenchEngine.open(
                      benchProvider.trial().factory(), folder().resolve(name + "-engine"))));
    } catch (RuntimeException e) {
      skippedSubjects.add(
          new SkippedSubject(
              benchProvider.name() + BenchEngine.SUFFIX, String.valueOf(e.getMessage())));
      return Optional.empty();
    }
  }

  /** Returns a server for that engine; if there is none, records why it was skipped. */
  Optional<BenchServer> server(BenchProvider benchProvider) {
    Optional<BenchEngine> opened = engine(benchProvider);
    try {
      return opened.map(
          one ->
              benchServer.computeIfAbsent(
                  benchProvider.name(), name -> BenchServer.open(name, one)));
    } catch (RuntimeException e) {
      skippedSubjects.add(
          new SkippedSubject(
              benchProvider.name() + BenchServer.SUFFIX, String.valueOf(e.getMessage())));
      return Optional.empty();
    }
  }

  /** Registers a tool to close before everything else. */
  synchronized void closeFirst(SnapshotBenchmarks.SnapshotTool snapshotTool) {
    tools.add(snapshotTool);
  }

  /** Registers a server to close with everything else, the newest first. */
  synchronized ServerProcess closeLast(ServerProcess server) {
    servers.addFirst(server);
    return server;
  }

  List<SkippedSubject> skipped() {
    return skippedSubjects;
  }

  @Override
  public void close() {
    try {
      benchServer.values().forEach(BenchServer::close);
      benchEngine.values().forEach(BenchEngine::close);
      benchProviders.forEach(BenchProvider::close);
    } finally {
      cleanUp();
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The JVM is already shutting down.
      }
    }
  }

  /** Removes containers and files. Sandboxes have shutdown hooks of their own. */
  private synchronized void cleanUp() {
    for (SnapshotBenchmarks.SnapshotTool snapshotTool : tools) {
      try {
        snapshotTool.close();
      } catch (IllegalStateException e) {
        skippedSubjects.add(
            new SkippedSubject(snapshotTool.name(), String.valueOf(e.getMessage())));
      }
    }
    tools.clear();
    for (Map.Entry<String, Peer> peer : peers.entrySet()) {
      try {
        peer.getValue().close();
      } catch (IllegalStateException e) {
        skippedSubjects.add(new SkippedSubject(peer.getKey(), String.valueOf(e.getMessage())));
      }
    }
    for (ServerProcess server : servers) {
      try {
        server.close();
      } catch (IllegalStateException e) {
        skippedSubjects.add(new SkippedSubject("peer", String.valueOf(e.getMessage())));
      }
    }
    servers.clear();
    scratch.close();
  }
}
