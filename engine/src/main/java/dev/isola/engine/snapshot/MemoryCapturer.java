package dev.isola.engine.snapshot;

import dev.isola.codec.json.Json;
import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.Log;
import dev.isola.engine.lifecycle.SecretEnvStore;
import dev.isola.engine.snapshot.MemoryForkPolicy.Purpose;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.snapshot.SnapshotArchives;
import dev.isola.snapshot.SnapshotArchives.ArchiveContents;
import dev.isola.snapshot.SnapshotWriter;
import dev.isola.snapshot.manifest.Snapshot.ProcessSource;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.MemoryForking.MemoryForkPoint;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.SandboxEntry;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Captures the processes and files of one sandbox. They are frozen while the provider saves them,
 * and run while the engine stores what was saved.
 */
public record MemoryCapturer(MemoryForkPolicy policy, SecretEnvStore secrets, Log log) {
  /** A machine's memory and disk, with holes; the provider has created both. */
  private static final TreeLimits LIMITS = new TreeLimits(1L << 40, 1000);

  /** The result of a capture. */
  public record Result(ProcessSource source, Duration held, long readBytes) {}

  /**
   * Refuses a sandbox whose memory may not be stored, before anything is done to it.
   *
   * @throws dev.isola.spi.error.Unsupported if its provider does not save memory
   * @throws dev.isola.spi.error.Conflict if it has secret variables and that is not allowed
   */
  public void requireAllowed(SandboxEntry entry, boolean allowSecrets) {
    policy.requireSupport(entry, Purpose.SNAPSHOT);
    MemoryForkPolicy.requireNoSecrets(
        entry, secrets.get(entry.id()), Purpose.SNAPSHOT, allowSecrets);
  }

  /** Adds everything to the snapshot writer. If this throws, the sandbox keeps running. */
  public Result capture(
      SandboxEntry entry, Sandbox sandbox, CaptureProgress progress, SnapshotWriter writer) {
    MemoryForking memory =
        sandbox
            .as(MemoryForking.class)
            .orElseThrow(() -> policy.unsupported(entry, Purpose.SNAPSHOT));
    MemoryForkPoint point = memory.createForkPoint();
    try (InputStream archive = point.archive()) {
      TimeLimit time = new TimeLimit("the memory and files of sandbox " + entry.id());
      ArchiveContents contents =
          SnapshotArchives.importArchive(progress.wrap(time.wrap(archive)), writer, LIMITS);
      return new Result(source(entry), point.frozenFor(), contents.bytes());
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "what was saved of sandbox " + entry.id() + " cannot be read: " + e.getMessage(),
              "check the data folder of the server")
          .sandbox(entry.id())
          .exception(e);
    } finally {
      release(point, "of sandbox " + entry.id(), log);
    }
  }

  private ProcessSource source(SandboxEntry entry) {
    SandboxSpec spec =
        SpecCodec.decode(entry.spec(), entry.id()).spec().toBuilder()
            .clearImage()
            .clearInitialization()
            .build();
    Map<String, Object> document = new TreeMap<>(SpecDocument.toMap(CreateRequest.auto(spec)));
    document.remove("id");
    return new ProcessSource(
        Json.canonical(document),
        List.copyOf(MemoryForkPolicy.secretNames(entry, secrets.get(entry.id()))));
  }

  /**
   * Closes a fork point. A failure does not conceal what was created from it.
   *
   * @param what describes what was saved, for the log
   */
  public static void release(ForkPoint point, String what, Log log) {
    try {
      point.close();
    } catch (SandboxException e) {
      log.warning("what was saved " + what + " cannot be removed: " + e.fault().problem());
    }
  }
}
