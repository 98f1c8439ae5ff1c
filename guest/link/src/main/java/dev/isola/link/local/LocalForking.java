package dev.isola.link.local;

import dev.isola.link.local.Booter.Frozen;
import dev.isola.link.local.SandboxFolders.Known;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;

/**
 * Forks local sandboxes whose booter can let several share a workspace's files.
 *
 * @param create makes a sandbox that begins with layers
 */
record LocalForking(
    Booter booter,
    SandboxFolders folders,
    Turns turns,
    BiFunction<SandboxSpec, List<String>, Sandbox> create) {

  /** Returns what one sandbox can. */
  Forking of(SandboxId id) {
    return () -> turns.take(id, () -> freeze(id));
  }

  private Forking.Origin freeze(SandboxId id) {
    Known known =
        folders
            .find(id)
            .filter(found -> !found.record().stopped() && found.record().agent().isPresent())
            .orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.CONFLICT,
                            "sandbox " + id + " does not run",
                            "resume it, or create a new one")
                        .sandbox(id)
                        .exception());
    try {
      AgentProcess agent = known.record().agent().orElseThrow();
      return new Origin(id, booter.freeze(id, known.folder(), agent));
    } catch (IOException e) {
      throw failed(id, "shared", e);
    }
  }

  private static SandboxException failed(SandboxId id, String what, IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the files of sandbox " + id + " cannot be " + what + ": " + e.getMessage(),
            "take a snapshot and create sandboxes from it")
        .sandbox(id)
        .exception(e);
  }

  private final class Origin implements Forking.Origin {
    private final SandboxId source;
    private final Frozen frozen;

    private Origin(SandboxId source, Frozen frozen) {
      this.source = source;
      this.frozen = frozen;
    }

    @Override
    public Duration held() {
      return frozen.held();
    }

    @Override
    public Sandbox create(SandboxSpec spec) {
      return create.apply(spec, frozen.layers());
    }

    @Override
    public void close() {
      try {
        booter.letGo(frozen);
      } catch (IOException e) {
        throw failed(source, "let go", e);
      }
    }
  }
}
