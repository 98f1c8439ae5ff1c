package dev.isola.provider.subprocess;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.WriteOptions;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Large transfers with a small heap: this module's tests run with {@code -Xmx256m}. The sizes are
 * set by {@code -Disola.flood.gib} and {@code -Disola.file.mib}.
 */
@Tag("all")
final class LargeTransferTest extends SubprocessFixture {
  private static final long FLOOD =
      Long.getLong("isola.flood.gib", Boolean.getBoolean("isola.long") ? 10 : 2) << 30;
  private static final long FILE = Long.getLong("isola.file.mib", 1024) << 20;

  @Test
  void theHeapIsSmall() {
    assertThat(Runtime.getRuntime().maxMemory()).isLessThanOrEqualTo(256L << 20);
  }

  @Test
  void floodOfOutputIsCountedExactlyAndTruncated() {
    ExecResult result =
        create()
            .run(
                Command.shell("echo first; head -c " + FLOOD + " /dev/zero; echo last"),
                new OutputLimit(1000, 1000));
    assertThat(result.succeeded()).isTrue();
    assertThat(result.stdout().total()).isEqualTo(FLOOD + 11);
    assertThat(result.stdout().truncated()).isTrue();
    assertThat(result.stdout().head().utf8()).startsWith("first\n");
    assertThat(result.stdout().tail().utf8()).endsWith("last\n");
    assertThat(result.stderr().total()).isZero();
    assertThat(result.stderr().truncated()).isFalse();
  }

  @Test
  void largeFileIsStreamedInAndOut() throws IOException {
    Sandbox sandbox = create();
    CRC32C written = new CRC32C();
    FileInfo info =
        sandbox
            .files()
            .write("big.bin", new PatternInputStream(FILE, written), WriteOptions.DEFAULT);
    assertThat(info.size()).isEqualTo(FILE);
    CRC32C read = new CRC32C();
    long size = 0;
    try (InputStream in = sandbox.files().read("big.bin", ReadRange.ALL)) {
      byte[] buffer = new byte[1 << 16];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        read.update(buffer, 0, n);
        size += n;
      }
    }
    assertThat(size).isEqualTo(FILE);
    assertThat(read.getValue()).isEqualTo(written.getValue());
  }

  /** Bytes that are cheap to generate and never repeat. */
  private static final class PatternInputStream extends InputStream {
    private final CRC32C sum;
    private long left;
    private long state = 88172645463325252L;

    PatternInputStream(long size, CRC32C sum) {
      this.left = size;
      this.sum = sum;
    }

    @Override
    public int read() {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) {
      if (left == 0) {
        return -1;
      }
      int count = (int) Math.min(length, left);
      for (int i = 0; i < count; i++) {
        if ((i & 7) == 0) {
          state ^= state << 13;
          state ^= state >>> 7;
          state ^= state << 17;
        }
        buffer[offset + i] = (byte) (state >>> ((i & 7) * 8));
      }
      sum.update(buffer, offset, count);
      left -= count;
      return count;
    }
  }
}
