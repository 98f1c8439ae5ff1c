package dev.isola.bench;

import dev.isola.engine.Engine;
import dev.isola.engine.lifecycle.Order;
import dev.isola.engine.selection.Request;
import dev.isola.engine.snapshot.Forked;
import dev.isola.engine.snapshot.SnapshotImages;
import dev.isola.engine.snapshot.SnapshotOrder;
import dev.isola.engine.snapshot.SnapshotReport;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.Destroy;
import dev.isola.spi.Sandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** A sandbox with the tree in its workspace, whose engine keeps it. */
final class EngineKeeper implements SnapshotEvents.Keeper {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final long DISK_MB = 20_000;

  private final Housed housed;
  private final Engine engine;
  private final SandboxId source;
  private final List<SandboxId> made = new ArrayList<>();

  private EngineKeeper(Housed housed, SandboxId source) {
    this.housed = housed;
    this.engine = housed.engine();
    this.source = source;
  }

  static EngineKeeper open(Housed housed, SnapshotTree tree, List<Absent> absent) {
    Sandbox sandbox =
        housed.engine().create(Order.of(Request.of(spec().build(), housed.provider()))).sandbox();
    EngineKeeper keeper = new EngineKeeper(housed, sandbox.id());
    try {
      Process tar =
          new ProcessBuilder("tar", "cf", "-", "-C", tree.folder().toString(), ".")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try (InputStream archive = tar.getInputStream()) {
        sandbox.files().importTree(".", archive, TreeLimits.DEFAULT);
      }
    } catch (IOException e) {
      absent.add(new Absent(housed.name(), "the tree does not come in: " + e.getMessage()));
    }
    return keeper;
  }

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(RANDOM))
        .ttl(Duration.ofHours(2))
        .limits(ResourceLimits.DEFAULT.withDiskMb(DISK_MB));
  }

  @Override
  public String name() {
    return housed.name();
  }

  @Override
  public Volume full() {
    return again();
  }

  @Override
  public void forget() {
    for (Snapshot one : engine.snapshots().list()) {
      engine.snapshots().remove(one.id());
    }
    engine.snapshots().collect();
  }

  @Override
  public void change(String script) throws IOException {
    ExecResult result = engine.sandbox(source).run(Command.shell(script));
    if (!result.succeeded()) {
      throw new IOException("the tree does not change: " + result);
    }
  }

  @Override
  public Volume again() {
    SnapshotReport report = engine.snapshots().create(source, SnapshotOrder.WORKSPACE);
    return new Volume(report.snapshot().storedBytes(), OptionalLong.of(report.readBytes()));
  }

  @Override
  public void restore() throws IOException {
    String image = SnapshotImages.name(engine.snapshots().list().getLast().id());
    Order order = Order.of(Request.of(spec().image(image).build(), housed.provider()));
    answer(engine.create(order).sandbox());
  }

  @Override
  public void forkTen() throws IOException {
    for (Forked fork : engine.fork(source, 10)) {
      switch (fork) {
        case Forked.Made(var entry) -> answer(engine.sandbox(entry.id()));
        case Forked.Failed(var why) -> throw new IOException("a fork failed", why);
      }
    }
  }

  private void answer(Sandbox sandbox) throws IOException {
    made.add(sandbox.id());
    ExecResult result = sandbox.run(Command.shell("test -e large/f0"));
    if (!result.succeeded()) {
      throw new IOException("the tree is not there: " + result);
    }
  }

  @Override
  public void tidy() {
    made.forEach(id -> engine.destroy(id, Destroy.FORCE));
    made.clear();
  }

  @Override
  public void close() {
    // Its engine has drained.
  }
}
