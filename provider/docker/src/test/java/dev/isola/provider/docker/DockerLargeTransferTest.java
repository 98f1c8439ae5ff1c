package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.UniqueResources;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Output;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Large transfers in constant memory: 5 GB of output, a file of 1 GiB and 10,000 files in {@code
 * ./check --long}, and a twentieth of that otherwise.
 */
@Timeout(900)
@ExtendWith(SharedEngine.class)
@Tag("all")
class DockerLargeTransferTest {
  private static final int SHARE = Boolean.getBoolean("isola.long") ? 1 : 20;
  private static final long OUTPUT = 5_000_000_000L / SHARE;
  private static final long FILE = (1L << 30) / SHARE;
  private static final int FILES = 10_000 / SHARE;
  private static final long SOME = 64L << 20;
  private static final int ATTEMPTS = 5;

  private final TemporaryFolder data = TemporaryFolder.create("isola-");
  private final Provider provider =
      new DockerProviderFactory()
          .create(
              new ProviderConfig(Map.of("host", SharedEngine.host())),
              new ProviderContext(
                  UniqueResources.instanceId("large"), data.path(), InstantSource.system()));
  private final Sandbox sandbox;
  private long before;
  private long most;

  DockerLargeTransferTest() {
    sandbox =
        provider.create(
            SandboxSpec.builder(SandboxId.random(new SecureRandom()))
                .deadline(Duration.ofMinutes(15))
                .build());
  }

  @BeforeEach
  void measure() {
    sandbox.run(Command.shell("true"));
    before = memory();
    most = before;
  }

  /** Also samples during the transfer, to detect memory that is held and then released. */
  private void look() {
    most = Math.max(most, memory());
  }

  @AfterEach
  void nothingGrew() {
    look();
    assertThat(most - before).as("peak memory of this process").isLessThan(SOME);
    assertThat(agent()).as("peak memory of the agent").isLessThan(SOME);
    provider.destroy(sandbox.id(), DestroyOptions.FORCE);
    provider.close();
    data.close();
  }

  private static long memory() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
        + ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum();
  }

  private long agent() {
    String kilobytes =
        sandbox
            .run(Command.shell("sed -n 's/^VmHWM:[^0-9]*\\([0-9]*\\) kB/\\1/p' /proc/1/status"))
            .stdout()
            .text()
            .strip();
    assertThat(kilobytes).as("memory of the idle agent").matches("[0-9]+");
    return Long.parseLong(kilobytes) << 10;
  }

  @Test
  void largeOutputUsesConstantMemory() {
    long seen = 0;
    try (Execution execution = sandbox.start(Command.shell("head -c " + OUTPUT + " /dev/zero"))) {
      long next = OUTPUT / ATTEMPTS;
      for (Optional<Output> piece = execution.read(); piece.isPresent(); piece = execution.read()) {
        assertThat(piece.get().offset()).as("without a gap").isEqualTo(seen);
        seen = piece.get().end();
        if (seen > next) {
          next += OUTPUT / ATTEMPTS;
          look();
        }
      }
    }
    assertThat(seen).isEqualTo(OUTPUT);
  }

  @Test
  void largeFileUsesConstantMemory() throws IOException {
    sandbox.files().write("large", new Zeros(FILE, this::look), WriteOptions.DEFAULT);
    try (InputStream in = sandbox.files().read("large", ReadRange.ALL)) {
      in.skipNBytes(FILE / 2);
      look();
      assertThat(in.transferTo(OutputStream.nullOutputStream())).isEqualTo(FILE - FILE / 2);
    }
  }

  @Test
  void manyFilesUseConstantMemory() throws IOException {
    sandbox.run(
        Command.shell(
            "mkdir many && cd many && i=0; while [ $i -lt "
                + FILES
                + " ]; do echo $i > f$i; i=$((i+1)); done"));
    TreeSummary there;
    try (InputStream tree = sandbox.files().exportTree("many", List.of())) {
      there = sandbox.files().importTree("again", tree, TreeLimits.DEFAULT);
    }
    assertThat(there.entries()).isGreaterThanOrEqualTo(FILES);
    assertThat(sandbox.run(Command.shell("diff -r many again && ls again | wc -l")).stdout().text())
        .isEqualTo(FILES + "\n");
  }

  /** Generates the given number of bytes. */
  private static final class Zeros extends InputStream {
    private final long half;
    private final Runnable halfway;
    private long left;

    private Zeros(long left, Runnable halfway) {
      this.left = left;
      this.half = left / 2;
      this.halfway = halfway;
    }

    @Override
    public int read() {
      return left-- > 0 ? 0 : -1;
    }

    @Override
    public int read(byte[] to, int from, int length) {
      int count = (int) Math.min(left, length);
      if (left > half && left - count <= half) {
        halfway.run();
      }
      left -= count;
      return count == 0 && length > 0 ? -1 : count;
    }
  }
}
