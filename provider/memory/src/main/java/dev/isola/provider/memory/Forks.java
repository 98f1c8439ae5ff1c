package dev.isola.provider.memory;

import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting.Picture;
import dev.isola.spi.capability.Snapshotting.Wanted;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Forks of a sandbox in memory. Everything is copied; nobody is in the way of that.
 *
 * @param create makes a sandbox of the same provider
 */
record Forks(MemorySandbox sandbox, Function<SandboxSpec, Sandbox> create) implements Forking {
  @Override
  public Origin freeze() {
    sandbox.checkAlive();
    byte[] now = taken();
    boolean late = sandbox.faults().has(PlantedFault.FORKS_SEE_LATER_WRITES);
    return new Copied(late ? this::taken : () -> now);
  }

  private byte[] taken() {
    try (Picture picture = new Pictures(sandbox).take(Wanted.of(".").held())) {
      return picture.archive().readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private final class Copied implements Origin {
    private final Supplier<byte[]> files;

    private Copied(Supplier<byte[]> files) {
      this.files = files;
    }

    @Override
    public Duration held() {
      return Duration.ZERO;
    }

    @Override
    public Sandbox create(SandboxSpec spec) {
      Sandbox made = create.apply(spec);
      made.as(Snapshotting.class)
          .orElseThrow()
          .restore(".", new ByteArrayInputStream(files.get()), TreeLimits.DEFAULT);
      return made;
    }

    @Override
    public void close() {}
  }
}
