package dev.isola.bench;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.Engine;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.SnapshotReport;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;

/** Snapshots by the engine, of a sandbox with the tree in its workspace. */
final class EngineSnapshotTool implements SnapshotBenchmarks.SnapshotTool {
  private static final Duration LIFETIME = Duration.ofHours(2);

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final long DISK_MB = 20_000;
  private static final Command REMOTE_NAME = Command.argv("test", "-e", "small/0/f0");
  private static final Duration PAUSE = Duration.ofMillis(500);
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WARM_UP = 400;
  private static final int WARM_FORKS = 80;

  private final BenchEngine benchEngine;
  private final Engine engine;
  private final SandboxId source;
  private final List<SandboxId> made = new ArrayList<>();

  private EngineSnapshotTool(BenchEngine benchEngine, SandboxId source) {
    this.benchEngine = benchEngine;
    this.engine = benchEngine.engine();
    this.source = source;
  }

  static EngineSnapshotTool open(
      BenchEngine benchEngine, SnapshotTree tree, List<SkippedSubject> skippedSubjects) {
    Sandbox sandbox = create(benchEngine);
    EngineSnapshotTool snapshotTool = new EngineSnapshotTool(benchEngine, sandbox.id());
    try {
      snapshotTool.warmUp();
      Process tar =
          new ProcessBuilder("tar", "cf", "-", "-C", tree.folder().toString(), ".")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try (InputStream archive = tar.getInputStream()) {
        sandbox.files().importTree(".", archive, TreeLimits.DEFAULT);
      }
      awaitCompiler();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      skippedSubjects.add(
          new SkippedSubject(benchEngine.name(), "the tree cannot be imported: " + e.getMessage()));
    }
    return snapshotTool;
  }

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(RANDOM))
        .limits(ResourceLimits.DEFAULT.withDiskMb(DISK_MB));
  }

  /**
   * Creates sandboxes and forks until the JIT compiler is done with that code, as on a server that
   * has been running for a while.
   */
  private void warmUp() throws IOException, InterruptedException {
    Parallel.run(
        () -> {
          Sandbox one = create(benchEngine);
          one.run(Command.argv("true"));
          engine.sandboxes().destroy(one.id(), DestroyOptions.FORCE);
        },
        WARM_UP,
        10);
    if (engine.sandboxes().get(source).as(Forking.class).isPresent()) {
      warmUpForks();
    }
  }

  private static Sandbox create(BenchEngine benchEngine) {
    CreateRequest request = CreateRequest.of(spec().build(), benchEngine.provider());
    return benchEngine
        .engine()
        .creator()
        .create(SandboxRequest.of(request.withTtl(LIFETIME)))
        .sandbox();
  }

  private void warmUpForks() throws IOException, InterruptedException {
    Sandbox other = create(benchEngine);
    for (int i = 0; i < WARM_FORKS; i++) {
      other.run(Command.shell("echo " + i + " > file"));
      forkTen(other.id(), Command.argv("test", "-e", "file"));
      cleanUp();
    }
    engine.sandboxes().destroy(other.id(), DestroyOptions.FORCE);
  }

  /**
   * Waits for compilations that earlier work caused, so that they do not affect the measurement.
   */
  private static void awaitCompiler() throws InterruptedException {
    CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    if (compiler == null || !compiler.isCompilationTimeMonitoringSupported()) {
      return;
    }
    long end = System.nanoTime() + TIMEOUT.toNanos();
    long before;
    do {
      before = compiler.getTotalCompilationTime();
      Thread.sleep(PAUSE);
    } while (compiler.getTotalCompilationTime() - before > PAUSE.toMillis() / 20
        && System.nanoTime() < end);
  }

  @Override
  public String name() {
    return benchEngine.name();
  }

  @Override
  public BytesMoved captureFull() {
    return captureChanged();
  }

  @Override
  public void discard() {
    for (Snapshot one : engine.snapshots().list()) {
      engine.snapshots().remove(one.id());
    }
    engine.snapshots().collect();
  }

  @Override
  public void change(String script) throws IOException {
    ExecResult result = engine.sandboxes().get(source).run(Command.shell(script));
    if (!result.succeeded()) {
      throw new IOException("the tree cannot be changed: " + result);
    }
  }

  @Override
  public BytesMoved captureChanged() {
    SnapshotReport report = engine.snapshots().create(source, SnapshotRequest.WORKSPACE);
    return new BytesMoved(report.snapshot().storedBytes(), OptionalLong.of(report.readBytes()));
  }

  @Override
  public void restore() throws IOException {
    String image = SnapshotImageName.of(engine.snapshots().list().getLast().id());
    SandboxRequest order =
        SandboxRequest.of(
            CreateRequest.of(spec().image(image).build(), benchEngine.provider())
                .withTtl(LIFETIME));
    Sandbox sandbox = engine.creator().create(order).sandbox();
    made.add(sandbox.id());
    answer(sandbox, REMOTE_NAME);
  }

  @Override
  public void forkTen() throws IOException, InterruptedException {
    forkTen(source, REMOTE_NAME);
  }

  private void forkTen(SandboxId origin, Command question)
      throws IOException, InterruptedException {
    List<SandboxId> forks = new ArrayList<>();
    for (ForkResult fork : engine.forks().fork(origin, ForkRequest.of(10))) {
      switch (fork) {
        case ForkResult.Created(var entry, var by) -> forks.add(entry.id());
        case ForkResult.Failed(var why) -> throw new IOException("a fork failed", why);
      }
    }
    made.addAll(forks);
    Iterator<SandboxId> next = forks.iterator();
    Parallel.run(
        () -> answer(engine.sandboxes().get(another(next)), question), forks.size(), forks.size());
  }

  private static SandboxId another(Iterator<SandboxId> next) {
    synchronized (next) {
      return next.next();
    }
  }

  private static void answer(Sandbox sandbox, Command question) throws IOException {
    ExecResult result = sandbox.run(question);
    if (!result.succeeded()) {
      throw new IOException("the tree is missing: " + result);
    }
  }

  @Override
  public void cleanUp() {
    made.forEach(id -> engine.sandboxes().destroy(id, DestroyOptions.FORCE));
    made.clear();
  }

  @Override
  public void close() {
    // The engine is already draining.
  }
}
